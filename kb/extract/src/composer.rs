//! Writes the text of documents whose source is not readable text: a web page, a Word file, the pages of a PDF.
//!
//! The text is plain, with lists, tables and code laid out as in Markdown, so that sentences and rows can be found in it.
//! Nothing is escaped, because the text is shown verbatim.

use super::{
    Block, BlockKind, ExtractError, MAX_SECTIONS, MAX_TEXT_BYTES, Section,
    clean::one_line,
    outline::{MAX_HEADING_CHARS, Outline},
};

/// Maximum nesting of lists; deeper lists are flattened. Each level is two blocks, and the output of the sandbox is JSON of
/// limited depth.
const MAX_LIST_DEPTH: usize = 8;

#[derive(Default)]
pub(crate) struct Composer {
    text: String,
    outline: Outline,
    open: Vec<Open>,
    /// Open lists and items beyond the maximum depth.
    too_deep: usize,
    is_full: bool,
}

/// A list or list item.
struct Open {
    block: Block,
    /// Indentation of its content.
    indent: usize,
    /// Whether the next content continues the line of the item's marker.
    is_at_marker: bool,
}

impl Composer {
    /// Writes a line that is not content and opens a section. A very long heading, or one inside a list, becomes a paragraph.
    #[cfg(test)]
    pub(crate) fn heading(&mut self, level: usize, text: &str) {
        self.heading_with_anchor(level, text, None);
    }

    /// [`Composer::heading`] with the id at which the page opens.
    pub(crate) fn heading_with_anchor(&mut self, level: usize, text: &str, anchor: Option<String>) {
        let text = one_line(text);
        if text.is_empty() {
            return;
        }
        if !self.open.is_empty() || text.chars().nth(MAX_HEADING_CHARS).is_some() {
            return self.paragraph(&text);
        }
        self.start_block();
        self.push(&text);
        self.outline.heading(level, &text, anchor);
    }

    /// The following content is under a heading that is not written into the text.
    pub(crate) fn under(&mut self, level: usize, heading: &str) {
        self.outline.heading(level, heading, None);
    }

    /// Writes visible text. White space at the ends of lines is dropped; blank lines separate paragraphs.
    pub(crate) fn paragraph(&mut self, text: &str) {
        let mut lines = Vec::new();
        for line in text.lines().map(str::trim).chain([""]) {
            if !line.is_empty() {
                lines.push(line);
            } else if !lines.is_empty() {
                self.lines(BlockKind::Text, &lines);
                lines.clear();
            }
        }
    }

    /// Writes lines verbatim between fences.
    pub(crate) fn code(&mut self, code: &str) {
        let code = code.trim_end().trim_start_matches('\n');
        if code.trim().is_empty() {
            return;
        }
        let longest = code.lines().map(|line| line.trim().bytes().take_while(|b| *b == b'`').count()).max();
        let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
        let lines: Vec<&str> =
            [fence.as_str()].into_iter().chain(code.lines()).chain([fence.as_str()]).collect();
        self.lines(BlockKind::Lines, &lines);
    }

