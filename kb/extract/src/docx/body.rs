//! Reads the text of a document: paragraphs, headings, lists, tables and notes.

use std::collections::HashMap;

use super::{
    numbering::{Item, Numbering},
    styles::{self, ListLevel, Role, Styles},
    text::{Text, TextReader},
};
use crate::{
    ExtractError,
    builder::{Builder, Inline, Rows, TableRow},
    clean::{one_line, visible},
    document::MarkKind,
    markers::Markers,
    rows::{clear_header, lines_of},
    shifted::{Line, Shift, is_raised},
    xml::{self, Element, Step},
};

/// Footnotes and endnotes, each by the kind and id of its references.
type Notes = HashMap<String, String>;

/// Stands before the number of a note in the text of a paragraph.
const NOTE: char = '\u{fff9}';
const MAX_COLUMNS: usize = 100;
/// A smaller table whose header is not clear stays together.
const MAX_UNCLEAR_BYTES: usize = 1000;

/// Writes the content, and says whether hidden text was left out.
pub(super) fn read(
    part: &str,
    styles: &Styles,
    numbering: Numbering,
    footnotes: &str,
    endnotes: &str,
) -> Result<(Builder, bool), ExtractError> {
    let mut reader = TextReader::new(styles);
    let mut notes = read_notes(footnotes, &mut reader)?;
    notes.extend(read_notes(endnotes, &mut reader)?);
    let mut body = Body::new(reader, styles, numbering, notes);
    xml::walk_current(part, |step| body.step(step))?;
    body.close_lists(0);
    let begun = std::mem::take(&mut body.begun);
    body.paragraphs_of(&begun, false);
    body.write_notes();
    let left_out = &body.reader.left_out;
    left_out.notes().into_iter().for_each(|note| body.builder.left_out(note));
    Ok((body.builder, left_out.hidden > 0))
}

/// The notes of `footnotes.xml` or `endnotes.xml`, each on one line, without the empty ones.
fn read_notes(part: &str, reader: &mut TextReader<'_>) -> Result<Notes, ExtractError> {
    let mut notes = Notes::new();
    let mut open: Option<(String, String)> = None;
    let mut paragraph = Text::default();
    xml::walk_current(part, |step| {
        if !reader.step(&step, open.is_some().then_some(&mut paragraph)) {
            return;
        }
        match (step, &mut open) {
            (Step::Open(name @ ("footnote" | "endnote"), element), _) => {
                // Separators between text and notes have a type.
                let is_note = element.attribute("type").is_none_or(|kind| kind == "normal");
                let id = element.attribute("id").filter(|_| is_note);
                open = id.map(|id| (format!("{name}Reference {id}"), String::new()));
            }
            (Step::Open("pStyle", element), _) => paragraph.style = element.val(),
            (Step::Close("p"), Some((_, note))) => {
                note.push_str(&std::mem::take(&mut paragraph).line.take());
                note.push(' ');
            }
            (Step::Close("footnote" | "endnote"), _) => {
                let note = open.take().map(|(id, note)| (id, one_line(&visible(&note))));
                notes.extend(note.filter(|(_, note)| !note.is_empty()));
            }
            _ => {}
        }
    })?;
    Ok(notes)
}

struct Body<'a> {
    reader: TextReader<'a>,
    styles: &'a Styles,
    builder: Builder,
    numbering: Numbering,
    notes: Notes,
    /// The notes to which the text has led, in the order of their numbers.
    used_notes: Vec<String>,
    /// A stack, because a paragraph may contain a text box with paragraphs.
    paragraphs: Vec<Paragraph>,
    /// A stack, because a cell may contain a table.
    tables: Vec<Table>,
    /// Levels of the lists whose last item is open, outermost first.
    lists: Vec<usize>,
    /// The numbering of the last item that is not in the item of another.
    outer: Option<(String, bool)>,
    /// The numbering of bullets in the items of another, and the level of the first of them.
    inner: Option<(String, usize)>,
    markers: Markers,
    /// The start of the next paragraph, which is a paragraph of its own in the file.
    begun: String,
    /// True if the properties of a paragraph are open, and in them those of the mark at its end.
    is_in_properties: bool,
    is_in_mark: bool,
}

#[derive(Default)]
struct Paragraph {
    text: Text,
    /// True if it is the large first letter of the next paragraph.
    is_drop_cap: bool,
    /// True if a tracked change deleted its end, so that the next paragraph continues it.
    is_end_deleted: bool,
    outline_level: Option<u8>,
    place: Option<ListLevel>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    /// The number of notes before it.
    first_note: usize,
    cell: Cell,
    span: usize,
    is_merged_with_above: bool,
    is_cell_deleted: bool,
    is_in_row_properties: bool,
}

