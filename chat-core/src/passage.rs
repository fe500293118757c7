//! A found passage with its statements, for the assessment and the answer.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use crate::chunk::{MatchedChunk, SentenceMatch};
use crate::limits::{MAX_CHAIN_BYTES, MAX_SENTENCES};
use crate::marker::has_escaped_marker;
use crate::statement::{Part, Segment, StatementKind, joined, shown};
use crate::words::words;

/// The largest absolute z that counts, and minus the z of a statement that was not read.
pub(crate) const MAX_READER_Z: f64 = 10.0;
/// Between the headings of a section.
pub(crate) const HEADING_SEPARATOR: &str = " › ";

/// A passage and its statements.
pub(crate) struct Passage<'a> {
    pub(crate) chunk: &'a MatchedChunk,
    /// All that an answer may quote of it, in order, without overlaps.
    pub(crate) sentences: Vec<Sentence<'a>>,
    /// See [`Passage::words`].
    words: OnceCell<BTreeSet<String>>,
}

/// A statement.
pub(crate) struct Sentence<'a> {
    /// Byte offsets in the passage.
    pub(crate) range: Range<usize>,
    pub(crate) text: &'a str,
    pub(crate) kind: StatementKind,
    /// Its chain, outermost first.
    pub(crate) chain: Vec<&'a Part>,
    /// Cosine of the question's and the sentence's vector.
    pub(crate) similarity: f64,
    /// The reader's z, from -[`MAX_READER_Z`] to [`MAX_READER_Z`]; `None` if the reader has no say
    /// in the question.
    pub(crate) z: Option<f64>,
    /// The stems of its words.
    pub(crate) words: BTreeSet<String>,
    /// The stems of its chain and of the section. Shared, because many statements have the same context.
    context: Vec<Rc<BTreeSet<String>>>,
}

impl<'a> Passage<'a> {
    pub(crate) fn new(chunk: &'a MatchedChunk) -> Self {
        Self { chunk, sentences: statements(chunk), words: OnceCell::new() }
    }

    /// The stems of all its words and those of its section. Lazy, because the best passages usually have all words of a question.
    pub(crate) fn words(&self) -> &BTreeSet<String> {
        let all = || self.chunk.section().into_iter().chain([self.chunk.content.as_str()]).flat_map(words);
        self.words.get_or_init(|| all().collect())
    }

    /// Takes the z of the sentences. One that it did not read counts as one that does not answer.
    pub(crate) fn read(&mut self, of_sentences: &[Option<f32>]) {
        for (at, sentence) in self.sentences.iter_mut().enumerate() {
            let z = of_sentences.get(at).copied().flatten().filter(|z| !z.is_nan());
            sentence.z = Some(z.map_or(-MAX_READER_Z, |z| f64::from(z).clamp(-MAX_READER_Z, MAX_READER_Z)));
        }
    }

    /// The largest z of its sentences.
    pub(crate) fn best_z(&self) -> Option<f64> {
        self.sentences.iter().filter_map(|sentence| sentence.z).reduce(f64::max)
    }

    /// The largest similarity of its sentences.
    pub(crate) fn best_sentence(&self) -> Option<f64> {
        self.sentences
            .iter()
            .map(|sentence| sentence.similarity)
            .filter(|cosine| !cosine.is_nan())
            .reduce(f64::max)
    }
}

impl Sentence<'_> {
    /// Whether it or its context contains a stem.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.words.contains(word) || self.context.iter().any(|words| words.contains(word))
    }

    /// It and its chain without the first parts, as a reader sees them.
    pub(crate) fn shown(&self, without: usize) -> Vec<Segment> {
        shown(self.kind, self.text, self.chain.get(without..).unwrap_or_default())
    }

    /// It and its whole chain as one text.
    pub(crate) fn whole(&self) -> String {
        joined(&self.shown(0))
    }
}

/// The statements that can be shown unchanged and with their whole chain; see [`has_escaped_marker`].
fn statements(chunk: &MatchedChunk) -> Vec<Sentence<'_>> {
    let stems = |text: &str| Rc::new(words(text).collect::<BTreeSet<_>>());
    let section = chunk.section().map(stems).unwrap_or_default();
    let parts: Vec<_> =
        chunk.parts.iter().map(|part| (!has_escaped_marker(&part.text)).then_some(part)).collect();
    let contexts: Vec<OnceCell<Rc<BTreeSet<String>>>> = vec![OnceCell::new(); parts.len()];
    let mut sentences = Vec::new();
    for (range, stored) in byte_ranges(chunk) {
        let Some(text) = chunk.content.get(range.clone()).filter(|text| !has_escaped_marker(text)) else {
            continue;
        };
        let chain: Option<Vec<_>> = stored.chain.iter().map(|at| *parts.get(*at)?).collect();
        let Some(chain) =
            chain.filter(|chain| chain.iter().map(|part| part.text.len()).sum::<usize>() <= MAX_CHAIN_BYTES)
        else {
            continue;
        };
        let context =
            stored.chain.iter().zip(&chain).filter_map(|(at, part)| {
                Some(Rc::clone(contexts.get(*at)?.get_or_init(|| stems(&part.text))))
            });
        sentences.push(Sentence {
            text,
            kind: stored.kind,
            similarity: stored.similarity,
            z: None,
            words: words(text).collect(),
            context: context.chain([Rc::clone(&section)]).collect(),
            chain,
            range,
        });
    }
    sentences
}

/// Converts offsets in characters to offsets in bytes, for at most [`MAX_SENTENCES`]. Sentences outside the text, that overlap
/// the previous one, or without words are left out: they belong to another version of the passage.
fn byte_ranges(chunk: &MatchedChunk) -> Vec<(Range<usize>, &SentenceMatch)> {
    let content = chunk.content.as_str();
    let boundaries: Vec<usize> =
        content.char_indices().map(|(byte, _)| byte).chain([content.len()]).collect();
    let mut last_end = 0;
    let mut ranges = Vec::new();
    for sentence in chunk.sentences.iter().take(MAX_SENTENCES) {
        let range = boundaries.get(sentence.start).zip(boundaries.get(sentence.end));
        let Some(range) = range.map(|(start, end)| *start..*end) else { continue };
        let has_words = content.get(range.clone()).is_some_and(|text| text.contains(char::is_alphanumeric));
        if has_words && range.start >= last_end {
            last_end = range.end;
            ranges.push((range, sentence));
        }
    }
    ranges
}
