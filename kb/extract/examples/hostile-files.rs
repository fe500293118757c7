//! Writes the folder of hostile files, and prints the expected result of each as JSON: `hostile-files DIR`.

use std::{io::Write, path::PathBuf};

// The program of the sandbox belongs to tests; only what makes files is used here.
#[path = "../tests/support/hostile.rs"]
mod hostile;
#[path = "../tests/support/oversized.rs"]
mod oversized;
#[path = "../tests/support/pdf.rs"]
#[allow(dead_code, reason = "a part of it is used")]
mod pdf;
#[path = "../tests/support/zip.rs"]
mod zip;

use hostile::Expected;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: hostile-files DIR");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&folder)?;
    let files: Vec<serde_json::Value> = hostile::write(&folder).iter().map(description).collect();
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&files)?)
}

/// `name` is lossy if it is not Unicode; the text or the error contains `contains`, and so does the answer to `question`.
fn description(file: &hostile::Hostile) -> serde_json::Value {
    let (expected, contains) = match file.expected {
        Expected::Text(text) => ("text", Some(text)),
        Expected::Error(words) => ("error", Some(words)),
        Expected::Either => ("either", None),
        Expected::Unknown => ("unknown format", None),
    };
    serde_json::json!({
        "name": String::from_utf8_lossy(&file.name),
        "expected": expected,
        "contains": contains,
        "question": file.question,
    })
}
