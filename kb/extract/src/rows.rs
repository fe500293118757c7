//! Reads CSV: tables with their headers, and the lines above them.

use std::collections::{BTreeMap, HashSet};

use csv::{ReaderBuilder, StringRecord};

use super::{
    ExtractError, MAX_ROWS, Properties,
    builder::{Builder, Inline, Rows, TableRow},
    document::Document,
    left_out::named,
    properties,
};

/// Rows that are read to detect the delimiter.
const MAX_SAMPLE_ROWS: usize = 20;
/// Maximum number of rows that a note lists.
const MAX_NAMED_ROWS: usize = 3;

/// Reads tables into the model: rows below the names of their columns. A row with a question is the question and what answers it.
pub(crate) fn document(document: &str) -> Result<Document, ExtractError> {
    let (document, named) = without_separator_line(document);
    let delimiter = named.unwrap_or_else(|| delimiter(document));
    if let Some(line) = unclosed_quote(document, delimiter) {
        let reason = format!("the quotation mark in line {line} is never closed");
        return Err(ExtractError::Broken(reason));
    }
    let mut builder = Builder::default();
    for part in parts(document, delimiter)? {
        write(part, &mut builder);
    }
    builder.finish(Properties::default())
}

/// Lines above a table, its header and its rows, each with its number.
#[derive(Default)]
struct Part {
    above: Vec<StringRecord>,
    header: Vec<StringRecord>,
    rows: Vec<(usize, StringRecord)>,
    /// True if its first row may or may not be a header.
    is_unclear: bool,
}

/// The tables of a file, which blank lines separate. Rows after a blank line may also go on with the table above.
fn parts(document: &str, delimiter: u8) -> Result<Vec<Part>, ExtractError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(document.as_bytes());
    let mut rows: Vec<(usize, StringRecord)> = Vec::new();
    for (at, row) in (1..).zip(reader.records()) {
        let row = row.map_err(|error| broken(&error))?;
        if at > MAX_ROWS {
            return Err(ExtractError::TooMuchText(format!("{MAX_ROWS} rows")));
        }
        // The position of a row is that before the blank lines above it.
        let start =
            row.position().and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or_default();
        let (before, after) = document.split_at_checked(start).unwrap_or_default();
        let is_end = |c: &char| matches!(c, '\r' | '\n');
        let ends = before.chars().rev().take_while(is_end).chain(after.chars().take_while(is_end));
        let is_blank = filled(&row) == 0;
        if (is_blank || ends.filter(|c| *c == '\n').count() > 1) && !rows.is_empty() {
            add_part(std::mem::take(&mut rows), &mut parts);
        }
        if !is_blank {
            rows.push((at, row));
        }
    }
    add_part(rows, &mut parts);
    Ok(parts)
}

