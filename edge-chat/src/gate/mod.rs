//! Admits questions: an exact rate limit per user, and idempotency per `message_id`.
//!
//! Each user has one Durable Object ([`object`]), so decisions are exact. This module is the Worker's client of it and
//! defines the messages. The protocol:
//!
//! 1. The Worker sends `Admit`. A new question within the limit is admitted with a ticket. A repeat of a completed question
//!    gets its outcome. A repeat of a running question waits for it.
//! 2. The Worker answers the question and sends `Complete` with the outcome, or `Release` if it failed.
//! 3. A ticket whose run is stale or was erased in the meantime has no effect.

mod object;
mod waiters;
mod window;

use std::time::Duration;

use chat_core::error::ErrorCode;
use chat_core::outcome::Outcome;
use chat_core::request::{ChatRequest, Previous};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;
use worker::Env;
use worker::js_sys::Promise;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;
use worker::web_sys::{RequestInit, Response};

use crate::config::Config;
use crate::http::body::read_small;
use crate::http::error::HttpError;
use crate::supabase::Deadline;
pub use object::UserGate;

/// The binding of the Durable Object namespace in `wrangler.toml`.
const BINDING: &str = "USER_GATE";
/// The name of the object with the budget of the whole site.
const SITE: &str = "site";
/// How long before the request's deadline the gate stops waiting for another run, in milliseconds, so that an admission still
/// has time to be used.
const WAIT_MARGIN_MS: u64 = 500;

/// How long the gate may take to record the end of a run. The client waits for it.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(1);

/// A request to the gate. `O` is an outcome, as a value or as unparsed JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Command<O> {
    /// Asks whether a question may be answered.
    Admit(Attempt),
    /// Stores the outcome of a question.
    Complete { ticket: Ticket, outcome: O },
    /// Forgets a question that failed, so that a repeat is admitted. It still counts for the limit.
    Release { ticket: Ticket },
    /// Takes tokens of a language model out of the day's budget, if so many are left.
    ReserveTokens { tokens: u64, limit: u64 },
    /// Replaces a reservation by what was used.
    SettleTokens { reservation: Reservation, used: u64 },
    /// Forgets all questions of the user, running ones included, but not what counts for limits and budgets.
    Erase,
}

/// A question that asks for admission.
#[derive(Serialize, Deserialize)]
struct Attempt {
    message_id: Uuid,
    body_hash: String,
    /// Questions per window.
    limit: u32,
    /// The age in milliseconds from which on an earlier run of the question counts as lost.
    stale_after_ms: u64,
    /// The longest wait for an earlier run, in milliseconds.
    wait_ms: u64,
}

/// The gate's answer to [`Command::Complete`].
#[derive(Serialize, Deserialize)]
struct Completed {
    /// Whether the user's data were erased since the question was admitted. Then the outcome was not stored.
    is_erased: bool,
}

/// Tokens taken out of the budget of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reservation {
    /// Days since 1970-01-01 (UTC).
    day: i64,
    tokens: u64,
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
    /// The question may be answered; the ticket is needed to complete it.
    Admitted { ticket: Ticket },
    /// Too many questions in the window.
    Limited,
    /// The question was completed before, with this outcome.
    Replay { outcome: O },
    /// The `message_id` was used with another body.
    Conflict,
    /// Another run is answering the question and takes longer than the caller can wait.
    Busy,
}

/// The state of the user's rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Budget {
    /// Questions per window.
    pub(crate) limit: u32,
    /// How many would be admitted now.
    pub(crate) remaining: u32,
    /// Milliseconds until one more would be admitted than now; 0 if there was none.
    pub(crate) reset_ms: u64,
}

impl Budget {
    /// The budget after one more question.
    fn after_admission(self) -> Self {
        let reset_ms = if self.reset_ms == 0 { window::WINDOW_MS as u64 } else { self.reset_ms };
        Self { remaining: self.remaining.saturating_sub(1), reset_ms, ..self }
    }

    /// `reset_ms` in whole seconds, rounded up.
    pub(crate) fn reset_s(self) -> u64 {
        window::whole_seconds(self.reset_ms)
    }

