//! What documents there are.

use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::write::bounded_name;
use super::{IDS_PER_REQUEST, KnowledgeBase};
use crate::supabase::storage::ORIGINALS;
use crate::supabase::{Query, SupabaseError};

/// The columns of a [`StoredDocument`].
pub(super) const COLUMNS: &str = "id,source,content_hash,source_version,status,storage_path,enabled,audience,declared_audience:meta->audience";

/// What is known of a document in the knowledge base.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredDocument {
    /// Row id.
    pub id: Uuid,
    /// The document's key within the knowledge base.
    pub source: String,
    /// Hash of the file it was made from.
    pub content_hash: Option<String>,
    /// What its source said identifies the content.
    pub source_version: Option<String>,
    /// Whether people can see it.
    pub status: Status,
    /// Path of the original in the bucket.
    pub storage_path: Option<String>,
    /// False if an administrator hides it.
    #[serde(default = "enabled_by_default")]
    pub enabled: bool,
    /// Who may see it; everybody who is signed in if `None`.
    #[serde(default)]
    pub audience: Option<Vec<String>>,
    /// What its source says about that.
    #[serde(default)]
    pub declared_audience: Option<Vec<String>>,
}

impl StoredDocument {
    /// True if somebody hid it or changed who may see it in the database, which no source knows of.
    pub fn is_restricted(&self) -> bool {
        !self.enabled || (self.audience.is_some() && self.audience != self.declared_audience)
    }

    /// The path of the original, if it was uploaded here.
    pub fn original(&self) -> Option<&str> {
        let in_folder = |path: &&str| path.strip_prefix(ORIGINALS).is_some_and(|rest| rest.starts_with('/'));
        self.storage_path.as_deref().filter(in_folder)
    }
}

/// Where a document is on its way into the knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Being written, or left over from a run that did not finish.
    Pending,
    /// Complete.
    Ready,
    /// Could not be read; `failure` says why.
    Failed,
}

fn enabled_by_default() -> bool {
    true
}

impl KnowledgeBase {
    /// All documents of a collection, in no particular order.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn documents_of(&self, collection: &str) -> Result<Vec<StoredDocument>, SupabaseError> {
        let query = Query::select("kb_documents", COLUMNS).eq("collection", collection);
        self.all_rows("id", query, |row: &StoredDocument| row.id).await
    }

    /// Deletes documents with all that belongs to them, but for their originals.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn delete(&self, ids: &[Uuid]) -> Result<(), SupabaseError> {
        for batch in ids.chunks(IDS_PER_REQUEST) {
            let arguments = json!({ "ids": batch });
            self.client.send::<serde_json::Value>(Query::call("kb_delete_documents", &arguments)).await?;
        }
        Ok(())
    }

    /// Deletes a document and the original that was uploaded with it. A file that people put into the bucket stays.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn remove(&self, document: &StoredDocument) -> Result<(), SupabaseError> {
        self.delete_with_originals(std::slice::from_ref(document)).await
    }

    /// Deletes documents and the originals that were uploaded with them. First the documents: a file that nobody refers
    /// to harms nobody, a document without its file does.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn delete_with_originals(&self, documents: &[StoredDocument]) -> Result<(), SupabaseError> {
        let ids: Vec<_> = documents.iter().map(|document| document.id).collect();
        self.delete(&ids).await?;
        let originals: Vec<_> =
            documents.iter().filter_map(StoredDocument::original).map(str::to_owned).collect();
        self.client.delete_files(&originals).await
    }

    /// Keeps what the source of an unchanged document says of its content now.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn note_version(&self, id: Uuid, source_version: &str) -> Result<(), SupabaseError> {
        let changes = json!({ "source_version": source_version });
        let query = Query::update("kb_documents", &changes, "id").eq("id", &id.to_string());
        self.client.send::<serde_json::Value>(query).await.map(drop)
    }

    /// Gives a document another source, with all that belongs to it; `storage_path` too if its file moved with it.
    ///
    /// # Errors
    /// If the server cannot be asked, or the document is gone.
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
        let rows: Vec<serde_json::Value> = self.client.send(query).await?;
        if rows.is_empty() { Err(SupabaseError::Overtaken) } else { Ok(()) }
    }
}
