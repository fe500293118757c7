//! One line of JSON per request. It never contains a token or a vector, and a question only if the site owner enables that.

use serde::Serialize;
use serde_json::{Map, Value};
use worker::{console_error, console_log};

use super::Trace;
use super::trace::Facts;

/// The facts of a request when its response begins.
pub(crate) struct RequestLine {
    pub(crate) request_id: String,
    pub(crate) route: &'static str,
    pub(crate) method: &'static str,
    pub(crate) status: u16,
    /// Milliseconds until the response began.
    pub(crate) ms: u64,
    /// `answer`, a refusal's reason, or an error code, when the response began.
    pub(crate) outcome: &'static str,
    /// Why it failed, for the operator only.
    pub(crate) detail: Option<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    request_id: &'a str,
    route: &'static str,
    method: &'static str,
    status: u16,
    ms: u64,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    stages: Map<String, Value>,
    #[serde(flatten)]
    facts: &'a Facts,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

impl RequestLine {
    /// The outcome in the end: a model may have declined after the response began.
    pub(super) fn final_outcome(&self, facts: &Facts) -> &'static str {
        facts.outcome.unwrap_or(self.outcome)
    }

    /// Writes the line with the current state of the trace.
    pub(crate) fn write(&self, trace: &Trace) {
        let stages = trace.stages().into_iter().map(|(stage, ms)| (stage.to_owned(), ms.into()));
        let facts = trace.facts();
        let line = Line {
            request_id: &self.request_id,
            route: self.route,
            method: self.method,
            status: self.status,
            ms: self.ms,
            outcome: self.final_outcome(&facts),
            stages: stages.collect(),
            facts: &facts,
            detail: self.detail.as_deref(),
        };
        match serde_json::to_string(&line) {
            Ok(line) if self.status >= 500 || !facts.faults.is_empty() => console_error!("{}", line),
            Ok(line) => console_log!("{}", line),
            Err(error) => console_error!("log line: {}", error),
        }
    }
}
