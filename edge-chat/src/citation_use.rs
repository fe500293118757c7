//! `POST /api/citation-use`: how often visitors look at citations, for the insights. Counts only: no text, no document, no user.

use chat_core::error::ErrorCode;
use serde::Deserialize;
use worker::Response;

use crate::call::Call;
use crate::http::error::HttpError;
use crate::http::json::parse_object;
use crate::http::reply::Reply;

/// The most that one request may count of anything, as in the database function `chat_count_citation_use`.
const MAX_COUNT: u16 = 1000;

/// The counts of a client since its last request.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CitationUse {
    /// Cards of citations that were looked at.
    #[serde(default)]
    pub(crate) hovered: u16,
    /// Citations that were opened.
    #[serde(default)]
    pub(crate) opened: u16,
    /// Answers that were copied with their sources.
    #[serde(default)]
    pub(crate) copied: u16,
}

/// Adds to the counts of today.
pub(crate) async fn count(mut call: Call) -> Result<Reply, HttpError> {
    let user = call.user().await?;
    let assistant = call.assistant()?;
    let counts = CitationUse::parse(&call.body().await?)?;
    let supabase = call.supabase(user);
    call.trace.time("write", supabase.count_citation_use(&counts, &assistant)).await?;
    Ok(Reply::new(Response::empty()?.with_status(204), "counted"))
}

impl CitationUse {
    fn parse(body: &[u8]) -> Result<Self, HttpError> {
        let counts = parse_object(body)
            .filter(|counts: &Self| counts.hovered.max(counts.opened).max(counts.copied) <= MAX_COUNT);
        counts.ok_or_else(|| {
            let example = "{\"hovered\": 0, \"opened\": 0, \"copied\": 0}";
            let message = format!("the body must be {example} with counts from 0 to {MAX_COUNT}");
            HttpError::new(ErrorCode::InvalidRequest, &message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Option<(u16, u16, u16)> {
        CitationUse::parse(body.as_bytes())
            .ok()
            .map(|CitationUse { hovered, opened, copied }| (hovered, opened, copied))
    }

    #[test]
    fn counts_are_0_to_1000_and_default_to_0() {
        assert_eq!(parse("{}"), Some((0, 0, 0)));
        assert_eq!(parse(r#" {"hovered": 1000, "copied": 2}"#), Some((1000, 0, 2)));
        for body in [
            "",
            "[1, 2, 3]",
            "null",
            r#"{"hovered": 1001}"#,
            r#"{"opened": -1}"#,
            r#"{"opened": 1.5}"#,
            r#"{"opened": "1"}"#,
            r#"{"copied": 99999999999}"#,
            r#"{"user": 1}"#,
        ] {
            assert_eq!(parse(body), None, "{body}");
        }
    }
}
