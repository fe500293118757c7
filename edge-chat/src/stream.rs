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

/// How long a stream may be silent; proxies close connections that are idle for a minute or less.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// The outcome once its history is written. `None` only if there is no outcome, and so nothing to send.
pub(crate) type Completion = Shared<LocalBoxFuture<'static, Option<Rc<Outcome>>>>;

/// Sends an outcome in the form the client asked for. A stream begins at once with what is known already, and ends
/// when the completion is there.
pub(crate) async fn send(outcome: &Outcome, completion: Completion, format: Format) -> Result<Response> {
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
                .from_stream(stream::iter(opening.into_iter().map(Ok)).chain(ending(settled)))
        }
    }
}

/// Heartbeats until the history is written, then the terminal event.
fn ending(settled: Shared<LocalBoxFuture<'static, Rc<Outcome>>>) -> impl Stream<Item = Result<Vec<u8>>> {
    stream::unfold(Some(settled), |waiting| async {
        let settled = waiting?;
        match select(settled.clone(), Delay::from(HEARTBEAT_INTERVAL)).await {
            Either::Left((outcome, _)) => Some((Ok(terminal(&outcome)), None)),
            Either::Right(_) => Some((Ok(HEARTBEAT.into()), Some(settled))),
        }
    })
}

/// Every stream has an end, whatever happens.
fn terminal(outcome: &Outcome) -> Vec<u8> {
    let broken = || {
        b"event: error\ndata: {\"type\":\"error\",\"code\":\"internal\",\"message\":\"\",\"retryable\":false}\n\n".to_vec()
    };
    frame(&outcome.terminal_event()).unwrap_or_else(|_| broken())
}

fn frame(event: &Event) -> Result<Vec<u8>> {
    event.encode().map(String::into_bytes).map_err(Error::from)
}
