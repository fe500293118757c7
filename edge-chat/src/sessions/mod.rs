//! `/api/sessions`: the user's conversations.

mod cursor;
mod feedback;
mod messages;

use chat_core::error::ErrorCode;
use serde::Serialize;
use uuid::Uuid;
use worker::Response;

use crate::call::Call;
use crate::http::error::HttpError;
use crate::http::json::parse_object;
use crate::http::reply::Reply;
use crate::supabase::{Session, session_not_found};
use cursor::{Cursor, page_size, truncate_page};
pub(crate) use feedback::{give_feedback, remove_feedback};
pub(crate) use messages::messages;

/// Characters of a title that the user sets.
const MAX_TITLE_CHARS: usize = 200;

#[derive(Serialize)]
struct Page {
    sessions: Vec<Session>,
    next_cursor: Option<String>,
}

/// `GET /api/sessions`: those with one assistant, last used first.
pub(crate) async fn list(call: Call) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    let assistant = call.assistant()?;
    let limit = page_size(&call.url, 20, 100)?;
    let before = Cursor::from_url(&call.url)?;
    let before = before.as_ref().map(|cursor| (&cursor.time, cursor.id));
    let read = supabase.sessions(&assistant, before, limit + 1);
    let mut sessions = call.trace.time("read", read).await?;
    let next_cursor =
        truncate_page(&mut sessions, limit, |last| Cursor { time: last.updated_at.clone(), id: last.id });
    Ok(Reply::new(Response::from_json(&Page { sessions, next_cursor })?, "sessions"))
}

/// `GET /api/sessions/{id}`
pub(crate) async fn show(call: Call, id: Uuid) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    let session = call.trace.time("read", supabase.session(id)).await?.ok_or_else(session_not_found)?;
    Ok(Reply::new(Response::from_json(&session)?, "session"))
}

/// `PATCH /api/sessions/{id}`: sets the title.
pub(crate) async fn rename(mut call: Call, id: Uuid) -> Result<Reply, HttpError> {
    let user = call.user().await?;
    let title = parse_title(&call.body().await?)?;
    let supabase = call.supabase(user);
    let renamed = call.trace.time("write", supabase.rename_session(id, &title)).await?;
    Ok(Reply::new(Response::from_json(&renamed.ok_or_else(session_not_found)?)?, "renamed"))
}

/// `DELETE /api/sessions/{id}`
pub(crate) async fn delete(call: Call, id: Uuid) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    if call.trace.time("write", supabase.delete_session(id)).await? {
        Ok(Reply::new(Response::empty()?.with_status(204), "deleted"))
    } else {
        Err(session_not_found())
    }
}

fn parse_title(body: &[u8]) -> Result<String, HttpError> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Change {
        title: String,
    }
    let invalid = |message: &str| HttpError::new(ErrorCode::InvalidRequest, message);
    let change: Option<Change> = parse_object(body);
    let title = change.ok_or_else(|| invalid("the body must be {\"title\": \"the new title\"}"))?.title;
    let title = title.trim();
    if title.contains('\0') || !(1..=MAX_TITLE_CHARS).contains(&title.chars().count()) {
        return Err(invalid(&format!("title must have 1 to {MAX_TITLE_CHARS} characters")));
    }
    Ok(title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_trimmed_and_has_1_to_200_characters() {
        let title = |body: &str| parse_title(body.as_bytes()).ok();
        assert_eq!(title(r#"{"title": "  Refunds "}"#).as_deref(), Some("Refunds"));
        assert!(title(&format!(r#"{{"title": "{}"}}"#, "é".repeat(200))).is_some());
        assert_eq!(title(&format!(r#"{{"title": "{}"}}"#, "é".repeat(201))), None);
        for wrong in [
            "",
            "{}",
            "[\"x\"]",
            "\"x\"",
            r#"{"title": ""}"#,
            r#"{"title": " "}"#,
            r#"{"title": null}"#,
            r#"{"title": 5}"#,
            r#"{"title": "a\u0000b"}"#,
            r#"{"title": "x", "user_id": "y"}"#,
            r#"{"title": "x", "title": "y"}"#,
        ] {
            assert_eq!(title(wrong), None, "{wrong}");
        }
    }
}
