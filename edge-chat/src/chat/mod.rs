//! `POST /api/chat`: from a question and its vector to an answer or a refusal.

mod client;
mod links;
mod query;
mod run;
mod search;
mod stream;
mod turn;

use std::cell::RefCell;
use std::rc::Rc;

use chat_core::accept::{Format, negotiate};
use chat_core::error::ErrorCode;
use chat_core::outcome::Outcome;
use chat_core::request::ChatRequest;
use futures_channel::mpsc::unbounded;
use futures_channel::oneshot;
use futures_util::FutureExt;
use futures_util::future::ready;

use crate::call::Call;
use crate::gate::{Admission, Budget, Decision, Gate};
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::supabase::Deadline;
pub(crate) use links::Links;
use run::{ClientStream, Run, SharedSearchResult};
pub(crate) use search::search;
use stream::{Completion, LiveAnswer};

/// Answers a question.
pub(crate) async fn answer(mut call: Call) -> Result<Reply, HttpError> {
    let format = negotiate(call.header("accept").as_deref());
    let user = call.user().await?;
    let user_id = user.user_id();
    let question = ChatRequest::parse(&call.body().await?)?;

    let gate = Gate::for_user(&call.env, user_id)?;
    let admission = gate.admit(&question, &call.config, call.deadline);
    let Decision { admission, budget } = call.trace.time("admission", admission).await?;
    let ticket = match admission {
        Admission::Admitted { ticket } => ticket,
        Admission::Replay { outcome } => {
            return with_rate_limit_headers(budget, replay(outcome, format, call.id).await);
        }
        Admission::Limited => {
            return with_rate_limit_headers(budget, Err(HttpError::rate_limited(budget.reset_s())));
        }
        Admission::Conflict => return with_rate_limit_headers(budget, Err(conflict())),
        Admission::Busy => return with_rate_limit_headers(budget, Err(busy())),
    };

    // The admission of a repeat may have waited for another run.
    call.deadline = Deadline::after(call.config.upstream_timeout);
    let run = Rc::new(Run::new(call, user, question, gate, ticket));
    with_rate_limit_headers(budget, respond(run, format).await)
}

async fn respond(run: Rc<Run>, format: Format) -> Result<Reply, HttpError> {
    let request_id = run.request_id.clone();
    let found: SharedSearchResult = Rc::clone(&run).find().boxed_local().shared();
    let (pieces, deltas) = unbounded();
    let (open, left) = oneshot::channel();
    let stream = (format == Format::EventStream).then(|| ClientStream { pieces, left: left.shared() });
    let completion: Completion = Rc::clone(&run).complete(found.clone(), stream).boxed_local().shared();
    let session_id = run.turn.session_id;
    let afterwards = run.record_refusal(found.clone(), completion.clone()).boxed_local();
    let found = match found.await {
        Ok(found) => found,
        Err(error) => {
            // Released before the client gets the error, so that its retry is admitted.
            afterwards.await;
            return Err(error);
        }
    };
    let outcome = found.outcome.borrow().kind();
    let hedged = matches!(&*found.outcome.borrow(), Outcome::Answer(answer) if answer.hedged);
    let written = found.is_draft().then_some(LiveAnswer { deltas, open, session_id, hedged });
    let response = stream::send(Rc::clone(&found.outcome), written, completion, format, request_id).await?;
    Ok(Reply { response, outcome, afterwards: Some(afterwards) })
}

async fn replay(outcome: Outcome, format: Format, request_id: String) -> Result<Reply, HttpError> {
    let completion: Completion = ready(()).boxed_local().shared();
    let outcome = Rc::new(RefCell::new(outcome));
    Ok(Reply::new(stream::send(outcome, None, completion, format, request_id).await?, "replay"))
}

/// Adds the headers for the user's rate limit to a reply or an error.
fn with_rate_limit_headers(budget: Budget, result: Result<Reply, HttpError>) -> Result<Reply, HttpError> {
    match result {
        Ok(reply) => {
            for (name, value) in budget.headers() {
                reply.response.headers().set(name, &value)?;
            }
            Ok(reply)
        }
        Err(mut error) => {
            error.headers.extend(budget.headers());
            Err(error)
        }
    }
}

fn busy() -> HttpError {
    let message = "This question is still being answered. Please try again in a moment.";
    HttpError::new(ErrorCode::UpstreamTimeout, message)
        .with_detail("another run of the question takes too long")
}

fn conflict() -> HttpError {
    HttpError::new(
        ErrorCode::Conflict,
        "This message_id was used for another question before. Send a new message_id with a new question.",
    )
}
