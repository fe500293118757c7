//! What the database says of its own state.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::documents::COLUMNS;
use super::{IDS_PER_REQUEST, KnowledgeBase, Status, StoredDocument};
use crate::supabase::{Query, SupabaseError};

/// The answer of `kb_health`.
#[derive(Debug, Clone, Deserialize)]
pub struct Health {
    /// Newest migration that was applied; `None` if nobody kept a list.
    pub schema_version: Option<String>,
    /// Version of pgvector.
    pub vector_version: Option<String>,
    /// Tables of the schema `public`.
    pub tables: Vec<HealthOfTable>,
    /// Indexes that the search needs.
    pub indexes: Vec<HealthOfIndex>,
    /// Where who may do what is not as the migrations left it.
    pub access_changes: Vec<AccessChange>,
    /// By status.
    pub documents: BTreeMap<String, u64>,
    /// Documents that wait to be published since more than a day.
    pub pending_older_than_day: u64,
    /// Ready documents in which nothing can be found.
    pub documents_without_chunks: u64,
    /// All passages.
    pub chunks: u64,
    /// Passages that were edited since they were embedded.
    pub stale_chunks: u64,
    /// Passages that no search finds, because they have no vector.
    pub chunks_without_embedding: u64,
    /// By fingerprint.
    pub embeddings_by_model: BTreeMap<String, u64>,
    /// Passages whose copies of who may find them differ from what their documents say.
    pub embeddings_not_searchable_mismatch: u64,
    /// Passages without sentences.
    pub sentences_missing: u64,
    /// The counts of words do not fit the passages.
    pub lexeme_mismatch: bool,
    /// State of the bucket; empty without storage.
    #[serde(flatten)]
    pub files: HealthOfFiles,
    /// What is counted, exposed and kept of what people ask.
    #[serde(flatten)]
    pub privacy: HealthOfPrivacy,
}

/// Something that decides who may do what, and that somebody changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AccessChange {
    /// `grants`, `row level security`, `policy`, `function` or `view`.
    pub kind: String,
    /// Of what, with its schema.
    pub name: String,
    /// `missing`, `added` or `changed`.
    pub change: String,
}

/// How the chat treats what people ask.
#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfPrivacy {
    /// Whether the database can tell calls of the Worker from those of users.
    pub worker_secret_set: bool,
    /// Whether the helpers that see more than users may are part of the API.
    pub internal_exposed: bool,
    /// After how many days without a new message a conversation is deleted; never if `None`.
    pub retention_days: Option<u32>,
    /// When that was last done, as the database writes it.
    pub retention_ran_at: Option<String>,
}

/// A table.
#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfTable {
    /// Without the schema.
    pub name: String,
    /// Whether row level security is on.
    pub rls: bool,
}

/// An index.
#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfIndex {
    /// Its name.
    pub name: String,
    /// Of which table.
    pub table: String,
    /// Whether it is there.
    pub exists: bool,
    /// Whether searches use it.
    pub valid: bool,
}

/// The bucket `kb`. A Postgres without storage tells nothing of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct HealthOfFiles {
    /// Documents whose original is gone; not all of them if there are many.
    pub missing_files: Vec<Uuid>,
    /// All of them.
    pub missing_file_count: u64,
    /// Originals that no document refers to; not all of them if there are many.
    pub orphan_files: Vec<String>,
    /// All of them.
    pub orphan_file_count: u64,
    /// Everybody who knows a path can read its file.
    pub public_bucket: bool,
    /// Policies that may open the bucket.
    pub widening_policies: Vec<String>,
}

/// A document that could not be read.
#[derive(Debug, Clone, Deserialize)]
pub struct FailedDocument {
    /// Its key.
    pub source: String,
    /// Why.
    pub failure: Option<String>,
}

/// What an administrator set in the dashboard.
#[derive(Debug, Clone, Deserialize)]
pub struct ChatSettings {
    /// First gate; the default if `None`.
    pub evidence_threshold: Option<f64>,
    /// Second gate; the default if `None`.
    pub evidence_confidence: Option<f64>,
    /// Whether questions may stand in the server's log.
    pub log_questions: bool,
    /// What is kept of questions without an answer: `full`, `anonymous` or `off`.
    pub keep_refusals: String,
    /// How many users must have asked a question before it is a gap.
    pub gap_users: u64,
    /// After how many days without a new message a conversation is deleted; never if `None`.
    pub retention_days: Option<u32>,
}

impl Default for ChatSettings {
    /// What holds without a row.
    fn default() -> Self {
        Self {
            evidence_threshold: None,
            evidence_confidence: None,
            log_questions: false,
            keep_refusals: "full".to_owned(),
            gap_users: 2,
            retention_days: None,
        }
    }
}

impl KnowledgeBase {
    /// Takes some seconds if there are very many passages.
    ///
    /// # Errors
    /// If the server cannot be asked, or its schema is older than this function.
    pub async fn health(&self) -> Result<Health, SupabaseError> {
        self.client.send(Query::call("kb_health", &json!({}))).await
    }

    /// Whether the schema `internal` is part of the API. The database does not always know, so the API is asked.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn serves_internal(&self) -> Result<bool, SupabaseError> {
        let query = Query::select("expected_access", "kind").in_schema("internal").limit(1);
        match self.client.send::<serde_json::Value>(query).await {
            // Nobody may read the table, but whoever is told so was let into the schema.
            Ok(_) | Err(SupabaseError::WrongKey { .. }) => Ok(true),
            Err(SupabaseError::SchemaMissing { message }) => Ok(message.contains("internal.")),
            Err(SupabaseError::Rejected { .. } | SupabaseError::UnexpectedAnswer { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Documents that could not be read, by source, at most `count`.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn failed_documents(&self, count: usize) -> Result<Vec<FailedDocument>, SupabaseError> {
        let query = Query::select("kb_documents", "source,failure").eq("status", Status::Failed.name());
        self.client.send(query.order("source.asc").limit(count)).await
    }

    /// Sources of documents.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn sources_of(&self, ids: &[Uuid]) -> Result<Vec<String>, SupabaseError> {
        #[derive(Deserialize)]
        struct Row {
            source: String,
        }
        let mut sources = Vec::new();
        for batch in ids.chunks(IDS_PER_REQUEST) {
            let query = Query::select("kb_documents", "source").one_of("id", batch).order("source.asc");
            let rows: Vec<Row> = self.client.send(query).await?;
            sources.extend(rows.into_iter().map(|row| row.source));
        }
        Ok(sources)
    }

    /// Documents that wait to be published, those that wait longest first, at most `count`.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn oldest_pending(&self, count: u64) -> Result<Vec<StoredDocument>, SupabaseError> {
        let query = Query::select("kb_documents", COLUMNS).eq("status", Status::Pending.name());
        self.client.send(query.order("updated_at.asc").limit(count.min(1000) as usize)).await
    }

    /// The settings of the chat; `None` if they are all left to their defaults.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn chat_settings(&self) -> Result<Option<ChatSettings>, SupabaseError> {
        let columns =
            "evidence_threshold,evidence_confidence,log_questions,keep_refusals,gap_users,retention_days";
        let rows: Vec<ChatSettings> = self.client.send(Query::select("chat_settings", columns)).await?;
        Ok(rows.into_iter().next())
    }
}