fn add_part(rows: Vec<(usize, StringRecord)>, parts: &mut Vec<Part>) {
    let is_line = |row: &StringRecord| {
        filled(row) == 1 && row.iter().next().is_some_and(|field| !field.trim().is_empty())
    };
    let width = rows.iter().map(|(_, row)| filled(row)).max().unwrap_or_default();
    // One more row of a table with one column, or a line.
    let is_narrow = parts.last().is_some_and(|before| before.rows.iter().any(|(_, row)| row.len() == 1));
    let is_alone = rows.len() == 1 && !is_narrow;
    // "Included:" above rows and "Not included:" between them are names of groups.
    let is_group =
        |row: &StringRecord| is_line(row) && row.iter().next().is_some_and(|line| line.trim().ends_with(':'));
    let has_groups = width > 1 && rows.iter().filter(|(_, row)| is_group(row)).count() > 1;
    let is_above = |row: &StringRecord| is_line(row) && !(has_groups && is_group(row));
    let lines = rows.iter().take_while(|(_, row)| (width > 1 || is_alone) && is_above(row)).count();
    let mut part = Part::default();
    let mut rows = rows.into_iter();
    part.above.extend(rows.by_ref().take(lines).map(|(_, row)| row));
    part.rows = rows.collect();
    let texts: Vec<Vec<String>> =
        part.rows.iter().map(|(_, row)| row.iter().map(|field| field.trim().to_owned()).collect()).collect();
    let Some(first) = texts.first() else {
        return parts.extend((!part.above.is_empty()).then_some(part));
    };
    let is_named = !has_groups && are_names(first) && (texts.len() > 1 || parts.is_empty());
    if let Some(before) = parts.last_mut().filter(|before| lines == 0 && !before.rows.is_empty()) {
        let is_like = before.rows.iter().any(|(_, row)| {
            first.iter().zip(row).skip(1).any(|(field, other)| !field.is_empty() && field == other.trim())
        });
        let is_as_wide = before.rows.iter().any(|(_, row)| row.len() == first.len());
        if is_as_wide && (!is_named || is_like) {
            return before.rows.append(&mut part.rows);
        }
        part.is_unclear = is_as_wide && header(&texts) != Some(true);
    }
    // Units stand below the names, with nothing in the first column.
    let is_units = |row: &Vec<String>| {
        let is_bracketed = |field: &String| field.is_empty() || field.starts_with(['(', '[']);
        row.iter().all(is_bracketed) || (row.first().is_some_and(String::is_empty) && are_names(row))
    };
    let has_units = is_named
        && texts.get(1).is_some_and(is_units)
        && texts.iter().skip(2).all(|row| row.first().is_some_and(|field| !field.is_empty()));
    if is_named && !part.is_unclear {
        let header = part.rows.drain(..1 + usize::from(has_units));
        part.header = header.map(|(_, row)| row).collect();
    }
    parts.push(part);
}

fn write(part: Part, builder: &mut Builder) {
    let above: Vec<&str> = part.above.iter().filter_map(|row| row.iter().next()).collect();
    // A line above a table names it, unless it is a sentence.
    let is_caption = |line: &&&str| !part.rows.is_empty() && !line.trim_end().ends_with(['.', '!']);
    let caption = above.last().filter(is_caption).copied().unwrap_or_default();
    for line in above.iter().take(above.len() - usize::from(!caption.is_empty())) {
        builder.paragraph(Inline::from_text(line));
    }
    if part.is_unclear {
        let texts = |(_, row): &(usize, StringRecord)| row.iter().map(str::to_owned).collect();
        let texts: Vec<Vec<String>> = part.rows.iter().map(texts).collect();
        builder.paragraph(Inline::from_text(caption));
        return builder.code(&lines_of(&texts));
    }
    let named = part.header.iter().map(StringRecord::len).max();
    let width = named.or(part.rows.iter().map(|(_, row)| row.len()).max()).unwrap_or_default();
    let ragged: Vec<usize> = part
        .rows
        .iter()
        .filter(|(_, row)| named.is_some_and(|named| row.len() != named))
        .map(|(at, _)| *at)
        .collect();
    ragged_note(&ragged, width).into_iter().for_each(|note| builder.left_out(note));
    let fields = |at: usize| {
        part.rows.iter().filter_map(move |(_, row)| row.get(at)).filter(|field| !field.trim().is_empty())
    };
    let find = |is: fn(&str) -> bool| (0..width).find(|at| fields(*at).count() > 0 && fields(*at).all(is));
    let link = find(|field| properties::url(field).is_some());
    let question = find(|field| field.trim_end().ends_with(['?', '？', '؟'])).filter(|_| width > 1);
    let row = |row: &StringRecord, is_header: bool| TableRow {
        is_header,
        cells: (0..)
            .zip(row)
            .filter(|(at, _)| Some(*at) != link)
            .map(|(_, field)| Inline::from_text(if is_header { name(field) } else { field }).into())
            .collect(),
        url: link.filter(|_| !is_header).and_then(|at| row.get(at)).and_then(properties::url),
    };
    if let Some(question) = question {
        let header = part.header.first().cloned().unwrap_or_default();
        for (_, fields) in &part.rows {
            builder.url(row(fields, false).url);
            builder.question(Inline::from_text(fields.get(question).unwrap_or_default()));
            let is_other = |at: &usize| *at != question && Some(*at) != link;
            write_answer(&header, fields, is_other, builder);
        }
    } else if part.rows.is_empty() && !part.header.is_empty() {
        builder.left_out("left out the names of columns of a table without rows".to_owned());
    } else {
        let header = part.header.iter().map(|fields| row(fields, true));
        let rows = header.chain(part.rows.iter().map(|(_, fields)| row(fields, false))).collect();
        builder.table(Rows { caption: Inline::from_text(caption).into(), rows });
    }
}

