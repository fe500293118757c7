//! Documents and collections that are not as new as their source: the view `kb_troubles`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::KnowledgeBase;
use crate::output::moment;
use crate::supabase::{Query, SupabaseError};

/// Documents and collections with a trouble to read, at most.
const MAX_TROUBLES: usize = 1000;

/// A document or collection that is not as new as its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// The document's key, or the name of the collection.
    pub source: String,
    pub reason: String,
    /// Timestamp as the database writes it.
    pub since: Option<String>,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.reason)?;
        self.since.iter().try_for_each(|since| write!(f, " (since {} UTC)", moment(since)))
    }
}

impl KnowledgeBase {
    /// Reads the troubles, oldest first, of one collection or of all.
    pub async fn troubles(&self, collection: Option<&str>) -> Result<Vec<Trouble>, SupabaseError> {
        let query =
            Query::select("kb_troubles", "source,reason,since").order("since.asc").limit(MAX_TROUBLES);
        let query = collection.into_iter().fold(query, |query, name| query.eq("collection", name));
        self.client.send(query).await
    }
}
