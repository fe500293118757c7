//! Reads files without trusting their size or kind.

use std::{fs::File, io::Read};

use super::{ExtractError, MAX_FILE_BYTES};

/// Reads an open file of at most [`MAX_FILE_BYTES`]. It must be open with `O_NONBLOCK` if it could be a
/// named pipe. A larger file is refused before it is read, a growing one while it is read.
///
/// # Errors
/// [`ExtractError`] if it is too large, not a regular file, or cannot be read.
pub fn read_open(file: File) -> Result<Vec<u8>, ExtractError> {
    let mut bytes = Vec::new();
    limited(file)?.read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES { Err(TOO_LARGE) } else { Ok(bytes) }
}

/// A reader of an open file; a growing file ends one byte after [`MAX_FILE_BYTES`]. Type and size are checked on the handle, so
/// that the file cannot be replaced after the check.
///
/// # Errors
/// [`ExtractError`] if it is too large or not a regular file.
pub fn limited(file: File) -> Result<impl Read, ExtractError> {
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(ExtractError::NotAFile);
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(TOO_LARGE);
    }
    Ok(file.take(MAX_FILE_BYTES + 1))
}

const TOO_LARGE: ExtractError = ExtractError::TooLarge(MAX_FILE_BYTES);

fn unreadable(error: &std::io::Error) -> ExtractError {
    ExtractError::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::path::Path;

    use super::*;

    fn read(path: &Path) -> Result<Vec<u8>, ExtractError> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(target_os = "linux")]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        read_open(options.open(path).map_err(|error| unreadable(&error))?)
    }

    #[test]
    fn only_regular_files_up_to_the_maximum_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let small = folder.path().join("a.md");
        std::fs::write(&small, "hello").unwrap();
        assert_eq!(read(&small).unwrap(), b"hello");
        assert_eq!(read(folder.path()).unwrap_err(), ExtractError::NotAFile);
        let sparse = folder.path().join("sparse.md");
        File::create(&sparse).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(read(&sparse).unwrap_err().to_string(), "is larger than 50 MB; split it");
        let missing = read(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().starts_with("cannot be read: "), "{missing}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_and_devices_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.md");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            assert_eq!(read(path).unwrap_err(), ExtractError::NotAFile);
        }
    }
}