/// Writes the fields that answer a question; the name of a column is needed if there are several.
fn write_answer(
    header: &StringRecord,
    row: &StringRecord,
    is_answer: impl Fn(&usize) -> bool,
    builder: &mut Builder,
) {
    let is_filled = |(at, field): &(usize, &str)| is_answer(at) && !field.trim().is_empty();
    let is_named = row.iter().enumerate().filter(is_filled).count() > 1;
    for (at, field) in row.iter().enumerate().filter(is_filled) {
        if is_named {
            builder.open_group();
            builder.label(Inline::from_text(name(header.get(at).unwrap_or_default())));
        }
        builder.paragraph(Inline::from_text(field));
        if is_named {
            builder.close();
        }
    }
}

fn name(field: &str) -> &str {
    field.trim().trim_end_matches(':')
}

fn filled(row: &StringRecord) -> usize {
    row.iter().filter(|field| !field.trim().is_empty()).count()
}

/// Returns whether the first row of a table is a header, if that is clear. Without its first cell,
/// a row may go on from the one above.
pub(crate) fn clear_header(rows: &mut [Vec<String>], has_header: bool) -> Option<bool> {
    let width = rows.iter().map(Vec::len).max()?;
    rows.iter_mut().for_each(|row| row.resize(width, String::new()));
    let is_unclear = rows.iter().any(|row| row.first().is_none_or(String::is_empty)) || rows.len() < 2;
    let is_header = if has_header { Some(true) } else { header(rows) };
    is_header.filter(|is_header| !is_unclear && (*is_header || width == 2))
}

/// The table of these rows, if its structure is clear.
pub(crate) fn texts_of_table(mut rows: Vec<Vec<String>>, has_header: bool) -> Option<Rows> {
    let is_header = clear_header(&mut rows, has_header)?;
    Some(table_of(rows, is_header))
}

