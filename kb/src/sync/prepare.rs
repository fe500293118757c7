//! Extracts the content of a file and cuts it into passages with their statements, ready to be embedded.

use std::sync::Arc;

use extract::document::Document;
use extract::{ExtractError, Format};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use super::fingerprint::Defaults;
use super::plan::Write;
use super::sketch::sketch;
use crate::knowledge_base::PendingDocument;
use crate::output::hex;
use crate::passage::{CountTokens, PASSAGES_VERSION, Passage, passages};
use crate::source::{Content, Location};
use crate::supabase::storage::{ORIGINALS, safe_name};

/// Why a document is not written if its content changed between planning, extraction and upload.
pub(super) const CHANGED_MEANWHILE: &str = "was changed while it was read; run this again";

/// Reads a file, perhaps in another process.
pub type Extract = dyn Fn(&[u8], Format) -> Result<Document, ExtractError> + Send + Sync;

/// A document, cut into passages.
pub(super) struct Prepared {
    pub(super) write: Write,
    pub(super) document: PendingDocument,
    pub(super) passages: Vec<Passage>,
    pub(super) read: Document,
    /// Counts the memory of the document against the pipeline's limit until this is dropped.
    pub(super) memory: Option<OwnedSemaphorePermit>,
}

pub(super) struct Preparation {
    pub(super) defaults: Defaults,
    pub(super) extract: Arc<Extract>,
    /// True if the files of this source go to the bucket.
    pub(super) keeps_originals: bool,
}

/// A document on its way to the knowledge base, or the reason why it is not written.
pub(super) type Outcome<T> = Result<T, Box<Settled>>;

/// Why a document is not written.
pub(super) enum Settled {
    /// Equal to the stored version; with the version that the source reports now.
    Unchanged(Write, Option<String>),
    /// Other bytes, from which the same would be written.
    SameText(Write, Box<PendingDocument>),
    /// No longer in the source.
    Gone(Write, String),
    /// Its author does not want it to be found.
    NotPublished(Write, String),
    /// Cannot be read or written; with the version, if that is so another time, too.
    Failed(Write, String, Option<String>),
    /// Not requested, because its site is unavailable.
    NotRequested(Write, String),
}

impl Preparation {
    pub(super) fn prepare(
        &self,
        write: Write,
        content: Content,
        memory: OwnedSemaphorePermit,
        count_tokens: &CountTokens<'_>,
    ) -> Outcome<Box<Prepared>> {
        let content_hash = self.defaults.content_hash(content.format, &content.bytes);
        // What may expire is read again, although its version is the same.
        let version = content.version.as_deref().filter(|_| !extract::may_expire(&content.bytes));
        let version = version.map(|version| self.defaults.source_version(version));
        if write.matches_stored(&content_hash) {
            return Err(Box::new(Settled::Unchanged(write, version)));
        }
        if !write.is_as_planned(&content_hash) {
            return Err(failed(write, CHANGED_MEANWHILE.to_owned(), None));
        }
        // What the plan compares with the source the next time.
        let planned_version = version.clone().unwrap_or_else(|| content_hash.clone());
        let read = match (self.extract)(&content.bytes, content.format) {
            Ok(read) => read,
            // The notice of a site in trouble is not the wish of the author of a stored page.
            Err(error @ (ExtractError::NotPublished(_) | ExtractError::Redirect(_)))
                if write.replaces.is_none() || !is_notice(&write, &content, &error) =>
            {
                return Err(Box::new(Settled::NotPublished(write, error.to_string())));
            }
            Err(error) => {
                let version = is_of_the_file(&error).then_some(planned_version);
                return Err(failed(write, error.to_string(), version));
            }
        };
        let passages = passages(&read, count_tokens);
        if passages.is_empty() {
            let reason = "has no text that could answer a question".to_owned();
            return Err(failed(write, reason, Some(planned_version)));
        }
        let mut document = PendingDocument {
            content_hash,
            source_version: version,
            sketch: sketch(&read.text),
            ..self.pending(&write, &content, &read)
        };
        document.written_hash = written_hash(&document, &passages, &read);
        if write.replaces.as_ref().and_then(|stored| stored.written_hash.as_ref())
            == Some(&document.written_hash)
        {
            return Err(Box::new(Settled::SameText(write, Box::new(document))));
        }
        Ok(Box::new(Prepared { write, document, passages, read, memory: Some(memory) }))
    }

    fn pending(&self, write: &Write, content: &Content, read: &Document) -> PendingDocument {
        let properties = &read.properties;
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

fn is_notice(write: &Write, content: &Content, error: &ExtractError) -> bool {
    let is_page = matches!(write.item.location, Location::Page(_));
    content.has_moved || (is_page && matches!(error, ExtractError::Redirect(_)))
}

pub(super) fn failed(write: Write, reason: String, version: Option<String>) -> Box<Settled> {
    Box::new(Settled::Failed(write, reason, version))
}

/// False if the same file may be readable a moment later.
fn is_of_the_file(error: &ExtractError) -> bool {
    !matches!(error, ExtractError::Sandbox(_) | ExtractError::Unreadable(_))
}

/// Hash of all that is written for a document and does not depend on its name and its bytes, after a hash of its text alone.
fn written_hash(document: &PendingDocument, passages: &[Passage], read: &Document) -> String {
    let PendingDocument { title, url, content_type, language, audience, .. } = document;
    let head = json!([PASSAGES_VERSION, title, url, content_type, language, audience]).to_string();
    let passages = passages.iter().map(|passage| {
        let Passage { section, page, url, anchor, range: _, statements, parts, blocks } = passage;
        let (section, url, anchor) = (section.as_deref(), url.as_deref(), anchor.as_deref());
        json!([passage.content(read), section, page, url, anchor, statements, parts, blocks]).to_string()
    });
    let all = hex(passages.fold(Sha256::new().chain_update(head), Sha256::chain_update).finalize());
    format!("{} {all}", hex(Sha256::digest(&read.text)))
}
