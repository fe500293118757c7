//! Reads the text of a document: paragraphs, headings, lists, tables and notes.

use std::collections::HashMap;

use super::{
    numbering::Numbering,
    styles::{self, ListLevel, Role, Styles},
};
use crate::{
    ExtractError, Section,
    clean::{one_line, visible},
    composer::Composer,
    xml::{self, Element, Step},
};

/// Footnotes or endnotes by their id.
pub(super) type Notes = HashMap<String, String>;

/// Elements with invisible text: deleted, moved away, or a fallback for programs that do not support the alternative before
/// it.
const SKIPPED: [&str; 4] = ["del", "moveFrom", "Fallback", "rt"];
const MAX_COLUMNS: usize = 100;

/// Text, first heading of level 1, sections.
pub(super) fn read(
    part: &str,
    styles: Styles,
    numbering: Numbering,
    footnotes: Notes,
    endnotes: Notes,
) -> Result<(String, Option<String>, Vec<Section>), ExtractError> {
    let mut body = Body { styles, numbering, footnotes, endnotes, ..Body::default() };
    xml::walk(part, |step| body.step(step))?;
    body.close_lists(0);
    body.composer.finish()
}

/// The notes of `footnotes.xml` or `endnotes.xml`, each on one line.
pub(super) fn read_notes(part: &str) -> Result<Notes, ExtractError> {
    let mut notes = Notes::new();
    let mut open: Option<(String, String)> = None;
    let (mut is_text, mut skipped) = (false, 0usize);
    xml::walk(part, |step| match (step, &mut open) {
        (Step::Open("footnote" | "endnote", element), _) => {
            // Separators between text and notes have a type.
            let is_note = element.attribute("type").is_none_or(|kind| kind == "normal");
            open = element.attribute("id").filter(|_| is_note).map(|id| (id, String::new()));
        }
        (Step::Close("footnote" | "endnote"), _) => {
            notes.extend(open.take().map(|(id, text)| (id, one_line(&visible(&text)))));
        }
        (Step::Open(name, _), Some((_, text))) => {
            skipped += usize::from(SKIPPED.contains(&name));
            is_text = name == "t";
            if matches!(name, "p" | "br" | "tab") {
                text.push(' ');
            }
        }
        (Step::Close(name), _) => {
            skipped = skipped.saturating_sub(usize::from(SKIPPED.contains(&name)));
            is_text = false;
        }
        (Step::Text(more), Some((_, text))) if is_text && skipped == 0 => text.push_str(more),
        _ => {}
    })?;
    Ok(notes)
}

#[derive(Default)]
struct Body {
    composer: Composer,
    styles: Styles,
    numbering: Numbering,
    footnotes: Notes,
    endnotes: Notes,
    /// Depth of elements that are skipped.
    skipped: usize,
    /// Depth of elements whose text is visible.
    is_text: bool,
    is_hidden_run: bool,
    /// A stack, because a paragraph may contain a text box with paragraphs.
    paragraphs: Vec<Paragraph>,
    /// A stack, because a cell may contain a table.
    tables: Vec<Table>,
    /// Levels of the lists whose last item is open, outermost first.
    lists: Vec<usize>,
    notes: usize,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    style: Option<String>,
    outline_level: Option<usize>,
    place: Option<ListLevel>,
    /// Notes to write below it, each with its number.
    notes: Vec<String>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    cell: String,
    span: usize,
    is_merged_with_above: bool,
}

impl Body {
    fn step(&mut self, step: Step<'_>) {
        match step {
            Step::Open(name, _) if SKIPPED.contains(&name) => self.skipped += 1,
            Step::Close(name) if SKIPPED.contains(&name) => self.skipped = self.skipped.saturating_sub(1),
            _ if self.skipped > 0 || self.composer.is_full() => {}
            Step::Open(name, element) => self.open(name, &element),
            Step::Close(name) => self.close(name),
            Step::Text(text) if self.is_text && !self.is_hidden_run => self.push(text),
            Step::Text(_) => {}
        }
    }

