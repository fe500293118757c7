//! Sends an outcome as a stream of events or as one JSON document.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use chat_core::accept::Format;
use chat_core::event::{Event, HEARTBEAT, Stage};
use chat_core::generate::AnswerMode;
use chat_core::outcome::Outcome;
use futures_channel::mpsc::UnboundedReceiver;
use futures_channel::oneshot;
use futures_util::future::{LocalBoxFuture, Shared};
use futures_util::stream::{self, Stream, StreamExt};
use uuid::Uuid;
use worker::{Response, ResponseBuilder, Result};

use crate::clock::within;
use crate::http::error::HttpError;

/// How long a stream may be silent. Proxies close connections that are idle for a minute or less.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// How long a stream may be silent while a model writes. A client or proxy that closes its
/// connection instead of resetting it is noticed only when nothing can be sent to it any more, and
/// until then the model costs money.
const WRITING_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Completes when the history is written or has failed; the outcome says which.
pub(crate) type Completion = Shared<LocalBoxFuture<'static, ()>>;

/// An answer that is being written.
pub(crate) struct LiveAnswer {
    /// Its verified pieces; ends with the last one.
    pub(crate) deltas: UnboundedReceiver<String>,
    /// Dropped when the stream ends or the client has disconnected.
    #[expect(dead_code, reason = "dropping it is the signal")]
    pub(crate) open: oneshot::Sender<()>,
    pub(crate) session_id: Uuid,
    /// Whether the passages are about the subject but may not answer the question.
    pub(crate) hedged: bool,
}

/// Sends an outcome in the form that the client asked for. A stream begins immediately with the events that are known, and
/// ends after the completion. `written` are the pieces of an answer whose outcome is not known yet.
pub(super) async fn send(
    outcome: Rc<RefCell<Outcome>>,
    written: Option<LiveAnswer>,
    completion: Completion,
    format: Format,
    request_id: String,
) -> Result<Response> {
    if format == Format::Json {
        completion.await;
        return Response::from_json(&outcome.borrow().as_json()?);
    }
    let opening = match written {
        None => stream::iter(opening_frames(&outcome.borrow(), false)).left_stream(),
        Some(written) => writing(written, Rc::clone(&outcome)).right_stream(),
    };
    let ending = ending(Ending { outcome, completion, request_id });
    ResponseBuilder::new()
        .with_header("Content-Type", "text/event-stream; charset=utf-8")?
        // Some proxies buffer responses by default.
        .with_header("X-Accel-Buffering", "no")?
        .from_stream(opening.chain(ending))
}

/// The events of an outcome before the terminal one, if there are any. In one piece, because each piece of a stream costs calls of
/// JavaScript and a write to the network. `has_text`: the client has the text already.
fn opening_frames(outcome: &Outcome, has_text: bool) -> Option<Result<Vec<u8>>> {
    let is_new = |event: &&Event| {
        !(has_text && matches!(event, Event::AnswerStart { .. } | Event::AnswerDelta { .. }))
    };
    let events = outcome.opening_events();
    let frames: Result<Vec<_>> = events.iter().filter(is_new).map(encode).collect();
    let piece = frames.map(|frames| frames.concat());
    (!matches!(&piece, Ok(bytes) if bytes.is_empty())).then_some(piece)
}

/// The state of an answer that is being written.
struct Writing {
    written: LiveAnswer,
    outcome: Rc<RefCell<Outcome>>,
    has_begun: bool,
}

/// Sends the pieces of an answer as they come, with heartbeats, and then what is known of the outcome. The client gets
/// `progress` at once, and `answer_start` with the first verified piece, so that nothing is ever taken back.
fn writing(written: LiveAnswer, outcome: Rc<RefCell<Outcome>>) -> impl Stream<Item = Result<Vec<u8>>> {
    let progress = encode(&Event::Progress { stage: Stage::Writing });
    let state = Writing { written, outcome, has_begun: false };
    let pieces = stream::unfold(Some(state), |state| async {
        let mut state = state?;
        let Some(delta) = within(WRITING_HEARTBEAT_INTERVAL, state.written.deltas.next()).await else {
            return Some((vec![Ok(HEARTBEAT.into())], Some(state)));
        };
        let Some(delta) = delta else {
            let frames = opening_frames(&state.outcome.borrow(), state.has_begun);
            return Some((frames.into_iter().collect(), None));
        };
        let mut frames = Vec::with_capacity(2);
        if !state.has_begun {
            state.has_begun = true;
            let session_id = state.written.session_id;
            frames.push(encode(&Event::AnswerStart {
                session_id,
                hedged: state.written.hedged,
                mode: AnswerMode::Generated,
            }));
        }
        frames.push(encode(&Event::AnswerDelta { text: &delta }));
        Some((frames, Some(state)))
    });
    stream::iter([progress]).chain(pieces.flat_map(stream::iter))
}

/// Everything needed to end a stream.
struct Ending {
    outcome: Rc<RefCell<Outcome>>,
    completion: Completion,
    request_id: String,
}

/// Heartbeats until the history is written, then the terminal event.
fn ending(ending: Ending) -> impl Stream<Item = Result<Vec<u8>>> {
    stream::unfold(Some(ending), |waiting| async {
        let ending = waiting?;
        match within(HEARTBEAT_INTERVAL, ending.completion.clone()).await {
            Some(()) => Some((encode_end(&ending.outcome.borrow(), &ending.request_id), None)),
            None => Some((Ok(HEARTBEAT.into()), Some(ending))),
        }
    })
}

fn encode(event: &Event) -> Result<Vec<u8>> {
    Ok(event.encode()?.into_bytes())
}

/// The end of the stream, or an error if it cannot be encoded: every stream ends with a terminal event.
fn encode_end(outcome: &Outcome, request_id: &str) -> Result<Vec<u8>> {
    encode(&outcome.terminal_event()).or_else(|error| {
        let error = HttpError::internal(error.to_string());
        encode(&Event::Error(error.body.with_request_id(request_id)))
    })
}
