//! One line of JSON per request. It never holds a message, a token or a vector.

use serde::Serialize;
use worker::{console_error, console_log};

/// What is written about a request.
#[derive(Serialize)]
pub(crate) struct RequestLine<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) route: &'static str,
    pub(crate) status: u16,
    /// Milliseconds until the response began.
    pub(crate) ms: u64,
    /// `answer`, a refusal's reason, or an error code.
    pub(crate) outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<&'a str>,
}

impl RequestLine<'_> {
    pub(crate) fn write(&self) {
        match serde_json::to_string(self) {
            Ok(line) if self.status >= 500 => console_error!("{}", line),
            Ok(line) => console_log!("{}", line),
            Err(error) => console_error!("log line: {}", error),
        }
    }
}

/// Notes a fault that comes after the response began.
pub(crate) fn late_fault(request_id: &str, detail: &str) {
    let line = serde_json::json!({ "request_id": request_id, "fault": detail });
    console_error!("{}", line.to_string());
}
