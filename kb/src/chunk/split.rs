//! Splits blocks into pieces within the token limit, at the largest unit possible.

use std::ops::Range;

use chat_core::limits::grapheme_boundary;
use extract::{Block, BlockKind, trim};

use super::{CountTokens, MAX_PASSAGE_BYTES, MAX_TOKENS, context};

/// Counts the tokens of slices of one section, including its headings.
pub(crate) struct Measure<'a> {
    text: &'a str,
    count_tokens: &'a CountTokens<'a>,
    /// Tokens of an empty text, which are the special ones.
    special_tokens: usize,
    tokens_around: usize,
}

impl<'a> Measure<'a> {
    pub(crate) fn new(text: &'a str, context: Option<&str>, count_tokens: &'a CountTokens<'a>) -> Self {
        let tokens_around = count_tokens(&context::with_context(context, ""));
        Self { text, count_tokens, special_tokens: count_tokens(""), tokens_around }
    }

    /// Tokens of the embedded text that are not content: special tokens and headings. The newline after the headings ends a
    /// word, so the two counts add up.
    pub(super) fn tokens_around(&self) -> usize {
        self.tokens_around
    }

    /// Tokens of a slice alone. Tokenizes all of it.
    pub(super) fn content_tokens(&self, range: &Range<usize>) -> usize {
        (self.count_tokens)(self.slice(range)).saturating_sub(self.special_tokens)
    }

    /// Whether a slice can be a chunk. Tokenizes at most [`MAX_PASSAGE_BYTES`].
    pub(crate) fn fits(&self, range: &Range<usize>) -> bool {
        range.len() <= MAX_PASSAGE_BYTES && self.tokens_around + self.content_tokens(range) <= MAX_TOKENS
    }

    fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// Splits between words.
pub(crate) fn split_words(range: Range<usize>, measure: &Measure<'_>, pieces: &mut Vec<Range<usize>>) {
    split_text(range, Unit::Word, measure, pieces);
}

/// Pieces in reading order, disjoint, with only white space between them.
pub(super) fn pieces(blocks: &[Block], measure: &Measure<'_>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for block in blocks {
        split_block(block, block.range.clone(), measure, &mut pieces);
    }
    pieces
}

fn split_block(block: &Block, range: Range<usize>, measure: &Measure<'_>, pieces: &mut Vec<Range<usize>>) {
    let range = trim(measure.text, range);
    if range.is_empty() {
        return;
    }
    if measure.fits(&range) {
        pieces.push(range);
        return;
    }
    match block.kind {
        BlockKind::Container | BlockKind::Table if !block.children.is_empty() => {
            for (child, part) in parts(block, &range, measure.text) {
                split_block(child, part, measure, pieces);
            }
        }
        BlockKind::Lines | BlockKind::Hidden | BlockKind::Table => {
            split_text(range, Unit::Line, measure, pieces)
        }
        BlockKind::Text | BlockKind::Heading { .. } | BlockKind::Container => {
            split_text(range, Unit::Sentence, measure, pieces)
        }
    }
}

/// Divides a container between its children without losing a byte: text before a child, such as a list marker, goes to the
/// previous child, or to the first.
fn parts<'a>(block: &'a Block, range: &Range<usize>, document: &str) -> Vec<(&'a Block, Range<usize>)> {
    // The header row of a table means nothing alone, so it stays with the first row.
    let together = if block.kind == BlockKind::Table { 2 } else { 1 };
    let first = block.children.first().map(|child| (child, range.start));
    let later = block.children.iter().skip(together).map(|child| (child, part_start(child, range, document)));
    let starts: Vec<_> = first.into_iter().chain(later).collect();
    let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([range.end]);
    starts.iter().zip(ends).map(|((child, start), end)| (*child, *start..end)).collect()
}

/// Code keeps its indentation and quoted text its `>`; anything else starts at its first character.
fn part_start(child: &Block, parent: &Range<usize>, document: &str) -> usize {
    let start = child.range.start.clamp(parent.start, parent.end);
    let before = document.get(parent.start..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(parent.start, |newline| parent.start + newline + 1);
    let prefix = document.get(line_start..start).unwrap_or_default();
    let is_prefix_of_line = prefix.chars().all(|c| c.is_whitespace() || c == '>');
    if is_prefix_of_line && (child.kind == BlockKind::Lines || prefix.contains('>')) {
        line_start
    } else {
        start
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Line,
    Sentence,
    Word,
}

impl Unit {
    fn split<'a>(self, text: &'a str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        match self {
            Self::Line => Box::new(text.split_inclusive('\n')),
            Self::Sentence => Box::new(sentences(text).into_iter()),
            Self::Word => Box::new(text.split_inclusive(char::is_whitespace)),
        }
    }
}

fn split_text(range: Range<usize>, unit: Unit, measure: &Measure<'_>, pieces: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    for part in unit.split(measure.slice(&range)) {
        let piece = trim(measure.text, start..start + part.len());
        start += part.len();
        match unit {
            _ if piece.is_empty() => {}
            _ if measure.fits(&piece) => pieces.push(piece),
            Unit::Line | Unit::Sentence => split_text(piece, Unit::Word, measure, pieces),
            Unit::Word => split_word(piece, measure, pieces),
        }
    }
}

/// Splits a text without spaces between graphemes, or between characters if a grapheme is too long. Each search starts at twice
/// the last length that fitted, so each byte is tokenized only a few times, however long the text is.
fn split_word(range: Range<usize>, measure: &Measure<'_>, pieces: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    let mut length = MAX_PASSAGE_BYTES;
    while start < range.end {
        let rest = measure.slice(&(start..range.end));
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let mut piece = start..start + grapheme_boundary(rest, length).max(first);
        while piece.len() > first && !measure.fits(&piece) {
            piece.end = start + grapheme_boundary(rest, piece.len() / 2).max(first);
        }
        length = (2 * piece.len()).min(MAX_PASSAGE_BYTES);
        start = piece.end;
        pieces.push(piece);
    }
}

/// The sentences that an answer would quote, each with the white space after it.
fn sentences(text: &str) -> Vec<&str> {
    let starts =
        chat_core::sentences::sentences(text, 0..text.len()).into_iter().map(|sentence| sentence.start);
    let mut sentences = Vec::new();
    let mut rest = text;
    let mut offset = 0;
    for start in starts.skip(1) {
        let Some((sentence, after)) = rest.split_at_checked(start - offset) else { break };
        sentences.push(sentence);
        (rest, offset) = (after, start);
    }
    sentences.push(rest);
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_punctuation_and_not_at_line_breaks() {
        assert_eq!(
            sentences("Refunds take\nfive days. Ask “why?” Then\nwait, e.g. a week."),
            ["Refunds take\nfive days. ", "Ask “why?” ", "Then\nwait, e.g. a week."]
        );
    }

    #[test]
    fn a_text_without_punctuation_is_one_sentence() {
        assert_eq!(sentences("no end\nin sight"), ["no end\nin sight"]);
    }
}
