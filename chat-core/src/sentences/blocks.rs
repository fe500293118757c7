//! Finds the blocks of a Markdown passage line by line. Reads only as much Markdown as it takes to find prose, table rows and
//! code.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Prose,
    TableRow,
    Code,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) range: Range<usize>,
    pub(super) kind: BlockKind,
    pub(super) context: Vec<Range<usize>>,
    /// The list, if the block is an item.
    pub(super) list: Option<ListBlock>,
}

/// The list of an item.
#[derive(Debug, Clone)]
pub(super) struct ListBlock {
    /// The position of the list in the passage, from 0.
    pub(super) number: usize,
    pub(super) is_ordered: bool,
    /// The paragraph right above the list, or the parent item of a nested list.
    pub(super) above: Option<Range<usize>>,
}

/// The list of the last item.
struct OpenList {
    block: ListBlock,
    /// White space before the marker of its first item, in bytes.
    indent: usize,
    /// Its last item, which a nested list may follow.
    item: Range<usize>,
}

/// The quotable blocks in order.
pub(super) fn blocks(content: &str) -> Vec<Block> {
    let lines = lines(content);
    let mut scanner = Scanner::default();
    for (position, line) in lines.iter().enumerate() {
        scanner.read(line, lines.get(position + 1));
    }
    scanner.finish()
}

/// A line and its offset in the passage.
struct Line<'a> {
    text: &'a str,
    start: usize,
}

impl Line<'_> {
    /// The range of the line without surrounding white space.
    fn trimmed(&self) -> Range<usize> {
        let start = self.start + (self.text.len() - self.text.trim_start().len());
        start..start + self.text.trim().len()
    }
}

fn lines(content: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    content
        .split_inclusive('\n')
        .map(|text| {
            let line = Line { text, start };
            start += text.len();
            line
        })
        .collect()
}

/// A paragraph or list item that may continue on the next line.
struct Open {
    range: Range<usize>,
    /// White space before its first line, in bytes.
    indent: usize,
    is_list_item: bool,
    is_ordered: bool,
}

struct Fence {
    mark: char,
    length: usize,
    range: Range<usize>,
}

#[derive(Default)]
struct Scanner {
    blocks: Vec<Block>,
    heading: Option<Range<usize>>,
    open: Option<Open>,
    fence: Option<Fence>,
    /// Inside an HTML comment that is not closed yet.
    is_in_comment: bool,
    /// Ends with any block but an item or an indented paragraph of an item.
    list: Option<OpenList>,
    lists: usize,
    /// The last block, if it is a paragraph.
    paragraph: Option<Range<usize>>,
    /// Inside a table: the header row, or `Some(None)` if the passage starts below the header.
    table: Option<Option<Range<usize>>>,
}

impl Scanner {
    fn read(&mut self, line: &Line<'_>, next: Option<&Line<'_>>) {
        let text = line.text.trim();
        let range = line.trimmed();
        if let Some(fence) = &mut self.fence {
            fence.range.end = range.end.max(fence.range.end);
            if closes_fence(text, fence) {
                self.close_fence();
            }
        } else if let Some((mark, length)) = fence_opening(text) {
            self.close();
            self.fence = Some(Fence { mark, length, range });
        } else if self.is_in_comment || text.starts_with("<!--") {
            self.close();
            self.is_in_comment = !text.contains("-->");
        } else if text.is_empty() || is_link_definition(text) {
            self.close();
        } else if let Some(heading) = atx_heading(text) {
            self.close();
            self.end_list();
            self.heading = Some(range.start + heading.start..range.start + heading.end);
        } else if self.reads_setext_underline(text) {
            self.end_list();
            self.heading = self.open.take().map(|open| open.range);
        } else if is_thematic_break(text) {
            self.close();
        } else if self.reads_table(text, &range, next) {
            // The line is a row, header or separator and needs nothing else.
        } else if let Some(marker) =
            list_marker(text, self.open.as_ref().is_some_and(|open| !open.is_list_item))
        {
            self.close();
            let is_ordered = text.starts_with(|c: char| c.is_ascii_digit());
            let indent = range.start - line.start;
            self.open =
                Some(Open { range: range.start + marker..range.end, indent, is_list_item: true, is_ordered });
        } else {
            self.read_prose(text, range, line.start);
        }
    }

    fn finish(mut self) -> Vec<Block> {
        self.close_fence();
        self.close();
        self.blocks
    }

    fn read_prose(&mut self, text: &str, range: Range<usize>, line_start: usize) {
        self.table = None;
        match &mut self.open {
            Some(open) => open.range.end = range.end,
            None => {
                let quote_mark = text.len() - text.trim_start_matches(['>', ' ', '\t']).len();
                self.open = Some(Open {
                    range: range.start + quote_mark..range.end,
                    indent: range.start - line_start,
                    is_list_item: false,
                    is_ordered: false,
                });
            }
        }
    }

