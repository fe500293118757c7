//! Reads and writes the tables of the knowledge base through the REST API.
//!
//! Row ids are generated here, not by the database, so that every write is idempotent and can be repeated after a lost answer.

mod assistants;
mod calibration;
mod documents;
mod embeddings;
mod health;
mod overview;
mod privacy;
mod search;
mod selection;
mod sync_lease;
mod troubles;
mod watches;
mod write;

use std::fmt::Write;

use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::supabase::{Client, Query, SupabaseError};

pub use assistants::{Assistant, AssistantThresholds};
pub use calibration::Calibration;
pub use documents::{Status, StoredDocument};
pub use embeddings::{ChunkToEmbed, NewVectors, Reason};
pub use health::{
    AccessChange, ChatSettings, Health, HealthOfAlerts, HealthOfCounts, HealthOfFiles, HealthOfIndex,
    HealthOfPrivacy, HealthOfTable, SentAlert,
};
pub use overview::{Filter, Overview, Place, StoredPassage};
pub use privacy::Retained;
pub use selection::{Precision, SelectionError, select};
pub use sync_lease::Lease;
pub use troubles::Trouble;
pub use watches::{Watch, WatchEvent};
pub use write::{NewChunk, NewSentence, PendingDocument};

const IDS_PER_REQUEST: usize = 100;

/// Rows read per request: the default maximum of hosted projects. A server without a maximum would answer with a whole table.
const ROWS_PER_REQUEST: usize = 1000;

/// The knowledge base of one project.
pub struct KnowledgeBase {
    client: Client,
}

impl KnowledgeBase {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// The connection, for access to storage.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Reads all rows of a table page by page, whatever the page size of the server.
    async fn all_rows<T: DeserializeOwned>(
        &self,
        key: &str,
        query: Query,
        key_of: impl Fn(&T) -> Uuid,
    ) -> Result<Vec<T>, SupabaseError> {
        let query = query.order(&format!("{key}.asc")).limit(ROWS_PER_REQUEST);
        let mut all: Vec<T> = Vec::new();
        loop {
            let page = match all.last() {
                Some(last) => query.clone().gt(key, &key_of(last).to_string()),
                None => query.clone(),
            };
            let page: Vec<T> = self.client.send(page).await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }
}

/// `[0.1,-0.2]`, which PostgREST passes to pgvector unchanged; each number has the fewest digits that identify it.
fn vector_literal(vector: &[f32]) -> String {
    let mut literal = String::with_capacity(vector.len() * 13);
    for (index, value) in vector.iter().enumerate() {
        let separator = if index == 0 { '[' } else { ',' };
        // Writing to a string cannot fail.
        let _ = write!(literal, "{separator}{value}");
    }
    literal.push(']');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vector_literals_read_back_exactly() {
        let vector = [0.1_f32, -1.0e-9, 1.0 / 3.0];
        let literal = vector_literal(&vector);
        assert!(literal.starts_with("[0.1,-0.000000001,"));
        let back: Vec<f32> =
            literal.trim_matches(['[', ']']).split(',').map(|x| x.parse().unwrap()).collect();
        assert_eq!(back, vector);
    }
}
