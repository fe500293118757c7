//! The error a client gets, and the detail that only the operator sees in the log.

use chat_core::error::{ApiError, ErrorCode};

/// An error before the response begins.
#[derive(Clone)]
pub(crate) struct HttpError {
    /// The JSON that the client gets.
    pub(crate) body: ApiError,
    /// The HTTP status, usually that of the error code.
    pub(crate) status: u16,
    /// Additional response headers.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// For the log only. Never contains a token, a message or a vector.
    pub(crate) detail: Option<String>,
}

impl HttpError {
    pub(crate) fn new(code: ErrorCode, message: &str) -> Self {
        ApiError::new(code, message).into()
    }

    /// A fault on our side. The client gets no detail.
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

    pub(crate) fn method_not_allowed(allow: &str) -> Self {
        Self::new(ErrorCode::InvalidRequest, &format!("This path allows {allow} only."))
            .with_status(405)
            .with_header("Allow", allow)
    }

    /// The path, or what it names, does not exist for this caller.
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

impl From<ApiError> for HttpError {
    fn from(error: ApiError) -> Self {
        let headers = match error.code {
            ErrorCode::Unauthorized => vec![("WWW-Authenticate", "Bearer".to_owned())],
            _ => Vec::new(),
        };
        Self { status: error.code.http_status(), body: error, headers, detail: None }
    }
}

/// Errors of the Workers runtime.
impl From<worker::Error> for HttpError {
    fn from(error: worker::Error) -> Self {
        Self::internal(format!("runtime: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_headers_that_its_status_requires() {
        let unauthorized = HttpError::new(ErrorCode::Unauthorized, "Sign in.");
        assert_eq!((unauthorized.status, unauthorized.headers.len()), (401, 1));
        let limited = HttpError::rate_limited(1);
        assert_eq!(limited.headers, [("Retry-After", "1".to_owned())]);
        assert!(limited.body.retryable && limited.body.message.ends_with("in 1 second."));
        assert_eq!(HttpError::method_not_allowed("POST").status, 405);
    }
}
