//! Observability: one log line per request, timings in the response, and optional counters.

mod log;
mod metrics;
mod trace;

pub(crate) use log::RequestLine;
pub(crate) use metrics::count;
pub(crate) use trace::Trace;
