//! The `kb` program; everything it does is in the library.

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
    // Before anything else: the environment holds the secret key, and processes of this program read what strangers wrote.
    extract::sandbox::hide_memory().context("cannot close the memory of this process to others")?;
    kb::run(kb::cli::Cli::parse())
}
