//! Who writes the answers of the demo.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use xtask::local::{Service, Stop, model_server};
use xtask::setup::{self, Generation};

use super::Options;

/// How an answer is made from the passages.
pub(super) enum Writing {
    /// Nobody writes: the answer is quoted.
    Extractive,
    /// A language model server on this computer, which the Worker asks.
    Endpoint(Generation),
    /// A language model in the visitor's browser, which the page's server delivers.
    OnDevice(Generation),
}

impl Writing {
    /// Fails before anything is built if a model is needed and not installed.
    pub(super) fn from_options(options: &Options) -> Result<Self> {
        Ok(match options {
            Options { write: true, .. } => Self::Endpoint(setup::find_generation()?),
            Options { write_on_device: true, .. } => Self::OnDevice(setup::find_generation()?),
            _ => Self::Extractive,
        })
    }

    pub(super) fn start_server(&self, logs: &Path, stop: &Stop) -> Result<Option<Service>> {
        match self {
            Self::Endpoint(generation) => model_server::start(generation, logs, stop).map(Some),
            Self::Extractive | Self::OnDevice(_) => Ok(None),
        }
    }

    /// Variables of the Worker.
    pub(super) fn worker_environment(&self, server: Option<&Service>) -> Vec<(&'static str, String)> {
        match (self, server) {
            (Self::Endpoint(_), Some(server)) => vec![
                ("CHAT_ANSWER_MODE", "endpoint".to_owned()),
                ("CHAT_LLM_URL", model_server::api_url(server)),
                ("CHAT_LLM_MODEL", Generation::MODEL_NAME.to_owned()),
                // One thread reads about 100 tokens of the passages a second.
                ("CHAT_LLM_FIRST_TOKEN_MS", "20000".to_owned()),
                ("CHAT_LLM_TIMEOUT_MS", "40000".to_owned()),
            ],
            (Self::OnDevice(_), _) => vec![("CHAT_ANSWER_MODE", "on_device".to_owned())],
            (Self::Extractive | Self::Endpoint(_), _) => Vec::new(),
        }
    }

    /// Variables of the page's server.
    pub(super) fn page_environment(&self) -> Vec<(&'static str, OsString)> {
        match self {
            Self::OnDevice(generation) => vec![
                ("ON_DEVICE_MODEL_URL", generation.url_path().into()),
                ("ON_DEVICE_MODEL_FILE", generation.model.clone().into_os_string()),
            ],
            Self::Extractive | Self::Endpoint(_) => Vec::new(),
        }
    }

    /// A sentence for the user.
    pub(super) fn describe(&self) -> String {
        let model = Generation::MODEL_NAME;
        match self {
            Self::Extractive => {
                "answers are quoted from the documents; --write lets a language model write them".to_owned()
            }
            Self::Endpoint(_) => {
                format!("{model} writes the answers, on this computer; only checked sentences are shown")
            }
            Self::OnDevice(_) => {
                format!("answers are quoted; if the visitor wants it, {model} writes them in the browser")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn generation() -> Generation {
        Generation { python: PathBuf::from("python"), model: PathBuf::from("/models/a.gguf") }
    }

    #[test]
    fn the_default_demo_asks_no_model() {
        let writing = Writing::Extractive;
        assert!(writing.worker_environment(None).is_empty() && writing.page_environment().is_empty());
    }

    #[test]
    fn on_device_the_worker_gets_the_mode_and_the_page_the_model() {
        let writing = Writing::OnDevice(generation());
        assert_eq!(writing.worker_environment(None), [("CHAT_ANSWER_MODE", "on_device".to_owned())]);
        let page = writing.page_environment();
        assert_eq!(page[0].0, "ON_DEVICE_MODEL_URL");
        assert!(page[0].1.to_string_lossy().starts_with("/writer-model/"));
        assert_eq!(page[1], ("ON_DEVICE_MODEL_FILE", "/models/a.gguf".into()));
    }
}
