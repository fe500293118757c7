//! A folder of hostile files: each is read or refused as expected, quickly, and within the memory limit.

mod support;

use std::fs::OpenOptions;
use std::path::Path;
use std::time::{Duration, Instant};

use extract::{ExtractError, Format, read_open};
use support::hostile::{self, Expected};

/// Much longer than any file takes, much shorter than the time limit of the sandbox.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Opens without waiting for the writer of a named pipe.
fn read(path: &Path) -> Result<Vec<u8>, ExtractError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    read_open(options.open(path).map_err(|error| ExtractError::Unreadable(error.to_string()))?)
}

#[test]
fn every_hostile_file_has_its_expected_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let files = hostile::write(folder.path());
    assert!(files.len() >= 90, "only {} files could be made", files.len());
    let sandbox = support::sandbox();
    let mut wrong = Vec::new();
    for file in files {
        let path = folder.path().join(hostile::path(&file.name));
        let name = String::from_utf8_lossy(&file.name).into_owned();
        let Some(format) = Format::from_path(&path) else {
            if file.expected != Expected::Unknown {
                wrong.push(format!("{name}: no format, expected {:?}", file.expected));
            }
            continue;
        };
        let started = Instant::now();
        let result = read(&path).and_then(|bytes| sandbox.read(&bytes, format));
        let took = started.elapsed();
        if let Ok(document) = &result {
            support::check(document);
        }
        let is_expected = match (&result, file.expected) {
            (_, Expected::Either) => true,
            (Ok(document), Expected::Text(text)) => document.text.contains(text),
            (Err(error), Expected::Error(words)) => error.to_string().contains(words),
            _ => false,
        };
        let shown = result.map(|document| document.text.chars().take(200).collect::<String>());
        if !is_expected || took > MAX_TIME {
            wrong.push(format!("{name}: {took:?} {shown:?}, expected {:?}", file.expected));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
