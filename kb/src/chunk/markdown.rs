//! Markdown → sections of blocks, each with its place in the source.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::block::{Block, BlockKind, Section, trim};

/// A longer "heading" is a paragraph that somebody underlined with dashes by accident; it stays content.
const MAX_HEADING_CHARS: usize = 200;

/// The title (first heading of level 1) and the sections, in reading order.
pub(super) fn outline(document: &str) -> (Option<String>, Vec<Section>) {
    let mut title = None;
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut sections = vec![section_under(&path)];
    for block in with_gaps(document, top_level_blocks(document)) {
        match block.kind {
            BlockKind::Heading { level, text } => {
                path.retain(|(above, _)| *above < level);
                if level == 1 && title.is_none() && !text.is_empty() {
                    title = Some(text.clone());
                }
                path.push((level, text));
                sections.push(section_under(&path));
            }
            // Never merged over, or it would be inside the chunk.
            BlockKind::Hidden => sections.push(section_under(&path)),
            _ => {
                if let Some(section) = sections.last_mut() {
                    section.blocks.push(block);
                }
            }
        }
    }
    sections.retain(|section| !section.blocks.is_empty());
    (title, sections)
}

fn section_under(path: &[(usize, String)]) -> Section {
    let headings = path.iter().map(|(_, text)| text.clone()).filter(|text| !text.is_empty()).collect();
    Section { headings, blocks: Vec::new() }
}

fn top_level_blocks(document: &str) -> Vec<Block> {
    let mut top = Vec::new();
    // `None` stands for an inline element, so that every end event closes what its start event opened.
    let mut open: Vec<Option<Block>> = Vec::new();
    for (event, range) in Parser::new_ext(document, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let source = document.get(range.clone()).unwrap_or_default();
                let block = block_kind(&tag, source).map(|kind| Block::leaf(kind, range.clone()));
                if block.is_none() {
                    note_inline(&mut open, &range);
                }
                open.push(block);
            }
            Event::End(_) => {
                if let Some(block) = open.pop().flatten() {
                    close(block, &mut open, &mut top);
                }
            }
            Event::Rule => close(Block::leaf(BlockKind::Lines, range), &mut open, &mut top),
            Event::Text(text) | Event::Code(text) => {
                push_heading_text(&mut open, &text);
                note_inline(&mut open, &range);
            }
            Event::SoftBreak | Event::HardBreak => push_heading_text(&mut open, " "),
            _ => note_inline(&mut open, &range),
        }
    }
    top
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

/// The items of a tight list hold their text directly, without a paragraph around it: make one.
fn note_inline(open: &mut [Option<Block>], range: &Range<usize>) {
    let Some(Some(block)) = open.last_mut() else { return };
    if block.kind != BlockKind::Container {
        return;
    }
    match block.children.last_mut() {
        Some(last) if last.kind == BlockKind::Text => last.range.end = last.range.end.max(range.end),
        _ => block.children.push(Block::leaf(BlockKind::Text, range.clone())),
    }
}

fn push_heading_text(open: &mut [Option<Block>], more: &str) {
    if let Some(Block { kind: BlockKind::Heading { text, .. }, .. }) = open.iter_mut().rev().flatten().next()
    {
        text.push_str(more);
    }
}

fn close(mut block: Block, open: &mut [Option<Block>], top: &mut Vec<Block>) {
    let parent = open.iter_mut().rev().flatten().next();
    match &mut block.kind {
        // Only headings of the document itself open a section, not those quoted or inside a list.
        BlockKind::Heading { text, .. } if parent.is_some() || text.chars().count() > MAX_HEADING_CHARS => {
            block.kind = BlockKind::Text;
        }
        BlockKind::Heading { text, .. } => *text = text.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => {}
    }
    match parent {
        Some(parent) => parent.children.push(block),
        None => top.push(block),
    }
}

fn is_comment(html: &str) -> bool {
    let text = html.trim();
    text.starts_with("<!--") && text.find("-->").is_none_or(|end| end + "-->".len() == text.len())
}

/// Adds the lines that belong to no block, such as link definitions, as blocks of their own, and makes every block
/// start at the start of its line.
fn with_gaps(document: &str, blocks: Vec<Block>) -> Vec<Block> {
    let mut all = Vec::with_capacity(blocks.len());
    let mut end = 0;
    for mut block in blocks {
        let line_start =
            document.get(..block.range.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        block.range = trim(document, line_start.max(end)..block.range.end.max(end));
        push_gap(document, end..block.range.start, &mut all);
        end = block.range.end;
        all.push(block);
    }
    push_gap(document, end..document.len(), &mut all);
    all
}

fn push_gap(document: &str, range: Range<usize>, blocks: &mut Vec<Block>) {
    let range = trim(document, range);
    if !range.is_empty() {
        blocks.push(Block::leaf(BlockKind::Lines, range));
    }
}
