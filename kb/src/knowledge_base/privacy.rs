//! The secret of the Worker, and what is deleted of what people asked.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::health::HealthOfPrivacy;
use super::{ChatSettings, KnowledgeBase};
use crate::supabase::{Query, SupabaseError};

/// The first time, there may be years to delete. The function itself stops after ten minutes.
const RETAIN_TIMEOUT: Duration = Duration::from_secs(620);

/// What was done to conversations and questions without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retained {
    /// Conversations that were deleted.
    pub sessions: u64,
    /// Questions without an answer that were deleted.
    pub refusals: u64,
    /// Questions without an answer that do not say any more who asked.
    pub anonymous: u64,
    /// Whether the database does this every night.
    pub scheduled: bool,
}

impl KnowledgeBase {
    /// Lets the database know calls of the Worker by a secret, of which it gets the hash only. The secret before stays valid
    /// until the next one.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn set_worker_secret(&self, secret: &str) -> Result<(), SupabaseError> {
        let hash: String =
            Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let query = Query::call("chat_set_worker_secret", &json!({ "secret_hash": hash }));
        self.client.send::<Value>(query).await.map(drop)
    }

    /// Whether the database knows a secret of the Worker. Takes as long as [`KnowledgeBase::health`].
    ///
    /// # Errors
    /// If the server cannot be asked, or its schema is older than this function.
    pub async fn knows_worker(&self) -> Result<bool, SupabaseError> {
        let health: HealthOfPrivacy = self.client.send(Query::call("kb_health", &json!({}))).await?;
        Ok(health.worker_secret_set)
    }

    /// Deletes what is older than the settings keep, and makes questions without an answer follow them.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn retain(&self) -> Result<Retained, SupabaseError> {
        self.client.send(Query::call("chat_retain", &json!({})).within(RETAIN_TIMEOUT)).await
    }

    /// The settings of the chat, with the defaults if there is no row.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn effective_chat_settings(&self) -> Result<ChatSettings, SupabaseError> {
        Ok(self.chat_settings().await?.unwrap_or_default())
    }
}