#[derive(Default)]
struct Row {
    cells: Vec<Cell>,
    is_header: bool,
    is_deleted: bool,
    is_hidden: bool,
}

#[derive(Clone, Default)]
struct Cell {
    text: String,
    /// True if it has a paragraph that is not bold.
    has_light: bool,
}

impl Row {
    fn has_text(&self) -> bool {
        self.cells.iter().any(|cell| !cell.text.trim().is_empty())
    }
}

impl<'a> Body<'a> {
    fn new(reader: TextReader<'a>, styles: &'a Styles, numbering: Numbering, notes: Notes) -> Self {
        Self {
            reader,
            styles,
            builder: Builder::default(),
            numbering,
            notes,
            used_notes: Vec::new(),
            paragraphs: Vec::new(),
            tables: Vec::new(),
            lists: Vec::new(),
            outer: None,
            inner: None,
            markers: Markers::default(),
            begun: String::new(),
            is_in_properties: false,
            is_in_mark: false,
        }
    }

    fn step(&mut self, step: Step<'_>) {
        self.note_deletion(&step);
        let text = self.paragraphs.last_mut().map(|paragraph| &mut paragraph.text);
        if self.builder.is_full() || !self.reader.step(&step, text) {
            return;
        }
        match step {
            Step::Open(name, element) => self.open(name, &element),
            Step::Close(name) => self.close(name),
            Step::Text(_) => {}
        }
    }

