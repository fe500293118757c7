//! Skips work whose inputs are those of the last time.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::{paths, plan};

/// Folders that contain no inputs: what is installed or built, and tests.
const SKIPPED: [&str; 5] = ["node_modules", "dist", "target", "tests", "docs"];

/// Runs `work` unless its inputs (files and folders, relative to the repository) and its outputs are those of its last success.
pub(crate) fn if_changed(
    name: &str,
    inputs: &[impl AsRef<Path>],
    outputs: &[&Path],
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let stamp = paths::cargo_target().join("steps").join(format!("{}.inputs", plan::file_name(name)));
    let digest = digest(inputs)?;
    if fs::read_to_string(&stamp)
        .is_ok_and(|last| times(outputs).is_some_and(|times| last == digest.clone() + &times))
    {
        say!("nothing has changed");
        return Ok(());
    }
    // If it fails half-way, its outputs belong to no inputs.
    match fs::remove_file(&stamp) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    work()?;
    let times = times(outputs).with_context(|| format!("{name} did not make its files"))?;
    fs::create_dir_all(paths::cargo_target().join("steps"))?;
    fs::write(&stamp, digest + &times).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Waits until no other command does this, and keeps others from it until the file is dropped.
pub(crate) fn lock(name: &str) -> Result<File> {
    let folder = paths::cargo_target().join("steps");
    fs::create_dir_all(&folder)?;
    let file = File::create(folder.join(name).with_extension("lock"))?;
    file.lock().with_context(|| format!("cannot lock {name}"))?;
    Ok(file)
}

/// When the outputs were written, so that one that something else has written is noticed. `None` if one is missing.
fn times(outputs: &[&Path]) -> Option<String> {
    let time = |output: &&Path| fs::metadata(output).and_then(|output| output.modified()).ok();
    outputs.iter().map(|output| Some(format!(" {:?}", time(output)?))).collect()
}

/// SHA-256 of the paths and contents of the inputs.
fn digest(inputs: &[impl AsRef<Path>]) -> Result<String> {
    let mut files = Vec::new();
    for input in inputs {
        list(&paths::repo().join(input), &mut files)?;
    }
    let mut digest = Sha256::new();
    for file in files {
        let contents = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        digest.update(file.as_os_str().as_encoded_bytes());
        digest.update(contents.len().to_le_bytes());
        digest.update(contents);
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn list(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?;
    let mut entries = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    // An editor may leave a link to nothing beside a file.
    let is_input = |path: &&PathBuf| {
        path.exists() && path.file_name().is_some_and(|name| !SKIPPED.iter().any(|skipped| name == *skipped))
    };
    entries.iter().filter(is_input).try_for_each(|path| list(path, files))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn work_runs_again_after_a_change_a_failure_and_a_lost_output() {
        let folder = std::env::temp_dir().join(format!("xtask-changed-{}", std::process::id()));
        let (inputs, output) = (folder.join("inputs"), folder.join("output"));
        fs::create_dir_all(&inputs).unwrap();
        fs::write(inputs.join("a"), "1").unwrap();
        let name = format!("test-changed-{}", std::process::id());
        let runs = Cell::new(0);
        let run = |fails: bool| {
            if_changed(&name, &[&inputs], &[&output], || {
                runs.set(runs.get() + 1);
                fs::write(&output, "")?;
                anyhow::ensure!(!fails, "fails");
                Ok(())
            })
        };
        run(false).unwrap();
        run(false).unwrap();
        assert_eq!(runs.get(), 1);
        fs::write(inputs.join("a"), "2").unwrap();
        assert!(run(true).is_err());
        run(false).unwrap();
        assert_eq!(runs.get(), 3, "a failure is repeated");
        fs::remove_file(&output).unwrap();
        run(false).unwrap();
        fs::rename(inputs.join("a"), inputs.join("b")).unwrap();
        run(false).unwrap();
        assert_eq!(runs.get(), 5);
        fs::create_dir(inputs.join("node_modules")).unwrap();
        fs::write(inputs.join("node_modules/c"), "").unwrap();
        run(false).unwrap();
        assert_eq!(runs.get(), 5);
        fs::remove_dir_all(folder).unwrap();
        fs::remove_file(paths::cargo_target().join("steps").join(format!("{name}.inputs"))).unwrap();
    }
}
