//! `POST /api/chat`: from a question and its vector to an answer or a refusal.

use std::rc::Rc;

use chat_core::accept::{Format, negotiate};
use chat_core::chunk::MatchedChunk;
use chat_core::error::ErrorCode;
use chat_core::evidence::check_model;
use chat_core::outcome::Outcome;
use chat_core::refusal::{Reason, Refusal};
use chat_core::request::ChatRequest;
use chat_core::{Verdict, respond};
use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, Shared, join, ready};
use uuid::Uuid;
use worker::{Context, Env, Request};

use crate::auth::Authenticated;
use crate::body::read_json;
use crate::config::Config;
use crate::error::Failure;
use crate::gate::{Admission, Gate, Ticket};
use crate::history::{self, Turn};
use crate::log::late_fault;
use crate::refusals;
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
        Admission::Replay { outcome } => return replay(*outcome, format, request_id).await,
        Admission::Limited { retry_after_s } => return Err(Failure::rate_limited(retry_after_s)),
        Admission::Conflict => return Err(conflict()),
    };

    let turn =
        Turn { session_id: question.session_id.unwrap_or_else(Uuid::new_v4), answer_id: Uuid::new_v4() };
    let supabase = Supabase::as_user(&config, user);
    let run =
        Rc::new(Run { gate, ticket, supabase, question, turn, request_id: request_id.to_owned(), config });
    let found: Found = Rc::clone(&run).find().boxed_local().shared();
    let completion: Completion = Rc::clone(&run).complete(found.clone()).boxed_local().shared();
    // A question that was admitted is answered and written down to the end, also when the client goes away: a repeat
    // would wait for it.
    context.wait_until(run.note_refusal(found.clone(), completion.clone()));

    let outcome = found.await?.outcome;
    Ok(Reply {
        response: stream::send(&outcome, completion, format, request_id).await?,
        outcome: outcome.kind(),
    })
}

/// What a search led to.
#[derive(Clone)]
struct Finding {
    outcome: Outcome,
    /// Cosine of the nearest passage, if there was one.
    best_similarity: Option<f64>,
}

/// Searches, and lets `chat-core` decide whether what was found is enough.
async fn find(
    supabase: &Supabase,
    config: &Config,
    question: &ChatRequest,
    turn: &Turn,
) -> Result<Finding, Failure> {
    let search = supabase.match_chunks(&question.embedding, &question.message, config.match_count);
    let (session, rows) = join(check_session(supabase, question.session_id), search).await;
    session?;
    let rows = rows?;
    check_model(question.model.as_deref(), &rows)?;

    let response = respond(&question.message, &rows, &config.gates, question.include_citations);
    let outcome = match response.verdict {
        Verdict::Answer(answer) => Outcome::answer(answer, turn.session_id, turn.answer_id),
        Verdict::Refuse(reason) => refuse(supabase, config, reason, &rows).await?,
    };
    Ok(Finding { outcome, best_similarity: response.assessment.best_similarity })
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
    let refusal = Refusal::new(reason, rows, config.gates.similarity);
    Ok(Outcome::Refusal(match &config.suggestions {
        Some(suggestions) => refusal.suggesting(suggestions),
        None => refusal,
    }))
}

/// The first outcome of a question, shared by the response and by what has to be done besides.
type Found = Shared<LocalBoxFuture<'static, Result<Finding, Failure>>>;

/// One admitted question.
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
    /// The outcome, before it is written to the history.
    async fn find(self: Rc<Self>) -> Result<Finding, Failure> {
        find(&self.supabase, &self.config, &self.question, &self.turn).await
    }

    /// Writes the history and keeps the outcome for repeats. A fault here costs the history, never the answer. `None`
    /// if there was no outcome; then the question can be asked again.
    async fn complete(self: Rc<Self>, found: Found) -> Option<Rc<Outcome>> {
        let Ok(Finding { mut outcome, .. }) = found.await else {
            self.release().await;
            return None;
        };
        let record = history::record(&self.supabase, &self.question, &outcome, &self.turn);
        match within(self.config.upstream_timeout, "history", record).await {
            Ok(()) => outcome.mark_persisted(self.turn.session_id),
            Err(failure) => self.late_fault("history not written", failure),
        }
        if let Err(error) = self.gate.complete(self.ticket.clone(), &outcome).await {
            late_fault(&self.request_id, &format!("outcome not kept: {error}"));
        }
        Some(Rc::new(outcome))
    }

    /// Waits for the completion and then, if the question was refused, notes that. The client does not wait for it.
    async fn note_refusal(self: Rc<Self>, found: Found, completion: Completion) {
        let (Some(outcome), Ok(finding)) = (completion.await, found.await) else { return };
        let Outcome::Refusal(refusal) = outcome.as_ref() else { return };
        let noted = refusals::record(&self.supabase, &self.question, refusal, finding.best_similarity).await;
        if let Err(failure) = noted {
            self.late_fault("refusal not noted", failure);
        }
    }

    fn late_fault(&self, what: &str, failure: Failure) {
        let detail = failure.detail.unwrap_or(failure.error.message);
        late_fault(&self.request_id, &format!("{what}: {detail}"));
    }

    async fn release(&self) {
        if let Err(error) = self.gate.release(self.ticket.clone()).await {
            late_fault(&self.request_id, &format!("question not released: {error}"));
        }
    }
}

async fn replay(outcome: Outcome, format: Format, request_id: &str) -> Result<Reply, Failure> {
    let completion: Completion = ready(Some(Rc::new(outcome.clone()))).boxed_local().shared();
    Ok(Reply { response: stream::send(&outcome, completion, format, request_id).await?, outcome: "replay" })
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
