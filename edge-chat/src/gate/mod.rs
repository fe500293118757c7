//! The gate every question passes: how often a user asks, and whether this question was asked before.
//!
//! Each user has one Durable Object, so that its decisions are exact. This module is the Worker's side of it and the
//! messages between the two; [`object`] is the object itself.

mod limited;
mod object;
mod waiters;
mod window;

use std::cell::RefCell;
use std::time::Duration;

use chat_core::error::ErrorCode;
use chat_core::outcome::Outcome;
use chat_core::request::ChatRequest;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;
use worker::{Date, Env, Method, Request, RequestInit, Stub};

use crate::config::Config;
use crate::http::error::HttpError;
use crate::supabase::Deadline;
use limited::Limited;
pub use object::UserGate;

/// The binding of the Durable Object namespace in `wrangler.toml`.
const BINDING: &str = "USER_GATE";
/// How much sooner than the request's own time is over the gate stops waiting for another run, in milliseconds: an
/// admission that comes too late would find nobody to use it.
const WAIT_MARGIN_MS: u64 = 500;

/// How long the gate may take to note how a run ended: the client waits for that.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(1);

thread_local! {
    static LIMITED: RefCell<Limited> = RefCell::default();
}

/// What the Worker asks of the gate. `O` is an outcome, as a value or as JSON that nobody has to take apart.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Command<O> {
    /// May this question be answered?
    Admit { message_id: Uuid, body_hash: String, limit: u32, stale_after_ms: u64, wait_ms: u64 },
    /// The question has this outcome.
    Complete { ticket: Ticket, outcome: O },
    /// The question failed; a repeat may try again.
    Release { ticket: Ticket, refund: Refund },
    /// Forget what the user asked, also what is being answered. What counts for the rate limit stays.
    Erase,
}

/// The gate's answer to [`Command::Complete`].
#[derive(Default, Serialize, Deserialize)]
struct Completed {
    /// The user's data were erased since the question was admitted: its outcome was not kept.
    is_erased: bool,
}

/// Whether a run that failed gives its place in the limit back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refund {
    No,
    Yes,
    /// A few times in a window: what failed here may fail because of what was asked, again and again.
    Bounded,
}

/// The gate's answer to [`Command::Admit`].
#[derive(Serialize, Deserialize)]
pub(crate) struct Decision<O = Outcome> {
    pub(crate) admission: Admission<O>,
    pub(crate) budget: Budget,
}

/// Whether a question may be answered.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Admission<O = Outcome> {
    /// Go on, and bring the ticket back.
    Admitted { ticket: Ticket },
    /// Too many questions in the window.
    Limited,
    /// Asked before: this was the outcome.
    Replay { outcome: O },
    /// The id was used with another body.
    Conflict,
    /// The question is being answered by another run, which takes longer than the caller can wait.
    Busy,
}

/// What is left of the user's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Budget {
    /// Questions in the window.
    pub(crate) limit: u32,
    /// Questions that would be admitted now.
    pub(crate) remaining: u32,
    /// Milliseconds until there is room for one more than now; 0 while nothing was asked.
    pub(crate) reset_ms: u64,
}

impl Budget {
    /// What is left after one more question.
    fn after_admission(self) -> Self {
        let reset_ms = if self.reset_ms == 0 { window::WINDOW_MS as u64 } else { self.reset_ms };
        Self { remaining: self.remaining.saturating_sub(1), reset_ms, ..self }
    }

    /// Whole seconds until there is room for one more than now.
    pub(crate) fn reset_s(self) -> u64 {
        window::whole_seconds(self.reset_ms)
    }

    /// As headers, after draft-ietf-httpapi-ratelimit-headers-06.
    pub(crate) fn headers(self) -> [(&'static str, String); 3] {
        [
            ("RateLimit-Limit", self.limit.to_string()),
            ("RateLimit-Remaining", self.remaining.to_string()),
            ("RateLimit-Reset", self.reset_s().to_string()),
        ]
    }
}

/// Names one run of one question: when a stale run was taken over, its late result must not count.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Ticket {
    message_id: Uuid,
    run: Uuid,
    /// When the user's data had last been erased, 0 if never.
    #[serde(default)]
    erased_ms: i64,
}

/// One user's gate.
pub(crate) struct Gate {
    user_id: Uuid,
    stub: Stub,
}

impl Gate {
    pub(crate) fn for_user(env: &Env, user_id: Uuid) -> Result<Self, HttpError> {
        let stub = env
            .durable_object(BINDING)
            .and_then(|namespace| namespace.get_by_name(&user_id.to_string()))
            .map_err(|error| HttpError::internal(format!("{BINDING}: {error}")))?;
        Ok(Self { user_id, stub })
    }

