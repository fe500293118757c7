//! Lets a language model write an answer. `chat-core` checks each sentence; this module brings it the model's output, keeps
//! the deadlines and the budget, and turns every fault of the model into the extractive answer.

mod budget;
mod client;

use std::cell::RefCell;
use std::pin::pin;
use std::time::Duration;

use chat_core::answer::Answer;
use chat_core::generate::{Ending, Fallback, Finish, Generation, GenerationReport, Message, TAG_CHARS};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use uuid::Uuid;
use worker::{Env, console_error};

use crate::circuit::{Circuit, Observation};
use crate::clock::{now_ms, within};
use crate::config::{ModelConfig, Provider};
use crate::http::error::HttpError;
use crate::observe::Trace;
use crate::supabase::Deadline;
use budget::{TokenBudget, Usage};
use client::{ModelError, ModelOutput, has_workers_ai, missing_binding, stream};

/// How long the model may be silent between two pieces.
const MAX_PAUSE: Duration = Duration::from_secs(3);

thread_local! {
    static CIRCUIT: RefCell<Circuit> = const { RefCell::new(Circuit::CLOSED) };
    /// The problem that the operator must fix, as of the last call of this isolate.
    static REJECTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// One answer that a model writes.
pub(crate) struct Writer<'a> {
    pub(crate) model: &'a ModelConfig,
    pub(crate) env: &'a Env,
    pub(crate) trace: &'a Trace,
    pub(crate) user_id: Uuid,
}

/// The end of the writing.
pub(crate) struct Written {
    /// The written answer. `None` if there is none; the report says why.
    pub(crate) answer: Option<Answer>,
    pub(crate) report: GenerationReport,
    /// Whether the client left before the end.
    pub(crate) is_abandoned: bool,
    pub(crate) settlement: Settlement,
}

/// Tokens to count. Separate, so that the client does not wait for it.
#[derive(Default)]
pub(crate) struct Settlement(Option<(TokenBudget, Usage)>);

impl Settlement {
    pub(crate) async fn settle(self, trace: &Trace) {
        let Some((budget, usage)) = self.0 else { return };
        if let Err(error) = budget.settle(&usage).await {
            // The reservation stays in place, so the budget is never exceeded.
            trace.fault("token budget", &error);
        }
    }
}

/// The reason why no more output is read.
enum End {
    /// The model has finished, or further output would be ignored.
    Whole,
    /// The output is incomplete: a limit of tokens or a filter.
    Cut,
    /// The client has disconnected.
    Abandoned,
    Fault(Fallback),
}

impl End {
    /// The end of output without a last piece: the model may have finished before. `fault` is what happened if not.
    fn without_last_piece(finish: Option<Finish>, fault: Fallback) -> Self {
        match finish {
            Some(Finish::Stop) => Self::Whole,
            Some(Finish::Cut) => Self::Cut,
            None => Self::Fault(fault),
        }
    }
}

/// A warning for the operator if the model cannot be used as it is configured.
pub(crate) fn warning(env: &Env, model: &ModelConfig) -> Option<String> {
    let is_unbound = matches!(model.provider, Provider::WorkersAi) && !has_workers_ai(env);
    let detail = is_unbound.then(missing_binding).or_else(|| REJECTED.with_borrow(Clone::clone))?;
    Some(format!("answers are not written by the model: {detail}"))
}