    /// A deleted row and a deleted end of a paragraph have the same sign as deleted text.
    fn note_deletion(&mut self, step: &Step<'_>) {
        match step {
            Step::Open("pPr", _) => self.is_in_properties = true,
            Step::Close("pPr") => self.is_in_properties = false,
            Step::Open("rPr", _) => self.is_in_mark = self.is_in_properties,
            Step::Close("rPr") => self.is_in_mark = false,
            Step::Open("del" | "moveFrom", _) if self.is_in_mark => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.is_end_deleted = true;
                }
            }
            Step::Open("del", _) => {
                let table = self.tables.last_mut().filter(|table| table.is_in_row_properties);
                if let Some(row) = table.and_then(|table| table.rows.last_mut()) {
                    row.is_deleted = true;
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, name: &str, element: &Element<'_>) {
        match name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "tbl" => {
                let first_note = self.used_notes.len();
                self.tables.push(Table { first_note, ..Table::default() });
            }
            "footnoteReference" | "endnoteReference" => self.note(name, element),
            "pStyle" | "outlineLvl" | "numId" | "ilvl" | "framePr" => self.paragraph_property(name, element),
            _ => {
                if let Some(table) = self.tables.last_mut() {
                    table.open(name, element);
                }
            }
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.end_paragraph(paragraph);
                }
            }
            "tbl" => {
                if let Some(table) = self.tables.pop() {
                    self.end_table(table);
                }
            }
            _ => {
                let hidden = self.tables.last_mut().and_then(|table| table.close(name));
                self.reader.left_out.hidden += usize::from(hidden.is_some_and(|row| row.has_text()));
            }
        }
    }

    fn paragraph_property(&mut self, name: &str, element: &Element<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let number = || element.val().and_then(|level| level.parse().ok());
        match name {
            "pStyle" => paragraph.text.style = element.val(),
            "framePr" => {
                paragraph.is_drop_cap = element.attribute("dropCap").is_some_and(|kind| kind != "none");
            }
            "outlineLvl" => {
                paragraph.outline_level = element.val().and_then(|level| level.parse().ok());
            }
            "numId" => paragraph.place.get_or_insert_default().numbering = element.val(),
            _ => paragraph.place.get_or_insert_default().level = number(),
        }
    }

    fn note(&mut self, name: &str, element: &Element<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let id = element.attribute("id").unwrap_or_default();
        let note = self.notes.get(&format!("{name} {id}"));
        if let Some(note) = note.filter(|_| self.reader.is_visible(&paragraph.text)) {
            self.used_notes.push(note.clone());
            paragraph.text.line.set(None);
            paragraph.text.line.push(&format!("{NOTE}{}", raised(self.used_notes.len())));
        }
    }

    /// Writes the notes in the order of their numbers.
    fn write_notes(&mut self) {
        if !self.used_notes.is_empty() {
            self.builder.heading(1, Inline::default(), None);
        }
        for (number, note) in (1..).zip(std::mem::take(&mut self.used_notes)) {
            let number = raised(number);
            self.builder.open_note(&number);
            self.builder.paragraph(Inline::from_text(&format!("{number} {note}")));
            self.builder.close();
        }
    }

    fn end_paragraph(&mut self, mut paragraph: Paragraph) {
        let mut text = visible(&paragraph.text.line.take());
        let is_blank = text.trim().is_empty();
        if paragraph.is_drop_cap || paragraph.is_end_deleted {
            self.begun.push_str(text.trim());
            if paragraph.is_end_deleted && !is_blank {
                self.begun.push(' ');
            }
            return;
        }
        if !is_blank {
            text = std::mem::take(&mut self.begun) + text.trim_start();
        }
        let style = paragraph.text.style.clone().unwrap_or_default();
        let role = paragraph.outline_level.map_or_else(|| self.styles.role(&style), styles::heading);
        if role == Role::Contents || (is_blank && paragraph.text.is_hidden()) {
            return;
        }
        self.markers.note_marks(&text);
        // A paragraph without text has a number, too.
        let item = self.item(&paragraph, &style);
        let number = item.as_ref().filter(|item| item.is_numbered()).map(|item| format!("{} ", item.marker));
        if let Some(table) = self.tables.last_mut() {
            let text = number.unwrap_or_default() + text.trim();
            return table.push(&text, paragraph.text.is_bold());
        }
        match role {
            _ if is_blank => {}
            Role::Heading(level) => {
                self.close_lists(0);
                let text = number.unwrap_or_default() + text.trim();
                self.builder.heading(level, inline(&text, false), None);
            }
            _ => {
                // An item whose marker is typed. A bold one is a heading.
                let is_typed = item.is_none() && !paragraph.text.is_bold();
                let typed = self.markers.item(&[&text], 0, |style| style == "o").filter(|_| is_typed);
                if let Some(typed) = &typed {
                    self.markers.counters.note(typed);
                }
                let typed = typed.map(|typed| {
                    let item = Item { level: 0, marker: typed.text.to_owned() };
                    (self.nested(item, ""), typed.rest)
                });
                let (item, text) = typed.map_or((item, text.as_str()), |(item, rest)| (Some(item), rest));
                self.open_item(item);
                self.paragraphs_of(text, paragraph.text.is_bold());
            }
        }
    }

    fn item(&mut self, paragraph: &Paragraph, style: &str) -> Option<Item> {
        let inherited = self.styles.list_level(style);
        let place = match &paragraph.place {
            Some(own) => Some(ListLevel {
                numbering: own.numbering.clone().or_else(|| inherited.clone()?.numbering),
                level: own.level.or_else(|| inherited?.level),
            }),
            None => inherited,
        };
        let place = place?;
        let item = self.numbering.next(&place)?;
        Some(self.nested(item, &place.numbering.unwrap_or_default()))
    }

    /// Bullets and typed markers below a numbered item are inside it, although their own numbering does not know it.
    fn nested(&mut self, mut item: Item, numbering: &str) -> Item {
        let is_inner = self.inner.as_ref().is_some_and(|(inner, _)| inner == numbering);
        let last = self.lists.last().copied();
        let is_below = (!item.is_numbered() || numbering.is_empty())
            && self.outer.as_ref().is_some_and(|(outer, is_numbered)| *is_numbered && outer != numbering);
        match last {
            Some(_) if is_below && is_inner => {}
            Some(last) if is_below => {
                let level = self.inner.as_ref().map_or(last + 1, |(_, level)| *level);
                self.inner = Some((numbering.to_owned(), level));
            }
            _ => {
                self.outer = Some((numbering.to_owned(), item.is_numbered()));
                self.inner = None;
            }
        }
        item.level += self.inner.as_ref().map_or(0, |(_, level)| *level);
        item
    }

    fn open_item(&mut self, item: Option<Item>) {
        let Some(item) = item else { return self.close_lists(0) };
        self.close_lists(item.level + 1);
        if self.lists.last() == Some(&item.level) {
            self.builder.close();
        } else {
            self.builder.open_list();
            self.lists.push(item.level);
        }
        self.builder.open_item(&item.marker, true);
    }

    /// Closes the lists at this level and deeper.
    fn close_lists(&mut self, level: usize) {
        while self.lists.last().is_some_and(|open| *open >= level) {
            self.lists.pop();
            self.builder.close_items(1);
        }
    }

    /// Blank lines separate paragraphs.
    fn paragraphs_of(&mut self, text: &str, is_bold: bool) {
        text.split("\n\n").for_each(|text| self.builder.paragraph(inline(text, is_bold)));
    }

    fn end_table(&mut self, table: Table) {
        if let Some(outer) = self.tables.last_mut() {
            for row in table.rows {
                let texts: Vec<&str> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
                outer.push(&texts.join(" "), false);
            }
            return;
        }
        self.close_lists(0);
        let columns = table.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        if columns > 1 && table.rows.len() > 1 {
            let row = |Row { cells, is_header, .. }: &Row| TableRow {
                is_header: *is_header,
                cells: cells.iter().map(|cell| inline(&cell.text, !cell.has_light).into()).collect(),
                url: None,
            };
            let texts = |row: &Row| row.cells.iter().map(|cell| one_line(&cell.text)).collect::<Vec<_>>();
            let mut texts: Vec<Vec<String>> = table.rows.iter().map(texts).collect();
            let is_bold = |row: &Row| row.cells.iter().all(|cell| !cell.has_light);
            let has_header =
                table.rows.iter().any(|row| row.is_header) || table.rows.first().is_some_and(is_bold);
            let size: usize = texts.iter().flatten().map(String::len).sum();
            let mut rows: Vec<TableRow> = table.rows.iter().map(row).collect();
            let clear = clear_header(&mut texts, false);
            if !has_header && clear.is_none() && size <= MAX_UNCLEAR_BYTES {
                let notes = (1..).zip(&self.used_notes).skip(table.first_note);
                let notes: String =
                    notes.map(|(number, note)| format!("\n{} {note}", raised(number))).collect();
                return self.builder.code(&(lines_of(&texts).replace(NOTE, "") + &notes));
            }
            if let Some(first) = rows.first_mut().filter(|_| !has_header) {
                first.is_header = clear == Some(true);
            }
            self.builder.table(Rows { rows, ..Rows::default() });
        } else {
            // A table that only draws a frame around text.
            table.rows.iter().flat_map(|row| &row.cells).for_each(|cell| {
                self.paragraphs_of(&cell.text, !cell.has_light);
            });
        }
    }
}

