//! Embeds prepared documents on all cores, in batches of rows.
//!
//! A batch contains as many texts as keep the cores busy, from many small documents or from a part of a large one, so that
//! memory does not grow with the size of a document.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Url;
use uuid::Uuid;

use super::prepare::Prepared;
use crate::knowledge_base::{NewChunk, NewSentence};
use crate::passage::Passage;
use crate::text_embedder::{TextEmbedder, embed_all};

/// Texts embedded and written together: enough to keep all cores busy, about 2 MB to send, and little to repeat if the run
/// stops.
const TEXTS_PER_BATCH: usize = 512;

/// Embedded chunks that are written together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) parts: Vec<Part>,
    pub(super) embedding: Duration,
}

/// A document's share of a batch.
pub(super) struct Part {
    pub(super) document: Arc<Prepared>,
    pub(super) chunks: Vec<NewChunk>,
    /// The document has no earlier part.
    pub(super) is_first: bool,
    /// The document has no later part.
    pub(super) is_last: bool,
}

/// Collects texts until a batch is full.
pub(super) struct BatchBuilder<'a, E> {
    embedder: &'a E,
    texts: Vec<String>,
    parts: Vec<(Arc<Prepared>, std::ops::Range<usize>)>,
}

impl<'a, E: TextEmbedder> BatchBuilder<'a, E> {
    pub(super) fn new(embedder: &'a E) -> Self {
        Self { embedder, texts: Vec::new(), parts: Vec::new() }
    }

    /// Adds a document and passes each full batch to `send`. Stops and returns false when `send` returns false.
    pub(super) fn add(&mut self, document: Prepared, send: &mut impl FnMut(Batch) -> bool) -> bool {
        let document = Arc::new(document);
        let count_tokens = |text: &str| self.embedder.count_tokens(text);
        let mut start = 0;
        for (at, passage) in document.passages.iter().enumerate() {
            self.texts.extend(passage.texts(passage.content(&document.read), &count_tokens));
            if self.texts.len() >= TEXTS_PER_BATCH {
                self.parts.push((Arc::clone(&document), start..at + 1));
                start = at + 1;
                if !send(self.take()) {
                    return false;
                }
            }
        }
        if start < document.passages.len() {
            let end = document.passages.len();
            self.parts.push((document, start..end));
        }
        true
    }

    /// Embeds what was collected.
    pub(super) fn take(&mut self) -> Batch {
        let started = Instant::now();
        let texts = std::mem::take(&mut self.texts);
        let mut vectors = embed_all(self.embedder, &texts).into_iter();
        let parts = std::mem::take(&mut self.parts);
        let parts = parts.into_iter().map(|(document, passages)| part(document, passages, &mut vectors));
        Batch { parts: parts.collect(), embedding: started.elapsed() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

fn part(
    document: Arc<Prepared>,
    passages: std::ops::Range<usize>,
    vectors: &mut impl Iterator<Item = Vec<f32>>,
) -> Part {
    let (is_first, is_last) = (passages.start == 0, passages.end == document.passages.len());
    let own = document.passages.get(passages.clone()).unwrap_or_default();
    let chunks = own.iter().enumerate();
    let chunks = chunks.map(|(at, passage)| new_chunk(&document, passage, passages.start + at, vectors));
    let chunks = chunks.collect();
    Part { document, chunks, is_first, is_last }
}

/// The passage's own address, or its heading on the document's page. `None` if it is that of the document, which has its own
/// fragment then or no ids.
fn address(passage: &Passage, document_url: Option<&str>) -> Option<String> {
    let heading = || {
        let mut url = Url::parse(document_url?).ok().filter(|url| url.fragment().is_none())?;
        url.set_fragment(Some(passage.anchor.as_deref()?));
        Some(url.into())
    };
    passage.url.as_deref().map(str::to_owned).or_else(heading)
}

/// Consumes the vectors of [`Passage::texts`] from the iterator.
fn new_chunk(
    document: &Prepared,
    passage: &Passage,
    ordinal: usize,
    vectors: &mut impl Iterator<Item = Vec<f32>>,
) -> NewChunk {
    NewChunk {
        id: Uuid::new_v4(),
        document_id: document.document.id,
        ordinal,
        content: passage.content(&document.read).to_owned(),
        section: passage.section.as_deref().map(str::to_owned),
        page: passage.page,
        url: address(passage, document.document.url.as_deref()),
        parts: passage.parts.clone(),
        blocks: passage.blocks.clone(),
        vector: vectors.next().unwrap_or_default(),
        heading: passage.section.as_ref().and_then(|_| vectors.next()),
        sentences: passage
            .statements
            .iter()
            .zip(vectors)
            .map(|(statement, vector)| NewSentence { statement: statement.clone(), vector })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_has_its_own_address_or_its_heading_on_the_page() {
        let page = Some("https://example.org/help?a=1");
        let of = |url: Option<&str>, anchor: Option<&str>, document_url| {
            let (url, anchor) = (url.map(Arc::from), anchor.map(Arc::from));
            let passage = Passage {
                section: None,
                page: None,
                url,
                anchor,
                range: 0..1,
                statements: Vec::new(),
                parts: Vec::new(),
                blocks: None,
            };
            address(&passage, document_url)
        };
        let at = |anchor| of(None, Some(anchor), page);
        assert_eq!(at("refunds").as_deref(), Some("https://example.org/help?a=1#refunds"));
        assert_eq!(at("é\"<x").as_deref(), Some("https://example.org/help?a=1#%C3%A9%22%3Cx"));
        assert_eq!(of(Some("https://e.org/row"), Some("x"), page).as_deref(), Some("https://e.org/row"));
        assert_eq!(of(None, None, page), None);
        assert_eq!(of(None, Some("x"), None), None);
        assert_eq!(of(None, Some("x"), Some("https://example.org/help#own")), None);
        assert_eq!(of(None, Some("x"), Some("not an address")), None);
    }
}
