//! Builds the model of a document, block by block.

use std::collections::HashMap;
use std::ops::Range;

use crate::clean::visible;
use crate::document::{Block, BlockKind, Document, MAX_MARK_BYTES, Mark, MarkKind, Place, Reference};
pub(crate) use crate::inline::{Inline, Text};
use crate::lines::{Part, leader_rows, parts};
use crate::markers::BULLETS;
use crate::{ExtractError, MAX_TEXT_BYTES, Properties};

/// Maximum nesting of blocks; a deeper list or group is flattened. The output of the sandbox is JSON of limited depth.
const MAX_DEPTH: usize = 16;
/// Maximum length of a heading. A longer one is a paragraph set in large type.
pub(crate) const MAX_HEADING_CHARS: usize = 200;

/// A table before it is written.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) caption: Text,
    pub(crate) rows: Vec<TableRow>,
}

/// A row of a table.
#[derive(Debug, Default)]
pub(crate) struct TableRow {
    /// True if the file says that its cells are the names of columns.
    pub(crate) is_header: bool,
    /// A cell for each column; blank cells follow a cell over several columns.
    pub(crate) cells: Vec<Text>,
    /// The address of this row alone.
    pub(crate) url: Option<String>,
}

/// Builder of a [`Document`].
#[derive(Default)]
pub(crate) struct Builder {
    document: Document,
    open: Vec<Block>,
    /// Open blocks beyond the maximum depth.
    too_deep: usize,
    is_after_marker: bool,
    is_full: bool,
    place: Place,
    /// The ids of the headings above, with their levels.
    anchors: Vec<(u8, String)>,
    is_place_new: bool,
    title: Option<String>,
    /// For each reference, its range and the label of its note.
    references: Vec<(Range<usize>, String)>,
    /// The labels of the open notes.
    open_notes: Vec<String>,
    /// The range of each note by its label.
    notes: HashMap<String, Range<usize>>,
}

impl Builder {
    /// A very long heading is a paragraph, one inside a list or group is a bold one.
    pub(crate) fn heading(&mut self, level: u8, text: impl Into<Text>, anchor: Option<String>) {
        let text = text.into().on_one_line();
        if text.is_blank() && self.open.is_empty() {
            // What follows is not about the heading before.
            let end = self.document.text.len();
            let kind = BlockKind::Heading { level };
            self.anchor(level, None);
            return self.place_block(Block { kind, range: end..end, children: Vec::new() });
        }
        if text.text.chars().nth(MAX_HEADING_CHARS).is_some() {
            return self.paragraph(text);
        }
        if !self.open.is_empty() {
            return self.paragraph(text.strong());
        }
        if level == 1 && self.title.is_none() {
            self.title = Some(text.text.clone());
        }
        self.anchor(level, anchor);
        self.leaf(BlockKind::Heading { level }, &text);
    }

    /// Below a heading without an id, the nearest id above counts.
    fn anchor(&mut self, level: u8, anchor: Option<String>) {
        self.anchors.retain(|(above, _)| *above < level);
        self.anchors.extend(anchor.map(|anchor| (level, anchor)));
        let anchor = self.anchors.last().map(|(_, anchor)| anchor.clone());
        if self.place.anchor != anchor {
            self.place.anchor = anchor;
            self.is_place_new = true;
        }
    }

    /// The following blocks are on this page.
    pub(crate) fn page(&mut self, page: u32) {
        self.place.page = Some(page);
        self.is_place_new = true;
    }

    /// The following blocks have this address, or none.
    pub(crate) fn url(&mut self, url: Option<String>) {
        if self.place.url != url {
            self.place.url = url;
            self.is_place_new = true;
        }
    }

    /// Writes running text. Lines that begin with the marker of an item are a list, lines with leaders a table.
    pub(crate) fn paragraph(&mut self, text: impl Into<Text>) {
        let text = text.into();
        if text.is_blank() {
            return;
        }
        if let Some(rows) = leader_rows(&text) {
            return self.table(Rows { caption: Text::default(), rows });
        }
        let mut open = 0;
        for Part { depth, marker, is_ticked, range } in parts(&text.text) {
            self.close_items(open.max(depth) - depth);
            if depth > 0 {
                if depth <= open {
                    self.close();
                } else {
                    self.open_list();
                }
                self.open_item(&marker, is_ticked);
            }
            open = depth;
            self.leaf(BlockKind::Paragraph, &text.cut(range));
        }
        self.close_items(open);
    }

