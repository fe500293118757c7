//! What is read from the database to answer a question.

use std::rc::Rc;

use chat_core::request::ChatRequest;
use futures_util::future::{LocalBoxFuture, join};

use super::query::{Found, Query};
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
    pub(super) found: Found,
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
        let query = Query {
            text: &question.message,
            embedding: &question.embedding,
            previous: question.previous.as_ref(),
            model: &question.model,
            assistant: &question.assistant,
        };
        let search = query.search(supabase, trace, settings.match_count);
        let (session, found) = join(self.check_session(), search).await;
        session?;
        Ok(Gathered { found: found?, settings })
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
