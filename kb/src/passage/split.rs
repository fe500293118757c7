//! Cuts the blocks of a section into ranges within the token limit, at the largest unit possible.

use std::ops::Range;

use extract::document::{Block, BlockKind, Document};
use extract::statement::Statement;

use super::measure::{Measure, split_words};
use super::merge::merge_neighbours;
use super::section::shorten;
use super::{CountTokens, Section};

/// The ranges of a section's passages, in reading order, disjoint.
pub(super) fn ranges(
    document: &Document,
    section: &Section<'_>,
    statements: &[Statement],
    count_tokens: &CountTokens<'_>,
) -> Vec<Range<usize>> {
    let context = section.path.as_deref().and_then(|path| shorten(path, count_tokens));
    let measure = Measure::new(&document.text, context.as_deref(), count_tokens);
    let mut splitter = Splitter { document, statements, measure: &measure, pieces: Vec::new() };
    for block in &section.blocks {
        splitter.block(block, block.range.start);
    }
    // Rows with addresses of their own are passages of their own.
    let url = |piece: &Range<usize>| document.place(piece.start).and_then(|place| place.url.as_deref());
    splitter
        .pieces
        .chunk_by(|a, b| url(a) == url(b))
        .flat_map(|pieces| merge_neighbours(pieces, &measure))
        .collect()
}

struct Splitter<'a> {
    document: &'a Document,
    statements: &'a [Statement],
    measure: &'a Measure<'a>,
    pieces: Vec<Range<usize>>,
}

impl Splitter<'_> {
    /// `start`: that of the block, or of the marker before it.
    fn block(&mut self, block: &Block, start: usize) {
        let range = start..block.range.end;
        let has_addresses = || {
            let places = &self.document.places;
            let first = places.partition_point(|place| place.start < range.start);
            let mut inside = places.iter().skip(first).take_while(|place| place.start < range.end);
            inside.any(|place| place.url.is_some())
        };
        let is_one = self.measure.fits(&range) && !(block.kind == BlockKind::Table && has_addresses());
        if is_one {
            self.pieces.push(range);
        } else if block.children.is_empty() || matches!(block.kind, BlockKind::Row { .. }) {
            self.text(block, range);
        } else {
            let mut start = start;
            for child in &block.children {
                let is_first = start == range.start;
                self.block(child, if is_first { start } else { child.range.start });
                start = child.range.end;
            }
        }
    }

    /// Cuts between statements or lines, then words.
    fn text(&mut self, block: &Block, range: Range<usize>) {
        let mut ends: Vec<usize> = if block.kind == BlockKind::Code {
            let lines = self.document.slice(&range).split_inclusive('\n');
            lines
                .scan(range.start, |end, line| {
                    *end += line.len();
                    Some(*end)
                })
                .collect()
        } else {
            let first = self.statements.partition_point(|statement| statement.range.start < range.start);
            let inside =
                self.statements.iter().skip(first).take_while(|statement| statement.range.end <= range.end);
            inside.map(|statement| statement.range.end).collect()
        };
        ends.retain(|end| *end < range.end);
        ends.push(range.end);
        let mut start = range.start;
        for end in ends {
            let text = self.document.slice(&(start..end));
            let piece = start + (text.len() - text.trim_start().len())..start + text.trim_end().len();
            start = end;
            if piece.is_empty() {
            } else if self.measure.fits(&piece) {
                self.pieces.push(piece);
            } else {
                split_words(piece, self.measure, &mut self.pieces);
            }
        }
    }
}
