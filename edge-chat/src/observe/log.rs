//! One line of JSON per request. It never contains a token or a vector, and a question only if the site owner enables that.

use serde::Serialize;
use serde_json::{Map, Value};
use worker::{console_error, console_log};

use super::Trace;
use super::trace::Facts;

/// The facts of a request when its response begins.
#[derive(Serialize)]
pub(crate) struct RequestLine {
    pub(crate) request_id: String,
    pub(crate) route: &'static str,
    pub(crate) method: &'static str,
    pub(crate) status: u16,
    /// Milliseconds until the response began.
    pub(crate) ms: u64,
    /// `answer`, a refusal's reason, or an error code.
    pub(crate) outcome: &'static str,
    /// The cause of a failure, for the operator only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    request: &'a RequestLine,
    #[serde(skip_serializing_if = "Map::is_empty")]
    stages: Map<String, Value>,
    #[serde(flatten)]
    facts: &'a Facts,
}

impl RequestLine {
    /// Writes the line with the current state of the trace.
    pub(crate) fn write(&self, trace: &Trace) {
        let stages = trace.stages().into_iter().map(|(stage, ms)| (stage.to_owned(), ms.into()));
        let facts = trace.facts();
        let line = Line { request: self, stages: stages.collect(), facts: &facts };
        match serde_json::to_string(&line) {
            Ok(line) if self.status >= 500 || !facts.faults.is_empty() => console_error!("{}", line),
            Ok(line) => console_log!("{}", line),
            Err(error) => console_error!("log line: {}", error),
        }
    }
}
