//! Build tools from the Rust registry, compiled into the cache folder by version.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo_lock::CargoLock;
use crate::{paths, shell};

/// A program of a package in the Rust registry.
pub(super) struct Tool {
    pub(super) package: &'static str,
    pub(super) program: &'static str,
    /// Whether its package is compiled with the features that are on by default.
    pub(super) has_default_features: bool,
}

const WORKER_BUILD: Tool =
    Tool { package: "worker-build", program: "worker-build", has_default_features: true };
/// The features are for another program of the package, which runs tests through WebDriver.
const WASM_BINDGEN: Tool =
    Tool { package: "wasm-bindgen-cli", program: "wasm-bindgen", has_default_features: false };

/// worker-build in the version of the `worker` crate in Cargo.lock.
pub(super) fn worker_build() -> Result<PathBuf> {
    WORKER_BUILD.ensure(&locked_version("worker")?)
}

/// wasm-bindgen in the version of the crate in Cargo.lock, the only one it generates JavaScript for.
pub(super) fn wasm_bindgen() -> Result<PathBuf> {
    WASM_BINDGEN.ensure(&locked_version("wasm-bindgen")?)
}

impl Tool {
    fn ensure(&self, version: &str) -> Result<PathBuf> {
        match self.find(version)? {
            Some(found) => Ok(found),
            None => self.compile(version),
        }
    }

    /// Its folder in the cache.
    pub(super) fn folder(&self, version: &str) -> Result<PathBuf> {
        Ok(paths::cache()?.join("tools").join(format!("{}-{version}", self.package)))
    }

    /// The program in exactly this version, on PATH or in the cache.
    pub(super) fn find(&self, version: &str) -> Result<Option<PathBuf>> {
        let cached = self.folder(version)?.join("bin").join(self.program);
        let mut candidates = shell::find_program(self.program).into_iter().chain([cached]);
        Ok(candidates.find(|candidate| reports_version(candidate, version)))
    }

    /// Prefers `--locked`: the dependencies that its authors released it with. A mirror of the registry may not have them yet.
    pub(super) fn compile(&self, version: &str) -> Result<PathBuf> {
        let (package, folder) = (self.package, self.folder(version)?);
        println!("  compiling {package} {version} (a few minutes, once)");
        let locked = self.install(shell::cargo(&["install"]), version, &folder);
        let unlocked = self.install(shell::unlocked_cargo_install(), version, &folder);
        run_first_that_works(locked, unlocked)
            .with_context(|| format!("install it manually: cargo install {package} --version {version}"))?;
        Ok(folder.join("bin").join(self.program))
    }

    fn install(&self, mut cargo: Command, version: &str, folder: &Path) -> Command {
        cargo
            .args([
                self.package,
                "--version",
                &format!("={version}"),
                "--bin",
                self.program,
                "--quiet",
                "--root",
            ])
            .arg(folder)
            .args((!self.has_default_features).then_some("--no-default-features"))
            .env("CARGO_TARGET_DIR", paths::cargo_target().join("tools"))
            // They run for seconds, but take minutes to optimise.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        cargo
    }
}

fn run_first_that_works(mut locked: Command, mut unlocked: Command) -> Result<()> {
    if shell::run(&mut locked).is_ok() {
        return Ok(());
    }
    println!("  its lock file cannot be resolved here; using the newest compatible dependencies");
    shell::run(&mut unlocked)
}

fn reports_version(program: &Path, version: &str) -> bool {
    shell::output(shell::command(program).arg("--version"))
        .is_some_and(|output| output.split_whitespace().any(|word| word == version))
}

/// The version of a package in Cargo.lock.
fn locked_version(package: &str) -> Result<String> {
    let lock = CargoLock::read()?;
    let version =
        lock.packages.iter().find(|locked| locked.name == package).map(|locked| locked.version.clone());
    version.with_context(|| format!("{package} is not in Cargo.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_attempt_to_install_a_tool_differs_only_in_the_lock_file() {
        let arguments = |cargo| {
            let command = WASM_BINDGEN.install(cargo, "0.2.130", Path::new("folder"));
            command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let mut locked = arguments(shell::cargo(&["install"]));
        let unlocked = arguments(shell::unlocked_cargo_install());
        assert!(!unlocked.contains(&"--locked".to_owned()), "{unlocked:?}");
        locked.retain(|argument| argument != "--locked");
        assert_eq!(locked, unlocked);
    }

    #[test]
    fn a_tool_is_installed_without_its_lock_file_only_if_that_cannot_be_resolved() {
        let run = |locked, unlocked| run_first_that_works(shell::command(locked), shell::command(unlocked));
        assert!(run("true", "false").is_ok());
        assert!(run("false", "true").is_ok());
        assert!(run("false", "false").is_err());
    }
}
