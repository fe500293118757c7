//! Citations: the documents behind an answer and the words quoted from each passage.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::choose::Chosen;
use crate::chunk::MatchedChunk;
use crate::evidence::{PassageAssessment, Strength};
use crate::found::FoundPassage;
use crate::passage::{Passage, Sentence};
use crate::statement::{Role, Segment, Source, StatementKind, joined};

/// One passage behind an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The number of the *document*, which its passages share; `[n]` in the text refers to it.
    pub index: u32,
    /// The passage, with its text.
    #[serde(flatten)]
    pub passage: FoundPassage,
    /// How strong the passage's evidence is. Missing in outcomes stored by older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The words of the passage that the answer quotes; empty in a generated answer.
    pub quotes: Vec<Quote>,
    /// The words of the passage that support sentences of a generated answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supports: Vec<Support>,
}

impl Citation {
    /// Whether numbers are in range and quotes match the excerpt. Other software may have written a stored citation.
    pub fn is_valid(&self) -> bool {
        let FoundPassage { title, page, section, score, excerpt, .. } = &self.passage;
        let units: Vec<u16> = excerpt.encode_utf16().collect();
        let matches_excerpt = |start: usize, end: usize, text: &str| {
            let words = units.get(start..end);
            words.is_some_and(|words| !words.is_empty() && text.encode_utf16().eq(words.iter().copied()))
        };
        self.index > 0
            && *page != Some(0)
            && (-1.0..=1.0).contains(score)
            && [Some(title), Some(excerpt), section.as_ref()]
                .into_iter()
                .flatten()
                .all(|text| !text.is_empty())
            && self.quotes.iter().all(|quote| matches_excerpt(quote.start, quote.end, &quote.text))
            && self.supports.iter().all(|support| matches_excerpt(support.start, support.end, &support.text))
    }

    /// The citation as stored: links are created for each reader.
    pub fn without_link(&self) -> Self {
        let passage = FoundPassage { download_url: None, ..self.passage.clone() };
        Self { passage, ..self.clone() }
    }
}

/// Words of a passage that the answer quotes: `text` is the excerpt from `start` to `end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The first UTF-16 code unit.
    pub start: usize,
    /// The UTF-16 code unit after the last.
    pub end: usize,
    /// The quoted words.
    pub text: String,
    /// Their kind.
    pub kind: StatementKind,
    /// The words as the answer shows them, with what gives them their meaning; only if they differ from `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
    /// The pieces that the answer shows, without the punctuation between them: words of `text`, and
    /// words that give them their meaning.
    pub pieces: Vec<Piece>,
    /// The words with all that gives them their meaning; only if the answer leaves out what it has shown right before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
}

impl Quote {
    /// The words with all that gives them their meaning.
    pub(crate) fn whole(&self) -> &str {
        self.whole.as_ref().or(self.plain.as_ref()).unwrap_or(&self.text)
    }
}

/// A part of what an answer shows of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The words, on one line.
    pub text: String,
    /// The reason why they belong to the statement; `None` for its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// Words of a passage from which a sentence of a generated answer follows: `text` is the excerpt from `start` to `end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// The first UTF-16 code unit.
    pub start: usize,
    /// The UTF-16 code unit after the last.
    pub end: usize,
    /// The words.
    pub text: String,
    /// The position of the supported sentence in the answer, from 0. Each sentence is one delta.
    pub sentence: u32,
}

/// A passage that may be quoted and cited.
pub(super) struct Evidence<'p> {
    pub(super) chunk: &'p MatchedChunk,
    pub(super) assessment: &'p PassageAssessment,
}

/// Numbers the quoted documents from 1, in order of first mention.
pub(super) fn number_documents(chosen: &[Chosen<'_>]) -> BTreeMap<Uuid, u32> {
    let mut numbers = BTreeMap::new();
    for document in chosen.iter().map(|chosen| chosen.passage.chunk.document_id) {
        let next = numbers.len() as u32 + 1;
        numbers.entry(document).or_insert(next);
    }
    numbers
}

/// One entry per quoted passage, sorted by document number and then by rank.
pub(super) fn citations(
    evidence: &[Evidence<'_>],
    chosen: &[Chosen<'_>],
    numbers: &BTreeMap<Uuid, u32>,
) -> Vec<Citation> {
    let mut citations: Vec<_> = evidence
        .iter()
        .filter_map(|Evidence { chunk, assessment }| {
            let index = numbers.get(&chunk.document_id).copied()?;
            let mut words: Vec<_> = chosen
                .iter()
                .filter(|chosen| chosen.passage.chunk.chunk_id == chunk.chunk_id)
                .map(|chosen| quote(chosen.passage, chosen.sentence, chosen.shown_parts))
                .collect();
            words.sort_by_key(|quote: &Quote| quote.start);
            let strength = Strength::from_confidence(assessment.confidence);
            (!words.is_empty()).then(|| Citation { index, quotes: words, ..citation(chunk, strength) })
        })
        .collect();
    citations.sort_by_key(|citation| citation.index);
    citations
}

/// A citation of a passage, still without a number and without words.
pub(crate) fn citation(chunk: &MatchedChunk, strength: Strength) -> Citation {
    Citation {
        index: 0,
        passage: FoundPassage::new(chunk),
        strength: Some(strength),
        quotes: Vec::new(),
        supports: Vec::new(),
    }
}

/// The passages that are not quoted, in order of rank: one for each section without a quote.
pub(super) fn also_found(evidence: &[Evidence<'_>], chosen: &[Chosen<'_>]) -> Vec<FoundPassage> {
    let mut places: Vec<_> = chosen.iter().map(|chosen| FoundPassage::new(chosen.passage.chunk)).collect();
    let quoted = places.len();
    for passage in evidence.iter().map(|Evidence { chunk, .. }| FoundPassage::new(chunk)) {
        if !places.iter().any(|place| place.is_same_place(&passage)) {
            places.push(passage);
        }
    }
    places.split_off(quoted)
}

/// The words of a sentence as an answer shows them that has just shown the first parts of its chain.
pub(crate) fn quote(passage: &Passage<'_>, sentence: &Sentence<'_>, shown_parts: usize) -> Quote {
    let (start, end) = utf16_range(&passage.chunk.content, &sentence.range);
    let segments = sentence.shown(shown_parts);
    let (text, plain, whole) = (sentence.text.to_owned(), joined(&segments), joined(&sentence.shown(0)));
    let piece = |Segment { text, source }: Segment| match source {
        Source::Punctuation => None,
        Source::Statement => Some(Piece { text, role: None }),
        Source::Chain(role) => Some(Piece { text, role: Some(role) }),
    };
    Quote {
        start,
        end,
        kind: sentence.kind,
        pieces: segments.into_iter().filter_map(piece).collect(),
        whole: (whole != plain).then_some(whole),
        plain: (plain != text).then_some(plain),
        text,
    }
}

/// A range of bytes as the first UTF-16 code unit and the one after the last.
fn utf16_range(content: &str, range: &Range<usize>) -> (usize, usize) {
    let length = |bytes: Range<usize>| content.get(bytes).map_or(0, utf16_length);
    let start = length(0..range.start);
    (start, start + length(range.clone()))
}

pub(crate) fn utf16_length(text: &str) -> usize {
    text.encode_utf16().count()
}
