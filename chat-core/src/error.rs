//! The closed set of errors that a client can get, and their JSON.

use serde::{Deserialize, Serialize};

/// A machine-readable error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request does not follow the contract.
    InvalidRequest,
    /// The access token is missing, invalid or expired.
    Unauthorized,
    /// The caller is known but may not do this.
    Forbidden,
    /// There is no such route or session for this caller.
    NotFound,
    /// There is no assistant of this name that the caller may use.
    UnknownAssistant,
    /// The `message_id` was used before with another body.
    Conflict,
    /// The question and the knowledge base were embedded with different models.
    ModelMismatch,
    /// The body is larger than the limit.
    PayloadTooLarge,
    /// The content type is not JSON.
    UnsupportedMediaType,
    /// The user asked too often.
    RateLimited,
    /// A fault on our side that a retry does not fix.
    Internal,
    /// The database could not be reached or failed.
    UpstreamUnavailable,
    /// The database did not answer in time.
    UpstreamTimeout,
}

impl ErrorCode {
    /// The HTTP status if the error occurs before the first event.
    pub fn http_status(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound | Self::UnknownAssistant => 404,
            Self::Conflict | Self::ModelMismatch => 409,
            Self::PayloadTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::UpstreamUnavailable => 503,
            Self::UpstreamTimeout => 504,
        }
    }

    /// Whether the same request can succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::UpstreamUnavailable | Self::UpstreamTimeout)
    }

    /// The code in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::UnknownAssistant => "unknown_assistant",
            Self::Conflict => "conflict",
            Self::ModelMismatch => "model_mismatch",
            Self::PayloadTooLarge => "payload_too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::RateLimited => "rate_limited",
            Self::Internal => "internal",
            Self::UpstreamUnavailable => "upstream_unavailable",
            Self::UpstreamTimeout => "upstream_timeout",
        }
    }
}

/// An error for the client: a code, an actionable sentence, and whether a retry may help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// For programs.
    pub code: ErrorCode,
    /// For people: what to do. Never contains a secret or the user's own text.
    pub message: String,
    /// Whether the same request can succeed later.
    pub retryable: bool,
}

impl ApiError {
    /// An error that is retryable if its code is.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: code.is_retryable() }
    }

    /// An error with the most common code.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// The JSON object that the client gets.
    pub fn with_request_id(self, request_id: impl Into<String>) -> ErrorBody {
        ErrorBody { error: self, request_id: request_id.into() }
    }
}

/// The JSON of every error: `{code, message, retryable, request_id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// Its fields are part of the same object.
    #[serde(flatten)]
    pub error: ApiError,
    /// The id of the request in the log.
    pub request_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ErrorCode; 13] = [
        ErrorCode::InvalidRequest,
        ErrorCode::Unauthorized,
        ErrorCode::Forbidden,
        ErrorCode::NotFound,
        ErrorCode::UnknownAssistant,
        ErrorCode::Conflict,
        ErrorCode::ModelMismatch,
        ErrorCode::PayloadTooLarge,
        ErrorCode::UnsupportedMediaType,
        ErrorCode::RateLimited,
        ErrorCode::Internal,
        ErrorCode::UpstreamUnavailable,
        ErrorCode::UpstreamTimeout,
    ];

    #[test]
    fn each_code_has_its_status_and_only_transient_faults_are_retryable() {
        let statuses = [400, 401, 403, 404, 404, 409, 409, 413, 415, 429, 500, 503, 504];
        assert_eq!(ALL.map(ErrorCode::http_status), statuses);
        let retryable: Vec<_> =
            ALL.into_iter().filter(|code| code.is_retryable()).map(ErrorCode::http_status).collect();
        assert_eq!(retryable, [429, 503, 504]);
    }

    #[test]
    fn a_code_serializes_to_its_name() {
        for code in ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn the_error_body_is_one_flat_object() {
        let body = ApiError::new(ErrorCode::RateLimited, "Slow down.").with_request_id("r1");
        assert_eq!(
            serde_json::to_value(body).unwrap(),
            serde_json::json!({
                "code": "rate_limited", "message": "Slow down.", "retryable": true, "request_id": "r1"
            })
        );
    }
}
