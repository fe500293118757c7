//! The embedder on several cores, as `kb` uses it: one text at a time on each.

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use embedder::{Embedder, MAX_TOKENS};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde::Deserialize;

/// A request: a line of standard input, as JSON. `encode.py` has the same protocol.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    /// Returns the milliseconds of embedding the strings of a JSON file, with tokenizing and pooling.
    Time { texts: String },
    /// Writes the vectors, 384 little-endian f32 each, and returns their number.
    Vectors { texts: String, output: String },
}

/// Prints `ready`, then answers each line with one line.
pub(crate) fn serve(model: &Path, threads: usize) -> Result<()> {
    let embedder = Embedder::from_dir(model)?;
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    println!("ready");
    for line in io::stdin().lines() {
        let line = line?;
        match serde_json::from_str(&line).with_context(|| format!("cannot parse the request {line}"))? {
            Request::Time { texts } => {
                let texts = read_texts(Path::new(&texts))?;
                let started = Instant::now();
                std::hint::black_box(pool.install(|| vectors(&embedder, &texts)));
                println!("{}", started.elapsed().as_secs_f64() * 1e3);
            }
            Request::Vectors { texts, output } => {
                let texts = read_texts(Path::new(&texts))?;
                write_vectors(&pool.install(|| vectors(&embedder, &texts)), Path::new(&output))?;
                println!("{}", texts.len());
            }
        }
    }
    Ok(())
}

/// The vectors, in the order of the texts.
pub(crate) fn vectors(embedder: &Embedder, texts: &[String]) -> Vec<Vec<f32>> {
    let embed = |embedder: &mut Embedder, text: &String| embedder.embed(text).vector;
    texts.par_iter().map_init(|| embedder.clone(), embed).collect()
}

/// Writes the texts as a JSON array and returns the number of tokens that the model reads.
pub(crate) fn write_texts(model: &Path, texts: &[String], file: &Path) -> Result<usize> {
    let embedder = Embedder::from_dir(model)?;
    fs::write(file, serde_json::to_string(texts)?)
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(texts.iter().map(|text| embedder.count_tokens(text).min(MAX_TOKENS)).sum())
}

fn read_texts(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn write_vectors(vectors: &[Vec<f32>], file: &Path) -> Result<()> {
    let mut output = BufWriter::new(fs::File::create(file)?);
    for number in vectors.iter().flatten() {
        output.write_all(&number.to_le_bytes())?;
    }
    Ok(output.flush()?)
}
