//! Reads one file and prints the document as JSON; also the worker of the sandbox in tests.

use std::{ffi::OsString, io::Write, path::Path, process::ExitCode};

use extract::document::Document;
use extract::{ExtractError, Format, read_limited, sandbox};

/// Followed by the format for [`sandbox::run_worker`].
const WORKER: &str = "--worker";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [worker, format] if worker == WORKER => sandbox::run_worker(format.to_string_lossy()),
        [path] => print(&read(Path::new(path))),
        _ => {
            eprintln!("usage: extract FILE");
            ExitCode::from(2)
        }
    }
}

fn read(path: &Path) -> Result<Document, ExtractError> {
    let reason = |reason: &str| ExtractError::Unreadable(reason.to_owned());
    let format = Format::from_path(path).ok_or_else(|| reason("no known extension"))?;
    let program = std::env::current_exe().map_err(|error| reason(&error.to_string()))?;
    sandbox::Sandbox::new(program, vec![WORKER.into()]).read(&read_limited(path)?, format)
}

fn print(result: &Result<Document, ExtractError>) -> ExitCode {
    match result {
        Ok(document) => {
            let json = serde_json::to_string_pretty(document).unwrap_or_default();
            let _ = writeln!(std::io::stdout(), "{json}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("The file {error}.");
            ExitCode::FAILURE
        }
    }
}
