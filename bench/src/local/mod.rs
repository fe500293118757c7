//! Services of the product that the benches start on this computer.

pub(crate) mod model_server;
pub(crate) mod ports;
mod service;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

pub(crate) use service::Service;
use xtask::setup::ModelDir;
use xtask::{paths, shell};

/// Whether Ctrl-C or SIGTERM was received.
#[derive(Clone)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn on_signal() -> Result<Self> {
        let stop = Self(Arc::new(AtomicBool::new(false)));
        let flag = stop.clone();
        ctrlc::set_handler(move || flag.0.store(true, Ordering::Relaxed))?;
        Ok(stop)
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<()> {
        ensure!(!self.is_requested(), "stopped");
        Ok(())
    }
}

/// The local Supabase, which stops when dropped.
pub(crate) struct Supabase {
    pub(crate) service: Service,
    pub(crate) keys: Keys,
}

/// The keys that the local Supabase generated on its first start.
pub(crate) struct Keys {
    pub(crate) jwt_secret: String,
    pub(crate) publishable_key: String,
    pub(crate) secret_key: String,
    pub(crate) worker_secret: String,
}

impl Supabase {
    /// Starts it on a data folder, which the first start creates.
    pub(crate) fn start(data: &Path, logs: &Path, stop: &Stop) -> Result<Self> {
        Self::start_script("local/supabase/server.mjs", data, logs, stop)
    }

    /// Like [`Self::start`], with another script that serves it and writes `keys.json` into the data folder.
    pub(crate) fn start_script(script: &str, data: &Path, logs: &Path, stop: &Stop) -> Result<Self> {
        let service = Service::start(
            "supabase",
            shell::command("node").arg(script).env("DATA_DIR", data),
            ports::free_from(54321)?,
            logs,
            stop,
        )?;
        Ok(Self { service, keys: Keys::read(&data.join("keys.json"))? })
    }

    pub(crate) fn url(&self) -> &str {
        &self.service.url
    }

    /// Runs `kb sync` on a folder of documents, with the `kb` that was built last.
    pub(crate) fn sync(&self, documents: &Path, model: &ModelDir) -> Result<()> {
        // Another folder of the same name replaces the one before.
        shell::run(
            self.command(paths::kb_binary(), model).arg("sync").arg(documents).arg("--change-settings"),
        )
    }

    /// A program with the address and key of this knowledge base in its environment.
    pub(crate) fn command(
        &self,
        program: impl AsRef<std::ffi::OsStr>,
        model: &ModelDir,
    ) -> std::process::Command {
        let mut command = shell::command(program);
        command
            .env("SUPABASE_URL", self.url())
            .env("SUPABASE_SECRET_KEY", &self.keys.secret_key)
            .env("EVIDENCE_MODEL_DIR", &model.0);
        command
    }
}

impl Keys {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let keys: Value =
            serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
        let key = |name: &str| match keys[name].as_str() {
            Some(value) => Ok(value.to_owned()),
            None => bail!("{} lacks {name}: delete the file to generate new keys", path.display()),
        };
        Ok(Self {
            jwt_secret: key("jwt_secret")?,
            publishable_key: key("publishable_key")?,
            secret_key: key("secret_key")?,
            worker_secret: key("worker_secret")?,
        })
    }
}
