//! What the operator sees: one log line per request, timings in the response, counters where they are bound.

mod log;
mod metrics;
mod trace;

pub(crate) use log::RequestLine;
pub(crate) use metrics::count;
pub(crate) use trace::Trace;
