//! From an error to the response a client gets; what only the operator may see goes to the log.

use chat_core::error::{ApiError, ErrorCode};

use crate::config::ConfigError;

/// A request that ends before its answer starts.
#[derive(Clone)]
pub(crate) struct Failure {
    /// What the client may see.
    pub(crate) error: ApiError,
    /// The HTTP status, in most cases the code's own.
    pub(crate) status: u16,
    /// Further response headers.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// What only the log may hold. Never a token, a message or a vector.
    pub(crate) detail: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: &str) -> Self {
        ApiError::new(code, message).into()
    }

    /// A fault on our side: the client learns nothing about it.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        let message = "Something went wrong on our side. Please try again later.";
        Self::new(ErrorCode::Internal, message).with_detail(detail)
    }

    pub(crate) fn rate_limited(retry_after_seconds: u64) -> Self {
        let unit = if retry_after_seconds == 1 { "second" } else { "seconds" };
        let message = format!(
            "You're asking faster than I can answer. Please try again in {retry_after_seconds} {unit}."
        );
        Self::new(ErrorCode::RateLimited, &message)
            .with_header("Retry-After", retry_after_seconds.to_string())
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        Self::new(ErrorCode::InvalidRequest, &format!("This address takes {allow} only."))
            .with_status(405)
            .with_header("Allow", allow)
    }

    /// The address, or what it names, does not exist for this caller.
    pub(crate) fn not_found(message: &str) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        let headers = match error.code {
            ErrorCode::Unauthorized => vec![("WWW-Authenticate", "Bearer".to_owned())],
            _ => Vec::new(),
        };
        Self { status: error.code.http_status(), error, headers, detail: None }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::internal(format!("configuration: {error}"))
    }
}

/// Errors of the runtime itself.
impl From<worker::Error> for Failure {
    fn from(error: worker::Error) -> Self {
        Self::internal(format!("runtime: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_brings_the_headers_its_status_asks_for() {
        let unauthorized = Failure::new(ErrorCode::Unauthorized, "Sign in.");
        assert_eq!((unauthorized.status, unauthorized.headers.len()), (401, 1));
        let limited = Failure::rate_limited(1);
        assert_eq!(limited.headers, [("Retry-After", "1".to_owned())]);
        assert!(limited.error.retryable && limited.error.message.ends_with("in 1 second."));
        assert_eq!(Failure::method_not_allowed("POST").status, 405);
    }

    #[test]
    fn what_the_operator_sees_is_not_what_the_client_sees() {
        let failure = Failure::from(ConfigError::Missing("SUPABASE_URL"));
        assert!(!failure.error.message.contains("SUPABASE"));
        assert_eq!(failure.detail.as_deref(), Some("configuration: SUPABASE_URL is not set"));
    }
}
