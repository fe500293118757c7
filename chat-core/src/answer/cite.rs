//! Citations: which document each passage belongs to and which of its words were quoted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Evidence;
use super::choose::Chosen;
use crate::evidence::Strength;
use crate::found::FoundPassage;
use crate::passage::{Passage, Sentence};

/// One passage behind an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The number of the *document*; its passages share it, and `[n]` in the text means it.
    pub index: u32,
    /// The passage.
    pub chunk_id: Uuid,
    /// The document.
    pub document_id: Uuid,
    /// The name to show.
    pub title: String,
    /// The page, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The heading the passage stands under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Where to read on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The document's media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Cosine of question and passage.
    pub score: f64,
    /// How good the passage's evidence is. Missing in outcomes stored before it was introduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// The whole passage, as Markdown source.
    pub excerpt: String,
    /// The words of the passage that stand in the answer; at least one.
    pub quotes: Vec<Quote>,
    /// Where the document's original file can be had. Set by the server that knows; it may expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download_url: Option<String>,
}

impl Citation {
    /// Whether it is one that could have been sent: numbers in range, and quotes that stand in the excerpt. Stored ones
    /// may have been written by somebody else.
    pub fn is_sound(&self) -> bool {
        let excerpt: Vec<u16> = self.excerpt.encode_utf16().collect();
        let stands_there = |quote: &Quote| {
            let words = excerpt.get(quote.start..quote.end);
            words
                .is_some_and(|words| !words.is_empty() && quote.text.encode_utf16().eq(words.iter().copied()))
        };
        self.index > 0
            && self.page != Some(0)
            && (-1.0..=1.0).contains(&self.score)
            && [Some(&self.title), Some(&self.excerpt), self.section.as_ref()]
                .into_iter()
                .flatten()
                .all(|text| !text.is_empty())
            && self.quotes.iter().all(stands_there)
    }

    /// The citation as it is kept: links are made anew for each reader.
    pub fn without_link(&self) -> Self {
        Self { download_url: None, ..self.clone() }
    }
}

/// Words of a passage that stand in the answer: `text` is the excerpt from `start` to `end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// First UTF-16 code unit.
    pub start: usize,
    /// UTF-16 code unit after the last.
    pub end: usize,
    /// The words themselves.
    pub text: String,
    /// The words as they stand in the answer, without Markdown; only where that makes a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
}

/// Numbers the documents that are quoted from 1, in order of first mention.
pub(super) fn number_documents(chosen: &[Chosen<'_>]) -> BTreeMap<Uuid, u32> {
    let mut numbers = BTreeMap::new();
    for document in chosen.iter().map(|chosen| chosen.passage.chunk.document_id) {
        let next = numbers.len() as u32 + 1;
        numbers.entry(document).or_insert(next);
    }
    numbers
}

/// One entry per quoted passage, by document number; passages of a document stay in order of rank.
pub(super) fn citations(
    evidence: &[Evidence<'_>],
    chosen: &[Chosen<'_>],
    numbers: &BTreeMap<Uuid, u32>,
) -> Vec<Citation> {
    let mut citations: Vec<_> = evidence
        .iter()
        .filter_map(|Evidence { chunk, assessment }| {
            let index = numbers.get(&chunk.document_id).copied()?;
            let mut quotes: Vec<_> = chosen
                .iter()
                .filter(|chosen| chosen.passage.chunk.chunk_id == chunk.chunk_id)
                .flat_map(|chosen| {
                    chosen
                        .introduction
                        .into_iter()
                        .chain([chosen.sentence])
                        .map(|sentence| quote(chosen.passage, sentence))
                })
                .collect();
            quotes.sort_by_key(|quote| quote.start);
            (!quotes.is_empty()).then(|| Citation {
                index,
                chunk_id: chunk.chunk_id,
                document_id: chunk.document_id,
                title: chunk.title(),
                page: chunk.page(),
                section: chunk.section().map(str::to_owned),
                url: chunk.url().map(str::to_owned),
                content_type: chunk.content_type().map(str::to_owned),
                score: chunk.similarity,
                strength: Some(Strength::of(assessment.confidence)),
                excerpt: chunk.content.clone(),
                quotes,
                download_url: None,
            })
        })
        .collect();
    citations.sort_by_key(|citation| citation.index);
    citations
}

/// The passages that are not quoted, one for each section that is not quoted either; in order of rank.
pub(super) fn also_found(evidence: &[Evidence<'_>], chosen: &[Chosen<'_>]) -> Vec<FoundPassage> {
    let mut places: Vec<_> = chosen.iter().map(|chosen| FoundPassage::new(chosen.passage.chunk)).collect();
    let mut found = Vec::new();
    for Evidence { chunk, .. } in evidence {
        let passage = FoundPassage::with_excerpt(chunk);
        if !places.iter().any(|place| place.is_same_place(&passage)) {
            places.push(FoundPassage::new(chunk));
            found.push(passage);
        }
    }
    found
}

fn quote(passage: &Passage<'_>, sentence: &Sentence<'_>) -> Quote {
    let start = passage.chunk.content.get(..sentence.range.start).map_or(0, utf16_length);
    let plain = passage.plain_text(sentence);
    Quote {
        start,
        end: start + utf16_length(sentence.text),
        text: sentence.text.to_owned(),
        plain: (plain != sentence.text).then_some(plain),
    }
}

fn utf16_length(text: &str) -> usize {
    text.encode_utf16().count()
}