    /// Writes rows of cells. Without a header row, they are only a group of lines.
    pub(crate) fn table(&mut self, rows: &[Vec<String>], has_header: bool) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let lines: Vec<String> = rows
            .iter()
            .map(|row| row.iter().map(|cell| one_line(cell)).collect::<Vec<_>>())
            .filter(|row| row.iter().any(|cell| !cell.is_empty()))
            .map(|mut row| {
                row.resize(columns, String::new());
                format!("| {} |", row.join(" | "))
            })
            .collect();
        if lines.is_empty() {
            return;
        }
        let start = self.start_block();
        let kind = if has_header { BlockKind::Table } else { BlockKind::Container };
        let mut table = Block::leaf(kind, start..start);
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                self.new_line(1);
            }
            let start = self.text.len();
            self.push(line);
            table.children.push(Block::leaf(BlockKind::Lines, start..self.text.len()));
            if number == 0 && has_header {
                self.new_line(1);
                self.push(&format!("|{}", "---|".repeat(columns)));
            }
        }
        table.range.end = self.text.len();
        self.place(table);
    }

    pub(crate) fn open_list(&mut self) {
        if self.too_deep > 0 || self.open.len() >= 2 * MAX_LIST_DEPTH {
            self.too_deep += 1;
            return;
        }
        let indent = self.indent();
        // Its first child sets its start.
        let nowhere = usize::MAX..usize::MAX;
        self.open.push(Open {
            block: Block::leaf(BlockKind::Container, nowhere),
            indent,
            is_at_marker: false,
        });
    }

    /// `marker` is "-" or a number with its full stop.
    pub(crate) fn open_item(&mut self, marker: &str) {
        if self.too_deep > 0 {
            self.too_deep += 1;
            return;
        }
        let is_first = self.open.last().is_some_and(|list| list.block.children.is_empty());
        let start = if is_first { self.start_list() } else { self.start_item() };
        self.push(marker);
        self.push(" ");
        let indent = self.indent() + marker.chars().count() + 1;
        let block = Block::leaf(BlockKind::Container, start..start);
        self.open.push(Open { block, indent, is_at_marker: true });
    }

    /// Closes the list or item opened last.
    pub(crate) fn close(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let Some(Open { mut block, .. }) = self.open.pop() else { return };
        match (block.children.first(), block.children.last()) {
            (Some(first), Some(last)) => {
                block.range = block.range.start.min(first.range.start)..last.range.end;
                self.place(block);
            }
            // Remove an item without content.
            _ => {
                self.text.truncate(block.range.start);
                let kept = self.text.trim_end().len();
                self.text.truncate(kept);
            }
        }
    }

    /// True if the limit of text is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Text, title (first heading of level 1) and sections.
    pub(crate) fn finish(mut self) -> Result<(String, Option<String>, Vec<Section>), ExtractError> {
        self.too_deep = 0;
        while !self.open.is_empty() {
            self.close();
        }
        if self.is_full {
            return Err(too_much_text());
        }
        if self.outline.len() > MAX_SECTIONS {
            return Err(too_many_sections());
        }
        let (title, sections) = self.outline.finish();
        if sections.is_empty() {
            let is_empty = self.text.trim().is_empty();
            return Err(if is_empty { ExtractError::Empty } else { ExtractError::NoContent });
        }
        Ok((self.text, title, sections))
    }

    fn lines(&mut self, kind: BlockKind, lines: &[&str]) {
        let start = self.start_block();
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                self.new_line(1);
            }
            self.push(line);
        }
        self.place(Block::leaf(kind, start..self.text.len()));
    }

    /// Moves to the start of the next block and returns its position.
    fn start_block(&mut self) -> usize {
        match self.open.last_mut() {
            Some(item) if item.is_at_marker => item.is_at_marker = false,
            _ if self.text.is_empty() => {}
            _ => self.new_line(2),
        }
        self.text.len()
    }

    fn start_item(&mut self) -> usize {
        self.new_line(1);
        self.text.len()
    }

    /// Like [`Self::start_block`], but a list inside an item starts in the next line.
    fn start_list(&mut self) -> usize {
        let holder = self.open.len().checked_sub(2).and_then(|at| self.open.get_mut(at));
        match holder {
            Some(item) if item.is_at_marker => item.is_at_marker = false,
            Some(_) => self.new_line(1),
            None if self.text.is_empty() => {}
            None => self.new_line(2),
        }
        self.text.len()
    }

    fn indent(&self) -> usize {
        self.open.last().map_or(0, |open| open.indent)
    }

    fn new_line(&mut self, lines: usize) {
        let indent = self.indent();
        self.push(&"\n".repeat(lines));
        self.push(&" ".repeat(indent));
    }

    fn push(&mut self, text: &str) {
        self.is_full |= self.text.len() + text.len() > MAX_TEXT_BYTES;
        if !self.is_full {
            self.text.push_str(text);
        }
    }

    fn place(&mut self, block: Block) {
        if block.range.is_empty() {
            return;
        }
        match self.open.last_mut() {
            Some(open) => open.block.children.push(block),
            None => self.outline.push(block),
        }
    }
}

