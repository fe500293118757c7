//! The `kb` program; everything it does is in the library.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match kb::run(kb::cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
