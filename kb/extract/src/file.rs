//! Reads files without trusting their size or kind.

use std::{
    fs::{File, OpenOptions},
    io::Read,
    path::Path,
};

use super::{ExtractError, MAX_FILE_BYTES};

/// Reads a regular file of at most [`MAX_FILE_BYTES`]. Symbolic links are followed, because the user names these files. A
/// larger file is refused before it is read, a growing one while it is read.
///
/// # Errors
/// [`ExtractError`] if it is too large, not a regular file, or cannot be read.
pub fn read_limited(path: &Path) -> Result<Vec<u8>, ExtractError> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a named pipe would wait for a writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    read_open(options.open(path).map_err(|error| unreadable(&error))?)
}

/// Like [`read_limited`], for an open file; it must be open with `O_NONBLOCK` if it could be a named pipe.
///
/// # Errors
/// As for [`read_limited`].
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
    use super::*;

    #[test]
    fn only_regular_files_up_to_the_maximum_size_are_read() {
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
    fn pipes_and_devices_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.md");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            assert_eq!(read_limited(path).unwrap_err(), ExtractError::NotAFile);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_loop_of_links_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("loop.md");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        assert!(matches!(read_limited(&link), Err(ExtractError::Unreadable(_))));
    }
}