    /// Closes items with the lists around them.
    pub(crate) fn close_items(&mut self, count: usize) {
        for _ in 0..2 * count {
            self.close();
        }
    }

    /// Writes a question that the following blocks answer.
    pub(crate) fn question(&mut self, text: impl Into<Text>) {
        self.leaf(BlockKind::Question, &text.into().on_one_line());
    }

    /// Writes the name of the open group.
    pub(crate) fn label(&mut self, text: impl Into<Text>) {
        self.leaf(BlockKind::Label, &text.into().on_one_line());
    }

    /// Writes lines verbatim.
    pub(crate) fn code(&mut self, code: &str) {
        let code = visible(code);
        let code = code.trim_end().trim_start_matches('\n');
        if !code.trim().is_empty() {
            self.leaf(BlockKind::Code, &Text { text: code.to_owned(), ..Text::default() });
        }
    }

    pub(crate) fn open_list(&mut self) {
        self.open(BlockKind::List);
    }

    /// `marker` as printed; a bullet is "-".
    pub(crate) fn open_item(&mut self, marker: &str, is_ticked: bool) {
        let marker = if marker.starts_with(BULLETS) { "-" } else { marker };
        self.open(BlockKind::Item { marker: marker.to_owned(), is_ticked });
        if self.too_deep == 0 {
            self.push(marker);
            self.push(" ");
            self.is_after_marker = true;
        }
    }

    /// Opens a quotation, box or tab.
    pub(crate) fn open_group(&mut self) {
        self.open(BlockKind::Group);
    }

    /// Returns whether a group is open that has no content yet.
    pub(crate) fn is_group_empty(&self) -> bool {
        self.open.last().is_some_and(|open| open.kind == BlockKind::Group && open.children.is_empty())
    }

    /// Something is shown here that has no text, so the line above does not announce the text below.
    pub(crate) fn gap(&mut self) {
        let above = self.open.last().map_or(&self.document.blocks, |open| &open.children).last();
        let end = self.document.text.len();
        if above.is_some_and(|above| !matches!(above.kind, BlockKind::Heading { .. } | BlockKind::Question))
            && !self.document.text.ends_with(['?', '？', '؟'])
        {
            self.place_block(Block { kind: BlockKind::Paragraph, range: end..end, children: Vec::new() });
        }
    }

    /// Closes the list, item or group opened last.
    pub(crate) fn close(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let Some(mut block) = self.open.pop() else { return };
        let note = if block.kind == BlockKind::Note { self.open_notes.pop() } else { None };
        match block.children.last().map(|last| last.range.end) {
            Some(end) => {
                // Only items and rows are written before their children are.
                if !matches!(block.kind, BlockKind::Item { .. } | BlockKind::Row { .. })
                    && let Some(first) = block.children.first()
                {
                    block.range.start = first.range.start;
                }
                block.range.end = end;
                if let Some(label) = note {
                    self.notes.entry(label).or_insert_with(|| block.range.clone());
                }
                self.place_block(block);
            }
            // An item without content leaves nothing.
            None if matches!(block.kind, BlockKind::Item { .. }) => {
                self.document.text.truncate(block.range.start);
                let kept = self.document.text.trim_end().len();
                self.document.text.truncate(kept);
                self.is_after_marker = false;
            }
            None => {}
        }
    }

    /// Writes a table. A header row with blank cells only is none.
    pub(crate) fn table(&mut self, table: Rows) {
        let columns = table.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let rows: Vec<TableRow> =
            table.rows.into_iter().filter(|row| row.cells.iter().any(|cell| !cell.is_blank())).collect();
        let caption = table.caption;
        if rows.is_empty() {
            return self.paragraph(caption);
        }
        self.open(BlockKind::Table);
        if !caption.is_blank() {
            self.leaf(BlockKind::Label, &caption.on_one_line());
        }
        for TableRow { is_header, mut cells, url } in rows {
            cells.resize(columns, Text::default());
            self.url(url);
            self.open(BlockKind::Row { is_header });
            for (column, cell) in cells.iter().enumerate() {
                if column > 0 {
                    self.push("\t");
                }
                let start = self.document.text.len();
                self.push_inline(cell);
                self.place_block(Block {
                    kind: BlockKind::Cell,
                    range: start..self.document.text.len(),
                    children: Vec::new(),
                });
            }
            self.close();
        }
        self.close();
    }

