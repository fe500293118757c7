//! The secret of the Worker, and the deletion of old conversations.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::KnowledgeBase;
use crate::output::hex;
use crate::supabase::{Query, SupabaseError};

/// The sum of what calls of `chat_retain` did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retained {
    pub sessions: u64,
    pub refusals: u64,
    /// Unanswered questions whose user was removed.
    pub anonymous: u64,
    /// Deleted anonymous users without activity.
    pub anonymous_users: u64,
    /// Anonymous users without activity who could not be deleted. Their conversations are.
    pub undeletable_users: u64,
    /// True if the database does this every night.
    pub scheduled: bool,
    /// True if another call would delete more.
    #[serde(skip_serializing)]
    pub more: bool,
}

impl Retained {
    fn add(&mut self, piece: &Self) {
        self.sessions += piece.sessions;
        self.refusals += piece.refusals;
        self.anonymous += piece.anonymous;
        self.anonymous_users += piece.anonymous_users;
        self.undeletable_users += piece.undeletable_users;
        self.scheduled = piece.scheduled;
    }
}

impl KnowledgeBase {
    /// Sets the secret that identifies calls of the Worker; the database gets only its hash. The previous secret stays valid
    /// until the next call.
    pub async fn set_worker_secret(&self, secret: &str) -> Result<(), SupabaseError> {
        let hash = hex(Sha256::digest(secret.as_bytes()));
        let query = Query::call("chat_set_worker_secret", &json!({ "secret_hash": hash }));
        self.client.send::<Value>(query).await.map(drop)
    }

    /// Applies the retention settings to conversations, unanswered questions and anonymous users, piece by piece.
    pub async fn retain(&self) -> Result<Retained, SupabaseError> {
        let mut total = Retained::default();
        loop {
            let piece: Retained = self.client.send(Query::call_long("chat_retain", &json!({}))).await?;
            total.add(&piece);
            if !piece.more {
                return Ok(total);
            }
        }
    }
}
