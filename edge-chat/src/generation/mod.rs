//! Lets a language model write an answer. `chat-core` checks each sentence; this module brings it the model's output, keeps
//! the deadlines and the budget, and turns every fault of the model into the extractive answer.

mod budget;
mod client;

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::time::Duration;

use chat_core::answer::Answer;
use chat_core::generate::{Ending, Fallback, Finish, Generation, GenerationReport, Piece, TAG_CHARS};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use uuid::Uuid;
use worker::{Date, Delay, Env, console_error};

use crate::circuit::{Circuit, Observation};
use crate::config::ModelConfig;
use crate::http::error::HttpError;
use crate::observe::Trace;
use crate::supabase::Deadline;
use budget::Budget;
use client::{ModelError, Pieces, stream};

/// How long the model may be silent between two pieces.
const MAX_PAUSE: Duration = Duration::from_secs(3);

thread_local! {
    static CIRCUIT: Cell<Circuit> = const { Cell::new(Circuit::CLOSED) };
    /// What the operator must fix, as of the last call of this isolate.
    static REJECTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// One answer that a model writes.
pub(crate) struct Writer<'a> {
    pub(crate) model: &'a ModelConfig,
    pub(crate) env: &'a Env,
    pub(crate) trace: &'a Trace,
    pub(crate) user_id: Uuid,
}

/// Who reads the answer while it is written.
pub(crate) trait Listener {
    /// Sends a verified piece.
    fn send(&self, delta: String);
    /// Whether nobody reads it any more.
    fn is_gone(&self) -> bool;
}

/// Why no more output is read.
enum End {
    /// The model has finished, or further output would be ignored.
    Whole,
    /// The output is incomplete: a limit of tokens, a filter, a lost connection after the last piece.
    Cut,
    /// The client has gone.
    Abandoned,
    Fault(Fallback),
}

/// A warning for the operator if the model's server rejects the configuration.
pub(crate) fn warning() -> Option<String> {
    REJECTED.with_borrow(Clone::clone).map(|detail| format!("answers are not written by the model: {detail}"))
}