    fn reads_setext_underline(&self, text: &str) -> bool {
        let underlines =
            text.len() >= 2 && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'));
        underlines && self.open.as_ref().is_some_and(|open| !open.is_list_item)
    }

    fn reads_table(&mut self, text: &str, range: &Range<usize>, next: Option<&Line<'_>>) -> bool {
        if is_table_separator(text) {
            self.table.get_or_insert(None);
            return true;
        }
        let has_cells = text.contains('|');
        if self.table.is_none() && has_cells && next.is_some_and(|next| is_table_separator(next.text.trim()))
        {
            self.close();
            self.table = Some(Some(range.clone()));
            return true;
        }
        let is_framed = text.len() > 2 && text.starts_with('|') && text.ends_with('|');
        if has_cells && (self.table.is_some() || is_framed) {
            let header = self.table.get_or_insert(None).clone();
            self.flush();
            self.push(without_frame(text, range), BlockKind::TableRow, header);
            return true;
        }
        false
    }

    /// Ends the open paragraph and the table.
    fn close(&mut self) {
        self.flush();
        self.table = None;
    }

    fn flush(&mut self) {
        let Some(Open { range, indent, is_list_item, is_ordered }) = self.open.take() else { return };
        let list = self.list.take();
        if !is_list_item {
            let continues_item = list.as_ref().is_some_and(|list| indent > list.indent);
            self.push(range.clone(), BlockKind::Prose, None);
            if continues_item {
                self.list = list;
            } else {
                self.paragraph = Some(range);
            }
            return;
        }
        let mut list = list.unwrap_or_else(|| {
            self.lists += 1;
            let above = self.paragraph.take();
            OpenList {
                block: ListBlock { number: self.lists - 1, is_ordered, above },
                indent,
                item: range.clone(),
            }
        });
        self.push(range.clone(), BlockKind::Prose, None);
        let is_nested = indent > list.indent + 1;
        let above = if is_nested { Some(list.item.clone()) } else { list.block.above.clone() };
        if let Some(block) = self.blocks.last_mut() {
            block.list = Some(ListBlock { above, ..list.block.clone() });
        }
        if !is_nested {
            list.item = range;
        }
        self.list = Some(list);
    }

    /// A heading separates lists.
    fn end_list(&mut self) {
        self.list = None;
        self.paragraph = None;
    }

    fn close_fence(&mut self) {
        if let Some(fence) = self.fence.take() {
            self.push(fence.range, BlockKind::Code, None);
        }
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind, table_header: Option<Range<usize>>) {
        let context = table_header.into_iter().chain(self.heading.clone()).collect();
        self.list = None;
        self.paragraph = None;
        self.blocks.push(Block { range, kind, context, list: None });
    }
}

/// The character and length of a fence that opens a code block.
fn fence_opening(text: &str) -> Option<(char, usize)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

fn closes_fence(text: &str, fence: &Fence) -> bool {
    text.len() >= fence.length && text.chars().all(|c| c == fence.mark)
}

/// `[label]: url`, which is not rendered. Not a footnote, whose text is.
fn is_link_definition(text: &str) -> bool {
    text.starts_with('[') && !text.starts_with("[^") && text.contains("]: ")
}

/// The text of an ATX heading, without `#` marks.
fn atx_heading(text: &str) -> Option<Range<usize>> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let words = rest.trim_start();
    let start = text.len() - words.len();
    Some(start..start + words.trim_end_matches('#').trim_end().len())
}

fn is_thematic_break(text: &str) -> bool {
    ['-', '*', '_'].into_iter().any(|mark| {
        text.chars().filter(|c| *c == mark).count() >= 3
            && text.chars().all(|c| c == mark || c.is_whitespace())
    })
}

/// A table row without the bars at its ends.
fn without_frame(text: &str, range: &Range<usize>) -> Range<usize> {
    let is_frame = |c: char| c == '|' || c.is_whitespace();
    let start = range.start + (text.len() - text.trim_start_matches(is_frame).len());
    let end = range.end - (text.len() - text.trim_end_matches(is_frame).len());
    start..end.max(start)
}

fn is_table_separator(text: &str) -> bool {
    text.contains('|')
        && text.contains('-')
        && text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// The length of a list marker with its space and a task box. As in CommonMark, a numbered list can interrupt a paragraph
/// only with number 1.
fn list_marker(text: &str, in_paragraph: bool) -> Option<usize> {
    let after_marker = match text.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = text.get(..text.len() - rest.len())?;
            if !(1..=9).contains(&number.len()) || (in_paragraph && number != "1") {
                return None;
            }
            rest.strip_prefix(['.', ')'])?
        }
    };
    if !after_marker.is_empty() && !after_marker.starts_with([' ', '\t']) {
        return None;
    }
    let item = after_marker.trim_start();
    let item = ["[ ] ", "[x] ", "[X] "].iter().find_map(|task| item.strip_prefix(task)).unwrap_or(item);
    Some(text.len() - item.trim_start().len())
}
