//! Evaluation data that is not in this repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

/// Says how to name the data, in errors and notes.
pub(crate) const REMEDY: &str = "pass --eval-dir DIR or set EVIDENCE_CHAT_EVAL_DIR";

#[derive(Args)]
pub(crate) struct EvaluationData {
    /// Folder of evaluation data outside this repository. Each folder in it is a set as `bench retrieval --help` describes;
    /// stsb-en-test.csv is the STS benchmark.
    #[arg(long, value_name = "DIR", env = "EVIDENCE_CHAT_EVAL_DIR", hide_env_values = true)]
    eval_dir: Option<PathBuf>,
}

impl EvaluationData {
    /// The folder, or `None` if none was named.
    pub(crate) fn dir(&self) -> Result<Option<PathBuf>> {
        self.eval_dir.as_deref().map(existing_dir).transpose()
    }
}

fn existing_dir(dir: &Path) -> Result<PathBuf> {
    let path = fs::canonicalize(dir)
        .with_context(|| format!("evaluation data: no folder {}; {REMEDY}", dir.display()))?;
    ensure!(path.is_dir(), "evaluation data: {} is not a folder; {REMEDY}", dir.display());
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_option_and_the_variable_if_the_folder_is_missing() {
        let data = EvaluationData { eval_dir: Some("/no/such/folder".into()) };
        let error = format!("{:#}", data.dir().unwrap_err());
        assert!(error.contains("--eval-dir") && error.contains("EVIDENCE_CHAT_EVAL_DIR"), "{error}");
        assert_eq!(EvaluationData { eval_dir: None }.dir().unwrap(), None);
    }
}
