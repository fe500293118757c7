//! What is read from the database to answer a question.

use std::rc::Rc;

use chat_core::chunk::MatchedChunk;
use chat_core::evidence::check_model;
use chat_core::follow_up::{joined, may_lean};
use chat_core::request::ChatRequest;
use futures_util::future::{LocalBoxFuture, join};

use crate::config::Config;
use crate::http::error::HttpError;
use crate::observe::Trace;
use crate::settings::Settings;
use crate::supabase::{Supabase, session_not_found};

/// What is read to answer a question. Dropping it cancels the reads.
pub(super) type Gathering = LocalBoxFuture<'static, Result<Gathered, HttpError>>;

/// What it takes to read it.
pub(super) struct Inquiry {
    pub(super) supabase: Supabase,
    pub(super) question: ChatRequest,
    pub(super) config: Rc<Config>,
    pub(super) trace: Rc<Trace>,
    /// Scheme and host of the page that asks.
    pub(super) page_origin: Option<String>,
}

/// What was read.
pub(super) struct Gathered {
    pub(super) settings: Settings,
    /// The passages for the question.
    pub(super) rows: Vec<MatchedChunk>,
    /// Those for the question and the one before it, if there was one.
    pub(super) joined: Option<Joined>,
}

/// The search for a question and the one before it.
pub(super) struct Joined {
    /// What was searched.
    pub(super) text: String,
    pub(super) rows: Vec<MatchedChunk>,
}

impl Inquiry {
    /// Reads the settings, then searches. Nothing is written, so it may run before the question is admitted.
    pub(super) async fn gather(self: Rc<Self>) -> Result<Gathered, HttpError> {
        let Self { supabase, question, trace, .. } = &*self;
        let settings =
            Settings::current(&self.config, &question.assistant, Some(supabase), supabase.deadline());
        let settings = trace.time("settings", settings).await?;
        // Only now is it certain that the name is the owner's, and not any text of a client.
        trace.note(|facts| facts.assistant = Some(question.assistant.clone()));
        settings.check_origin(self.page_origin.as_deref())?;
        if settings.log_questions {
            trace.note(|facts| facts.question = Some(question.message.clone()));
        }
        let (session, found) = join(self.check_session(), trace.time("search", self.search(&settings))).await;
        session?;
        let (rows, joined) = found?;
        for rows in [Some(&rows), joined.as_ref().map(|joined| &joined.rows)].into_iter().flatten() {
            check_model(Some(&question.model), rows)?;
        }
        Ok(Gathered { settings, rows, joined })
    }

    /// Searches for the question and, at the same time, for the question together with the one before it.
    async fn search(&self, settings: &Settings) -> Result<(Vec<MatchedChunk>, Option<Joined>), HttpError> {
        let Self { supabase, question, .. } = self;
        let search = |embedding, text| {
            supabase.match_chunks(embedding, text, settings.match_count, &question.assistant)
        };
        let alone = search(&question.embedding, &question.message);
        let previous = question.previous.as_ref().filter(|_| may_lean(&question.message));
        let Some(previous) = previous else { return Ok((alone.await?, None)) };
        let text = joined(&question.message, &previous.message);
        let (rows, joined_rows) = join(alone, search(&previous.embedding, &text)).await;
        // Without the second search, the question is answered alone.
        let joined_rows = joined_rows.inspect_err(|error| self.trace.fault("joined search failed", error));
        Ok((rows?, joined_rows.ok().map(|rows| Joined { text, rows })))
    }

    async fn check_session(&self) -> Result<(), HttpError> {
        match self.question.session_id {
            Some(id) if !self.supabase.can_continue(id, &self.question.assistant).await? => {
                Err(session_not_found())
            }
            _ => Ok(()),
        }
    }
}
