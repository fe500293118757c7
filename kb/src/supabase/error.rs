//! Why a request to Supabase failed, with what to do about it.

use std::path::PathBuf;

use serde::Deserialize;

use crate::output::excerpt;

/// A failed request. No message contains the key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupabaseError {
    #[error(
        "the address of the Supabase project is missing; set SUPABASE_URL, or give it with --supabase-url"
    )]
    MissingUrl,
    /// The address is not a URL.
    #[error("{0:?} is not a web address; set SUPABASE_URL to something like https://abc.supabase.co")]
    InvalidUrl(String),
    /// The key would be sent over a network unencrypted.
    #[error(
        "{0:?} would send the secret key unencrypted; use https:// (http:// is only for a server on this computer: localhost, \
         127.0.0.1 or [::1])"
    )]
    InsecureUrl(String),
    #[error(
        "there is no secret key; set SUPABASE_SECRET_KEY, or name a file that contains it with --secret-key-file"
    )]
    MissingKey,
    /// The file with the key cannot be read.
    #[error("cannot read the secret key from {}: {error}", path.display())]
    UnreadableKey { path: PathBuf, error: std::io::Error },
    /// The key contains characters that no key has.
    #[error(
        "the secret key is empty or contains spaces or line breaks; check SUPABASE_SECRET_KEY or the file of --secret-key-file"
    )]
    InvalidKey,
    /// There was no response.
    #[error("cannot reach {url}: {cause}. Check SUPABASE_URL and that the server is running")]
    Unreachable {
        url: String,
        /// Message of the innermost cause.
        cause: String,
    },
    /// The server is overloaded or broken (429 or 5xx).
    #[error("the server responded with {status} several times: {message}. Try again later")]
    Unavailable { status: u16, message: String },
    /// The key is wrong, or not the secret one.
    #[error(
        "the server refused the key ({0}). Set SUPABASE_SECRET_KEY to the secret (service_role) key of this \
         project, not to the publishable one or the key of another project"
    )]
    WrongKey(u16),
    /// A table, column or function is missing in the database.
    #[error("the database schema is missing or out of date ({0}). Run `supabase db push --remote`")]
    SchemaMissing(String),
    /// A row that was just written was deleted by another run.
    #[error("somebody else is writing or deleting the same document; run this again")]
    Overtaken,
    /// The server refused the data of this request; others may succeed.
    #[error("the server refused the data ({status}): {message}")]
    Rejected { status: u16, message: String },
    /// A value violates a check constraint, which the server's message names.
    #[error("the database refuses it: {0}. Use the kb of the same release as the database")]
    OutOfBounds(String),
    /// The file does not exist in storage.
    #[error("is no longer in storage")]
    NoSuchFile,
    /// The file has more bytes than this.
    #[error("is larger than {} MB; split it", .0 / 1024 / 1024)]
    FileTooLarge(u64),
    /// The response is not one of Supabase.
    #[error("{url} does not respond like a Supabase project: {message}. Check SUPABASE_URL")]
    UnexpectedAnswer {
        url: String,
        /// The defect of the response.
        message: String,
    },
}

impl SupabaseError {
    /// True if the same request may succeed later.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Unavailable { .. })
    }

    /// True if the error affects only the data of this request, so that other documents may succeed.
    pub fn concerns_only_this_document(&self) -> bool {
        matches!(
            self,
            Self::Rejected { .. }
                | Self::OutOfBounds(_)
                | Self::Overtaken
                | Self::NoSuchFile
                | Self::FileTooLarge(_)
        )
    }

    /// From an unsuccessful response. The caller must have removed the key from `body`.
    pub(super) fn from_response(url: &str, status: u16, body: &str) -> Self {
        let answer: Option<ErrorBody> = serde_json::from_str(body).ok();
        let code = answer.as_ref().and_then(|answer| answer.code.as_deref()).unwrap_or_default();
        let message =
            answer.as_ref().and_then(|answer| answer.message.clone()).unwrap_or_else(|| beginning(body));
        match (status, code) {
            // Undefined table, function or column; PostgREST's own codes for "not in the schema cache".
            (_, "42P01" | "42883" | "42703" | "PGRST202" | "PGRST204" | "PGRST205") => {
                Self::SchemaMissing(message)
            }
            // 42501: the role of the key lacks the privilege.
            (401 | 403, _) | (_, "42501") => Self::WrongKey(status),
            // Foreign key: the pending document of the rows was deleted, which another run does when it writes the same
            // document.
            (_, "23503") => Self::Overtaken,
            (_, "23514") => Self::OutOfBounds(message),
            (429 | 500..=599, _) => Self::Unavailable { status, message },
            (404, "") => {
                Self::UnexpectedAnswer { url: url.to_owned(), message: format!("HTTP 404, {message}") }
            }
            _ => Self::Rejected { status, message },
        }
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    code: Option<String>,
    message: Option<String>,
}

/// The beginning of an error page, to recognize it.
fn beginning(body: &str) -> String {
    if body.trim().is_empty() { "no further information".to_owned() } else { excerpt(body, 200) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &str) -> SupabaseError {
        SupabaseError::from_response("http://localhost", status, body)
    }

    #[test]
    fn a_missing_table_says_how_to_create_it() {
        let error = error(404, r#"{"code":"PGRST205","message":"Could not find the table"}"#);
        assert!(matches!(error, SupabaseError::SchemaMissing(_)));
        assert!(error.to_string().contains("supabase db push --remote"));
    }

    #[test]
    fn a_refused_key_is_distinguished_from_refused_data() {
        let refused = error(401, r#"{"message":"Invalid API key"}"#);
        assert!(matches!(refused, SupabaseError::WrongKey(401)));
        assert!(refused.to_string().contains("the key of another project"), "{refused}");
        assert!(matches!(
            error(403, r#"{"code":"42501","message":"permission denied"}"#),
            SupabaseError::WrongKey(_)
        ));
        assert!(matches!(
            error(400, r#"{"code":"22P02","message":"bad vector"}"#),
            SupabaseError::Rejected { .. }
        ));
    }

    #[test]
    fn a_foreign_key_violation_means_that_another_run_deleted_the_document() {
        let error = error(409, r#"{"code":"23503","message":"violates foreign key constraint"}"#);
        assert!(matches!(error, SupabaseError::Overtaken) && error.concerns_only_this_document());
    }

    #[test]
    fn a_violated_constraint_is_named_without_the_value() {
        let body = r#"{"code":"23514","details":"Failing row contains (secret)",
            "message":"new row for relation \"kb_documents\" violates check constraint \"kb_documents_name_length\""}"#;
        let error = error(400, body);
        assert!(matches!(error, SupabaseError::OutOfBounds(_)) && error.concerns_only_this_document());
        let text = error.to_string();
        assert!(text.contains("kb_documents_name_length") && !text.contains("secret"), "{text}");
        assert!(text.contains("Use the kb of the same release"), "{text}");
    }

    #[test]
    fn overload_and_server_errors_are_transient() {
        for status in [429, 500, 502, 503, 504] {
            assert!(error(status, "").is_transient(), "{status}");
        }
        assert!(!error(409, "").is_transient());
    }

    #[test]
    fn a_server_that_is_not_supabase_is_recognized() {
        assert!(matches!(error(404, "<html>Not Found</html>"), SupabaseError::UnexpectedAnswer { .. }));
    }
}
