//! Sends an outcome as a stream of events or as one JSON document.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use chat_core::accept::Format;
use chat_core::event::{Event, HEARTBEAT};
use chat_core::outcome::Outcome;
use futures_util::future::{Either, LocalBoxFuture, Shared, select};
use futures_util::stream::{self, Stream, StreamExt};
use worker::{Delay, Error, Response, ResponseBuilder, Result};

use crate::http::error::HttpError;

/// How long a stream may be silent. Proxies close connections that are idle for a minute or less.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// Completes when the history is written or has failed; the outcome says which.
pub(crate) type Completion = Shared<LocalBoxFuture<'static, ()>>;

/// Sends an outcome in the format that the client asked for. A stream begins immediately with the events that are known, and
/// ends after the completion.
pub(crate) async fn send(
    outcome: Rc<RefCell<Outcome>>,
    completion: Completion,
    format: Format,
    request_id: String,
) -> Result<Response> {
    match format {
        Format::Json => {
            completion.await;
            Response::from_json(&outcome.borrow().as_json())
        }
        Format::EventStream => {
            let opening = outcome.borrow().opening_events().iter().map(frame).collect::<Result<Vec<_>>>()?;
            let ending = ending(Ending { outcome, completion, request_id });
            ResponseBuilder::new()
                .with_header("Content-Type", "text/event-stream; charset=utf-8")?
                // Some proxies buffer responses by default.
                .with_header("X-Accel-Buffering", "no")?
                .from_stream(stream::iter(opening.into_iter().map(Ok)).chain(ending))
        }
    }
}

/// What the end of a stream needs.
struct Ending {
    outcome: Rc<RefCell<Outcome>>,
    completion: Completion,
    request_id: String,
}

/// Heartbeats until the history is written, then the terminal event.
fn ending(ending: Ending) -> impl Stream<Item = Result<Vec<u8>>> {
    stream::unfold(Some(ending), |waiting| async {
        let ending = waiting?;
        match select(ending.completion.clone(), Delay::from(HEARTBEAT_INTERVAL)).await {
            Either::Left(_) => Some((terminal(&ending.outcome.borrow(), &ending.request_id), None)),
            Either::Right(_) => Some((Ok(HEARTBEAT.into()), Some(ending))),
        }
    })
}

/// The terminal event of the outcome, or an error if it cannot be encoded: every stream ends with a terminal event.
fn terminal(outcome: &Outcome, request_id: &str) -> Result<Vec<u8>> {
    frame(&outcome.terminal_event()).or_else(|error| {
        let error = HttpError::internal(error.to_string());
        frame(&Event::Error(error.body.with_request_id(request_id)))
    })
}

fn frame(event: &Event) -> Result<Vec<u8>> {
    event.encode().map(String::into_bytes).map_err(Error::from)
}
