//! `POST /api/chat`: from a question and its vector to an answer or a refusal.

use std::rc::Rc;

use chat_core::accept::{Format, negotiate};
use chat_core::answer::compose;
use chat_core::chunk::MatchedChunk;
use chat_core::error::ErrorCode;
use chat_core::evidence::{Decision, check_model, decide};
use chat_core::outcome::Outcome;
use chat_core::refusal::{Reason, Refusal};
use chat_core::request::ChatRequest;
use futures_util::FutureExt;
use futures_util::future::{join, ready};
use uuid::Uuid;
use worker::{Context, Env, Request};

use crate::auth::Authenticated;
use crate::body::read_json;
use crate::config::Config;
use crate::error::Failure;
use crate::gate::{Admission, Gate, Ticket};
use crate::history::{self, Turn};
use crate::log::late_fault;
use crate::reply::Reply;
use crate::stream::{self, Completion};
use crate::supabase::{Supabase, within};

/// Answers a question.
pub(crate) async fn answer(
    mut request: Request,
    request_id: &str,
    env: &Env,
    context: &Context,
) -> Result<Reply, Failure> {
    let config = Config::from_env(env)?;
    let user = Authenticated::verify(header(&request, "authorization").as_deref(), &config.jwt_secret)?;
    let format = negotiate(header(&request, "accept").as_deref());
    let question = ChatRequest::parse(&read_json(&mut request).await?)?;

    let gate = Gate::of_user(env, user.user_id())?;
    let ticket = match gate.admit(&question, &config).await? {
        Admission::Admitted { ticket } => ticket,
        Admission::Replay { outcome } => return replay(*outcome, format).await,
        Admission::Limited { retry_after_s } => return Err(Failure::rate_limited(retry_after_s)),
        Admission::Conflict => return Err(conflict()),
    };

    let supabase = Supabase::as_user(&config, user);
    let answer_id = Uuid::new_v4();
    let session_id = question.session_id.unwrap_or_else(Uuid::new_v4);
    let outcome = match find_outcome(&supabase, &config, &question, session_id, answer_id).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            forget(&gate, ticket, request_id).await;
            return Err(failure);
        }
    };

    let turn = Turn { session_id, answer_id };
    let kind = outcome.kind();
    let run = Run { gate, ticket, supabase, question, turn, request_id: request_id.to_owned(), config };
    let completion = run.complete(outcome.clone()).boxed_local().shared();
    // The history is written to the end also when the client goes away.
    context.wait_until(completion.clone().map(drop));
    Ok(Reply { response: stream::send(&outcome, completion, format).await?, outcome: kind })
}

/// Searches, and decides whether what was found is enough.
async fn find_outcome(
    supabase: &Supabase,
    config: &Config,
    question: &ChatRequest,
    session_id: Uuid,
    answer_id: Uuid,
) -> Result<Outcome, Failure> {
    let search = supabase.match_chunks(&question.embedding, &question.message, config.match_count);
    let (session, rows) = join(check_session(supabase, question.session_id), search).await;
    session?;
    let rows = rows?;
    check_model(question.model.as_deref(), &rows)?;

    let reason = match decide(&rows, config.evidence_threshold) {
        Decision::Answer(evidence) => {
            match compose(&question.message, &evidence, question.include_citations) {
                Some(answer) => return Ok(Outcome::answer(answer, session_id, answer_id)),
                None => Reason::WeakEvidence,
            }
        }
        Decision::Refuse(reason) => reason,
    };
    refuse(supabase, config, reason, &rows).await
}

async fn check_session(supabase: &Supabase, session_id: Option<Uuid>) -> Result<(), Failure> {
    match session_id {
        Some(id) if !supabase.owns_session(id).await? => {
            Err(Failure::new(ErrorCode::NotFound, "This conversation does not exist. Start a new one."))
        }
        _ => Ok(()),
    }
}

async fn refuse(
    supabase: &Supabase,
    config: &Config,
    reason: Reason,
    rows: &[MatchedChunk],
) -> Result<Outcome, Failure> {
    // Only a search that found nothing at all can have met an empty knowledge base.
    let is_empty = rows.is_empty() && !supabase.has_documents().await?;
    let reason = if is_empty { Reason::EmptyKb } else { reason };
    Ok(Outcome::Refusal(Refusal::new(reason, rows, config.evidence_threshold)))
}

/// All that is left to do once the outcome is known.
struct Run {
    gate: Gate,
    ticket: Ticket,
    supabase: Supabase,
    question: ChatRequest,
    turn: Turn,
    request_id: String,
    config: Config,
}

impl Run {
    /// Writes the history and keeps the outcome for repeats. A fault here costs the history, never the answer.
    async fn complete(self, mut outcome: Outcome) -> Rc<Outcome> {
        let record = history::record(&self.supabase, &self.question, &outcome, &self.turn);
        match within(self.config.upstream_timeout, "history", record).await {
            Ok(()) => outcome.mark_persisted(self.turn.session_id),
            Err(failure) => {
                let detail = failure.detail.unwrap_or(failure.error.message);
                late_fault(&self.request_id, &format!("history not written: {detail}"));
            }
        }
        if let Err(error) = self.gate.complete(self.ticket, &outcome).await {
            late_fault(&self.request_id, &format!("outcome not kept: {error}"));
        }
        Rc::new(outcome)
    }
}

async fn replay(outcome: Outcome, format: Format) -> Result<Reply, Failure> {
    let completion: Completion = ready(Rc::new(outcome.clone())).boxed_local().shared();
    Ok(Reply { response: stream::send(&outcome, completion, format).await?, outcome: "replay" })
}

async fn forget(gate: &Gate, ticket: Ticket, request_id: &str) {
    if let Err(error) = gate.release(ticket).await {
        late_fault(request_id, &format!("question not released: {error}"));
    }
}

fn conflict() -> Failure {
    Failure::new(
        ErrorCode::Conflict,
        "This message_id was used for another question before. Send a new message_id with a new question.",
    )
}

fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).ok().flatten()
}
