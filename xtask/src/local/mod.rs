//! Services of this product that run on this computer for a while.

pub mod ports;
mod service;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::setup::ModelDir;
use crate::{paths, shell};
pub use service::Service;

/// Whether Ctrl-C or SIGTERM came.
#[derive(Clone)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn on_signal() -> Result<Self> {
        let stop = Self(Arc::new(AtomicBool::new(false)));
        let flag = stop.clone();
        ctrlc::set_handler(move || flag.0.store(true, Ordering::Relaxed))?;
        Ok(stop)
    }

    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn check(&self) -> Result<()> {
        ensure!(!self.is_requested(), "stopped");
        Ok(())
    }
}

/// The embedded Supabase; dropping it stops it.
pub struct Supabase {
    pub service: Service,
    pub keys: Keys,
}

/// What the local Supabase was given on its first start.
pub struct Keys {
    pub jwt_secret: String,
    pub publishable_key: String,
    pub secret_key: String,
    pub worker_secret: String,
}

impl Supabase {
    /// Starts it on a data folder, which is made and filled on the first start.
    pub fn start(data: &Path, logs: &Path, stop: &Stop) -> Result<Self> {
        let service = Service::start(
            "supabase",
            shell::command("node").arg("supabase/local/server.mjs").env("DATA_DIR", data),
            ports::free_from(54321)?,
            logs,
            stop,
        )?;
        Ok(Self { service, keys: Keys::read(&data.join("keys.json"))? })
    }

    pub fn url(&self) -> &str {
        &self.service.url
    }

    /// Reads a folder of documents into the knowledge base with the `kb` that was built last.
    pub fn sync(&self, documents: &Path, model: &ModelDir) -> Result<()> {
        shell::run(self.command(paths::kb_binary(), model).arg("sync").arg(documents))
    }

    /// A program that works on this knowledge base.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>, model: &ModelDir) -> std::process::Command {
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
            None => bail!("{} lacks {name}: delete the file to have new keys made", path.display()),
        };
        Ok(Self {
            jwt_secret: key("jwt_secret")?,
            publishable_key: key("publishable_key")?,
            secret_key: key("secret_key")?,
            worker_secret: key("worker_secret")?,
        })
    }
}
