//! Prints the statements of a file, each as an answer would show it, and marks those that no answer may show with "✗".
//!
//! `cargo run -p extract --example statements -- FILE`; with `--text`, the text of each document and a form feed instead.

#![allow(clippy::print_stdout, reason = "its output")]

use std::path::Path;

use chat_core::statement::shown_text;
use extract::Format;
use extract::statement::statements;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (is_text, files) = match arguments.split_first() {
        Some((first, files)) if first == "--text" => (true, files),
        _ => (false, arguments.as_slice()),
    };
    for file in files {
        let format = Format::from_path(Path::new(file)).ok_or("unknown format")?;
        let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
        let document = extract::document(&bytes, format).map_err(|error| error.to_string())?;
        if is_text {
            println!("{}\u{c}", document.text);
            continue;
        }
        for note in &document.notes {
            println!("note: {note}");
        }
        for statement in statements(&document) {
            let mark = if statement.is_quotable { " " } else { "✗" };
            let text = document.slice(&statement.range);
            println!(
                "{mark} {}",
                shown_text(statement.kind, text, &statement.parts(&document).iter().collect::<Vec<_>>())
                    .replace('\n', "⏎")
            );
        }
    }
    Ok(())
}
