//! Documents as they are stored.

use std::time::Duration;

use chat_core::limits::{MAX_NAME_CHARS, one_line};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{IDS_PER_REQUEST, KnowledgeBase};
use crate::supabase::storage::ORIGINALS;
use crate::supabase::{Query, SupabaseError};
use crate::timestamp::parse_timestamp;

/// Time after which an unreadable file is read again, although it has not changed.
const UNREADABLE_FOR: Duration = Duration::from_secs(24 * 3600);

/// The columns of a [`StoredDocument`].
pub(super) const COLUMNS: &str = "id,source,content_hash,source_version,written_hash,failure,failed_version,updated_at,status,storage_path,enabled,audience,declared_audience:meta->audience";

/// A row of `kb_documents`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct StoredDocument {
    pub id: Uuid,
    /// The document's key within the knowledge base.
    pub source: String,
    /// Hash of the file that it was made from.
    pub content_hash: Option<String>,
    /// Version of the content as its source reported it.
    pub source_version: Option<String>,
    /// Hash of what was made of that file.
    pub written_hash: Option<String>,
    /// Why a newer version cannot be read.
    pub failure: Option<String>,
    /// Which version that is, if it cannot be read another time either.
    pub failed_version: Option<String>,
    /// Timestamp as the database writes it.
    pub updated_at: Option<String>,
    pub status: Status,
    /// Path of the original in the bucket.
    pub storage_path: Option<String>,
    /// False if an administrator hid it.
    #[serde(default = "enabled_by_default")]
    pub enabled: bool,
    /// The audience; the default of the project if `None`.
    pub audience: Option<Vec<String>>,
    /// The audience that its source declares.
    pub declared_audience: Option<Vec<String>>,
}

impl StoredDocument {
    /// True if somebody hid the document or changed its audience in the database, which its source does not record.
    pub fn is_restricted(&self) -> bool {
        !self.enabled || (self.audience.is_some() && self.audience != self.declared_audience)
    }

    /// Why this version cannot be read, if that was tried within a day. A computer that was busy then may read it later.
    pub fn known_failure(&self, version: &str) -> Option<&str> {
        let tried_at = self.updated_at.as_deref().and_then(parse_timestamp);
        let is_recent = tried_at.is_none_or(|at| at.elapsed().is_ok_and(|age| age < UNREADABLE_FOR));
        let is_known = self.failed_version.as_deref() == Some(version) && is_recent;
        self.failure.as_deref().filter(|_| is_known)
    }

    /// Path of the original, if kb uploaded it.
    pub fn original(&self) -> Option<&str> {
        let in_folder = |path: &&str| path.strip_prefix(ORIGINALS).is_some_and(|rest| rest.starts_with('/'));
        self.storage_path.as_deref().filter(in_folder)
    }
}

/// How far a document has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Being written, or left over from an unfinished run.
    #[default]
    Pending,
    /// Complete.
    Ready,
    /// Could not be read; `failure` says why.
    Failed,
}

/// A name or title within the limit of the database; unchanged if it is short enough.
pub(super) fn bounded_name(name: &str) -> String {
    if name.chars().nth(MAX_NAME_CHARS).is_none() { name.to_owned() } else { one_line(name, MAX_NAME_CHARS) }
}

fn enabled_by_default() -> bool {
    true
}

impl KnowledgeBase {
    /// All documents of a collection, in no particular order.
    pub async fn documents_in(&self, collection: &str) -> Result<Vec<StoredDocument>, SupabaseError> {
        let query = Query::select("kb_documents", COLUMNS).eq("collection", collection);
        self.all_rows("id", query, |row: &StoredDocument| row.id).await
    }

    /// Deletes documents with everything that belongs to them except their originals; with `keep_restricted`, only those that nobody has
    /// hidden or restricted, also not a moment ago. Returns the ids of those that stay.
    pub async fn delete(&self, ids: &[Uuid], keep_restricted: bool) -> Result<Vec<Uuid>, SupabaseError> {
        self.call_in_batches("kb_delete_documents", ids, json!({ "keep_restricted": keep_restricted })).await
    }

    /// Calls a function of the database, which takes `ids` with the other arguments, and returns ids.
    pub(super) async fn call_in_batches(
        &self,
        function: &str,
        ids: &[Uuid],
        mut arguments: Value,
    ) -> Result<Vec<Uuid>, SupabaseError> {
        let mut returned = Vec::new();
        for batch in ids.chunks(IDS_PER_REQUEST) {
            arguments["ids"] = json!(batch);
            returned.extend(self.client.send::<Vec<Uuid>>(Query::call_long(function, &arguments)).await?);
        }
        Ok(returned)
    }

    /// Deletes a document and the original that kb uploaded. A file that people put into the bucket stays.
    pub async fn remove(&self, document: &StoredDocument) -> Result<(), SupabaseError> {
        self.delete_with_originals(std::slice::from_ref(document), false).await.map(drop)
    }

    /// [`KnowledgeBase::delete`], with the originals that kb uploaded. Documents first: a file without a document is harmless, a
    /// document without its file is not.
    pub async fn delete_with_originals(
        &self,
        documents: &[StoredDocument],
        keep_restricted: bool,
    ) -> Result<Vec<Uuid>, SupabaseError> {
        let ids: Vec<_> = documents.iter().map(|document| document.id).collect();
        let kept = self.delete(&ids, keep_restricted).await?;
        let deleted = documents.iter().filter(|document| !kept.contains(&document.id));
        let originals: Vec<_> = deleted.filter_map(StoredDocument::original).map(str::to_owned).collect();
        self.client.delete_files(&originals).await?;
        Ok(kept)
    }

    /// Notes that documents are as their source has them, with these changes to their rows.
    pub async fn note_current(&self, ids: &[Uuid], mut changes: Value) -> Result<(), SupabaseError> {
        for column in ["failure", "failed_at", "failed_version"] {
            changes[column] = Value::Null;
        }
        for batch in ids.chunks(IDS_PER_REQUEST) {
            let query = Query::update("kb_documents", &changes, "id").one_of("id", batch);
            self.client.send::<Value>(query).await?;
        }
        Ok(())
    }

    /// Renames a document; `storage_path` is given if its file moved with it.
    ///
    /// # Errors
    /// If the request fails or the document is gone.
    pub async fn move_document(
        &self,
        id: Uuid,
        source: &str,
        name: &str,
        storage_path: Option<&str>,
    ) -> Result<(), SupabaseError> {
        let mut changes = json!({ "source": source, "name": bounded_name(name) });
        if let Some(path) = storage_path {
            changes["storage_path"] = path.into();
        }
        let query = Query::update("kb_documents", &changes, "id").eq("id", &id.to_string());
        let rows: Vec<Value> = self.client.send(query).await?;
        if rows.is_empty() { Err(SupabaseError::Overtaken) } else { Ok(()) }
    }
}
