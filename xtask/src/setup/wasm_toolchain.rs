//! A Rust compiler for wasm32-unknown-unknown.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::apt;
use crate::shell;

const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler for web applications, with the source of std.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_SYSROOT: &str = "/usr/lib/rustlib";
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "rust-web-src", "cargo-web"];

#[derive(Debug)]
pub enum WasmToolchain {
    /// The compiler in use has std for the target.
    Installed,
    /// Std is compiled with Debian's compiler from Debian's source package.
    DebianSource {
        /// Folder with `rust-lld`, which Debian's package lacks.
        linker_dir: PathBuf,
    },
}

impl WasmToolchain {
    pub(super) fn ensure() -> Result<Self> {
        // Forces the fallback, to test it where the target is installed.
        if env::var_os("EVIDENCE_WASM_STD").is_some_and(|value| value == "debian-source") {
            return Self::debian_source();
        }
        if target_is_installed() {
            return Ok(Self::Installed);
        }
        if shell::find_program("rustup").is_some() {
            say!("  running rustup target add {TARGET}");
            if shell::run(shell::command("rustup").args(["target", "add", TARGET])).is_ok()
                && target_is_installed()
            {
                return Ok(Self::Installed);
            }
            say!("  rustup failed; using Debian's source of std instead");
        }
        Self::debian_source().with_context(|| {
            format!(
                "no std for {TARGET}: run `rustup target add {TARGET}`, or install std for it another way"
            )
        })
    }

    fn debian_source() -> Result<Self> {
        let source = Path::new(DEBIAN_SYSROOT).join("src/rust/library/std");
        if !Path::new(DEBIAN_RUSTC).exists() || !source.exists() {
            apt::install(&DEBIAN_PACKAGES)?;
        }
        Ok(Self::DebianSource { linker_dir: find_linker_dir()? })
    }

    /// Makes cargo use this toolchain.
    pub fn apply(&self, command: &mut Command) -> Result<()> {
        if let Self::DebianSource { linker_dir } = self {
            command
                .env("PATH", shell::path_with(linker_dir)?)
                .env("RUSTC", DEBIAN_RUSTC)
                .env("RUSTC_BOOTSTRAP", "1")
                .env_remove("RUSTUP_TOOLCHAIN");
        }
        Ok(())
    }

    /// Arguments that cargo needs in addition to `--target`.
    pub fn cargo_args(&self) -> &'static [&'static str] {
        match self {
            Self::Installed => &[],
            Self::DebianSource { .. } => &["-Zbuild-std=std,panic_abort"],
        }
    }
}

fn target_is_installed() -> bool {
    shell::output(shell::command("rustc").args(["--print", "target-libdir", "--target", TARGET]))
        .is_some_and(|dir| Path::new(&dir).exists())
}

/// The folder of rust-lld, which is part of every rustup toolchain.
fn find_linker_dir() -> Result<PathBuf> {
    let sysroot = shell::output(shell::command("rustc").args(["--print", "sysroot"]))
        .context("rustc is not on PATH")?;
    let rustlib = Path::new(&sysroot).join("lib/rustlib");
    for entry in fs::read_dir(&rustlib).with_context(|| format!("cannot read {}", rustlib.display()))? {
        let dir = entry?.path().join("bin");
        if dir.join("rust-lld").exists() {
            return Ok(dir);
        }
    }
    bail!("no rust-lld in {}: install Rust with rustup", rustlib.display())
}
