//! The `kb` program; the library does the work.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    // Before anything else: the environment contains the secret key, and this program starts processes that read untrusted
    // files.
    extract::sandbox::hide_memory().context("cannot hide the memory of this process from others")?;
    kb::run(kb::cli::Cli::parse())
}
