//! Splits plain text into paragraphs. Nothing is interpreted as a heading.

use super::{Block, BlockKind, Section, trim};

pub(crate) fn section(document: &str) -> Section {
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut offset = 0;
    for line in document.split_inclusive('\n') {
        if line.trim().is_empty() {
            push_paragraph(document, start, offset, &mut blocks);
            start = offset + line.len();
        }
        offset += line.len();
    }
    push_paragraph(document, start, document.len(), &mut blocks);
    Section { blocks, ..Section::default() }
}

fn push_paragraph(document: &str, start: usize, end: usize, blocks: &mut Vec<Block>) {
    let range = trim(document, start..end);
    if !range.is_empty() {
        blocks.push(Block::leaf(BlockKind::Text, range));
    }
}