    fn open(&mut self, name: &str, element: &Element<'_>) {
        match name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "tbl" => self.tables.push(Table::default()),
            "r" => self.is_hidden_run = false,
            "t" => self.is_text = true,
            "vanish" => self.is_hidden_run = element.is_on(),
            "tab" | "ptab" if !self.paragraphs.is_empty() => self.push(" "),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "footnoteReference" => self.note(element, |body| &body.footnotes),
            "endnoteReference" => self.note(element, |body| &body.endnotes),
            "pStyle" | "outlineLvl" | "numId" | "ilvl" => self.paragraph_property(name, element),
            "tr" | "tc" | "gridSpan" | "vMerge" => self.open_in_table(name, element),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.is_text = false,
            "r" => self.is_hidden_run = false,
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.end_paragraph(paragraph);
                }
            }
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    table.end_cell();
                }
            }
            "tbl" => {
                if let Some(table) = self.tables.pop() {
                    self.end_table(table);
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn paragraph_property(&mut self, name: &str, element: &Element<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        match name {
            "pStyle" => paragraph.style = element.val(),
            "outlineLvl" => paragraph.outline_level = element.val().and_then(|level| level.parse().ok()),
            "numId" => paragraph.place.get_or_insert_default().numbering = element.val(),
            _ => {
                paragraph.place.get_or_insert_default().level =
                    element.val().and_then(|level| level.parse().ok());
            }
        }
    }

    fn note(&mut self, element: &Element<'_>, notes: fn(&Self) -> &Notes) {
        let Some(text) = element.attribute("id").and_then(|id| notes(self).get(&id).cloned()) else { return };
        self.notes += 1;
        let number = self.notes;
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(&format!("[{number}]"));
            paragraph.notes.push(format!("[{number}] {text}"));
        }
    }

    fn end_paragraph(&mut self, paragraph: Paragraph) {
        let text = visible(&paragraph.text);
        if let Some(table) = self.tables.last_mut() {
            return table.push(&text, &paragraph.notes);
        }
        let style = paragraph.style.as_deref().unwrap_or_default();
        let role = paragraph.outline_level.map_or_else(|| self.styles.role(style), styles::heading);
        match role {
            Role::Contents => return,
            _ if text.trim().is_empty() => return,
            Role::Heading(level) => {
                self.close_lists(0);
                self.composer.heading(level, &text);
            }
            Role::Text => self.text_or_item(&paragraph, style, &text),
        }
        for note in &paragraph.notes {
            self.composer.paragraph(note);
        }
    }

    fn text_or_item(&mut self, paragraph: &Paragraph, style: &str, text: &str) {
        let inherited = self.styles.list_level(style);
        let place = match &paragraph.place {
            Some(own) => Some(ListLevel {
                numbering: own.numbering.clone().or_else(|| inherited.clone()?.numbering),
                level: own.level.or_else(|| inherited?.level),
            }),
            None => inherited,
        };
        match place.and_then(|place| self.numbering.next(&place)) {
            Some(item) => {
                self.close_lists(item.level + 1);
                if self.lists.last() == Some(&item.level) {
                    self.composer.close();
                } else {
                    self.composer.open_list();
                    self.lists.push(item.level);
                }
                self.composer.open_item(&item.marker);
            }
            None => self.close_lists(0),
        }
        self.composer.paragraph(text);
    }

    /// Closes the lists at this level and deeper.
    fn close_lists(&mut self, level: usize) {
        while self.lists.last().is_some_and(|open| *open >= level) {
            self.lists.pop();
            self.composer.close();
            self.composer.close();
        }
    }

    fn open_in_table(&mut self, name: &str, element: &Element<'_>) {
        let Some(table) = self.tables.last_mut() else { return };
        match name {
            "tr" => table.rows.push(Vec::new()),
            "tc" => (table.cell, table.span, table.is_merged_with_above) = (String::new(), 1, false),
            "gridSpan" => {
                let span = element.val().and_then(|span| span.parse().ok()).unwrap_or(1);
                table.span = std::cmp::Ord::clamp(span, 1, MAX_COLUMNS);
            }
            _ => table.is_merged_with_above = element.val().as_deref() != Some("restart"),
        }
    }

    fn end_table(&mut self, table: Table) {
        if let Some(outer) = self.tables.last_mut() {
            for row in table.rows {
                outer.push(&row.join(" "), &[]);
            }
            return;
        }
        self.close_lists(0);
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns > 1 && table.rows.len() > 1 {
            self.composer.table(&table.rows, true);
        } else {
            // A table that only draws a frame around text.
            table.rows.iter().flatten().for_each(|cell| self.composer.paragraph(cell));
        }
    }
}

impl Table {
    fn push(&mut self, text: &str, notes: &[String]) {
        for line in
            [text].into_iter().chain(notes.iter().map(String::as_str)).filter(|line| !line.trim().is_empty())
        {
            if !self.cell.is_empty() {
                self.cell.push_str("\n\n");
            }
            self.cell.push_str(line);
        }
    }

    fn end_cell(&mut self) {
        let mut cell = std::mem::take(&mut self.cell);
        let column = self.rows.last().map_or(0, Vec::len);
        if self.is_merged_with_above {
            let above = self.rows.len().checked_sub(2).and_then(|at| self.rows.get(at));
            cell = above.and_then(|row| row.get(column)).cloned().unwrap_or_default();
        }
        let Some(row) = self.rows.last_mut() else { return };
        row.push(cell);
        row.resize(column + self.span, String::new());
    }
}
