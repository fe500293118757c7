//! Errors of authentication. The reason is for the log; the client gets one of four sentences.

use std::borrow::Cow;

use chat_core::error::ErrorCode;

use super::json::WrongType;
use crate::http::error::HttpError;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum AuthError {
    /// There is no bearer token.
    Missing,
    /// The token is valid except for its expiry.
    Expired,
    Invalid(Cow<'static, str>),
    /// The token may be valid, but the keys cannot be fetched.
    NoKeys(String),
}

impl AuthError {
    pub(super) fn invalid(reason: &'static str) -> Self {
        Self::Invalid(Cow::Borrowed(reason))
    }
}

impl From<WrongType> for AuthError {
    fn from(WrongType(name): WrongType) -> Self {
        Self::Invalid(format!("{name} of a wrong type").into())
    }
}

impl From<AuthError> for HttpError {
    fn from(denial: AuthError) -> Self {
        let unauthorized = |message| Self::new(ErrorCode::Unauthorized, message);
        match denial {
            AuthError::Missing => unauthorized("Sign in to ask a question.").with_detail("token: missing"),
            AuthError::Expired => {
                unauthorized("Your session has expired. Sign in again.").with_detail("token: expired")
            }
            AuthError::Invalid(reason) => unauthorized("The access token is not valid. Sign in again.")
                .with_detail(format!("token: {reason}")),
            AuthError::NoKeys(reason) => Self::new(
                ErrorCode::UpstreamUnavailable,
                "Your session cannot be checked right now. Please try again in a moment.",
            )
            .with_detail(format!("jwks: {reason}")),
        }
    }
}
