//! Sections and blocks of a Markdown document, with their ranges in the source.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::{
    Block, BlockKind, Section,
    clean::one_line,
    outline::{MAX_HEADING_CHARS, Outline},
    trim,
};

/// Maximum nesting of blocks; the tree is walked, compared, dropped and serialized recursively.
const MAX_DEPTH: usize = 24;

pub(crate) struct Markdown {
    /// First heading of level 1.
    pub(crate) title: Option<String>,
    pub(crate) sections: Vec<Section>,
    /// Range including its fences.
    pub(crate) front_matter: Option<Range<usize>>,
}

pub(crate) fn read(document: &str) -> Markdown {
    let mut outline = Outline::default();
    let mut front_matter = None;
    for block in with_gaps(document, top_level_blocks(document)) {
        match block.kind {
            BlockKind::Heading { level, text } => outline.heading(level, &text, None),
            BlockKind::Hidden => {
                if is_front_matter(document, &block.range) {
                    front_matter = Some(block.range);
                }
                // Blocks on both sides must not be merged, or the chunk would contain it.
                outline.interrupt();
            }
            _ => outline.push(block),
        }
    }
    let (title, sections) = outline.finish();
    Markdown { title, sections, front_matter }
}

/// The parser recognizes metadata blocks anywhere; only one at the start is front matter.
fn is_front_matter(document: &str, range: &Range<usize>) -> bool {
    let starts = document.get(..range.start).is_some_and(|before| before.trim().is_empty());
    starts && document.get(range.clone()).is_some_and(|text| text.starts_with(['-', '+']))
}

fn top_level_blocks(document: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    for (event, range) in Parser::new_ext(document, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let kind = block_kind(&tag, document.get(range.clone()).unwrap_or_default());
                reader.is_block.push(kind.is_some());
                match kind {
                    Some(kind) => reader.open.push(Block::leaf(kind, range)),
                    None => reader.note_inline(&range),
                }
            }
            Event::End(_) => {
                if reader.is_block.pop() == Some(true)
                    && let Some(block) = reader.open.pop()
                {
                    reader.close(block);
                }
            }
            Event::Rule => reader.close(Block::leaf(BlockKind::Lines, range)),
            Event::Text(text) | Event::Code(text) => {
                reader.push_heading_text(&text);
                reader.note_inline(&range);
            }
            Event::SoftBreak | Event::HardBreak => reader.push_heading_text(" "),
            _ => reader.note_inline(&range),
        }
    }
    reader.top
}

/// Builds the tree of blocks from the events of the parser.
#[derive(Default)]
struct Reader {
    top: Vec<Block>,
    /// The open blocks, outermost first.
    open: Vec<Block>,
    /// For each open element, including inline ones, whether it is a block.
    is_block: Vec<bool>,
}

impl Reader {
    /// Items of a tight list contain their text without a paragraph, so this adds one.
    fn note_inline(&mut self, range: &Range<usize>) {
        if self.open.len() >= MAX_DEPTH {
            return;
        }
        let Some(block) = self.open.last_mut().filter(|block| block.kind == BlockKind::Container) else {
            return;
        };
        match block.children.last_mut() {
            Some(last) if last.kind == BlockKind::Text => last.range.end = last.range.end.max(range.end),
            _ => block.children.push(Block::leaf(BlockKind::Text, range.clone())),
        }
    }

    fn push_heading_text(&mut self, more: &str) {
        if let Some(Block { kind: BlockKind::Heading { text, .. }, .. }) = self.open.last_mut() {
            text.push_str(more);
        }
    }

    fn close(&mut self, mut block: Block) {
        match &mut block.kind {
            // Only top-level headings open a section, not those in a quote or list.
            BlockKind::Heading { text, .. }
                if !self.open.is_empty() || text.chars().count() > MAX_HEADING_CHARS =>
            {
                block.kind = BlockKind::Text;
            }
            BlockKind::Heading { text, .. } => *text = one_line(text),
            BlockKind::Container if block.children.is_empty() => block.kind = BlockKind::Text,
            _ => {}
        }
        let depth = self.open.len();
        match self.open.last_mut() {
            None => self.top.push(block),
            Some(parent) if depth < MAX_DEPTH => parent.children.push(block),
            // A block that is nested too deep stays part of its parent's text.
            Some(_) => {}
        }
    }
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
}

fn block_kind(tag: &Tag<'_>, source: &str) -> Option<BlockKind> {
    match tag {
        Tag::Paragraph => Some(BlockKind::Text),
        Tag::Heading { level, .. } => {
            Some(BlockKind::Heading { level: *level as usize, text: String::new() })
        }
        Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::FootnoteDefinition(_) => {
            Some(BlockKind::Container)
        }
        Tag::Table(_) => Some(BlockKind::Table),
        Tag::MetadataBlock(_) => Some(BlockKind::Hidden),
        Tag::HtmlBlock if is_comment(source) => Some(BlockKind::Hidden),
        Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::TableHead | Tag::TableRow => Some(BlockKind::Lines),
        _ => None,
    }
}

fn is_comment(html: &str) -> bool {
    let text = html.trim();
    text.starts_with("<!--") && text.find("-->").is_none_or(|end| end + "-->".len() == text.len())
}

/// Adds blocks for lines that belong to no block, such as link definitions, and extends every block to the start of its line.
fn with_gaps(document: &str, blocks: Vec<Block>) -> Vec<Block> {
    let mut all = Vec::with_capacity(blocks.len());
    let mut end = 0;
    for mut block in blocks {
        let line_start =
            document.get(..block.range.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        block.range = trim(document, line_start.max(end)..block.range.end.max(end));
        let trimmed = block.range.end;
        block.children.last_mut().into_iter().for_each(|last| end_at(last, trimmed));
        push_gap(document, end..block.range.start, &mut all);
        // A block may contain only Unicode white space that Markdown treats as text.
        if !block.range.is_empty() {
            end = block.range.end;
            all.push(block);
        }
    }
    push_gap(document, end..document.len(), &mut all);
    all
}

/// Limits a block and its last children to an end.
fn end_at(block: &mut Block, end: usize) {
    block.range = block.range.start.min(end)..block.range.end.min(end);
    block.children.last_mut().into_iter().for_each(|last| end_at(last, end));
}

fn push_gap(document: &str, range: Range<usize>, blocks: &mut Vec<Block>) {
    let range = trim(document, range);
    if !range.is_empty() {
        blocks.push(Block::leaf(BlockKind::Lines, range));
    }
}
