//! Output for terminals and scripts.

use std::io::{ErrorKind, Write};

use anyhow::anyhow;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, presets};
use serde::Serialize;

/// Escapes characters that would move the cursor, break the line, or change colours or the direction of the text: file names
/// and questions are untrusted.
pub fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Escapes each line of a text.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Truncated after a number of characters, on one line and printable.
pub fn excerpt(text: &str, characters: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", printable(words.get(..end).unwrap_or_default().trim_end())),
        None => printable(&words),
    }
}

/// A table without ruled lines, which both people and `awk` can read. On a terminal the flexible columns are truncated until a
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

/// A column of short words.
pub const fn word(name: &'static str) -> Column {
    Column { name, alignment: CellAlignment::Left, is_flexible: false }
}

/// A column of numbers.
pub const fn number(name: &'static str) -> Column {
    Column { name, alignment: CellAlignment::Right, is_flexible: false }
}

/// A column of text of any length, truncated if there is no room.
pub const fn text(name: &'static str) -> Column {
    Column { name, alignment: CellAlignment::Left, is_flexible: true }
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row with one cell per column. Cells need not be printable.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// As wide as the terminal of standard output, or else as wide as needed.
    pub fn render(&self) -> String {
        self.render_within(comfy_table::Table::new().width())
    }

    fn render_within(&self, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_truncation_indicator("…");
        // Cells may be truncated at any character: no cell contains this delimiter.
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

/// `n` things in singular or plural: "1 passage", "2 passages".
pub fn counted(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A timestamp of the database, to the minute: `2026-11-22 10:04`.
pub fn moment(timestamp: &str) -> String {
    let to_the_minute = timestamp.get(..16).unwrap_or(timestamp);
    to_the_minute.replacen('T', " ", 1)
}

/// Prints one line of JSON to standard output, with characters escaped that would affect a terminal.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&printable_json(&serde_json::to_string(value)?))
}

/// These characters occur only in strings, where an escape is equivalent.
fn printable_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) { line.push_str(&format!("\\u{:04x}", u32::from(c))) } else { line.push(c) }
    }
    line
}

/// Prints text to standard output. A closed pipe, as with `head`, is not an error.
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
    fn characters_that_affect_a_terminal_are_escaped() {
        assert_eq!(printable("a\u{1b}[2J\n\u{9b}1m\u{202e}b ü 漢"), r"a\u{1b}[2J\n\u{9b}1m\u{202e}b ü 漢");
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({ "name": "a\u{1b}[2J\u{9b}\u{202e}\u{7f}\"" });
        let json = printable_json(&value.to_string());
        assert!(!json.chars().any(is_hidden), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }

    #[test]
    fn an_excerpt_is_one_line_and_ends_at_a_whole_character() {
        assert_eq!(excerpt("ä\n  b\tc", 9), "ä b c");
        assert_eq!(excerpt("ää bb", 3), "ää…");
    }

    fn table() -> Table {
        let mut table = Table::new([word("status"), number("chunks"), text("source")]);
        table.row(["ready".to_owned(), "12".to_owned(), format!("kb/{}.md", "long name ".repeat(9))]);
        table.row(["failed".to_owned(), "0".to_owned(), "kb/漢字\u{1b}.md".to_owned()]);
        table
    }

    #[test]
    fn a_table_fits_a_terminal_and_truncates_only_flexible_columns() {
        let text = table().render_within(Some(40));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(lines[0], "STATUS  CHUNKS  SOURCE");
        assert_eq!(lines[1], "ready       12  kb/long name long nam…");
        assert!(lines[2].ends_with(r"漢字\u{1b}.md"), "{text}");
    }

    #[test]
    fn without_a_terminal_nothing_is_truncated() {
        let text = table().render_within(None);
        assert!(text.contains(&format!("{}.md", "long name ".repeat(9))), "{text}");
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_table_is_rendered_on_a_very_narrow_terminal() {
        assert!(table().render_within(Some(1)).lines().count() >= 3);
    }

    #[test]
    fn timestamps_are_printed_to_the_minute() {
        assert_eq!(moment("2026-11-22T10:04:05.123+00:00"), "2026-11-22 10:04");
        assert_eq!(moment("now"), "now");
    }
}
