//! One file: its text and language, and a hash that tells whether either changed.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::chunk::CHUNKER_VERSION;
use crate::files::SourceFile;

/// The text of a file, ready to be cut into chunks.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file it was read from.
    pub file: SourceFile,
    /// UTF-8, without a byte order mark.
    pub text: String,
    /// What the user says it is written in.
    pub language: String,
    /// SHA-256 over [`CHUNKER_VERSION`], the language and the file's bytes, in hex. With the language in it, a change
    /// of language alone writes the document again, while an administrator's change in the database stays until then.
    pub content_hash: String,
}

/// Why a file cannot be a document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// Nothing but white space.
    #[error("is empty")]
    Empty,
    /// Another encoding, or no text at all.
    #[error("is not UTF-8 text; save it as UTF-8")]
    NotUtf8,
    /// A zero byte, which the database cannot store.
    #[error("contains zero bytes; it is not a text file")]
    Binary,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ReadError`] if it has no usable text.
    pub fn read(file: SourceFile, language: &str) -> Result<Self, ReadError> {
        let bytes = std::fs::read(&file.path)?;
        let content_hash = content_hash(language, &bytes);
        let text = String::from_utf8(bytes).map_err(|_| ReadError::NotUtf8)?;
        if text.contains('\0') {
            return Err(ReadError::Binary);
        }
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        if text.trim().is_empty() {
            return Err(ReadError::Empty);
        }
        Ok(Self { file, text, language: language.to_owned(), content_hash })
    }

    /// The file's name, without folders.
    pub fn name(&self) -> &str {
        Path::new(&self.file.source).file_name().and_then(|name| name.to_str()).unwrap_or(&self.file.source)
    }
}

fn content_hash(language: &str, bytes: &[u8]) -> String {
    // No line breaks in the first two, so that other parts never add up to the same whole.
    let head = format!("{CHUNKER_VERSION}\n{language}\n");
    let digest = Sha256::new().chain_update(head).chain_update(bytes).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Format;

    fn read(bytes: &[u8]) -> Result<Document, ReadError> {
        read_in("english", bytes)
    }

    fn read_in(language: &str, bytes: &[u8]) -> Result<Document, ReadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        std::fs::write(&path, bytes).unwrap();
        Document::read(SourceFile { path, source: "docs/a.md".into(), format: Format::Markdown }, language)
    }

    #[test]
    fn text_is_read_without_a_byte_order_mark() {
        let document = read("\u{feff}# Title".as_bytes()).unwrap();
        assert_eq!(document.text, "# Title");
        assert_eq!(document.name(), "a.md");
    }

    #[test]
    fn the_hash_follows_every_byte_the_language_and_the_chunker_version() {
        let hash = read(b"text").unwrap().content_hash;
        assert_ne!(hash, read_in("german", b"text").unwrap().content_hash);
        let of_the_bytes_alone: String =
            Sha256::digest(b"text").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_ne!(hash, of_the_bytes_alone);
        assert_ne!(hash, read(b"text ").unwrap().content_hash);
        assert_eq!(hash.len(), 64);
    }

    #[test]
    fn files_without_usable_text_are_refused() {
        assert!(matches!(read(b" \n\t\n"), Err(ReadError::Empty)));
        assert!(matches!(read(b"caf\xe9"), Err(ReadError::NotUtf8)));
        assert!(matches!(read(b"a\0b"), Err(ReadError::Binary)));
    }
}