    /// Opens the text of a footnote.
    pub(crate) fn open_note(&mut self, label: &str) {
        self.open(BlockKind::Note);
        if self.too_deep == 0 {
            self.open_notes.push(label.to_owned());
        }
    }

    /// Says that something was left out.
    pub(crate) fn left_out(&mut self, note: String) {
        self.document.notes.push(note);
    }

    /// Bytes of text that are written.
    pub(crate) fn written(&self) -> usize {
        self.document.text.len()
    }

    /// True if the limit of text is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// # Errors
    /// [`ExtractError`] if the document has no text or too much.
    pub(crate) fn finish(mut self, properties: Properties) -> Result<Document, ExtractError> {
        self.too_deep = 0;
        while !self.open.is_empty() {
            self.close();
        }
        if self.is_full {
            return Err(ExtractError::too_much_text());
        }
        let is_content =
            |block: &Block| !(block.range.is_empty() || matches!(block.kind, BlockKind::Heading { .. }));
        if !self.document.blocks.iter().any(is_content) {
            let is_empty = self.document.text.trim().is_empty();
            return Err(if is_empty { ExtractError::Empty } else { ExtractError::NoContent });
        }
        let title = properties.title.clone().or(self.title);
        let notes = self.notes;
        let reference = |(range, label): (Range<usize>, String)| {
            Some(Reference { range, note: notes.get(&label)?.clone() })
        };
        let references = self.references.into_iter().filter_map(reference).collect();
        self.document.marks.sort_by_key(|mark| (mark.range.start, mark.range.end, mark.kind));
        Ok(Document { properties: Properties { title, ..properties }, references, ..self.document })
    }

    fn open(&mut self, kind: BlockKind) {
        if self.too_deep > 0 || self.open.len() >= MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        let is_written = matches!(kind, BlockKind::Item { .. } | BlockKind::Row { .. });
        if is_written {
            self.start(&kind);
        }
        let start = self.document.text.len();
        self.open.push(Block { kind, range: start..start, children: Vec::new() });
    }

    fn leaf(&mut self, kind: BlockKind, inline: &Text) {
        if inline.is_blank() {
            return;
        }
        self.start(&kind);
        let start = self.document.text.len();
        self.push_inline(inline);
        self.place_block(Block { kind, range: start..self.document.text.len(), children: Vec::new() });
    }

    /// Separates a block from the text before it.
    fn start(&mut self, kind: &BlockKind) {
        if std::mem::take(&mut self.is_after_marker) || self.document.text.is_empty() {
            self.note_place();
            return;
        }
        let is_first = self.open.last().is_some_and(|open| open.children.is_empty());
        let lists = self.open.iter().filter(|open| open.kind == BlockKind::List).count();
        let is_close = match kind {
            BlockKind::Item { .. } => !is_first || lists > 1,
            BlockKind::Row { .. } => {
                let last = self.open.last().and_then(|table| table.children.last());
                last.is_some_and(|last| matches!(last.kind, BlockKind::Row { .. }))
            }
            _ => false,
        };
        self.push(if is_close { "\n" } else { "\n\n" });
        self.note_place();
        if matches!(kind, BlockKind::Item { .. }) {
            self.push(&"  ".repeat(lists.saturating_sub(1)));
        }
    }

    fn note_place(&mut self) {
        if std::mem::take(&mut self.is_place_new) {
            let start = self.document.text.len();
            self.document.places.push(Place { start, ..self.place.clone() });
        }
    }

    fn push_inline(&mut self, inline: &Text) {
        let start = self.document.text.len();
        self.push(&inline.text);
        if self.is_full {
            return;
        }
        let shifted = |range: &Range<usize>| start + range.start..start + range.end;
        for mark in &inline.marks {
            let Range { mut start, end } = shifted(&mark.range);
            while start < end {
                let part_end = self.document.text.floor_char_boundary((start + MAX_MARK_BYTES).min(end));
                self.document.marks.push(Mark { kind: mark.kind, range: start..part_end });
                start = part_end;
            }
            if mark.kind == MarkKind::Reference
                && let Ok(found) = inline.references.binary_search_by_key(&mark.range.start, |(at, _)| *at)
                && let Some((_, label)) = inline.references.get(found)
            {
                self.references.push((shifted(&mark.range), label.clone()));
            }
        }
    }

