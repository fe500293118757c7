//! `GET /api/sessions/{id}/messages`: a conversation as it was, with what became of its sources.

use std::collections::BTreeSet;

use futures_util::future::join;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;
use worker::Response;

use super::cursor::{Cursor, page_size};
use crate::chat::Links;
use crate::http::address::parse_id;
use crate::http::error::Failure;
use crate::http::reply::Reply;
use crate::router::Call;
use crate::supabase::{Message, Supabase, no_session};

#[derive(Serialize)]
struct Page {
    messages: Vec<Message>,
    next_cursor: Option<String>,
}

/// The messages, the oldest first.
pub(crate) async fn messages(call: Call, session_id: Uuid) -> Result<Reply, Failure> {
    let supabase = call.supabase(call.user().await?);
    let limit = page_size(&call.address, 50, 200)?;
    let after = Cursor::of(&call.address)?;
    let after = after.as_ref().map(|cursor| &cursor.time);
    // One more than asked for tells whether there is a next page.
    let read = join(supabase.owns_session(session_id), supabase.messages(session_id, after, limit + 1));
    let (is_own, messages) = call.trace.time("read", read).await;
    if !is_own? {
        return Err(no_session());
    }
    let mut messages = messages?;
    let has_more = messages.len() > limit as usize;
    messages.truncate(limit as usize);
    let last = messages.last().filter(|_| has_more);
    let next_cursor = last.map(|last| Cursor { time: last.created_at.clone(), id: last.id }.encode());
    mark_sources(&call, &supabase, &mut messages).await?;
    Ok(Reply::new(Response::from_json(&Page { messages, next_cursor })?, "messages"))
}

/// Says of each citation whether its document can still be seen, and where its file is.
async fn mark_sources(call: &Call, supabase: &Supabase, messages: &mut [Message]) -> Result<(), Failure> {
    for message in &mut *messages {
        message.citations.retain(Value::is_object);
    }
    let cited: BTreeSet<_> =
        messages.iter().flat_map(|message| &message.citations).filter_map(document).collect();
    if cited.is_empty() {
        return Ok(());
    }
    let cited: Vec<_> = cited.into_iter().collect();
    let files = call.trace.time("documents", supabase.document_files(&cited)).await?;
    let settings = call.settings().await?;
    let hasty = supabase.until(supabase.deadline().half());
    let links = Links::new(&hasty, settings.link_mode, call.address.origin());
    let links = call.trace.time("links", links.of(&files)).await.unwrap_or_else(|failure| {
        call.trace.fault("no links", &failure);
        Default::default()
    });
    for citation in messages.iter_mut().flat_map(|message| &mut message.citations) {
        let document = document(citation);
        let is_available = files.iter().any(|file| Some(file.id) == document);
        let link = document.and_then(|id| links.get(&id));
        if let Some(citation) = citation.as_object_mut() {
            citation.insert("available".to_owned(), is_available.into());
            citation.remove("download_url");
            if let Some(link) = link {
                citation.insert("download_url".to_owned(), link.as_str().into());
            }
        }
    }
    Ok(())
}

fn document(citation: &Value) -> Option<Uuid> {
    citation.get("document_id").and_then(Value::as_str).and_then(parse_id)
}