impl Table {
    fn open(&mut self, name: &str, element: &Element<'_>) {
        match name {
            "tr" => self.rows.push(Row::default()),
            "trPr" => self.is_in_row_properties = true,
            "tc" => {
                (self.cell, self.span) = (Cell::default(), 1);
                (self.is_merged_with_above, self.is_cell_deleted) = (false, false);
            }
            "gridSpan" => self.span = columns(element).max(1),
            "vMerge" => self.is_merged_with_above = element.val().as_deref() != Some("restart"),
            "cellDel" => self.is_cell_deleted = true,
            _ if self.is_in_row_properties => {
                let Some(row) = self.rows.last_mut() else { return };
                match name {
                    "tblHeader" => row.is_header = element.is_on(),
                    "hidden" => row.is_hidden = element.is_on(),
                    "gridBefore" if row.cells.is_empty() => {
                        row.cells.resize(columns(element), Cell::default());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Returns a row that ends and is hidden.
    fn close(&mut self, name: &str) -> Option<Row> {
        match name {
            "trPr" => self.is_in_row_properties = false,
            "tc" => self.end_cell(),
            "tr" => {
                let row = self.rows.pop_if(|row| row.is_deleted || row.is_hidden);
                return row.filter(|row| !row.is_deleted);
            }
            _ => {}
        }
        None
    }

    fn push(&mut self, text: &str, is_bold: bool) {
        if text.trim().is_empty() {
            return;
        }
        if !self.cell.text.is_empty() {
            self.cell.text.push_str("\n\n");
        }
        self.cell.text.push_str(text);
        self.cell.has_light |= !is_bold;
    }

    fn end_cell(&mut self) {
        let mut cell = std::mem::take(&mut self.cell);
        if self.is_cell_deleted {
            return;
        }
        let column = self.rows.last().map_or(0, |row| row.cells.len());
        if self.is_merged_with_above {
            let above = self.rows.len().checked_sub(2).and_then(|at| self.rows.get(at));
            cell = above.and_then(|row| row.cells.get(column)).cloned().unwrap_or_default();
        }
        let Some(row) = self.rows.last_mut() else { return };
        row.cells.push(cell);
        row.cells.resize(column + self.span, Cell::default());
    }
}

fn inline(text: &str, is_bold: bool) -> Inline {
    let mut inline = Inline::default();
    if is_bold {
        inline.open(MarkKind::Strong);
    }
    for line in text.lines() {
        inline.line_break();
        for (at, part) in line.split(NOTE).enumerate() {
            if at > 0 {
                let end = part.find(|c| !is_raised(c)).unwrap_or(part.len());
                inline.reference(part.get(..end).unwrap_or_default());
            }
            inline.push(part);
        }
    }
    inline
}

/// The number of a note.
fn raised(number: usize) -> String {
    let mut line = Line::default();
    line.open(Shift::Raised);
    line.push(&number.to_string());
    line.take()
}

/// A number of columns.
fn columns(element: &Element<'_>) -> usize {
    element.val().and_then(|columns| columns.parse().ok()).unwrap_or(0).min(MAX_COLUMNS)
}
