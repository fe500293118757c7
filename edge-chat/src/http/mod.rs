//! Shared by all endpoints: URL and body of the request, CORS, errors, replies and JSON.

pub(crate) mod body;
pub(crate) mod connection;
pub(crate) mod cors;
pub(crate) mod error;
pub(crate) mod json;
pub(crate) mod reply;
pub(crate) mod url;