    /// The headers of draft-ietf-httpapi-ratelimit-headers-06.
    pub(crate) fn headers(self) -> [(&'static str, String); 3] {
        [
            ("RateLimit-Limit", self.limit.to_string()),
            ("RateLimit-Remaining", self.remaining.to_string()),
            ("RateLimit-Reset", self.reset_s().to_string()),
        ]
    }
}

/// Identifies one run of one question, so that the late result of a stale run is ignored.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Ticket {
    message_id: Uuid,
    run: Uuid,
    /// When the user's data were last erased before the run, 0 if never.
    erased_ms: i64,
}

#[wasm_bindgen]
extern "C" {
    /// The JavaScript object of [`worker::Stub`], which takes only whole requests and reads four
    /// properties of each.
    type Stub;
    #[wasm_bindgen(method, catch)]
    fn fetch(this: &Stub, url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// The gate of one user.
pub(crate) struct Gate(Stub);

impl Gate {
    pub(crate) fn for_user(env: &Env, user_id: Uuid) -> Result<Self, HttpError> {
        Self::named(env, &user_id.to_string())
    }

    fn named(env: &Env, name: &str) -> Result<Self, HttpError> {
        let stub = env
            .durable_object(BINDING)
            .and_then(|namespace| namespace.get_by_name(name))
            .map_err(|error| HttpError::internal(format!("{BINDING}: {error}")))?;
        Ok(Self(stub.into_rpc()))
    }

    /// Asks for admission. Waits for the outcome while another run answers the same question.
    pub(crate) async fn admit(
        &self,
        question: &ChatRequest,
        config: &Config,
        deadline: Deadline,
    ) -> Result<Decision, HttpError> {
        // A repeat may wait for a whole run, the writing included.
        let deadline = deadline.at_least(config.run_timeout());
        let remaining_ms = deadline.remaining().as_millis() as u64;
        let command = Command::<&Outcome>::Admit(Attempt {
            message_id: question.message_id,
            body_hash: body_hash(question),
            limit: config.rate_limit,
            // A longer run has no answer any more. It may still write its history, which a second run does not change.
            stale_after_ms: config.run_timeout().as_millis() as u64,
            wait_ms: remaining_ms.saturating_sub(WAIT_MARGIN_MS),
        });
        let request = encode_request(&command)?;
        let send = async { self.send(request).await.map_err(unreachable) };
        let answer = deadline.limit(BINDING, send).await?;
        parse(&answer)
    }

    /// Stores the outcome for repeats and returns whether the user's data were erased in the meantime; then nothing is stored.
    /// The future does not borrow the outcome.
    pub(crate) fn complete<'a>(
        &'a self,
        ticket: Ticket,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<bool, HttpError>> + use<'a> {
        let completed = self.notify(&Command::Complete { ticket, outcome });
        async move {
            let completed: Completed = parse(&completed.await?)?;
            Ok(completed.is_erased)
        }
    }

    /// The budget of the whole site. It has an object of the same class, with a name that no user has.
    pub(crate) fn for_site(env: &Env) -> Result<Self, HttpError> {
        Self::named(env, SITE)
    }

    /// Takes tokens out of the day's budget. `None` if fewer are left.
    pub(crate) async fn reserve_tokens(
        &self,
        tokens: u64,
        limit: u64,
    ) -> Result<Option<Reservation>, HttpError> {
        let answer = self.notify(&Command::ReserveTokens { tokens, limit }).await?;
        parse(&answer)
    }

    /// Replaces a reservation by what was used.
    pub(crate) async fn settle_tokens(&self, reservation: Reservation, used: u64) -> Result<(), HttpError> {
        self.notify(&Command::SettleTokens { reservation, used }).await.map(drop)
    }

    /// Forgets the user's questions and their outcomes, but not what counts for the rate limit.
    pub(crate) async fn erase(&self, deadline: Deadline) -> Result<(), HttpError> {
        let request = encode_request(&Command::Erase)?;
        let send = async { self.send(request).await.map(drop).map_err(unreachable) };
        deadline.limit(BINDING, send).await
    }

    /// Forgets a question that failed, so that it can be asked again.
    pub(crate) async fn release(&self, ticket: Ticket) -> Result<(), HttpError> {
        self.notify(&Command::Release { ticket }).await.map(drop)
    }

    fn notify<'a>(
        &'a self,
        command: &Command<&Outcome>,
    ) -> impl Future<Output = Result<Vec<u8>, HttpError>> + use<'a> {
        let request = encode_request(command);
        async move {
            let send = async { self.send(request?).await.map_err(unreachable) };
            Deadline::after(NOTIFY_TIMEOUT).limit(BINDING, send).await
        }
    }

    async fn send(&self, request: RequestInit) -> worker::Result<Vec<u8>> {
        // The host is never looked up; the stub already says where the request goes.
        let response = JsFuture::from(self.0.fetch("http://user-gate/", &request)?).await?;
        let response = response.dyn_into::<Response>()?;
        let body = read_small(&response).await?;
        match response.status() {
            200 => Ok(body),
            status => Err(format!("status {status}").into()),
        }
    }
}

