//! `cargo xtask bench` and `cargo xtask eval`: the package `bench`, which only these two compile.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use anyhow::{Context, Result};
use xtask::{setup, shell};

/// Becomes `bench COMMAND ARGUMENTS`. Returns only if that cannot be started.
pub(crate) fn run(command: &str, arguments: &[OsString]) -> Result<()> {
    let apt_install = setup::has_consent().then_some("--apt-install");
    let error = shell::cargo(&["run"])
        .args(["--quiet", "--package", "bench", "--", command])
        .args(apt_install)
        .args(arguments)
        // Setup may ask the user a question.
        .stdin(Stdio::inherit())
        .env("XTASK_BINARY", env::current_exe()?)
        .exec();
    Err(error).context("cannot start cargo")
}
