//! Documents and their passages, for the administrator.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::COLUMNS;
use super::{KnowledgeBase, Status, StoredDocument};
use crate::supabase::{Query, SupabaseError};

/// A row of the view `kb_overview`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    pub id: Uuid,
    /// First part of the source.
    pub collection: String,
    /// The document's key within the knowledge base.
    pub source: String,
    pub title: Option<String>,
    pub name: String,
    pub status: Status,
    /// Why its newest version could not be read, and since when.
    pub failure: Option<String>,
    pub failed_at: Option<String>,
    /// True if searches may find it.
    pub enabled: bool,
    /// The audience; the default of the project if `None`.
    pub audience: Option<Vec<String>>,
    pub language: String,
    /// Number of passages.
    pub chunks: u64,
    /// Number of passages that were edited, which no search finds until they have new vectors.
    pub stale_chunks: u64,
    /// Fingerprints of the models that made its vectors.
    pub models: Vec<String>,
    pub content_type: Option<String>,
    /// Address where people read it.
    pub url: Option<String>,
    /// True if its file is in the bucket.
    pub has_original: bool,
    /// Number of answers that cite it.
    pub times_cited: u64,
    /// Timestamps as the database writes them.
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub collection: Option<String>,
    pub status: Option<Status>,
    /// Only documents with stale passages.
    pub stale: bool,
}

/// A passage as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPassage {
    pub id: Uuid,
    /// Position in the document, counted from 0.
    pub ordinal: i64,
    pub content: String,
    pub meta: Place,
    /// True if it was edited; no search finds it until it has a new vector.
    pub stale: bool,
}

/// Where a passage is in its document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Headings above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Page, of any JSON type: people edit it in the dashboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<Value>,
    /// Its own address, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Status {
    /// The value in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Failed => "failed",
        }
    }
}

impl KnowledgeBase {
    /// Documents, sorted by source.
    pub async fn overviews(&self, filter: &Filter) -> Result<Vec<Overview>, SupabaseError> {
        let mut query = Query::select("kb_overview", "*");
        if let Some(collection) = &filter.collection {
            query = query.eq("collection", collection);
        }
        if let Some(status) = filter.status {
            query = query.eq("status", status.name());
        }
        if filter.stale {
            query = query.gt("stale_chunks", "0");
        }
        let mut rows = self.all_rows("id", query, |row: &Overview| row.id).await?;
        rows.sort_by(|a, b| (&a.source, a.id).cmp(&(&b.source, b.id)));
        Ok(rows)
    }

    /// Reads a document; `None` if it was deleted.
    pub async fn overview(&self, id: Uuid) -> Result<Option<Overview>, SupabaseError> {
        let query = Query::select("kb_overview", "*").eq("id", &id.to_string());
        let rows: Vec<Overview> = self.client.send(query).await?;
        Ok(rows.into_iter().next())
    }

    /// The passages of a document in reading order.
    pub async fn passages(&self, document: Uuid) -> Result<Vec<StoredPassage>, SupabaseError> {
        let columns = "id,ordinal,content,meta,stale";
        let query = Query::select("kb_chunks", columns).eq("document_id", &document.to_string());
        let mut passages = self.all_rows("id", query, |passage: &StoredPassage| passage.id).await?;
        passages.sort_by_key(|passage| passage.ordinal);
        Ok(passages)
    }

    /// Every document, in no particular order.
    pub async fn all_documents(&self) -> Result<Vec<StoredDocument>, SupabaseError> {
        let query = Query::select("kb_documents", COLUMNS);
        self.all_rows("id", query, |row: &StoredDocument| row.id).await
    }

    /// Shows or hides documents, and returns the ids of those that still exist.
    pub async fn set_enabled(&self, ids: &[Uuid], enabled: bool) -> Result<Vec<Uuid>, SupabaseError> {
        self.call_in_batches("kb_set_enabled", ids, json!({ "enabled": enabled })).await
    }
}
