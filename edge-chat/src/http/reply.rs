//! A response on its way out, with a word for the log.

use worker::Response;

/// A response and what it is about.
pub(crate) struct Reply {
    pub(crate) response: Response,
    /// `answer`, a refusal's reason, and so on.
    pub(crate) outcome: &'static str,
}
