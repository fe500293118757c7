//! Files of the model hub, or of the mirror that `EVIDENCE_MODEL_HUB` names.

use std::env;
use std::path::Path;

use anyhow::Result;

use crate::shell;

const HUB: &str = "https://huggingface.co";

/// Downloads a file of a model's revision. The caller verifies it.
pub(super) fn download(model: &str, revision: &str, file: &str, destination: &Path) -> Result<()> {
    let hub = env::var("EVIDENCE_MODEL_HUB").unwrap_or_else(|_| HUB.to_owned());
    shell::run(
        shell::command("curl")
            .args(["--fail", "--location", "--progress-bar", "--connect-timeout", "10", "--output"])
            .arg(destination)
            .arg(format!("{hub}/{model}/resolve/{revision}/{file}")),
    )
}
