//! Reads files without trusting their size.

use std::{fs::File, io::Read, path::Path};

use super::{ExtractError, MAX_FILE_BYTES};

/// The bytes of a regular file of at most [`MAX_FILE_BYTES`], symbolic links followed. A larger one is refused before it
/// is read, a growing one while it is.
///
/// # Errors
/// [`ExtractError`] if it is too large, not a regular file, or cannot be read.
pub fn read_limited(path: &Path) -> Result<Vec<u8>, ExtractError> {
    let mut bytes = Vec::new();
    open_limited(path)?.read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES { Err(TOO_LARGE) } else { Ok(bytes) }
}

/// A regular file of at most [`MAX_FILE_BYTES`], to be read in parts; a growing one ends one byte later.
///
/// # Errors
/// [`ExtractError`] if it is too large, not a regular file, or cannot be opened.
pub fn open_limited(path: &Path) -> Result<impl Read, ExtractError> {
    // Before opening: that of a named pipe would wait for a writer.
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(ExtractError::NotAFile);
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(TOO_LARGE);
    }
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    Ok(file.take(MAX_FILE_BYTES + 1))
}

const TOO_LARGE: ExtractError = ExtractError::TooLarge { limit: MAX_FILE_BYTES };

fn unreadable(error: &std::io::Error) -> ExtractError {
    ExtractError::Unreadable { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_bounded_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let small = folder.path().join("a.md");
        std::fs::write(&small, "hello").unwrap();
        assert_eq!(read_limited(&small).unwrap(), b"hello");
        assert_eq!(read_limited(folder.path()).unwrap_err(), ExtractError::NotAFile);
        let sparse = folder.path().join("sparse.md");
        File::create(&sparse).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(read_limited(&sparse).unwrap_err().to_string(), "is larger than 50 MB; split it");
        let missing = read_limited(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().starts_with("cannot be read: "), "{missing}");
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("loop.md");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        assert!(matches!(read_limited(&link), Err(ExtractError::Unreadable { .. })));
    }
}
