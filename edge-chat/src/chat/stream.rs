//! Sends an outcome as a stream of events or as one JSON document, in our form or in that of OpenAI's API.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use chat_core::accept::Format;
use chat_core::event::{Event, HEARTBEAT, Stage};
use chat_core::generate::AnswerMode;
use chat_core::openai::CompletionHead;
use chat_core::outcome::Outcome;
use futures_channel::mpsc::UnboundedReceiver;
use futures_channel::oneshot;
use futures_util::future::{Either, LocalBoxFuture, Shared, select};
use futures_util::stream::{self, Stream, StreamExt};
use uuid::Uuid;
use worker::{Delay, Error, Response, ResponseBuilder, Result};

use crate::http::error::HttpError;

/// How long a stream may be silent. Proxies close connections that are idle for a minute or less.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// The same while a model writes. A client or proxy that closes its connection instead of resetting it is noticed only when
/// nothing can be sent to it any more, and until then the model costs money.
const WRITING_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Completes when the history is written or has failed; the outcome says which.
pub(crate) type Completion = Shared<LocalBoxFuture<'static, ()>>;

/// The form in which the client gets the outcome.
pub(super) enum Form {
    Native(Format),
    OpenAi { head: CompletionHead, is_streamed: bool },
}

/// An answer that is being written.
pub(crate) struct Written {
    /// Its verified pieces; ends with the last one.
    pub(crate) deltas: UnboundedReceiver<String>,
    /// Dropped when the stream ends or the client has gone.
    #[expect(dead_code, reason = "dropping it is the signal")]
    pub(crate) open: oneshot::Sender<()>,
    pub(crate) session_id: Uuid,
    /// Whether the passages are about the subject but may not answer the question.
    pub(crate) hedged: bool,
}

impl Form {
    pub(super) fn is_streamed(&self) -> bool {
        match self {
            Self::Native(format) => *format == Format::EventStream,
            Self::OpenAi { is_streamed, .. } => *is_streamed,
        }
    }

    /// An event as server-sent events; empty if this form has it elsewhere.
    fn encode(&self, event: &Event) -> Result<Vec<u8>> {
        let encoded = match self {
            Self::Native(_) => event.encode(),
            Self::OpenAi { head, .. } => head.encode(event),
        };
        encoded.map(String::into_bytes).map_err(Error::from)
    }

    /// The end of the stream, or an error if it cannot be encoded: every stream ends with a terminal event.
    fn encode_end(&self, outcome: &Outcome, request_id: &str) -> Result<Vec<u8>> {
        let encoded = match self {
            Self::Native(_) => outcome.terminal_event().encode(),
            Self::OpenAi { head, .. } => head.encode_end(outcome),
        };
        encoded.map(String::into_bytes).or_else(|error| {
            let error = HttpError::internal(error.to_string());
            self.encode(&Event::Error(error.body.with_request_id(request_id)))
        })
    }

    fn document(&self, outcome: &Outcome) -> Result<Response> {
        match self {
            Self::Native(_) => Response::from_json(&outcome.as_json()?),
            Self::OpenAi { head, .. } => Response::from_json(&head.whole(outcome)),
        }
    }
}

/// Sends an outcome in the form that the client asked for. A stream begins immediately with the events that are known, and
/// ends after the completion. `written` are the pieces of an answer whose outcome is not known yet.
pub(super) async fn send(
    outcome: Rc<RefCell<Outcome>>,
    written: Option<Written>,
    completion: Completion,
    form: Rc<Form>,
    request_id: String,
) -> Result<Response> {
    if !form.is_streamed() {
        completion.await;
        return form.document(&outcome.borrow());
    }
    let opening = match written {
        None => stream::iter(known(&outcome.borrow(), &form, false)).left_stream(),
        Some(written) => writing(written, Rc::clone(&outcome), Rc::clone(&form)).right_stream(),
    };
    let ending = ending(Ending { outcome, completion, form, request_id });
    ResponseBuilder::new()
        .with_header("Content-Type", "text/event-stream; charset=utf-8")?
        // Some proxies buffer responses by default.
        .with_header("X-Accel-Buffering", "no")?
        .from_stream(opening.chain(ending))
}

/// The events of an outcome before the terminal one, if there are any. In one piece, because each piece of a stream costs calls of
/// JavaScript and a write to the network. `has_text`: the client has the text already.
fn known(outcome: &Outcome, form: &Form, has_text: bool) -> Option<Result<Vec<u8>>> {
    let is_known = |event: &&Event| {
        !(has_text && matches!(event, Event::AnswerStart { .. } | Event::AnswerDelta { .. }))
    };
    let events = outcome.opening_events();
    let frames: Result<Vec<_>> = events.iter().filter(is_known).map(|event| form.encode(event)).collect();
    let piece = frames.map(|frames| frames.concat());
    (!matches!(&piece, Ok(bytes) if bytes.is_empty())).then_some(piece)
}

/// The state of an answer that is being written.
struct Writing {
    written: Written,
    outcome: Rc<RefCell<Outcome>>,
    form: Rc<Form>,
    has_begun: bool,
}

/// Sends the pieces of an answer as they come, with heartbeats, and then what is known of the outcome. The client gets
/// `progress` at once, and `answer_start` with the first verified piece, so that nothing is ever taken back.
fn writing(
    written: Written,
    outcome: Rc<RefCell<Outcome>>,
    form: Rc<Form>,
) -> impl Stream<Item = Result<Vec<u8>>> {
    let progress = form.encode(&Event::Progress { stage: Stage::Writing });
    let state = Writing { written, outcome, form, has_begun: false };
    let pieces = stream::unfold(Some(state), |state| async {
        let mut state = state?;
        let next = select(state.written.deltas.next(), Delay::from(WRITING_HEARTBEAT_INTERVAL)).await;
        let delta = match next {
            Either::Right(_) => return Some((vec![Ok(HEARTBEAT.into())], Some(state))),
            Either::Left((delta, _)) => delta,
        };
        let Some(delta) = delta else {
            let frames = known(&state.outcome.borrow(), &state.form, state.has_begun);
            return Some((frames.into_iter().collect(), None));
        };
        let mut frames = Vec::with_capacity(2);
        if !state.has_begun {
            state.has_begun = true;
            let session_id = state.written.session_id;
            frames.push(state.form.encode(&Event::AnswerStart {
                session_id,
                hedged: state.written.hedged,
                mode: AnswerMode::Generated,
            }));
        }
        frames.push(state.form.encode(&Event::AnswerDelta { text: &delta }));
        Some((frames, Some(state)))
    });
    stream::iter([progress]).chain(pieces.flat_map(stream::iter))
}

/// What the end of a stream needs.
struct Ending {
    outcome: Rc<RefCell<Outcome>>,
    completion: Completion,
    form: Rc<Form>,
    request_id: String,
}

/// Heartbeats until the history is written, then the terminal event.
fn ending(ending: Ending) -> impl Stream<Item = Result<Vec<u8>>> {
    stream::unfold(Some(ending), |waiting| async {
        let ending = waiting?;
        match select(ending.completion.clone(), Delay::from(HEARTBEAT_INTERVAL)).await {
            Either::Left(_) => {
                Some((ending.form.encode_end(&ending.outcome.borrow(), &ending.request_id), None))
            }
            Either::Right(_) => Some((Ok(HEARTBEAT.into()), Some(ending))),
        }
    })
}
