//! Text for a terminal or a script.

use std::io::{ErrorKind, Write};

use anyhow::anyhow;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, presets};
use serde::Serialize;

/// On one line and without what would move the cursor, change colours or the order of the text: names of files and
/// questions are anybody's.
pub fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Printable, and so short that it fits where a whole text would not.
pub fn beginning(text: &str, characters: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", printable(words.get(..end).unwrap_or_default().trim_end())),
        None => printable(&words),
    }
}

/// Columns without lines, which both people and `awk` can read. On a terminal the widest columns are shortened until a
/// row fits.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// A column of a [`Table`].
#[derive(Debug, Clone, Copy)]
pub struct Column {
    name: &'static str,
    alignment: CellAlignment,
    is_flexible: bool,
}

/// Short words.
pub const fn word(name: &'static str) -> Column {
    Column { name, alignment: CellAlignment::Left, is_flexible: false }
}

/// Numbers.
pub const fn number(name: &'static str) -> Column {
    Column { name, alignment: CellAlignment::Right, is_flexible: false }
}

/// Text of any length, shortened where there is no room.
pub const fn text(name: &'static str) -> Column {
    Column { name, alignment: CellAlignment::Left, is_flexible: true }
}

impl Table {
    /// Without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// One cell a column. They need not be printable.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// As wide as the terminal that standard output is, or as wide as needed.
    pub fn render(&self) -> String {
        self.render_within(comfy_table::Table::new().width())
    }

    fn render_within(&self, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_truncation_indicator("…");
        // Cells are cut at any character: no cell has this one.
        table.set_delimiter('\0');
        match width {
            Some(width) => table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic),
            None => table.set_content_arrangement(ContentArrangement::Disabled),
        };
        table.set_header(self.columns.iter().map(|column| column.name.to_uppercase()));
        for cells in &self.rows {
            let mut row = Row::from(cells.iter().map(Cell::new).collect::<Vec<_>>());
            row.max_height(1);
            table.add_row(row);
        }
        for (column, drawn) in self.columns.iter().zip(table.column_iter_mut()) {
            drawn.set_padding((0, 2)).set_cell_alignment(column.alignment);
            if !column.is_flexible {
                drawn.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }
}

/// `n` things, with the right ending: "1 passage", "2 passages".
pub fn counted(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// An instant as the database writes it, to the minute: `2026-11-22 10:04`.
pub fn moment(timestamp: &str) -> String {
    let to_the_minute = timestamp.get(..16).unwrap_or(timestamp);
    to_the_minute.replacen('T', " ", 1)
}

/// One line of JSON on standard output, without characters that do something to a terminal.
///
/// # Errors
/// If it cannot be written.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&printable_json(&serde_json::to_string(value)?))
}

/// They only stand within strings, where an escape means the same.
fn printable_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) { line.push_str(&format!("\\u{:04x}", u32::from(c))) } else { line.push(c) }
    }
    line
}

/// Text on standard output. A reader that has seen enough, such as `head`, is no error.
///
/// # Errors
/// If it cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_change_a_terminal_is_spelled_out() {
        assert_eq!(printable("a\u{1b}[2J\n\u{9b}1m\u{202e}b ü 漢"), r"a\u{1b}[2J\n\u{9b}1m\u{202e}b ü 漢");
    }

    #[test]
    fn json_means_the_same_without_characters_that_change_a_terminal() {
        let value = serde_json::json!({ "name": "a\u{1b}[2J\u{9b}\u{202e}\u{7f}\"" });
        let json = printable_json(&value.to_string());
        assert!(!json.chars().any(is_hidden), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }

    #[test]
    fn a_beginning_is_one_line_and_ends_at_a_whole_character() {
        assert_eq!(beginning("ä\n  b\tc", 9), "ä b c");
        assert_eq!(beginning("ää bb", 3), "ää…");
    }

    fn table() -> Table {
        let mut table = Table::new([word("status"), number("chunks"), text("source")]);
        table.row(["ready".to_owned(), "12".to_owned(), format!("kb/{}.md", "long name ".repeat(9))]);
        table.row(["failed".to_owned(), "0".to_owned(), "kb/漢字\u{1b}.md".to_owned()]);
        table
    }

    #[test]
    fn a_table_fits_a_terminal_and_keeps_what_is_short() {
        let text = table().render_within(Some(40));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(lines[0], "STATUS  CHUNKS  SOURCE");
        assert_eq!(lines[1], "ready       12  kb/long name long nam…");
        assert!(lines[2].ends_with(r"漢字\u{1b}.md"), "{text}");
    }

    #[test]
    fn without_a_terminal_nothing_is_cut() {
        let text = table().render_within(None);
        assert!(text.contains(&format!("{}.md", "long name ".repeat(9))), "{text}");
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_terminal_that_is_too_narrow_is_no_reason_to_fail() {
        assert!(table().render_within(Some(1)).lines().count() >= 3);
    }

    #[test]
    fn moments_are_read_to_the_minute() {
        assert_eq!(moment("2026-11-22T10:04:05.123+00:00"), "2026-11-22 10:04");
        assert_eq!(moment("now"), "now");
    }
}
