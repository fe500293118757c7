//! Embeds each line of standard input: `embed_lines MODEL_FOLDER < texts > vectors`.
//!
//! The output is 384 little-endian f32 for each line, one vector after the other.

use std::error::Error;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use embedder::Embedder;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: embed_lines MODEL_FOLDER < texts > vectors")?;
    let mut embedder = Embedder::from_dir(Path::new(&folder))?;
    let texts = io::read_to_string(io::stdin())?;
    let mut output = BufWriter::new(io::stdout().lock());
    for embedding in embedder.embed_batch(&texts.lines().collect::<Vec<_>>()) {
        for number in embedding.vector {
            output.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(output.flush()?)
}
