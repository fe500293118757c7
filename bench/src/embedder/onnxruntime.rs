//! ONNX Runtime from the Python package index, and the models it runs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use xtask::{paths, python, shell};

use crate::timer::Timer;

const REQUIREMENTS: &str = "bench/onnxruntime/requirements.txt";

/// A Python with the packages of `requirements.txt`.
pub(super) struct OnnxRuntime {
    python: PathBuf,
}

impl OnnxRuntime {
    /// Installs it if it is missing.
    pub(super) fn ensure() -> Result<Self> {
        let python = python::with_packages("bench-venv", REQUIREMENTS)?;
        Ok(Self { python })
    }

    /// Writes the f32 weights as ONNX, unless `onnx` is newer than its sources.
    pub(super) fn export(&self, safetensors: &Path, onnx: &Path) -> Result<()> {
        let script = paths::repo().join("bench/onnxruntime/export.py");
        let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
        if let Ok(written) = modified(onnx)
            && written > modified(&script)?
            && written > modified(safetensors)?
        {
            return Ok(());
        }
        // Written under another name first: an interrupted export must not pass for a model.
        let partial = onnx.with_extension("partial");
        shell::run(shell::command(&self.python).arg(script).arg(safetensors).arg(&partial))?;
        fs::rename(partial, onnx)?;
        Ok(())
    }

    /// Starts a process that times this model on one thread.
    pub(super) fn start(&self, name: &'static str, onnx: &Path) -> Result<Timer> {
        let mut command = shell::command(&self.python);
        Timer::start(name, command.arg("bench/onnxruntime/time_model.py").arg(onnx))
    }

    pub(super) fn version(&self) -> Option<String> {
        let code = "import onnxruntime; print(onnxruntime.__version__)";
        shell::output(shell::command(&self.python).args(["-c", code]))
    }
}
