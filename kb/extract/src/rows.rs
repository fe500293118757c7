//! CSV: rows below the names of their columns, or questions with what answers them.

use csv::{ReaderBuilder, StringRecord};

use super::{
    ExtractError, MAX_ROWS, Properties,
    builder::{Builder, Inline, Rows, TableRow},
    clean::{one_line, visible},
    document::Document,
    properties,
};

/// Rows that are read to detect the delimiter.
const MAX_SAMPLE_ROWS: usize = 20;
/// Maximum number of rows that a note lists.
const MAX_NAMED_ROWS: usize = 3;

/// Names of columns whose fields are questions, which are not statements to quote.
const QUESTION_COLUMNS: [&str; 3] = ["question", "frage", "pregunta"];
const LINK_COLUMNS: [&str; 6] = ["url", "link", "href", "adresse", "lien", "enlace"];

/// Reads a table into the model: rows below the names of their columns. A row with a question is the question and what answers it.
pub(crate) fn document(document: &str) -> Result<Document, ExtractError> {
    let (document, named) = without_separator_line(document);
    let delimiter = named.unwrap_or_else(|| delimiter(document));
    if let Some(line) = unclosed_quote(document, delimiter) {
        let reason = format!("the quotation mark in line {line} is never closed");
        return Err(ExtractError::Broken { reason });
    }
    let mut rows = reader(document, delimiter);
    let columns = Columns::from_header(rows.headers().map_err(|error| broken(&error))?);
    let question = (0..columns.names.len()).find(|at| columns.is_question(*at));
    let mut builder = Builder::default();
    let mut ragged = Vec::new();
    let mut table = vec![columns.header()];
    for (at, row) in rows.records().enumerate() {
        let row = row.map_err(|error| broken(&error))?;
        if at >= MAX_ROWS {
            return Err(ExtractError::TooMuchText { limit: format!("{MAX_ROWS} rows") });
        }
        if row.len() != columns.names.len() && row.iter().any(|field| !field.trim().is_empty()) {
            // Numbered as in a spreadsheet, where the header is row 1.
            ragged.push(at + 2);
        }
        match question {
            Some(question) => columns.write_answer(question, &row, &mut builder),
            None => table.push(columns.row(&row)),
        }
    }
    if table.len() > 1 {
        builder.table(Rows { rows: table, ..Rows::default() });
    }
    ragged_note(&ragged, columns.names.len()).into_iter().for_each(|note| builder.left_out(note));
    builder.finish(Properties::default())
}

struct Columns {
    names: Vec<String>,
    link: Option<usize>,
}

impl Columns {
    fn from_header(header: &StringRecord) -> Self {
        let named = |field: (usize, &str)| {
            let name = one_line(&visible(field.1));
            if name.is_empty() { column_name(field.0) } else { name }
        };
        let names: Vec<String> = header.iter().enumerate().map(named).collect();
        let is_link = |name: &String| LINK_COLUMNS.contains(&name.to_lowercase().as_str());
        Self { link: names.iter().position(is_link), names }
    }

    fn header(&self) -> TableRow {
        let names = self.names.iter().enumerate().filter(|(at, _)| Some(*at) != self.link);
        let cells = names.map(|(_, name)| Inline::from_text(name.trim_end_matches(':')).into()).collect();
        TableRow { is_header: true, cells, url: None }
    }

    fn url(&self, row: &StringRecord) -> Option<String> {
        self.link.and_then(|at| row.get(at)).and_then(properties::url)
    }

    fn row(&self, row: &StringRecord) -> TableRow {
        let url = self.url(row);
        let fields = row.iter().enumerate().filter(|(at, _)| Some(*at) != self.link);
        let cells = fields.map(|(_, field)| Inline::from_text(field).into()).collect();
        TableRow { is_header: false, cells, url }
    }

    /// Writes the question of a row, and each other field below it; the name of a column is needed if there are several.
    fn write_answer(&self, question: usize, row: &StringRecord, builder: &mut Builder) {
        builder.url(self.url(row));
        builder.question(Inline::from_text(row.get(question).unwrap_or_default()));
        let is_other = |at: &usize| *at != question && Some(*at) != self.link;
        let fields: Vec<(usize, &str)> =
            row.iter().enumerate().filter(|(at, field)| is_other(at) && !field.trim().is_empty()).collect();
        let is_named = fields.len() > 1;
        for (at, field) in fields {
            if is_named {
                builder.open_group();
                builder.label(Inline::from_text(
                    self.names.get(at).map_or("", |name| name.trim_end_matches(':')),
                ));
            }
            builder.paragraph(Inline::from_text(field));
            if is_named {
                builder.close();
            }
        }
    }

    fn is_question(&self, at: usize) -> bool {
        self.names.get(at).is_some_and(|name| QUESTION_COLUMNS.contains(&name.to_lowercase().as_str()))
    }
}

fn column_name(at: usize) -> String {
    format!("Column {}", at + 1)
}

