//! The worker of the sandbox in tests: reads one file from standard input.

use std::process::ExitCode;

fn main() -> ExitCode {
    extract::sandbox::run_worker(&std::env::args().next_back().unwrap_or_default())
}
