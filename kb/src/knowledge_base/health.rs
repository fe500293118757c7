//! The state of the database, as the database reports it.

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
    /// Newest migration that was applied; `None` without a list of migrations.
    pub schema_version: Option<String>,
    pub vector_version: Option<String>,
    /// Tables of the schema `public`.
    pub tables: Vec<HealthOfTable>,
    /// Indexes that the search needs.
    pub indexes: Vec<HealthOfIndex>,
    /// Differences of access rules from those of the migrations.
    pub access_changes: Vec<AccessChange>,
    /// Number of documents by status.
    pub documents: BTreeMap<String, u64>,
    /// Documents that have been pending for more than a day.
    pub pending_older_than_day: u64,
    /// Ready documents without a passage.
    pub documents_without_chunks: u64,
    pub chunks: u64,
    /// Passages that were edited after they were embedded.
    pub stale_chunks: u64,
    /// Passages without a vector, which no search finds.
    pub chunks_without_embedding: u64,
    /// Number of vectors by fingerprint of their model.
    pub embeddings_by_model: BTreeMap<String, u64>,
    /// Passages whose copied visibility differs from that of their documents.
    pub visibility_mismatches: u64,
    pub sentences_missing: u64,
    /// True if the counts of words differ from the passages.
    pub lexeme_mismatch: bool,
    /// Enabled assistants whose collections have no document.
    pub assistants_without_documents: Vec<String>,
    /// State of the bucket; empty without storage.
    #[serde(flatten)]
    pub files: HealthOfFiles,
    #[serde(flatten)]
    pub privacy: HealthOfPrivacy,
    /// State of the daily counts that the insights read.
    pub counts: HealthOfCounts,
    /// State of the alerts.
    pub alerts: HealthOfAlerts,
    /// Ready and enabled documents.
    pub visible_documents: u64,
    /// Ready and enabled documents that anonymous visitors can see.
    pub anonymous_documents: u64,
}

/// An access rule that differs from the migrations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AccessChange {
    /// `grants`, `row level security`, `policy`, `function` or `view`.
    pub kind: String,
    /// Name of the object, with its schema.
    pub name: String,
    /// `missing`, `added` or `changed`.
    pub change: String,
}

/// How the chat treats questions.
#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfPrivacy {
    /// True if the database knows a secret of the Worker.
    pub worker_secret_set: bool,
    /// True if the API exposes the schema `internal`, whose functions read more than users may.
    pub internal_exposed: bool,
    /// Days after its last message until a conversation is deleted; never if `None`.
    pub retention_days: Option<u32>,
    /// Last time of such a deletion, as the database writes it.
    pub retention_ran_at: Option<String>,
    /// True if there are anonymous users who have been inactive for longer than they are kept.
    pub has_inactive_anonymous_users: bool,
}

/// State of the daily counts.
#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfCounts {
    /// Last day (UTC) with a counted question, such as `2026-11-22`; `None` without any.
    pub counted_day: Option<String>,
    /// Last day (UTC) with a recorded question.
    pub recorded_day: Option<String>,
}

/// State of the alerts about the answered and the cited share.
#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfAlerts {
    /// True if there is a webhook.
    pub url_set: bool,
    /// The shares with a line: `answered_share`, `cited_share`.
    pub measures: Vec<String>,
    /// True if the extension that sends alerts is installed.
    pub pg_net: bool,
    /// When the shares were last compared with their lines, as the database writes it; `None` if never.
    pub checked_at: Option<String>,
    /// The last alert of each share that had one.
    pub sent: Vec<SentAlert>,
}