fn reader(document: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(document.as_bytes())
}

/// Parses `sep=;` in the first line, as in files of Excel.
fn without_separator_line(document: &str) -> (&str, Option<u8>) {
    let (first, rest) = document.split_once('\n').unwrap_or((document, ""));
    match first.trim_end().strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => (rest, Some(*delimiter)),
        _ => (document, None),
    }
}

/// The delimiter for which most rows have as many fields as the header; among equals, the one with most fields.
fn delimiter(document: &str) -> u8 {
    let fit = |delimiter: &u8| {
        let mut rows = reader(document, *delimiter);
        let columns = rows.headers().map_or(1, StringRecord::len);
        let fitting =
            rows.records().take(MAX_SAMPLE_ROWS).flatten().filter(|row| row.len() == columns).count();
        if columns > 1 { (fitting + 1, columns) } else { (0, 0) }
    };
    // `max` returns the last of equals: the comma.
    b"|\t;,".iter().copied().max_by_key(fit).unwrap_or(b',')
}

/// The line, counted from 1, of a quotation mark that is never closed.
fn unclosed_quote(document: &str, delimiter: u8) -> Option<usize> {
    let mut line = 1;
    let mut is_field_start = true;
    let mut opened_in = None;
    for byte in document.bytes() {
        // A doubled quotation mark counts as closing and reopening the field, with the same result.
        match (opened_in, byte) {
            (Some(_), b'"') => opened_in = None,
            (None, b'"') if is_field_start => opened_in = Some(line),
            _ => {}
        }
        line += usize::from(byte == b'\n');
        is_field_start = opened_in.is_none() && (byte == delimiter || byte == b'\n' || byte == b'"');
    }
    opened_in
}

fn ragged_note(rows: &[usize], columns: usize) -> Option<String> {
    let named: Vec<String> = rows.iter().take(MAX_NAMED_ROWS).map(ToString::to_string).collect();
    let more = rows.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (rows, have) = if rows.len() == 1 { ("row", "has") } else { ("rows", "have") };
    (!named.is_empty())
        .then(|| format!("{rows} {}{more} {have} more or fewer than {columns} fields", named.join(", ")))
}

fn broken(error: &csv::Error) -> ExtractError {
    ExtractError::Broken { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(table: &str) -> String {
        document(table).unwrap().text
    }

    #[test]
    fn rows_stand_below_the_names_of_their_columns() {
        let read = document("Name;Preis;Url\nBasic;9 €;https://example.org/b\nPro;19 €;/pro\n").unwrap();
        assert_eq!(read.text, "Name\tPreis\nBasic\t9 €\nPro\t19 €");
        let place =
            |text: &str| read.place(read.text.find(text).unwrap()).and_then(|place| place.url.clone());
        assert_eq!((place("Basic").as_deref(), place("Pro")), (Some("https://example.org/b"), None));
        let read = document("Frage;Antwort\nWie lange?;30 Tage.\n").unwrap();
        assert_eq!(read.text, "Wie lange?\n\n30 Tage.");
        let read = document("Question;Answer;Team\nHow?;So.;Sales\n").unwrap();
        assert_eq!(read.text, "How?\n\nAnswer\n\nSo.\n\nTeam\n\nSales");
    }

    #[test]
    fn delimiters_are_detected() {
        for table in ["a,b\n1,2", "a;b\n1;2", "a\tb\n1\t2", "a|b\n1|2", "sep=;\na;b\n1;2", "a;b\r\n1;2\r\n"] {
            assert_eq!(text(table), "a\tb\n1\t2", "{table}");
        }
        assert_eq!(text("Preis;Text\n1,5;a\n2,5;b"), "Preis\tText\n1,5\ta\n2,5\tb");
        assert_eq!(text("Answer\n\"Yes, really.\"\n\nNo."), "Answer\nYes, really.\nNo.");
    }

    #[test]
    fn ragged_rows_are_kept_and_noted() {
        let read = document("a,b\n1\n1,2,3\n1,2\n").unwrap();
        assert_eq!(read.text, "a\tb\t\n1\t\t\n1\t2\t3\n1\t2\t");
        assert_eq!(read.notes, ["rows 2, 3 have more or fewer than 2 fields"]);
    }

    #[test]
    fn an_unclosed_quotation_mark_is_reported_with_its_line() {
        let error = document("a,b\n1,\"2\"\"\"\n3,\"4\n5,6\n").unwrap_err();
        assert_eq!(error.to_string(), "is broken: the quotation mark in line 3 is never closed");
        assert_eq!(text("size,b\n5\" pipe,x\n"), "size\tb\n5\" pipe\tx");
    }

    #[test]
    fn tables_without_rows_and_with_too_many_are_refused() {
        assert_eq!(document("a,b\n").unwrap_err(), ExtractError::Empty);
        let many = format!("a\n{}", "1\n".repeat(MAX_ROWS + 1));
        assert!(document(&many).unwrap_err().to_string().contains("200000 rows"));
    }
}