impl Writer<'_> {
    /// Writes the answer. The listener gets each verified piece immediately.
    pub(crate) async fn write(
        &self,
        mut generation: Generation,
        listener: &impl Listener,
    ) -> (Option<Answer>, GenerationReport) {
        let end = self.run(&mut generation, listener).await;
        let (ending, fault) = match end {
            End::Whole => (Ending::Whole, None),
            End::Cut | End::Abandoned => (Ending::Cut, None),
            End::Fault(fault) => (Ending::Cut, Some(fault)),
        };
        for delta in generation.end(ending) {
            listener.send(delta);
        }
        generation.finish(fault)
    }

    async fn run(&self, generation: &mut Generation, listener: &impl Listener) -> End {
        let now_ms = Date::now().as_millis();
        if with_circuit(|circuit| circuit.admit(now_ms)).is_err() {
            return End::Fault(Fallback::Error);
        }
        let deadline = Deadline::after(self.model.timeout);
        // Half of the sources if all of them are too long for the model.
        for share in [1.0, 0.5] {
            let messages = generation.messages(&tag(), share);
            let prompt_chars = messages.iter().map(|message| message.content.chars().count() as u64).sum();
            let budget = match Budget::reserve(self.env, self.user_id, self.model, prompt_chars).await {
                Ok(Some(budget)) => budget,
                Ok(None) => return End::Fault(Fallback::Budget),
                Err(error) => {
                    self.trace.fault("token budget", &error);
                    return End::Fault(Fallback::Error);
                }
            };
            let mut usage = Usage::default();
            let first = deadline.at_most(self.model.first_token_timeout);
            let end = match within(first, stream(self.model, self.env, &messages)).await {
                Some(Ok(pieces)) => {
                    self.read(pieces, generation, &mut usage, first, deadline, listener).await
                }
                Some(Err(error)) => Err(error),
                None => Ok(End::Fault(Fallback::Timeout)),
            };
            generation.set_usage(usage.prompt_tokens, usage.completion_tokens);
            if let Err(error) =
                budget.settle(usage.prompt_tokens, usage.completion_tokens, usage.output_chars).await
            {
                self.trace.fault("token budget", &error);
            }
            self.observe(&end);
            match end {
                Ok(end) => return end,
                Err(ModelError::PromptTooLong) if share == 1.0 => {}
                Err(_) => return End::Fault(Fallback::Error),
            }
        }
        End::Fault(Fallback::Error)
    }

    async fn read(
        &self,
        mut pieces: Pieces,
        generation: &mut Generation,
        usage: &mut Usage,
        first: Deadline,
        deadline: Deadline,
        listener: &impl Listener,
    ) -> Result<End, ModelError> {
        let mut finish = None;
        loop {
            let limit = if usage.output_chars == 0 { first } else { deadline.at_most(MAX_PAUSE) };
            let Some(piece) = within(limit, pieces.next()).await else {
                return Ok(End::Fault(Fallback::Timeout));
            };
            let Some(piece) = piece else {
                // The stream ended without its last event.
                return Ok(if finish == Some(Finish::Stop) { End::Whole } else { End::Cut });
            };
            let piece = piece?;
            usage.add(&piece);
            finish = finish.or(piece.finish);
            for delta in generation.push(&piece.text) {
                listener.send(delta);
            }
            if listener.is_gone() {
                return Ok(End::Abandoned);
            }
            if piece.is_last {
                return Ok(if finish == Some(Finish::Cut) { End::Cut } else { End::Whole });
            }
            if generation.is_done() {
                return Ok(End::Whole);
            }
        }
    }

    /// Records what the result says about the model's server.
    fn observe(&self, end: &Result<End, ModelError>) {
        let now_ms = Date::now().as_millis();
        let observation = match end {
            Ok(End::Fault(_)) | Err(ModelError::Unavailable(_) | ModelError::Unreadable(_)) => {
                Observation::FailingFor(self.user_id)
            }
            Err(ModelError::Rejected(_)) => Observation::Failing,
            Ok(_) | Err(ModelError::PromptTooLong) => Observation::Healthy,
        };
        with_circuit(|circuit| circuit.record(observation, now_ms));
        let rejected = match end {
            Err(ModelError::Rejected(detail)) => Some(detail.clone()),
            _ => None,
        };
        let is_new = rejected.is_some() && REJECTED.with_borrow(|known| *known != rejected);
        if let (true, Some(detail)) = (is_new, &rejected) {
            console_error!(
                "{}",
                serde_json::json!({ "warning": "the model's server rejects the configuration", "detail": detail })
            );
        }
        REJECTED.with_borrow_mut(|known| *known = rejected);
        if let Err(error) = end {
            self.trace.fault("model", &HttpError::internal(error.to_string()));
        }
    }
}

/// What the model's server counted, and what was read.
#[derive(Default)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    output_chars: u64,
}

impl Usage {
    fn add(&mut self, piece: &Piece) {
        self.prompt_tokens = piece.prompt_tokens.or(self.prompt_tokens);
        self.completion_tokens = piece.completion_tokens.or(self.completion_tokens);
        self.output_chars += piece.text.chars().count() as u64;
    }
}

fn with_circuit<T>(change: impl FnOnce(&mut Circuit) -> T) -> T {
    CIRCUIT.with(|cell| {
        let mut circuit = cell.get();
        let result = change(&mut circuit);
        cell.set(circuit);
        result
    })
}

/// The result of a future, or `None` at the deadline.
async fn within<T>(deadline: Deadline, future: impl Future<Output = T>) -> Option<T> {
    match select(pin!(future), pin!(Delay::from(deadline.remaining()))).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}

/// A random word that no passage can know.
fn tag() -> String {
    Uuid::new_v4().simple().to_string().chars().take(TAG_CHARS).collect()
}
