//! The language model server of the demo and the benches: `tools/model-server/server.py`.

use std::path::Path;

use anyhow::Result;

use super::{Service, Stop, ports};
use crate::setup::Generation;
use crate::shell;

const PREFERRED_PORT: u16 = 8788;

/// Starts it with the model that setup installed. The base URL of its OpenAI-compatible API is [`api_url`].
pub fn start(generation: &Generation, logs: &Path, stop: &Stop) -> Result<Service> {
    Service::start(
        "model-server",
        shell::command(&generation.python)
            .arg("tools/model-server/server.py")
            .args(["--name", Generation::MODEL_NAME, "--model"])
            .arg(&generation.model),
        ports::free_from(PREFERRED_PORT)?,
        logs,
        stop,
    )
}

/// The value of `CHAT_LLM_URL` for this server.
pub fn api_url(server: &Service) -> String {
    format!("{}/v1", server.url)
}