    fn push(&mut self, text: &str) {
        self.is_full |= self.document.text.len() + text.len() > MAX_TEXT_BYTES;
        if !self.is_full {
            self.document.text.push_str(text);
        }
    }

    fn place_block(&mut self, block: Block) {
        match self.open.last_mut() {
            Some(open) => open.children.push(block),
            None => self.document.blocks.push(block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shifted::Shift;

    /// Each block as "kind: text", its children below it.
    fn outline(document: &Document) -> String {
        fn write(document: &Document, blocks: &[Block], depth: usize, into: &mut String) {
            for block in blocks {
                let kind = format!("{:?}", block.kind);
                let kind = kind.split([' ', '{']).next().unwrap_or_default();
                into.push_str(&format!("{}{kind}", "  ".repeat(depth)));
                if block.children.is_empty() {
                    into.push_str(&format!(": {}", document.slice(&block.range).replace('\n', "⏎")));
                }
                into.push('\n');
                write(document, &block.children, depth + 1, into);
            }
        }
        let mut text = String::new();
        write(document, &document.blocks, 0, &mut text);
        text
    }

    fn built(build: impl FnOnce(&mut Builder)) -> Document {
        let mut builder = Builder::default();
        build(&mut builder);
        builder.finish(Properties::default()).unwrap()
    }

    #[test]
    fn the_text_is_what_a_reader_sees() {
        let document = built(|builder| {
            builder.heading(1, Inline::from_text("Refunds"), None);
            builder.paragraph(Inline::from_text("You need:"));
            builder.open_list();
            builder.open_item("1.", true);
            builder.paragraph(Inline::from_text("a receipt"));
            builder.open_list();
            builder.open_item("-", true);
            builder.paragraph(Inline::from_text("printed"));
            builder.close();
            builder.close();
            builder.close();
            builder.open_item("2.", true);
            builder.code("cd x\n  ls\n");
            builder.close();
            builder.close();
            builder.paragraph(Inline::from_text("Main Street 5\n10115   Berlin"));
        });
        assert_eq!(
            document.text,
            "Refunds\n\nYou need:\n\n1. a receipt\n  - printed\n2. cd x\n  ls\n\nMain Street 5\n10115 Berlin"
        );
        assert_eq!(
            outline(&document),
            "Heading: Refunds\nParagraph: You need:\nList\n  Item\n    Paragraph: a receipt\n    List\n      \
             Item\n        Paragraph: printed\n  Item\n    Code: cd x⏎  ls\nParagraph: Main Street 5⏎10115 Berlin\n"
        );
        assert_eq!(document.properties.title.as_deref(), Some("Refunds"));
    }

    #[test]
    fn lines_with_bullets_are_a_list() {
        let document = built(|builder| {
            builder.paragraph(Inline::from_text(
                "The insurance does not cover:\n• Theft\n  of bicycles.\n•Races.",
            ));
            builder.paragraph(Inline::from_text("It may be\n– as always –\ncold."));
            builder.paragraph(Inline::from_text("-20 °C\n- 5 °C"));
        });
        assert_eq!(
            outline(&document),
            "Paragraph: The insurance does not cover:\nList\n  Item\n    Paragraph: Theft⏎of bicycles.\n  Item\n    \
             Paragraph: Races.\nParagraph: It may be⏎– as always –⏎cold.\nParagraph: -20 °C⏎- 5 °C\n"
        );
        let document = built(|builder| {
            builder.paragraph(Inline::from_text(
                "(1) We pay.\n(2) We do not pay for\na) theft,\nb) war.\n(3) End.",
            ));
            builder.paragraph(Inline::from_text("- Fire\nNot covered:\n- Theft"));
            builder.paragraph(Inline::from_text(
                "Free.*\n* From 9 €.\nOpen\n24. December: no\n25. December: no",
            ));
        });
        assert_eq!(
            document.text,
            "(1) We pay.\n(2) We do not pay for\n  a) theft,\n  b) war.\n(3) End.\n\n- Fire\n\nNot covered:\n\n- Theft\n\n\
             Free.*\n* From 9 €.\nOpen\n24. December: no\n25. December: no"
        );
    }

    #[test]
    fn marks_and_places_are_ranges_of_the_text() {
        let document = built(|builder| {
            builder.page(1);
            builder.heading(2, Inline::from_text("Fees"), Some("fees".to_owned()));
            let mut inline = Inline::from_text("See ");
            inline.open(MarkKind::Link);
            inline.push("the\u{ad} list");
            inline.close(MarkKind::Link);
            inline.push(".");
            inline.reference("a");
            inline.open_shift(Shift::Raised);
            inline.push("1");
            inline.close_shift();
            builder.paragraph(inline);
            builder.page(2);
            builder.open_note("a");
            builder.paragraph(Inline::from_text("Only in May."));
            builder.close();
        });
        let marked: Vec<_> =
            document.marks.iter().map(|mark| (mark.kind, document.slice(&mark.range))).collect();
        assert_eq!(marked, [(MarkKind::Link, "the list"), (MarkKind::Reference, "¹")]);
        let reference = &document.references[0];
        assert_eq!(
            (document.slice(&reference.range), document.slice(&reference.note)),
            ("¹", "Only in May.")
        );
        let place = |text: &str| document.place(document.text.find(text).unwrap()).unwrap();
        assert_eq!((place("Fees").page, place("See").anchor.as_deref()), (Some(1), Some("fees")));
        assert_eq!(place("Only").page, Some(2));
    }

    #[test]
    fn the_marks_around_a_byte_are_found_however_long_they_are() {
        let document = built(|builder| {
            let mut inline = Inline::default();
            inline.open(MarkKind::Strong);
            inline.push(&"é ".repeat(2000));
            inline.open(MarkKind::Code);
            inline.push("code");
            inline.close(MarkKind::Code);
            inline.push(&" è".repeat(2000));
            inline.close(MarkKind::Strong);
            builder.paragraph(inline);
        });
        let whole = 0..document.text.len();
        assert!(
            document.is_covered(&whole, MarkKind::Strong) && !document.is_covered(&whole, MarkKind::Code)
        );
        let code = document.text.find("code").unwrap();
        for (at, expected) in [(code, 2), (code + 4, 1), (7, 1), (whole.end - 2, 1)] {
            assert_eq!(document.marks_in(&(at..at + 1)).count(), expected, "{at}");
        }
        assert!(document.marks.is_sorted_by_key(|mark| mark.range.start));
    }

    #[test]
    fn tables_have_tabs_between_cells() {
        let row = |is_header, cells: &[&str]| TableRow {
            is_header,
            cells: cells.iter().map(|cell| Inline::from_text(cell).into()).collect(),
            url: None,
        };
        let document = built(|builder| {
            builder.table(Rows {
                caption: Inline::from_text("Prices").into(),
                rows: vec![
                    row(true, &["Size", "Price"]),
                    row(false, &["S\nM", "5\n10 €"]),
                    row(false, &["L"]),
                ],
            });
        });
        assert_eq!(document.text, "Prices\n\nSize\tPrice\nS\nM\t5\n10 €\nL\t");
        assert_eq!(document.blocks[0].children.len(), 4);
    }

    #[test]
    fn lines_with_leaders_are_rows() {
        let document = built(|builder| {
            builder.paragraph(Inline::from_text("Tea ........ 2.50 €\nCake . . . . . 3 €"));
            builder.paragraph(Inline::from_text("Well.... 5 or 6?\nYes ......"));
        });
        assert_eq!(
            outline(&document),
            "Table\n  Row\n    Cell: Tea\n    Cell: 2.50 €\n  Row\n    Cell: Cake\n    Cell: 3 €\nParagraph: Well.... 5 or \
             6?⏎Yes ......\n"
        );
    }

    #[test]
    fn items_without_content_leave_nothing() {
        let document = built(|builder| {
            builder.paragraph(Inline::from_text("a"));
            builder.open_list();
            builder.open_item("-", true);
            builder.close();
            builder.close();
            builder.paragraph(Inline::from_text("b"));
        });
        assert_eq!(document.text, "a\n\nb");
        assert_eq!(document.blocks.len(), 2);
    }
}