/// Rows as lines, with tabs between their cells.
pub(crate) fn lines_of(rows: &[Vec<String>]) -> String {
    rows.iter().map(|row| row.join("\t")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn table_of(rows: Vec<Vec<String>>, has_header: bool) -> Rows {
    let row = |(at, cells): (usize, Vec<String>)| TableRow {
        is_header: has_header && at == 0,
        cells: cells.iter().map(|cell| Inline::from_text(cell).into()).collect(),
        url: None,
    };
    Rows { rows: rows.into_iter().enumerate().map(row).collect(), ..Rows::default() }
}

/// Returns whether the first row is a header, guessed from the texts: names alone are in capitals,
/// or are no values, and what is below them is of another kind. With two columns the latter is
/// never certain.
fn header(rows: &[Vec<String>]) -> Option<bool> {
    let Some((names, rows)) = rows.split_first() else { return Some(false) };
    if !are_names(names) || names.iter().any(|name| name.contains(|c: char| c.is_ascii_digit())) {
        return Some(false);
    }
    let is_capital = |row: &[String]| {
        let text = row.concat();
        !text.contains(char::is_lowercase) && text.contains(char::is_uppercase)
    };
    if is_capital(names) && !rows.is_empty() && !rows.iter().any(|row| is_capital(row)) {
        return Some(true);
    }
    let column = |at: usize| rows.iter().filter_map(move |row| row.get(at)).filter(|cell| !cell.is_empty());
    let is_other_kind = |at: usize| {
        let values: HashSet<&String> = column(at).collect();
        let is_repeated = values.len() < column(at).count();
        is_repeated || column(at).all(|cell| cell.contains(|c: char| c.is_ascii_digit()))
    };
    let is_value = |(at, name): (usize, &String)| column(at).any(|cell| cell == name);
    let is_clear = names.len() > 2
        && rows.len() > 1
        && (1..names.len()).any(is_other_kind)
        && !names.iter().enumerate().any(is_value);
    is_clear.then_some(true)
}

/// Returns whether fields may be the names of columns: no numbers but years, and all different. The
/// first may be blank.
fn are_names(row: &[String]) -> bool {
    let names: Vec<&String> = row.iter().filter(|name| !name.is_empty()).collect();
    let is_number = |name: &&&String| !name.contains(char::is_alphabetic);
    let is_year = |name: &&String| name.len() == 4 && (name.starts_with("19") || name.starts_with("20"));
    let different: HashSet<&&String> = names.iter().collect();
    let is_amount = |name: &&&String| name.starts_with(|c: char| c.is_ascii_digit()) && !is_year(name);
    !names.is_empty()
        && different.len() == names.len()
        && !names.iter().any(|name| is_number(&name) && !is_year(name))
        && !names.iter().any(|name| is_amount(&name))
        && (row.first().is_some_and(String::is_empty) || !names.iter().all(is_year))
        && !names.iter().any(|name| name.ends_with(['?', '？', '؟']) || properties::url(name).is_some())
}

/// Parses `sep=;` in the first line, as in files of Excel.
fn without_separator_line(document: &str) -> (&str, Option<u8>) {
    let (first, rest) = document.split_once('\n').unwrap_or((document, ""));
    match first.trim_end().strip_prefix("sep=").map(str::as_bytes) {
        Some([delimiter]) => (rest, Some(*delimiter)),
        _ => (document, None),
    }
}

/// The delimiter for which most rows have the same number of fields; among equals, the one with most fields.
fn delimiter(document: &str) -> u8 {
    let fit = |delimiter: &u8| {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let mut rows = ReaderBuilder::new();
        let mut rows =
            rows.delimiter(*delimiter).flexible(true).has_headers(false).from_reader(document.as_bytes());
        for row in rows.records().take(MAX_SAMPLE_ROWS).flatten().filter(|row| row.len() > 1) {
            *counts.entry(row.len()).or_default() += 1;
        }
        counts.into_iter().map(|(fields, rows)| (rows, fields)).max()
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
    let (noun, have) = if rows.len() == 1 { ("row", "has") } else { ("rows", "have") };
    let rows = named(rows, MAX_NAMED_ROWS);
    (!rows.is_empty()).then(|| format!("{noun} {rows} {have} more or fewer than {columns} fields"))
}

fn broken(error: &csv::Error) -> ExtractError {
    ExtractError::Broken(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;

    #[test]
    fn rows_stand_below_the_names_of_their_columns() {
        let read = document("Name;Preis;Seite\nBasic;9 €;https://example.org/b\nPro;19 €;\n").unwrap();
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
        for document in
            ["a,b\n1,2", "a;b\n1;2", "a\tb\n1\t2", "a|b\n1|2", "sep=;\na;b\n1;2", "a;b\r\n1;2\r\n"]
        {
            assert_eq!(shown(document), ["Table1: a|b/1|2"], "{document}");
        }
        assert_eq!(shown("Preis;Text\n1,5;a\n2,5;b"), ["Table1: Preis|Text/1,5|a/2,5|b"]);
        assert_eq!(shown("Answer\n\"Yes, really.\"\n\nNo."), ["Table1: Answer/Yes, really./No."]);
    }

    #[test]
    fn ragged_rows_are_kept_and_noted() {
        let table = document("a,b\n1\n1,2,3\n1,2\n").unwrap();
        assert_eq!(table.text, "a\tb\t\n1\t\t\n1\t2\t3\n1\t2\t");
        assert_eq!(table.notes, ["rows 2, 3 have more or fewer than 2 fields"]);
    }

    #[test]
    fn an_unclosed_quotation_mark_is_reported_with_its_line() {
        let error = document("a,b\n1,\"2\"\"\"\n3,\"4\n5,6\n").unwrap_err();
        assert_eq!(error.to_string(), "is broken: the quotation mark in line 3 is never closed");
        assert_eq!(shown("size,b\n5\" pipe,x\n"), ["Table1: size|b/5\" pipe|x"]);
    }

    #[test]
    fn tables_without_rows_and_with_too_many_are_refused() {
        assert_eq!(document("a,b\n").map(|_| ()).unwrap_err(), ExtractError::Empty);
        let many = format!("a\n{}", "1\n".repeat(MAX_ROWS + 1));
        assert!(document(&many).map(|_| ()).unwrap_err().to_string().contains("200000 rows"));
    }

    fn shown(document: &str) -> Vec<String> {
        let read = super::document(document).unwrap();
        let block = |block: &crate::document::Block| {
            let header =
                block.children.iter().filter(|row| row.kind == BlockKind::Row { is_header: true }).count();
            let kind = format!("{:?}", block.kind);
            format!("{kind}{header}: {}", read.slice(&block.range).replace('\n', "/").replace('\t', "|"))
        };
        read.blocks.iter().map(block).collect()
    }

    #[test]
    fn only_names_are_a_header() {
        assert_eq!(shown("Rad;500\nHelm;30"), ["Table0: Rad|500/Helm|30"]);
        assert_eq!(shown("Tag,Tag\nMo,zu"), ["Table0: Tag|Tag/Mo|zu"]);
        assert_eq!(shown(",Basic,Pro\nSSO,no,yes"), ["Table1: |Basic|Pro/SSO|no|yes"]);
        assert_eq!(
            shown("Preise,2023,2024\nErwachsene,10,12"),
            ["Table1: Preise|2023|2024/Erwachsene|10|12"]
        );
        assert_eq!(shown("Name,Frei\nAnna,\n,ja"), ["Table1: Name|Frei/Anna|/|ja"]);
    }

    #[test]
    fn units_below_the_names_are_part_of_the_header() {
        for units in [";EUR;kg", "(Name);(EUR);(kg)"] {
            let found = shown(&format!("Produkt;Preis;Gewicht\n{units}\nRad;500;12\nHelm;30;1"));
            assert!(found[0].starts_with("Table2: Produkt|Preis|Gewicht/"), "{found:?}");
        }
        assert_eq!(shown("Kurs;Tag\n;Mo\n;Di"), ["Table1: Kurs|Tag/|Mo/|Di"]);
    }

    #[test]
    fn a_file_may_have_several_tables_with_lines_above_them() {
        assert_eq!(
            shown(
                "Alle Preise sind netto.\nGültig bis 2024\nProdukt;Preis\nRad;500\n\nNicht mietbar\n\nTeil;Grund;Seit\nE-Rad;defekt;Mai"
            ),
            [
                "Paragraph0: Alle Preise sind netto.",
                "Table1: Gültig bis 2024//Produkt|Preis/Rad|500",
                "Paragraph0: Nicht mietbar",
                "Table1: Teil|Grund|Seit/E-Rad|defekt|Mai",
            ]
        );
        assert_eq!(shown("Item,Price\nA,1\n\nB,2\n,,\nC,3"), ["Table1: Item|Price/A|1/B|2/C|3"]);
        assert_eq!(shown("Item,Price\r\nA,1\r\nB,2\r\n"), ["Table1: Item|Price/A|1/B|2"]);
    }

    #[test]
    fn rows_after_a_blank_line_that_may_be_another_table_stay_together() {
        assert_eq!(
            shown("Tag,Status\nMo,offen\n\nKurs,Leitung\nYoga,Anna"),
            ["Table1: Tag|Status/Mo|offen", "Code0: Kurs|Leitung/Yoga|Anna"]
        );
    }

    #[test]
    fn a_column_of_questions_is_known_by_its_question_marks() {
        assert_eq!(
            shown("q,a\nCan I?,No.\nWhy?,So."),
            ["Question0: Can I?", "Paragraph0: No.", "Question0: Why?", "Paragraph0: So."]
        );
    }
}
