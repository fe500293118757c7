//! Loads the embedding model and the reader from their folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use embedder::{
    Embedder, EmbedderError, MODEL_BYTES, MODEL_FILE, MODEL_SHA256, READER_BYTES, READER_FILE, READER_SHA256,
    Reader,
};
use flate2::read::GzDecoder;

/// Why a model cannot be used, and where to get it.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}. The npm package @evidence-chat/embedder contains the file, `cargo xtask setup model` makes it, and --model-dir or \
     EVIDENCE_MODEL_DIR names its folder"
)]
pub struct ModelError(#[from] EmbedderError);

/// Loads the model from its folder: the file itself, or as the npm package has it, compressed with gzip.
///
/// # Errors
/// If the file cannot be read, or is not the model.
pub fn load_model(folder: &Path) -> Result<Embedder, ModelError> {
    // Compares the hash.
    Ok(Embedder::new(MODEL.read(folder)?)?)
}

/// Loads the reader from the folder of the model, in the same way.
///
/// # Errors
/// If the file cannot be read, or is not the reader.
pub fn load_reader(embedder: &Embedder, folder: &Path) -> Result<Reader, ModelError> {
    Ok(Reader::new(embedder, READER.read(folder)?)?)
}

struct ModelFile {
    name: &'static str,
    sha256: &'static str,
    /// Length of the file that is not compressed.
    bytes: usize,
}

const MODEL: ModelFile = ModelFile { name: MODEL_FILE, sha256: MODEL_SHA256, bytes: MODEL_BYTES };
const READER: ModelFile = ModelFile { name: READER_FILE, sha256: READER_SHA256, bytes: READER_BYTES };

impl ModelFile {
    /// The content, not verified.
    fn read(&self, folder: &Path) -> Result<Vec<u8>, EmbedderError> {
        let (file, compressed) = (folder.join(self.name), folder.join(self.compressed_name()));
        let (path, content) = if file.exists() || !compressed.exists() {
            let content = std::fs::read(&file);
            (file, content)
        } else {
            let content = File::open(&compressed).and_then(|file| self.decompress(file));
            (compressed, content)
        };
        content.map_err(|source| EmbedderError::Io { path, source })
    }

    /// Name of the compressed file in the npm package, which has the start of the hash.
    fn compressed_name(&self) -> String {
        let stem = self.name.trim_end_matches(".safetensors");
        format!("{stem}-{}.safetensors.gz", self.sha256.get(..8).unwrap_or(self.sha256))
    }

    /// Reads at most one byte more than the file has, which is enough to find that it is another file.
    fn decompress(&self, file: impl Read) -> io::Result<Vec<u8>> {
        let mut content = Vec::with_capacity(self.bytes + 1);
        GzDecoder::new(file).take(self.bytes as u64 + 1).read_to_end(&mut content)?;
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// A folder with a file that has the name of the compressed model.
    fn folder_with(bytes: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(MODEL.compressed_name()), bytes).unwrap();
        folder
    }

    fn error_of(folder: &Path) -> String {
        load_model(folder).err().unwrap().to_string()
    }

    #[test]
    fn a_compressed_model_gives_the_same_vectors_as_the_file_itself() {
        let model =
            std::fs::read(embedder::model_dir().join(MODEL_FILE)).expect("run `cargo xtask setup model`");
        let folder = folder_with(&gzip(&model));
        let mut compressed = load_model(folder.path()).unwrap();
        let mut raw = load_model(&embedder::model_dir()).unwrap();
        assert_eq!(MODEL.compressed_name(), "all-MiniLM-L6-v2-int8-98f50412.safetensors.gz");
        assert_eq!(compressed.embed("a text").vector, raw.embed("a text").vector);
    }

    #[test]
    fn a_compressed_file_that_is_not_the_model_is_rejected() {
        let folder = folder_with(&gzip(b"{}"));
        assert!(error_of(folder.path()).starts_with("this is not"), "{}", error_of(folder.path()));
    }

    #[test]
    fn a_truncated_compressed_model_is_rejected_with_its_path() {
        let whole = gzip(&[7; 4096]);
        let folder = folder_with(whole.get(..whole.len() - 9).unwrap());
        let error = error_of(folder.path());
        assert!(error.starts_with("cannot read ") && error.contains(".gz"), "{error}");
    }

    #[test]
    fn a_compressed_file_that_grows_without_end_is_read_to_the_length_of_the_model() {
        let bomb = gzip(&vec![0; MODEL_BYTES + 100_000]);
        assert_eq!(MODEL.decompress(&*bomb).unwrap().len(), MODEL_BYTES + 1);
        assert!(error_of(folder_with(&bomb).path()).starts_with("this is not"));
    }

    #[test]
    fn the_reader_is_loaded_from_the_folder_of_the_model_in_either_form() {
        let models = embedder::model_dir();
        let embedder = load_model(&models).unwrap();
        let file = std::fs::read(models.join(READER_FILE)).expect("run `cargo xtask setup model`");
        let folder = tempfile::tempdir().unwrap();
        let error = load_reader(&embedder, folder.path()).err().unwrap().to_string();
        assert!(error.contains(READER_FILE) && error.contains("`cargo xtask setup model`"), "{error}");
        std::fs::write(folder.path().join(READER.compressed_name()), gzip(&file)).unwrap();
        let read =
            |folder| load_reader(&embedder, folder).unwrap().read("How long?", "Refunds", &["Five days."]);
        assert_eq!(read(folder.path()), read(&models));
        std::fs::write(folder.path().join(READER_FILE), "another").unwrap();
        let error = load_reader(&embedder, folder.path()).err().unwrap().to_string();
        assert!(error.starts_with("this is not reader-int8.safetensors"), "{error}");
    }

    #[test]
    fn the_error_for_a_missing_model_names_the_file_and_says_where_to_get_it() {
        let message = load_model(Path::new("no-such-folder")).err().unwrap().to_string();
        assert!(message.contains(embedder::MODEL_FILE), "{message}");
        assert!(message.contains("`cargo xtask setup model`"), "{message}");
    }
}