impl Writer<'_> {
    /// Writes the answer. `send` gets each verified piece immediately; the writing ends when the
    /// client has disconnected.
    pub(crate) async fn write(
        &self,
        mut generation: Generation,
        send: impl Fn(String),
        disconnected: impl Future<Output = ()>,
    ) -> Written {
        let (end, settlement) = self.run(&mut generation, &send, disconnected).await;
        let (ending, fault) = match end {
            End::Whole => (Ending::Whole, None),
            End::Cut | End::Abandoned => (Ending::Cut, None),
            End::Fault(fault) => (Ending::Cut, Some(fault)),
        };
        generation.end(ending).into_iter().for_each(send);
        if let Some((_, usage)) = &settlement.0 {
            generation.set_usage(usage.prompt_tokens, usage.completion_tokens);
        }
        let (answer, report) = generation.finish(fault);
        Written { answer, report, is_abandoned: matches!(end, End::Abandoned), settlement }
    }

    async fn run(
        &self,
        generation: &mut Generation,
        send: &impl Fn(String),
        disconnected: impl Future<Output = ()>,
    ) -> (End, Settlement) {
        let mut disconnected = pin!(disconnected);
        let failed = |fallback| (End::Fault(fallback), Settlement::default());
        if CIRCUIT.with_borrow_mut(|circuit| circuit.admit(now_ms())).is_err() {
            return failed(Fallback::Error);
        }
        let deadline = Deadline::after(self.model.timeout);
        // Half of the sources if all of them are too long for the model.
        for share in [1.0, 0.5] {
            let messages = generation.messages(&tag(), share);
            let prompt_bytes = messages.iter().map(|message| message.content.len() as u64).sum();
            let budget = match TokenBudget::reserve(self.env, self.user_id, self.model, prompt_bytes).await {
                Ok(Some(budget)) => budget,
                Ok(None) => return failed(Fallback::Budget),
                Err(error) => {
                    self.trace.fault("token budget", &error);
                    return failed(Fallback::Error);
                }
            };
            let mut usage = Usage::default();
            let asked = self.ask(&messages, generation, &mut usage, deadline, send);
            // Dropping the other future closes the connection to the model.
            let end = match select(disconnected.as_mut(), pin!(asked)).await {
                Either::Left(_) => Ok(End::Abandoned),
                Either::Right((end, _)) => end,
            };
            self.observe(&end);
            let settlement = Settlement(Some((budget, usage)));
            match end {
                Err(ModelError::PromptTooLong) if share == 1.0 => settlement.settle(self.trace).await,
                Ok(end) => return (end, settlement),
                Err(_) => return (End::Fault(Fallback::Error), settlement),
            }
        }
        failed(Fallback::Error)
    }

    /// Sends the prompt and reads the output.
    async fn ask(
        &self,
        messages: &[Message],
        generation: &mut Generation,
        usage: &mut Usage,
        deadline: Deadline,
        send: &impl Fn(String),
    ) -> Result<End, ModelError> {
        let first = deadline.at_most(self.model.first_token_timeout);
        usage.is_asked = true;
        match within(first.remaining(), stream(self.model, self.env, messages)).await {
            Some(Ok(pieces)) => self.read(pieces, generation, usage, first, deadline, send).await,
            Some(Err(error)) => {
                usage.is_asked = false;
                Err(error)
            }
            None => Ok(End::Fault(Fallback::Timeout)),
        }
    }

    async fn read(
        &self,
        mut pieces: ModelOutput,
        generation: &mut Generation,
        usage: &mut Usage,
        first: Deadline,
        deadline: Deadline,
        send: &impl Fn(String),
    ) -> Result<End, ModelError> {
        let mut finish = None;
        loop {
            let limit = if usage.output_bytes == 0 { first } else { deadline.at_most(MAX_PAUSE) };
            let Some(piece) = within(limit.remaining(), pieces.next()).await else {
                return Ok(End::without_last_piece(finish, Fallback::Timeout));
            };
            let Some(piece) = piece else {
                return Ok(End::without_last_piece(finish, Fallback::Error));
            };
            let piece = piece?;
            usage.add(&piece);
            finish = finish.or(piece.finish);
            generation.push(&piece.text).into_iter().for_each(send);
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
        let observation = match end {
            // The client may have left before the server could answer.
            Ok(End::Abandoned) => return,
            Ok(End::Fault(_)) | Err(ModelError::Unavailable(_) | ModelError::Unreadable(_)) => {
                Observation::FailingFor(self.user_id)
            }
            Err(ModelError::Rejected(_)) => Observation::Failing,
            Err(ModelError::Busy { retry_after_s, .. }) => {
                Observation::FailingUntil(retry_after_s.saturating_mul(1000))
            }
            Ok(End::Whole | End::Cut) | Err(ModelError::PromptTooLong) => Observation::Healthy,
        };
        CIRCUIT.with_borrow_mut(|circuit| circuit.record(observation, now_ms()));
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

/// A random word that no passage can contain.
fn tag() -> String {
    Uuid::new_v4().simple().to_string().chars().take(TAG_CHARS).collect()
}
