//! Extracts the content of a file and splits it into passages and sentences, ready to be embedded.

use std::sync::Arc;

use chat_core::limits::json_bytes;
use extract::{ExtractError, Extracted, Format};
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use super::fingerprint::Defaults;
use super::plan::Write;
use crate::chunk::{Chunk, CountTokens, chunks, headings, innermost_heading, with_context};
use crate::knowledge_base::{MAX_AUDIENCE_BYTES, PendingDocument};
use crate::sentence::{Sentence, sentences};
use crate::source::Content;
use crate::supabase::storage::{ORIGINALS, safe_name};

/// Why a document is not written if its content changed between planning, extraction and upload.
pub(super) const CHANGED_MEANWHILE: &str = "was changed while it was read; run this again";

/// Extracts the text of a file, perhaps in another process.
pub type Extract = dyn Fn(&[u8], Format) -> Result<Extracted, ExtractError> + Send + Sync;

/// A document with its text, split into passages.
pub(super) struct Prepared {
    pub(super) write: Write,
    pub(super) document: PendingDocument,
    pub(super) passages: Vec<PreparedPassage>,
    /// Remarks for the administrator.
    pub(super) notes: Vec<String>,
    text: String,
    /// Counts the memory of the text against the pipeline's limit until this is dropped.
    _memory: OwnedSemaphorePermit,
}

/// A chunk and its sentences.
pub(super) struct PreparedPassage {
    pub(super) chunk: Chunk,
    pub(super) sentences: Vec<Sentence>,
}

pub(super) struct Preparation {
    pub(super) defaults: Defaults,
    pub(super) extract: Arc<Extract>,
    /// Whether the files of this source go to the bucket.
    pub(super) keeps_originals: bool,
}

/// A document that must be written, or the reason why it need not be.
pub(super) enum PreparedOrSettled {
    Prepared(Box<Prepared>),
    Settled(Box<Settled>),
}

/// Why a document is not written.
pub(super) enum Settled {
    /// The same as the stored version; with the version that the source reports now.
    Unchanged(Write, Option<String>),
    /// No longer in the source.
    Gone(Write, String),
    /// Cannot be read or written.
    Failed(Write, String),
    /// Not requested, because its site is unavailable.
    NotRequested(Write, String),
}

impl Settled {
    pub(super) fn write(&self) -> &Write {
        match self {
            Self::Unchanged(write, _)
            | Self::Gone(write, _)
            | Self::Failed(write, _)
            | Self::NotRequested(write, _) => write,
        }
    }
}

impl Preparation {
    pub(super) fn prepare(
        &self,
        write: Write,
        content: Content,
        memory: OwnedSemaphorePermit,
        count_tokens: &CountTokens<'_>,
    ) -> PreparedOrSettled {
        let content_hash = self.defaults.content_hash(content.format, &content.bytes);
        let version = content.version.as_deref().map(|version| self.defaults.source_version(version));
        if write.matches_stored(&content_hash) {
            return PreparedOrSettled::Settled(Box::new(Settled::Unchanged(write, version)));
        }
        if !write.is_as_planned(&content_hash) {
            return failed(write, CHANGED_MEANWHILE.to_owned());
        }
        let extracted = match (self.extract)(&content.bytes, content.format) {
            Ok(extracted) => extracted,
            Err(error) => return failed(write, error.to_string()),
        };
        let passage = |chunk: Chunk| {
            let sentences = sentences(chunk.content(&extracted.text));
            PreparedPassage { chunk, sentences }
        };
        let passages: Vec<_> = chunks(&extracted, count_tokens).into_iter().map(passage).collect();
        if passages.is_empty() {
            return failed(write, "has no text that could answer a question".to_owned());
        }
        let document = PendingDocument {
            content_hash,
            source_version: version,
            ..self.pending(&write, &content, &extracted)
        };
        let audience = document.audience.iter().flatten();
        // Each entry adds two quotation marks, a comma and a space.
        if audience.map(|entry| json_bytes(entry) + 4).sum::<usize>() > MAX_AUDIENCE_BYTES {
            return failed(write, format!("has an audience of more than {MAX_AUDIENCE_BYTES} bytes"));
        }
        let Extracted { text, notes, .. } = extracted;
        PreparedOrSettled::Prepared(Box::new(Prepared {
            write,
            document,
            passages,
            notes,
            text,
            _memory: memory,
        }))
    }

    fn pending(&self, write: &Write, content: &Content, extracted: &Extracted) -> PendingDocument {
        let properties = &extracted.properties;
        let id = Uuid::new_v4();
        let name = write.item.name();
        let original = self.keeps_originals.then(|| format!("{ORIGINALS}/{id}/{}", safe_name(name)));
        PendingDocument {
            id,
            source: write.source.clone(),
            name: name.to_owned(),
            title: properties.title.clone(),
            url: properties.url.clone().or_else(|| content.url.clone()),
            content_type: content.format.content_type(),
            language: properties.language.clone().unwrap_or_else(|| self.defaults.language.clone()),
            audience: properties.audience.clone().or_else(|| self.defaults.audience.clone()),
            original,
            ..PendingDocument::default()
        }
    }
}

pub(super) fn failed(write: Write, reason: String) -> PreparedOrSettled {
    PreparedOrSettled::Settled(Box::new(Settled::Failed(write, reason)))
}

impl Prepared {
    /// The texts whose vectors a passage needs: its own, its innermost heading if it has one, and one for each sentence.
    pub(super) fn texts<'a>(
        &'a self,
        passage: &'a PreparedPassage,
        count_tokens: &CountTokens<'_>,
    ) -> impl Iterator<Item = String> + 'a {
        let content = self.content(passage);
        let section = passage.chunk.section.as_deref();
        let context = headings(section, count_tokens);
        let whole = with_context(context.as_deref(), content);
        let heading = section.map(|section| innermost_heading(section).to_owned());
        let sentences = passage.sentences.iter();
        let sentences = sentences.map(move |sentence| sentence.embedded_text(context.as_deref(), content));
        std::iter::once(whole).chain(heading).chain(sentences)
    }

    /// Length of the texts that are embedded for a passage, which the time to embed them is about proportional to: in bytes,
    /// without the names of columns and the introductions of lists.
    pub(super) fn work(&self, passage: &PreparedPassage) -> u64 {
        let heading = passage.chunk.section.as_deref().map_or(0, str::len);
        let sentences: usize = passage.sentences.iter().map(|sentence| sentence.range.len() + heading).sum();
        (self.content(passage).len() + 2 * heading + sentences) as u64
    }

    /// [`Prepared::work`] of all passages.
    pub(super) fn whole_work(&self) -> u64 {
        self.passages.iter().map(|passage| self.work(passage)).sum()
    }

    pub(super) fn content(&self, passage: &PreparedPassage) -> &str {
        passage.chunk.content(&self.text)
    }
}
