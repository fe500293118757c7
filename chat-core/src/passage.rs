//! A found passage split into sentences, for the assessment and the answer.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use crate::chunk::{MatchedChunk, SentenceMatch};
use crate::limits::{MAX_CHAIN_BYTES, MAX_SENTENCES};
use crate::marker::has_escaped_marker;
use crate::plain::plain_text;
use crate::sentences::{List, Unit, UnitKind, row_text, units};
use crate::statement::{Part, StatementKind, shown_text};
use crate::words::words;

/// A passage and its sentences.
pub(crate) struct Passage<'a> {
    pub(crate) chunk: &'a MatchedChunk,
    /// In order, without overlaps. The whole passage if no sentences are stored.
    pub(crate) sentences: Vec<Sentence<'a>>,
    /// See [`Passage::words`].
    words: OnceCell<BTreeSet<String>>,
}

/// A sentence or another unit that can be quoted.
pub(crate) struct Sentence<'a> {
    /// Byte offsets in the passage.
    pub(crate) range: Range<usize>,
    pub(crate) text: &'a str,
    pub(crate) kind: UnitKind,
    /// Cosine of the question's and the sentence's vector.
    pub(crate) similarity: f64,
    /// The stems of its words.
    pub(crate) words: BTreeSet<String>,
    /// The words of its context: a heading in the passage, the header row of a table, the line that introduces a list, the
    /// section. Shared, because many sentences have the same context.
    context: Vec<Rc<BTreeSet<String>>>,
    /// The heading above it, preceded by the header row for a table row, as byte offsets.
    headings: Vec<Range<usize>>,
    /// The header row of its table.
    pub(crate) header: Option<&'a str>,
    /// Its list, if it is an item or a sentence of one.
    pub(crate) list: Option<List>,
    /// What it is and what gives it its meaning, if that is stored with it.
    pub(crate) statement: Option<(StatementKind, Vec<&'a Part>)>,
    /// See [`Passage::is_quotable`].
    is_quotable: OnceCell<bool>,
}

impl<'a> Passage<'a> {
    pub(crate) fn new(chunk: &'a MatchedChunk) -> Self {
        let content = chunk.content.as_str();
        let section: Rc<BTreeSet<String>> = Rc::new(chunk.section().into_iter().flat_map(words).collect());
        if let Some(sentences) = statements(chunk, &section) {
            return Self { chunk, sentences, words: OnceCell::new() };
        }
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
                headings: unit.map(|unit| unit.context.clone()).unwrap_or_default(),
                header: header.filter(|header| header.contains('|')),
                list,
                statement: None,
                kind: unit.map_or_else(|| kind_without_unit(text), |unit| unit.kind),
                words: words(text).collect(),
                context,
                range,
                text,
                similarity,
                is_quotable: OnceCell::new(),
            })
        };
        Self {
            chunk,
            sentences: quotable_ranges(chunk, &units).into_iter().filter_map(&mut sentence).collect(),
            words: OnceCell::new(),
        }
    }

    /// The stems of all its words and those of its section. Lazy, because the best passages usually have all words of a question.
    pub(crate) fn words(&self) -> &BTreeSet<String> {
        let all = || self.chunk.section().into_iter().chain([self.chunk.content.as_str()]).flat_map(words);
        self.words.get_or_init(|| all().collect())
    }

    /// The text of one of its sentences as answers show it: with its chain, or without Markdown.
    pub(crate) fn plain_text(&self, sentence: &Sentence<'_>) -> String {
        if let Some((kind, chain)) = &sentence.statement {
            return shown_text(*kind, sentence.text, chain);
        }
        if self.chunk.is_markdown() {
            let row = sentence.header.and_then(|header| row_text(header, sentence.text));
            plain_text(row.as_deref().unwrap_or(sentence.text), sentence.kind)
        } else {
            sentence.text.to_owned()
        }
    }

    /// What is above a sentence and needed to understand it, as plain text: section or heading, the line that introduces its
    /// list, the header row of its table.
    pub(crate) fn context_text(&self, sentence: &Sentence<'_>) -> String {
        let introduction = sentence.list.as_ref().and_then(|list| list.introduction.as_ref());
        let introduction = introduction.and_then(|range| self.chunk.content.get(range.clone()));
        let lines = sentence.headings.iter().filter_map(|range| self.chunk.content.get(range.clone()));
        let plain = |line: &str| plain_text(line.trim_start_matches('#').trim(), UnitKind::Sentence);
        let lines = lines.chain(introduction).map(plain);
        self.chunk.section().map(str::to_owned).into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// Whether clients show the sentence unchanged; see [`has_escaped_marker`]. Cached, because it is checked for the line above
    /// a list with each item.
    pub(crate) fn is_quotable(&self, sentence: &Sentence<'_>) -> bool {
        *sentence.is_quotable.get_or_init(|| {
            let text = self.plain_text(sentence);
            text.contains(char::is_alphanumeric) && !has_escaped_marker(&text)
        })
    }

    /// The sentence with exactly this range.
    pub(crate) fn sentence_at(&self, range: &Range<usize>) -> Option<&Sentence<'a>> {
        self.sentences.iter().find(|sentence| sentence.range == *range)
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
}

