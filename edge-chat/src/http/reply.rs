//! A response with its log entry and the work that continues after it.

use futures_util::future::LocalBoxFuture;
use worker::Response;

/// A response of an endpoint.
pub(crate) struct Reply {
    pub(crate) response: Response,
    /// For the log: `answer`, the reason of a refusal, and so on.
    pub(crate) outcome: &'static str,
    /// Work that continues after the response has begun. The log line is written when it ends.
    pub(crate) afterwards: Option<LocalBoxFuture<'static, ()>>,
}

impl Reply {
    pub(crate) fn new(response: Response, outcome: &'static str) -> Self {
        Self { response, outcome, afterwards: None }
    }
}
