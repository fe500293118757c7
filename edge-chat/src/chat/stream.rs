//! An outcome as a response: a stream of events, or one JSON document.

use std::rc::Rc;
use std::time::Duration;

use chat_core::accept::Format;
use chat_core::event::{Event, HEARTBEAT};
use chat_core::outcome::Outcome;
use futures_util::FutureExt;
use futures_util::future::{Either, LocalBoxFuture, Shared, select};
use futures_util::stream::{self, Stream, StreamExt};
use worker::{Delay, Error, Response, ResponseBuilder, Result};

use crate::http::error::Failure;

/// How long a stream may be silent; proxies close connections that are idle for a minute or less.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// The outcome once its history is written. `None` only if there is no outcome, and so nothing to send.
pub(crate) type Completion = Shared<LocalBoxFuture<'static, Option<Rc<Outcome>>>>;

/// Sends an outcome in the form the client asked for. A stream begins at once with what is known already, and ends
/// when the completion is there.
pub(crate) async fn send(
    outcome: &Outcome,
    completion: Completion,
    format: Format,
    request_id: &str,
) -> Result<Response> {
    let unwritten = Rc::new(outcome.clone());
    let settled = completion.map(|written| written.unwrap_or(unwritten)).boxed_local().shared();
    match format {
        Format::Json => Response::from_json(&settled.await.as_json()),
        Format::EventStream => {
            let opening = outcome.opening_events().iter().map(frame).collect::<Result<Vec<_>>>()?;
            ResponseBuilder::new()
                .with_header("Content-Type", "text/event-stream; charset=utf-8")?
                // Some proxies gather a response before they pass it on unless told not to.
                .with_header("X-Accel-Buffering", "no")?
                .from_stream(
                    stream::iter(opening.into_iter().map(Ok)).chain(ending(settled, request_id.to_owned())),
                )
        }
    }
}

/// Heartbeats until the history is written, then the terminal event.
fn ending(
    settled: Shared<LocalBoxFuture<'static, Rc<Outcome>>>,
    request_id: String,
) -> impl Stream<Item = Result<Vec<u8>>> {
    stream::unfold(Some((settled, request_id)), |waiting| async {
        let (settled, request_id) = waiting?;
        match select(settled.clone(), Delay::from(HEARTBEAT_INTERVAL)).await {
            Either::Left((outcome, _)) => Some((terminal(&outcome, &request_id), None)),
            Either::Right(_) => Some((Ok(HEARTBEAT.into()), Some((settled, request_id)))),
        }
    })
}

/// The outcome's end or, should it not be writable, an error: no stream stops without a terminal event.
fn terminal(outcome: &Outcome, request_id: &str) -> Result<Vec<u8>> {
    frame(&outcome.terminal_event()).or_else(|error| {
        let failure = Failure::internal(error.to_string());
        frame(&Event::Error(failure.error.with_request_id(request_id)))
    })
}

fn frame(event: &Event) -> Result<Vec<u8>> {
    event.encode().map(String::into_bytes).map_err(Error::from)
}
