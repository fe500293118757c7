//! How a passage is laid out, for display. Offsets count UTF-16 code units, as browsers do.

use std::ops::Range;

use chat_core::limits::MAX_BLOCKS_BYTES;
use extract::document::{Block, BlockKind, Document, MarkKind, touching};
use serde_json::{Value, json};

use super::jsonb_bytes;

/// The blocks and marks within a range; `None` if they are too large to store.
pub(super) fn layout(document: &Document, blocks: &[&Block], range: &Range<usize>) -> Option<Value> {
    let mut layout = Layout { document, range, blocks: Vec::new() };
    let first = blocks.partition_point(|block| block.range.end <= range.start);
    for block in blocks.iter().skip(first).take_while(|block| block.range.start < range.end) {
        layout.add(block, None);
    }
    let mark = |kind: MarkKind, range: Range<usize>| {
        let kind = match kind {
            MarkKind::Code => "code",
            MarkKind::Link => "link",
            MarkKind::Emphasis => "emphasis",
            MarkKind::Strong => "strong",
            MarkKind::Reference => "reference",
        };
        json!({ "kind": kind, "start": layout.unit(range.start), "end": layout.unit(range.end) })
    };
    let mut marks: Vec<_> = document
        .marks_in(range)
        .filter_map(|found| Some((found.kind, layout.inside(&found.range)?)))
        .collect();
    marks.sort_by_key(|(_, range)| (range.start, range.end));
    let marks: Vec<Value> = marks.into_iter().map(|(kind, range)| mark(kind, range)).collect();
    let value = json!({ "blocks": layout.blocks, "marks": marks });
    (jsonb_bytes(&value) <= MAX_BLOCKS_BYTES).then_some(value)
}

struct Layout<'a> {
    document: &'a Document,
    range: &'a Range<usize>,
    blocks: Vec<Value>,
}

impl Layout<'_> {
    /// `depth`: that of the item that contains the block.
    fn add(&mut self, block: &Block, depth: Option<usize>) {
        let Some(range) = self.inside(&block.range) else { return };
        let kind = match &block.kind {
            BlockKind::Heading { .. } => "heading",
            BlockKind::Paragraph | BlockKind::Cell => "paragraph",
            BlockKind::Question => "question",
            BlockKind::Label => "label",
            BlockKind::Code => "code",
            BlockKind::Row { is_header } => return self.row(block, &range, *is_header),
            BlockKind::Item { .. } => return self.item(block, &range, depth),
            BlockKind::List | BlockKind::Table | BlockKind::Group | BlockKind::Note => {
                return touching(&block.children, self.range).iter().for_each(|child| self.add(child, depth));
            }
        };
        let mut entry = self.entry(kind, &range);
        if let Some(depth) = depth {
            entry["depth"] = (depth + 1).into();
        }
        self.blocks.push(entry);
    }

    fn row(&mut self, row: &Block, range: &Range<usize>, is_header: bool) {
        let cells = row.children.iter().filter_map(|cell| self.inside(&cell.range));
        let cells: Vec<Value> =
            cells.map(|cell| json!([self.unit(cell.start), self.unit(cell.end)])).collect();
        let mut entry = self.entry("row", range);
        entry["cells"] = cells.into();
        if is_header {
            entry["is_header"] = true.into();
        }
        self.blocks.push(entry);
    }

    /// An item with its first paragraph; its other blocks follow.
    fn item(&mut self, item: &Block, range: &Range<usize>, above: Option<usize>) {
        let depth = above.map_or(0, |above| above + 1);
        let mut children = item.children.as_slice();
        let own = children.split_first().filter(|(first, _)| first.kind == BlockKind::Paragraph);
        if let Some((first, others)) = own {
            children = others;
            // The item began in the passage before.
            let is_cut = item.range.start < self.range.start;
            if let Some(text) = self.inside(&first.range) {
                let mut entry =
                    self.entry(if is_cut { "paragraph" } else { "item" }, &(range.start..text.end));
                entry["depth"] = (depth + usize::from(is_cut)).into();
                if !is_cut {
                    entry["text"] = self.unit(text.start).into();
                }
                self.blocks.push(entry);
            }
        } else if item.range.start >= self.range.start
            && let Some(first) = children.first()
        {
            // Only a marker.
            let mut entry = self.entry("item", &(range.start..first.range.start.min(range.end)));
            entry["depth"] = depth.into();
            entry["text"] = self.unit(first.range.start.min(range.end)).into();
            self.blocks.push(entry);
        }
        children.iter().for_each(|child| self.add(child, Some(depth)));
    }

    fn entry(&self, kind: &str, range: &Range<usize>) -> Value {
        json!({ "kind": kind, "start": self.unit(range.start), "end": self.unit(range.end) })
    }

    /// The part of a range inside the passage.
    fn inside(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let inside = range.start.max(self.range.start)..range.end.min(self.range.end);
        (inside.start < inside.end).then_some(inside)
    }

    /// UTF-16 code units before a byte of the document, from the start of the passage.
    fn unit(&self, byte: usize) -> usize {
        self.document.slice(&(self.range.start..byte)).encode_utf16().count()
    }
}