/// An alert that was sent.
#[derive(Debug, Clone, Deserialize)]
pub struct SentAlert {
    /// `answered_share` or `cited_share`.
    pub measure: String,
    /// True if the share was still below its line at the last comparison.
    pub is_below: bool,
    /// Timestamp as the database writes it.
    pub sent_at: String,
    /// True if the webhook accepted it; `None` if that is not known.
    pub is_delivered: Option<bool>,
    /// HTTP status of the webhook's answer; `None` without an answer.
    pub status: Option<u16>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfTable {
    /// Name without the schema.
    pub name: String,
    /// True if row level security is on.
    pub rls: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct HealthOfIndex {
    pub name: String,
    pub table: String,
    pub exists: bool,
    /// False if its creation failed, so that searches do not use it.
    pub valid: bool,
}

/// State of the bucket `kb`; missing in a Postgres without storage.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct HealthOfFiles {
    /// Documents whose original is missing; a part of them if there are many.
    pub missing_files: Vec<Uuid>,
    /// Number of all such documents.
    pub missing_file_count: u64,
    /// Originals that no document refers to; a part of them if there are many.
    pub orphan_files: Vec<String>,
    /// Number of all such originals.
    pub orphan_file_count: u64,
    /// True if everybody who knows a path can read its file.
    pub public_bucket: bool,
    /// Policies that may open the bucket to more users.
    pub widening_policies: Vec<String>,
}

/// The row of `chat_settings`.
#[derive(Debug, Clone, Deserialize)]
pub struct ChatSettings {
    /// True if the server logs questions.
    pub log_questions: bool,
    /// How unanswered questions are kept: `full`, `anonymous` or `off`.
    pub keep_refusals: String,
    /// Days after its last message until a conversation is deleted; never if `None`.
    pub retention_days: Option<u32>,
    /// Days without activity until an anonymous user is deleted; never if `None`.
    pub anonymous_retention_days: Option<u32>,
}

impl Default for ChatSettings {
    /// The defaults of the database.
    fn default() -> Self {
        Self {
            log_questions: false,
            keep_refusals: "full".to_owned(),
            retention_days: None,
            anonymous_retention_days: Some(30),
        }
    }
}

impl KnowledgeBase {
    /// Takes some seconds if there are very many passages.
    pub async fn health(&self) -> Result<Health, SupabaseError> {
        self.client.send(Query::call_long("kb_health", &json!({}))).await
    }

    /// Returns whether the API exposes the schema `internal`. The database does not always know, so
    /// this asks the API.
    pub async fn serves_internal(&self) -> Result<bool, SupabaseError> {
        let query = Query::select("expected_access", "kind").in_schema("internal").limit(1);
        match self.client.send::<serde_json::Value>(query).await {
            // Nobody may read the table, but "permission denied" comes from inside the schema.
            Ok(_) | Err(SupabaseError::WrongKey(_)) => Ok(true),
            Err(SupabaseError::SchemaMissing(message)) => Ok(message.contains("internal.")),
            Err(SupabaseError::Rejected { .. } | SupabaseError::UnexpectedAnswer { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns whether visitors can sign in anonymously; `None` if Supabase Auth does not say.
    pub async fn allows_anonymous_sign_ins(&self) -> Result<Option<bool>, SupabaseError> {
        match self.client.auth_settings().await {
            Ok(settings) => {
                Ok(settings.pointer("/external/anonymous_users").and_then(serde_json::Value::as_bool))
            }
            // An installation without Supabase Auth.
            Err(SupabaseError::Unreachable { url, cause }) => Err(SupabaseError::Unreachable { url, cause }),
            Err(_) => Ok(None),
        }
    }

    /// The sources of documents by their ids.
    pub async fn sources_by_id(&self, ids: &[Uuid]) -> Result<Vec<String>, SupabaseError> {
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

    /// Up to `count` pending documents, oldest first.
    pub async fn oldest_pending(&self, count: u64) -> Result<Vec<StoredDocument>, SupabaseError> {
        let query = Query::select("kb_documents", COLUMNS).eq("status", Status::Pending.name());
        self.client.send(query.order("updated_at.asc").limit(count.min(1000) as usize)).await
    }

    /// The settings of the chat; `None` if there is no row.
    pub async fn chat_settings(&self) -> Result<Option<ChatSettings>, SupabaseError> {
        let columns = "log_questions,keep_refusals,retention_days,anonymous_retention_days";
        let rows: Vec<ChatSettings> = self.client.send(Query::select("chat_settings", columns)).await?;
        Ok(rows.into_iter().next())
    }
}