/// The stored statements of a passage, each with the words of its chain. `None` if they have no kinds.
fn statements<'a>(chunk: &'a MatchedChunk, section: &Rc<BTreeSet<String>>) -> Option<Vec<Sentence<'a>>> {
    if !chunk.sentences.iter().any(|sentence| sentence.kind.is_some()) {
        return None;
    }
    let mut chains: BTreeMap<&str, Rc<BTreeSet<String>>> = BTreeMap::new();
    let mut words_of =
        |text: &'a str| Rc::clone(chains.entry(text).or_insert_with(|| Rc::new(words(text).collect())));
    let mut sentence = |(range, stored): (Range<usize>, &'a SentenceMatch)| {
        let text = chunk.content.get(range.clone())?;
        let kind = stored.kind?;
        // A statement without all of what gives it its meaning is none.
        let part = |at: &usize| chunk.parts.as_ref()?.get(*at);
        let chain: Vec<&Part> = stored.chain.iter().map(part).collect::<Option<_>>()?;
        if chain.iter().map(|part| part.text.len()).sum::<usize>() > MAX_CHAIN_BYTES {
            return None;
        }
        let context = chain.iter().map(|part| words_of(&part.text)).chain([Rc::clone(section)]);
        Some(Sentence {
            text,
            kind: match kind {
                StatementKind::Sentence => UnitKind::Sentence,
                StatementKind::Row => UnitKind::TableRow,
                StatementKind::Code => UnitKind::Code,
            },
            similarity: stored.similarity,
            words: words(text).collect(),
            context: context.collect(),
            headings: Vec::new(),
            header: None,
            list: None,
            statement: Some((kind, chain)),
            is_quotable: OnceCell::new(),
            range,
        })
    };
    Some(byte_ranges(&chunk.content, &chunk.sentences).into_iter().filter_map(&mut sentence).collect())
}

/// The unit with exactly this range. Units are sorted.
fn unit_at<'u>(units: &'u [Unit], range: &Range<usize>) -> Option<&'u Unit> {
    let place = units.binary_search_by_key(&range.start, |unit| unit.range.start).ok()?;
    units.get(place).filter(|unit| unit.range == *range)
}

/// The stored sentences; if there are none, the whole passage with its similarity.
fn quotable_ranges(chunk: &MatchedChunk, units: &[Unit]) -> Vec<(Range<usize>, f64)> {
    let stored: Vec<_> = byte_ranges(&chunk.content, &chunk.sentences)
        .into_iter()
        .map(|(range, sentence)| (range, sentence.similarity))
        .collect();
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

/// Converts offsets in characters to offsets in bytes, for at most [`MAX_SENTENCES`]. Sentences outside the text, that overlap
/// the previous one, or without words are left out: they belong to another version of the passage.
fn byte_ranges<'s>(content: &str, sentences: &'s [SentenceMatch]) -> Vec<(Range<usize>, &'s SentenceMatch)> {
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
            ranges.push((range, sentence));
        }
    }
    ranges
}

/// The kind of a sentence that another version of the splitter has found. Several lines cannot be running text.
fn kind_without_unit(text: &str) -> UnitKind {
    if text.contains('\n') { UnitKind::Passage } else { UnitKind::Sentence }
}