fn encode_request(command: &Command<&Outcome>) -> worker::Result<RequestInit> {
    let request = RequestInit::new();
    request.set_method("POST");
    request.set_body(&serde_json::to_string(command)?.into());
    Ok(request)
}

/// Two bodies are the same if the parsed questions are equal, whatever their JSON looks like. A retry may come without the reading.
fn body_hash(question: &ChatRequest) -> String {
    let ChatRequest {
        embedding,
        message,
        message_id: _,
        assistant,
        session_id,
        model,
        previous,
        reading: _,
        truncated,
        include_citations,
        is_extractive,
    } = question;
    let mut hash = Sha256::new();
    for number in embedding {
        hash.update(number.to_le_bytes());
    }
    // Prefixed with the length, so that different questions never hash the same bytes.
    for text in [message, model, assistant.as_str()] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.update([u8::from(session_id.is_some()), u8::from(*include_citations), u8::from(*is_extractive)]);
    hash.update(session_id.unwrap_or_default());
    hash.update([u8::from(*truncated), u8::from(previous.is_some())]);
    if let Some(Previous { message, embedding }) = previous {
        hash.update(message);
        for number in embedding {
            hash.update(number.to_le_bytes());
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse<T: DeserializeOwned>(answer: &[u8]) -> Result<T, HttpError> {
    serde_json::from_slice(answer).map_err(|error| HttpError::internal(format!("{BINDING}: {error}")))
}

fn unreachable(error: worker::Error) -> HttpError {
    HttpError::new(ErrorCode::UpstreamUnavailable, "The chat is busy. Please try again in a moment.")
        .with_detail(format!("{BINDING}: {error}"))
}

#[cfg(test)]
mod tests {
    use chat_core::assistant::AssistantName;

    use super::*;

    fn question(message: &str, padding: &str) -> ChatRequest {
        let mut embedding = vec![0.0; 384];
        embedding[0] = 1.0;
        let body = serde_json::json!({ "embedding": embedding, "message": message,
            "message_id": Uuid::nil(), "model": "m", "unknown": padding });
        ChatRequest::parse(body.to_string().as_bytes()).expect("a question")
    }

    #[test]
    fn the_hash_of_a_question_does_not_depend_on_its_json() {
        assert_eq!(body_hash(&question("hi", "a")), body_hash(&question("  hi ", "b")));
        assert_ne!(body_hash(&question("hi", "")), body_hash(&question("Hi", "")));
    }

    #[test]
    fn the_same_question_after_another_one_is_another_one() {
        let after = |message: &str, first: f32| {
            let mut embedding = vec![0.0; 384];
            embedding[0] = first;
            let previous = Some(Previous { message: message.to_owned(), embedding });
            ChatRequest { previous, ..question("hi", "") }
        };
        let asked = [question("hi", ""), after("a", 1.0), after("b", 1.0), after("a", -1.0)];
        let truncated = ChatRequest { truncated: true, ..question("hi", "") };
        let hashes: std::collections::BTreeSet<_> = asked.iter().chain([&truncated]).map(body_hash).collect();
        assert_eq!(hashes.len(), 5);
        assert_eq!(body_hash(&after("a", 1.0)), body_hash(&after("a", 1.0)));
    }

    #[test]
    fn a_question_is_the_same_with_and_without_a_reading() {
        let reading = chat_core::Reading { reader: "r".to_owned(), passages: Vec::new() };
        let read = ChatRequest { reading: Some(reading), ..question("hi", "") };
        assert_eq!(body_hash(&read), body_hash(&question("hi", "")));
    }

    #[test]
    fn the_same_question_to_another_assistant_is_another_one() {
        let asked = |assistant| ChatRequest { assistant, ..question("hi", "") };
        let shop = AssistantName::parse("shop").expect("a name");
        assert_ne!(body_hash(&asked(shop)), body_hash(&asked(AssistantName::default())));
    }
}
