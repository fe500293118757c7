//! The language model server of the benches: `tools/model-server/server.py`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Service, Stop, ports};
use xtask::setup::Generation;
use xtask::shell;

const PREFERRED_PORT: u16 = 8788;

/// Starts it with the model that setup installed. The base URL of its OpenAI-compatible API is [`api_url`].
pub(crate) fn start(generation: &Generation, logs: &Path, stop: &Stop) -> Result<Service> {
    Service::start("model-server", &mut command(generation), ports::free_from(PREFERRED_PORT)?, logs, stop)
}

fn command(generation: &Generation) -> Command {
    let mut command = shell::command(&generation.python);
    command
        .arg("tools/model-server/server.py")
        .args(["--name", Generation::MODEL_NAME, "--model"])
        .arg(&generation.model);
    command
}

/// The value of `CHAT_LLM_URL` for this server.
pub(crate) fn api_url(server: &Service) -> String {
    format!("{}/v1", server.url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_gets_the_model_that_setup_installed_under_its_name() {
        let generation = Generation { python: "/venv/bin/python".into(), model: "/models/a.gguf".into() };
        let command = command(&generation);
        assert_eq!(command.get_program(), "/venv/bin/python");
        let arguments: Vec<_> = command.get_args().collect();
        let wanted =
            ["tools/model-server/server.py", "--name", "SmolLM2-135M-Instruct", "--model", "/models/a.gguf"];
        assert_eq!(arguments, wanted);
        assert!(xtask::paths::repo().join(wanted[0]).is_file());
    }
}
