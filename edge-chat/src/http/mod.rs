//! What all endpoints share: URL and body of the request, CORS, errors and replies.

pub(crate) mod body;
pub(crate) mod cors;
pub(crate) mod error;
pub(crate) mod reply;
pub(crate) mod url;
