//! Prints the statements of files, as answers would show them, with "✗" before those that no answer may show.
//!
//! `cargo run -p extract --example statements -- FILE`; with `--text`, the text of each document and a form
//! feed instead.

#![allow(clippy::print_stdout, reason = "its output")]

use std::path::Path;

fn main() -> Result<(), String> {
    let (options, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|text| text == "--text");
    for file in files {
        let format = extract::Format::from_path(Path::new(&file)).ok_or("unknown format")?;
        let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
        let document = extract::document(&bytes, format).map_err(|error| error.to_string())?;
        if options.is_empty() {
            document.notes.iter().for_each(|note| println!("note: {note}"));
            extract::statement::shown(&document).iter().for_each(|line| println!("{line}"));
        } else {
            println!("{}\u{c}", document.text);
        }
    }
    Ok(())
}
