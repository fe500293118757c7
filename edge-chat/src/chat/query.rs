//! The search for a question, which its answer and the reader share.

use chat_core::assistant::AssistantName;
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::check_model;
use chat_core::follow_up::{JoinedSearch, joined, may_lean};
use chat_core::request::Previous;
use futures_util::future::join;

use crate::http::error::HttpError;
use crate::observe::Trace;
use crate::supabase::Supabase;

/// The input of a search.
pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) embedding: &'a [f32],
    /// The question before it, which it may lean on.
    pub(super) previous: Option<&'a Previous>,
    /// The fingerprint of the model that made the vectors.
    pub(super) model: &'a str,
    pub(super) assistant: &'a AssistantName,
}

/// The result of a search.
pub(super) struct Found {
    /// The passages for the question.
    pub(super) rows: Vec<MatchedChunk>,
    /// The search for the question and the one before it, if there was one.
    pub(super) joined: Option<Joined>,
}

/// The search for a question and the one before it.
pub(super) struct Joined {
    /// The searched text.
    pub(super) text: String,
    pub(super) rows: Vec<MatchedChunk>,
}

impl Joined {
    pub(super) fn search(&self) -> JoinedSearch<'_> {
        JoinedSearch { text: &self.text, rows: &self.rows }
    }
}

impl Query<'_> {
    /// Searches for the question and, at the same time, for the question together with the one before it.
    pub(super) async fn search(
        &self,
        supabase: &Supabase,
        trace: &Trace,
        match_count: u32,
    ) -> Result<Found, HttpError> {
        let found = trace.time("search", self.find(supabase, trace, match_count)).await?;
        let joined_rows = found.joined.as_ref().map(|joined| &joined.rows);
        for rows in [Some(&found.rows), joined_rows].into_iter().flatten() {
            check_model(self.model, rows)?;
        }
        Ok(found)
    }

    async fn find(&self, supabase: &Supabase, trace: &Trace, match_count: u32) -> Result<Found, HttpError> {
        let search = |embedding, text| supabase.match_chunks(embedding, text, match_count, self.assistant);
        let alone = search(self.embedding, self.text);
        let previous = self.previous.filter(|_| may_lean(self.text));
        let Some(previous) = previous else { return Ok(Found { rows: alone.await?, joined: None }) };
        let text = joined(self.text, &previous.message);
        let (rows, joined_rows) = join(alone, search(&previous.embedding, &text)).await;
        // Without the second search, the question is answered alone.
        let joined_rows = joined_rows.inspect_err(|error| trace.fault("joined search failed", error));
        Ok(Found { rows: rows?, joined: joined_rows.ok().map(|rows| Joined { text, rows }) })
    }
}