pub(crate) fn too_much_text() -> ExtractError {
    ExtractError::TooMuchText { limit: format!("{} MB of text", MAX_TEXT_BYTES / (1024 * 1024)) }
}

pub(crate) fn too_many_sections() -> ExtractError {
    ExtractError::TooMuchText { limit: format!("{MAX_SECTIONS} sections") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sections: &[Section], text: &str) -> Vec<String> {
        sections.iter().flat_map(|s| &s.blocks).map(|b| text[b.range.clone()].to_owned()).collect()
    }

    #[test]
    fn headings_open_sections_and_are_not_content() {
        let mut composer = Composer::default();
        composer.heading(1, "Refunds");
        composer.paragraph("Within 30 days.\nReally.");
        composer.heading(2, "How");
        composer.paragraph("Ask us.\n\n\nOr write.");
        let (text, title, sections) = composer.finish().unwrap();
        assert_eq!(text, "Refunds\n\nWithin 30 days.\nReally.\n\nHow\n\nAsk us.\n\nOr write.");
        assert_eq!(title.as_deref(), Some("Refunds"));
        assert_eq!(sections[1].headings, ["Refunds", "How"]);
        assert_eq!(texts(&sections, &text), ["Within 30 days.\nReally.", "Ask us.", "Or write."]);
    }

    #[test]
    fn lists_nest_with_indentation() {
        let mut composer = Composer::default();
        composer.paragraph("You need:");
        composer.open_list();
        composer.open_item("-");
        composer.paragraph("a receipt");
        composer.open_list();
        composer.open_item("1.");
        composer.paragraph("printed");
        composer.paragraph("and signed");
        composer.close();
        composer.open_item("2.");
        composer.close();
        composer.close();
        composer.close();
        composer.open_item("-");
        composer.code("cd x\n  ls");
        composer.close();
        composer.close();
        let (text, _, sections) = composer.finish().unwrap();
        assert_eq!(
            text,
            "You need:\n\n- a receipt\n  1. printed\n\n     and signed\n- ```\n  cd x\n    ls\n  ```"
        );
        let list = &sections[0].blocks[1];
        assert_eq!(list.children.len(), 2);
        assert_eq!(&text[list.children[0].children[1].range.clone()], "1. printed\n\n     and signed");
    }

    #[test]
    fn tables_have_a_separator_only_below_their_header() {
        let rows = [vec!["Plan".to_owned(), "Price\n(net)".to_owned()], vec!["Basic".to_owned()], vec![]];
        let mut composer = Composer::default();
        composer.table(&rows, true);
        composer.table(&rows[..1], false);
        let (text, _, sections) = composer.finish().unwrap();
        assert_eq!(text, "| Plan | Price (net) |\n|---|---|\n| Basic |  |\n\n| Plan | Price (net) |");
        let table = &sections[0].blocks[0];
        assert_eq!(table.kind, BlockKind::Table);
        assert_eq!(&text[table.children[1].range.clone()], "| Basic |  |");
    }

    #[test]
    fn lists_nested_100_000_deep_keep_their_text() {
        let mut composer = Composer::default();
        for _ in 0..100_000 {
            composer.open_list();
            composer.open_item("-");
        }
        composer.paragraph("deep");
        for _ in 0..200_000 {
            composer.close();
        }
        composer.paragraph("after");
        let (text, _, sections) = composer.finish().unwrap();
        assert!(text.contains("deep") && text.ends_with("\n\nafter"), "{text}");
        assert_eq!(sections[0].blocks.len(), 2);
    }

    #[test]
    fn text_beyond_the_limit_is_an_error() {
        let mut composer = Composer::default();
        let line = "word ".repeat(20_000);
        while !composer.is_full() {
            composer.paragraph(&line);
        }
        assert_eq!(composer.finish().unwrap_err().to_string(), "contains more than 20 MB of text; split it");
    }

    #[test]
    fn an_empty_text_and_headings_alone_are_different_errors() {
        assert_eq!(Composer::default().finish().unwrap_err(), ExtractError::Empty);
        let mut composer = Composer::default();
        composer.heading(1, "Alone");
        assert_eq!(composer.finish().unwrap_err(), ExtractError::NoContent);
    }
}