    /// Asks for admission. While the same question is being answered, this waits for its outcome. A user who is known to be
    /// limited gets nothing else until there is room again, repeats included: the object is not asked.
    pub(crate) async fn admit(
        &self,
        question: &ChatRequest,
        config: &Config,
        deadline: Deadline,
    ) -> Result<Decision, HttpError> {
        let now_ms = Date::now().as_millis();
        let limited = LIMITED.with_borrow_mut(|limited| limited.wait_ms(self.user_id, now_ms));
        if let Some(reset_ms) = limited {
            let budget = Budget { limit: config.rate_limit, remaining: 0, reset_ms };
            return Ok(Decision { admission: Admission::Limited, budget });
        }
        let remaining_ms = deadline.remaining().as_millis() as u64;
        let command = Command::<&Outcome>::Admit {
            message_id: question.message_id,
            body_hash: body_hash(question),
            limit: config.rate_limit,
            // A run that takes longer has no answer; it may still write its history, which a second run would not change.
            stale_after_ms: config.upstream_timeout.as_millis() as u64,
            wait_ms: remaining_ms.saturating_sub(WAIT_MARGIN_MS),
        };
        let request = encode_request(&command)?;
        let send = async { self.send(request).await.map_err(unreachable) };
        let answer = deadline.limit(BINDING, send).await?;
        let decision: Decision = serde_json::from_str(&answer)
            .map_err(|error| HttpError::internal(format!("{BINDING}: {error}")))?;
        if matches!(decision.admission, Admission::Limited) {
            // Counted from before the object was asked, so that it is never too long.
            let until_ms = now_ms + decision.budget.reset_ms;
            LIMITED.with_borrow_mut(|limited| limited.note(self.user_id, until_ms, now_ms));
        }
        Ok(decision)
    }

    /// Keeps the outcome for repeats, unless the user's data were erased in the meantime; tells whether they were. The outcome
    /// is needed for the call only, not until that has ended.
    pub(crate) fn complete<'a>(
        &'a self,
        ticket: Ticket,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<bool, HttpError>> + use<'a> {
        let told = self.notify(&Command::Complete { ticket, outcome });
        async move {
            // An object of the version before, which erases nothing, says nothing.
            Ok(serde_json::from_str::<Completed>(&told.await?).unwrap_or_default().is_erased)
        }
    }

    /// Forgets the user's questions and their outcomes. The rate limit counts on.
    pub(crate) async fn erase(&self, deadline: Deadline) -> Result<(), HttpError> {
        let request = encode_request(&Command::Erase)?;
        let send = async { self.send(request).await.map(drop).map_err(unreachable) };
        deadline.limit(BINDING, send).await
    }

    /// Forgets a question that failed, so that it can be asked again.
    pub(crate) async fn release(&self, ticket: Ticket, refund: Refund) -> Result<(), HttpError> {
        if refund != Refund::No {
            LIMITED.with_borrow_mut(|limited| limited.forget(self.user_id));
        }
        self.notify(&Command::Release { ticket, refund }).await.map(drop)
    }

    fn notify<'a>(
        &'a self,
        command: &Command<&Outcome>,
    ) -> impl Future<Output = Result<String, HttpError>> + use<'a> {
        let request = encode_request(command);
        async move {
            let send = async { self.send(request?).await.map_err(unreachable) };
            Deadline::after(NOTIFY_TIMEOUT).limit(BINDING, send).await
        }
    }

    async fn send(&self, request: Request) -> worker::Result<String> {
        let mut response = self.stub.fetch_with_request(request).await?;
        let text = response.text().await?;
        match response.status_code() {
            200 => Ok(text),
            status => Err(format!("status {status}").into()),
        }
    }
}

fn encode_request(command: &Command<&Outcome>) -> worker::Result<Request> {
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(serde_json::to_string(command)?.into()));
    // The host is never looked up; the stub already says where the request goes.
    Request::new_with_init("http://user-gate/", &init)
}

/// What makes two bodies the same: the question after parsing, not its spelling in JSON.
fn body_hash(question: &ChatRequest) -> String {
    let ChatRequest { embedding, message, message_id: _, session_id, model, include_citations } = question;
    let mut hash = Sha256::new();
    for number in embedding {
        hash.update(number.to_le_bytes());
    }
    // Each with its length, so that no two questions write the same bytes.
    for text in [message, model] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.update([u8::from(session_id.is_some()), u8::from(*include_citations)]);
    hash.update(session_id.unwrap_or_default());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unreachable(error: worker::Error) -> HttpError {
    HttpError::new(ErrorCode::UpstreamUnavailable, "The chat is busy. Please try again in a moment.")
        .with_detail(format!("{BINDING}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(message: &str, padding: &str) -> ChatRequest {
        let mut embedding = vec![0.0; 384];
        embedding[0] = 1.0;
        let body = serde_json::json!({ "embedding": embedding, "message": message,
            "message_id": Uuid::nil(), "model": "m", "unknown": padding });
        ChatRequest::parse(body.to_string().as_bytes()).expect("a question")
    }

    #[test]
    fn the_same_question_has_the_same_hash_however_it_is_spelled() {
        assert_eq!(body_hash(&question("hi", "a")), body_hash(&question("  hi ", "b")));
        assert_ne!(body_hash(&question("hi", "")), body_hash(&question("Hi", "")));
    }
}
