//! A found passage with its sentences taken apart, as evidence and answers look at it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use crate::answer::has_escaped_marker;
use crate::chunk::{MatchedChunk, SentenceMatch};
use crate::limits::MAX_SENTENCES;
use crate::plain::plain_text;
use crate::sentences::{List, Unit, UnitKind, row_text, units};
use crate::words::words;

/// A passage and what is known of its sentences.
pub(crate) struct Passage<'a> {
    pub(crate) chunk: &'a MatchedChunk,
    /// In order, never overlapping. The whole passage, if nothing is known of its sentences.
    pub(crate) sentences: Vec<Sentence<'a>>,
    /// All its words and those of its section, stemmed.
    pub(crate) words: BTreeSet<String>,
}

/// A sentence, or another unit that can be quoted by itself.
pub(crate) struct Sentence<'a> {
    /// Bytes of the passage.
    pub(crate) range: Range<usize>,
    pub(crate) text: &'a str,
    pub(crate) kind: UnitKind,
    /// Cosine of the question's and the sentence's vector.
    pub(crate) similarity: f64,
    /// Its words, stemmed.
    pub(crate) words: BTreeSet<String>,
    /// The words of what it stands under: a heading in the passage, the header row of a table, the line that introduces a
    /// list, the section. Shared, because many sentences stand under the same.
    context: Vec<Rc<BTreeSet<String>>>,
    /// The header row of the table it is a row of.
    pub(crate) header: Option<&'a str>,
    /// The list it is, or begins, an item of.
    pub(crate) list: Option<List>,
    /// See [`Passage::is_shown_as_it_is`].
    is_shown_as_it_is: OnceCell<bool>,
}

impl<'a> Passage<'a> {
    pub(crate) fn new(chunk: &'a MatchedChunk) -> Self {
        let content = chunk.content.as_str();
        let section: Rc<BTreeSet<String>> = Rc::new(chunk.section().into_iter().flat_map(words).collect());
        let units = units(content);
        let mut lines = BTreeMap::new();
        let mut words_of = |range: Range<usize>| {
            let of_line = || Rc::new(content.get(range.clone()).into_iter().flat_map(words).collect());
            Rc::clone(lines.entry((range.start, range.end)).or_insert_with(of_line))
        };
        let mut sentence = |(range, similarity): (Range<usize>, f64)| {
            let text = content.get(range.clone())?;
            let unit = unit_at(&units, &range);
            let list = unit.and_then(|unit| unit.list.clone());
            let introduction = list.as_ref().and_then(|list| list.introduction.clone());
            let context = unit.into_iter().flat_map(|unit| unit.context.iter().cloned()).chain(introduction);
            let context = context.map(&mut words_of).chain([Rc::clone(&section)]).collect();
            let header = unit.filter(|unit| unit.kind == UnitKind::TableRow);
            let header = header.and_then(|unit| content.get(unit.context.first()?.clone()));
            Some(Sentence {
                header: header.filter(|header| header.contains('|')),
                list,
                kind: unit.map_or_else(|| kind_of_unknown(text), |unit| unit.kind),
                words: words(text).collect(),
                context,
                range,
                text,
                similarity,
                is_shown_as_it_is: OnceCell::new(),
            })
        };
        Self {
            chunk,
            sentences: quotable_ranges(chunk, &units).into_iter().filter_map(&mut sentence).collect(),
            words: words(content).chain(section.iter().cloned()).collect(),
        }
    }

    /// One of its sentences as a reader sees it.
    pub(crate) fn plain_text(&self, sentence: &Sentence<'_>) -> String {
        if self.chunk.is_markdown() {
            let row = sentence.header.and_then(|header| row_text(header, sentence.text));
            plain_text(row.as_deref().unwrap_or(sentence.text), sentence.kind)
        } else {
            sentence.text.to_owned()
        }
    }

    /// Whether clients show words of the sentence, and nothing else; see [`has_escaped_marker`]. The line above a list is asked
    /// for with each item, so the answer is kept.
    pub(crate) fn is_shown_as_it_is(&self, sentence: &Sentence<'_>) -> bool {
        *sentence.is_shown_as_it_is.get_or_init(|| {
            let text = self.plain_text(sentence);
            text.contains(char::is_alphanumeric) && !has_escaped_marker(&text)
        })
    }

    /// The sentence that is exactly this range, as offsets in bytes.
    pub(crate) fn sentence_at(&self, range: &Range<usize>) -> Option<&Sentence<'a>> {
        self.sentences.iter().find(|sentence| sentence.range == *range)
    }

    /// The largest similarity among its sentences.
    pub(crate) fn best_sentence(&self) -> Option<f64> {
        self.sentences
            .iter()
            .map(|sentence| sentence.similarity)
            .filter(|cosine| !cosine.is_nan())
            .reduce(f64::max)
    }
}

impl Sentence<'_> {
    /// Whether it, or what it stands under, holds a word, given as its stem.
    pub(crate) fn holds(&self, word: &str) -> bool {
        self.words.contains(word) || self.context.iter().any(|words| words.contains(word))
    }
}

/// The unit that is exactly this range. Units are in order.
fn unit_at<'u>(units: &'u [Unit], range: &Range<usize>) -> Option<&'u Unit> {
    let place = units.binary_search_by_key(&range.start, |unit| unit.range.start).ok()?;
    units.get(place).filter(|unit| unit.range == *range)
}

/// Sentences as they were stored; where there are none, the whole passage, as near to the question as it is.
fn quotable_ranges(chunk: &MatchedChunk, units: &[Unit]) -> Vec<(Range<usize>, f64)> {
    let stored = byte_ranges(&chunk.content, &chunk.sentences);
    let trimmed = chunk.content.trim();
    if !stored.is_empty() {
        return stored;
    }
    if trimmed.is_empty() || units.is_empty() {
        return Vec::new();
    }
    let start = chunk.content.len() - chunk.content.trim_start().len();
    vec![(start..start + trimmed.len(), chunk.similarity)]
}

/// Offsets in characters as offsets in bytes, of [`MAX_SENTENCES`] at most. What lies outside of the text, overlaps the
/// sentence before, or holds no word is left out: then the stored sentences belong to another version of the passage.
fn byte_ranges(content: &str, sentences: &[SentenceMatch]) -> Vec<(Range<usize>, f64)> {
    let boundaries: Vec<usize> =
        content.char_indices().map(|(byte, _)| byte).chain([content.len()]).collect();
    let mut last_end = 0;
    let mut ranges = Vec::new();
    for sentence in sentences.iter().take(MAX_SENTENCES) {
        let range = boundaries.get(sentence.start).zip(boundaries.get(sentence.end));
        let Some(range) = range.map(|(start, end)| *start..*end) else { continue };
        let has_words = content.get(range.clone()).is_some_and(|text| text.contains(char::is_alphanumeric));
        if has_words && range.start >= last_end {
            last_end = range.end;
            ranges.push((range, sentence.similarity));
        }
    }
    ranges
}

/// A unit that the splitter of today does not find: several lines stand by themselves.
fn kind_of_unknown(text: &str) -> UnitKind {
    if text.contains('\n') { UnitKind::Passage } else { UnitKind::Sentence }
}
