//! Errors in the form of OpenAI's API.

use serde::Serialize;

use crate::error::{ApiError, ErrorCode};

/// `{"error": {…}}`.
#[derive(Debug, Serialize)]
pub struct ErrorObject<'a> {
    error: ErrorFields<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorFields<'a> {
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    code: ErrorCode,
    param: Option<&'a str>,
}

impl<'a> ErrorObject<'a> {
    /// `param` is the field of the request that is wrong.
    pub fn new(error: &'a ApiError, param: Option<&'a str>) -> Self {
        let ApiError { code, message, .. } = error;
        Self { error: ErrorFields { message, kind: kind(*code), code: *code, param } }
    }
}

/// The class of an error, which OpenAI's clients branch on beside the status.
fn kind(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidRequest
        | ErrorCode::Conflict
        | ErrorCode::ModelMismatch
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UnsupportedMediaType => "invalid_request_error",
        ErrorCode::Unauthorized => "authentication_error",
        ErrorCode::Forbidden => "permission_error",
        ErrorCode::NotFound | ErrorCode::UnknownAssistant => "not_found_error",
        ErrorCode::RateLimited => "rate_limit_error",
        ErrorCode::Internal | ErrorCode::UpstreamUnavailable | ErrorCode::UpstreamTimeout => "server_error",
    }
}
