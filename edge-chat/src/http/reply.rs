//! A response on its way out, with what is still to do and a word for the log.

use futures_util::future::LocalBoxFuture;
use worker::Response;

/// A response and what it is about.
pub(crate) struct Reply {
    pub(crate) response: Response,
    /// `answer`, a refusal's reason, and so on.
    pub(crate) outcome: &'static str,
    /// Work that goes on after the response began. The log line is written when it ends.
    pub(crate) afterwards: Option<LocalBoxFuture<'static, ()>>,
}

impl Reply {
    pub(crate) fn new(response: Response, outcome: &'static str) -> Self {
        Self { response, outcome, afterwards: None }
    }
}
