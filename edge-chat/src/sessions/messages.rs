//! `GET /api/sessions/{id}/messages`: the messages of a session, with the current state of their sources.

use std::collections::BTreeSet;

use chat_core::answer::Citation;
use chat_core::chunk::is_web_address;
use futures_util::future::join;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;
use worker::Response;

use super::cursor::{Cursor, page_size, truncate_page};
use crate::call::Call;
use crate::chat::Links;
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::supabase::{Message, Supabase, session_not_found};

/// Documents that are looked up for one page. If there are more, the page ends earlier.
const MAX_DOCUMENTS: usize = 500;

#[derive(Serialize)]
struct Page {
    messages: Vec<ShownMessage>,
    next_cursor: Option<String>,
}

/// A message as the client gets it.
type ShownMessage = Message<Vec<ShownCitation>>;

#[derive(Serialize)]
struct ShownCitation {
    #[serde(flatten)]
    citation: Citation,
    /// Whether the user can still see the document.
    available: bool,
}

/// The messages, oldest first.
pub(crate) async fn messages(call: Call, session_id: Uuid) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    let limit = page_size(&call.url, 50, 200)?;
    let after = Cursor::from_url(&call.url)?;
    let after = after.as_ref().map(|cursor| &cursor.time);
    let read = join(supabase.owns_session(session_id), supabase.messages(session_id, after, limit + 1));
    let (is_own, messages) = call.trace.time("read", read).await;
    if !is_own? {
        return Err(session_not_found());
    }
    let (messages, requested) = messages?;
    let mut messages: Vec<_> = messages.into_iter().map(to_shown).collect();
    let size = messages_with_documents(&messages).min(limit as usize);
    let end_of = |last: &ShownMessage| Cursor { time: last.created_at.clone(), id: last.id };
    let next_cursor = if requested == 1 {
        // Two messages are too large for one page, so there may be another one.
        messages.last().map(|last| end_of(last).encode())
    } else {
        truncate_page(&mut messages, (size as u32).min(requested - 1), end_of)
    };
    mark_sources(&call, &supabase, &mut messages).await?;
    Ok(Reply::new(Response::from_json(&Page { messages, next_cursor })?, "messages"))
}

/// Another version or an administrator may have written the row: invalid citations and citations without words of their passage
/// are left out, and links are checked again.
fn to_shown(message: Message<Vec<Box<RawValue>>>) -> ShownMessage {
    let is_answer = message.is_answer();
    let citations = message.citations.iter().filter(|_| is_answer);
    let citations = citations
        .filter_map(|json| serde_json::from_str(json.get()).ok())
        .filter(|citation: &Citation| citation.is_valid() && has_words(citation));
    let citations = citations.map(|mut citation| {
        citation.passage.url = citation.passage.url.filter(|url| is_web_address(url));
        citation.passage.download_url = None;
        ShownCitation { citation, available: false }
    });
    Message {
        citations: citations.collect(),
        hedged: message.hedged.filter(|_| is_answer),
        id: message.id,
        role: message.role,
        content: message.content,
        created_at: message.created_at,
        refusal: message.refusal,
        mode: message.mode,
        cut: message.cut,
        searched: message.searched,
        feedback: message.feedback,
        extra: (),
    }
}

/// Whether it says which words of the passage are behind the message.
fn has_words(citation: &Citation) -> bool {
    !citation.quotes.is_empty() || !citation.supports.is_empty()
}

/// The number of messages, at least one, that together cite at most [`MAX_DOCUMENTS`].
fn messages_with_documents(messages: &[ShownMessage]) -> usize {
    let mut documents = BTreeSet::new();
    let fits = messages.iter().take_while(|message| {
        documents.extend(message.citations.iter().map(|shown| shown.citation.passage.document_id));
        documents.len() <= MAX_DOCUMENTS
    });
    fits.count().max(1)
}

/// Sets for each citation whether its document is still visible, and its link.
async fn mark_sources(
    call: &Call,
    supabase: &Supabase,
    messages: &mut [ShownMessage],
) -> Result<(), HttpError> {
    let citations = || messages.iter().flat_map(|message| &message.citations);
    let cited: BTreeSet<_> = citations().map(|shown| shown.citation.passage.document_id).collect();
    if cited.is_empty() {
        return Ok(());
    }
    let cited: Vec<_> = cited.into_iter().take(MAX_DOCUMENTS).collect();
    let files = call.trace.time("documents", supabase.document_files(&cited)).await?;
    let short_deadline = supabase.with_deadline(supabase.deadline().half());
    let links = Links::new(&short_deadline, call.url.origin());
    let links = call.trace.time("links", links.for_files(&files)).await.unwrap_or_else(|error| {
        call.trace.fault("links not created", &error);
        Default::default()
    });
    let visible: BTreeSet<_> = files.iter().map(|file| file.id).collect();
    for shown in messages.iter_mut().flat_map(|message| &mut message.citations) {
        let document = shown.citation.passage.document_id;
        shown.available = visible.contains(&document);
        shown.citation.passage.download_url = links.get(&document).cloned();
    }
    Ok(())
}
