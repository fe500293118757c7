//! `GET /api/me/export`: one JSON document, streamed while it is read from the database.
//!
//! At any time only one page of rows and its text are in memory. If a page cannot be read, the body is cut off, so that an
//! incomplete export is never valid JSON.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::{FutureExt, Stream, stream};
use uuid::Uuid;
use worker::js_sys;
use worker::{Error, ResponseBuilder};

use crate::call::Call;
use crate::clock::now_ms;
use crate::http::error::HttpError;
use crate::http::json::to_json;
use crate::http::reply::Reply;
use crate::observe::Trace;
use crate::supabase::{Deadline, ExportedMessage, Session, Supabase, Timestamp, unavailable};

/// Sessions per page. Their ids are part of the URL of the request for messages, 37 bytes each.
const MAX_SESSIONS: u32 = 100;
/// Messages or refused questions per page, fewer if a page would exceed the maximum size of a response.
const MAX_ROWS: u32 = 200;
/// Pages of an export. Each is one subrequest, or two with a retry. Cloudflare allows 1,000 subrequests per request, or 50 on
/// the free plan.
const MAX_PAGES: u32 = 450;

/// Streams everything. A fault before the first byte is an error with a status.
pub(crate) async fn export(call: Call) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    let mut export = Export::new(supabase, call.config.upstream_timeout);
    let first = call.trace.time("read", export.next()).await?;
    let (ended, end) = oneshot::channel::<()>();
    let body = body(first, export, Rc::clone(&call.trace), ended);
    let response = ResponseBuilder::new()
        .with_header("Content-Type", "application/json")?
        .with_header("Content-Disposition", "attachment; filename=\"evidence-chat-export.json\"")?
        .from_stream(body)?;
    // The log line is written when everything is sent or the client has disconnected. It names the fault, if any.
    Ok(Reply { response, outcome: "export", afterwards: Some(end.map(drop).boxed_local()) })
}

/// The text in pieces. `ended` is dropped when the stream ends, for whatever reason.
fn body(
    first: Option<String>,
    export: Export,
    trace: Rc<Trace>,
    ended: oneshot::Sender<()>,
) -> impl Stream<Item = worker::Result<Vec<u8>>> {
    stream::unfold(Some((first, export, ended)), move |state| {
        let trace = Rc::clone(&trace);
        async move {
            let (first, mut export, ended) = state?;
            let piece = match first {
                Some(first) => Ok(Some(first)),
                None => export.next().await,
            };
            match piece {
                Ok(piece) => Some((Ok(piece?.into_bytes()), Some((None, export, ended)))),
                Err(error) => {
                    trace.fault("export incomplete", &error);
                    Some((Err(Error::RustError("the export cannot be completed".to_owned())), None))
                }
            }
        }
    })
}

/// The next part of the document.
enum Stage {
    Opening,
    /// The sessions after this one.
    Sessions {
        after: Option<Uuid>,
    },
    /// The messages of these sessions. `place` is the progress in the first of them.
    Messages {
        sessions: VecDeque<Session>,
        place: Option<Place>,
    },
    /// The refused questions after this one.
    Refusals {
        after: Option<(Timestamp, Uuid)>,
    },
    End,
}

/// The last message of a session that is written; the beginning of the session is too.
type Place = (Timestamp, Uuid);

/// An export in progress.
struct Export {
    supabase: Supabase,
    /// The timeout per page.
    time: Duration,
    pages: u32,
    /// The size of the next page.
    rows: u32,
    stage: Stage,
    /// Whether the outer array has an element already.
    has_element: bool,
}

impl Export {
    fn new(supabase: Supabase, time: Duration) -> Self {
        Self { supabase, time, pages: 0, rows: MAX_ROWS, stage: Stage::Opening, has_element: false }
    }

    /// The next piece of the text, never empty. `None` at the end.
    async fn next(&mut self) -> Result<Option<String>, HttpError> {
        let mut text = String::new();
        while text.is_empty() {
            self.stage = match std::mem::replace(&mut self.stage, Stage::End) {
                Stage::Opening => {
                    // Together with the first page, so that its faults are errors with a status.
                    let (stage, page) = self.sessions(None).await?;
                    text = format!("{{\"exported_at\":\"{}\",\"sessions\":[{page}", now());
                    stage
                }
                Stage::Sessions { after } => {
                    let (stage, page) = self.sessions(after).await?;
                    text = page.to_owned();
                    stage
                }
                Stage::Messages { sessions, place } => self.messages(sessions, place, &mut text).await?,
                Stage::Refusals { after } => self.refusals(after, &mut text).await?,
                Stage::End => return Ok(None),
            };
        }
        Ok(Some(text))
    }

    /// Reads sessions. They are written together with their messages.
    async fn sessions(&mut self, after: Option<Uuid>) -> Result<(Stage, &'static str), HttpError> {
        let read = async |supabase: &Supabase, rows| supabase.sessions_after(after, rows).await;
        let (sessions, _) = self.page(MAX_SESSIONS, read).await?;
        if sessions.is_empty() {
            self.has_element = false;
            return Ok((Stage::Refusals { after: None }, "],\"refused_questions\":["));
        }
        Ok((Stage::Messages { sessions: sessions.into(), place: None }, ""))
    }

    async fn messages(
        &mut self,
        mut sessions: VecDeque<Session>,
        mut place: Option<Place>,
        text: &mut String,
    ) -> Result<Stage, HttpError> {
        let ids: Vec<_> = sessions.iter().map(|session| session.id).collect();
        let Some(last_id) = ids.last().copied() else { return Err(unexpected_order()) };
        let after = place.as_ref().map(|(time, id)| (time, *id));
        let read = async |supabase: &Supabase, rows| supabase.messages_after(&ids, after, rows).await;
        let (messages, rows) = self.page(self.rows, read).await?;
        self.rows = (rows * 2).min(MAX_ROWS);
        if messages.is_empty() {
            while let Some(session) = sessions.pop_front() {
                self.close(&session, &mut place, text)?;
            }
            return Ok(Stage::Sessions { after: Some(last_id) });
        }
        for message in messages {
            while sessions.front().is_some_and(|session| session.id != message.extra.session_id) {
                let Some(session) = sessions.pop_front() else { break };
                self.close(&session, &mut place, text)?;
            }
            let session = sessions.front().ok_or_else(unexpected_order)?;
            match place {
                None => self.open(session, text)?,
                Some(_) => text.push(','),
            }
            place = Some((message.created_at.clone(), message.id));
            text.push_str(&to_json(&exported(message))?);
        }
        Ok(Stage::Messages { sessions, place })
    }

    /// Writes a session up to its first message.
    fn open(&mut self, session: &Session, text: &mut String) -> Result<(), HttpError> {
        self.separate(text);
        let object = to_json(session)?;
        text.push_str(object.strip_suffix('}').unwrap_or(&object));
        text.push_str(",\"messages\":[");
        Ok(())
    }

    /// Writes the end of a session, and its beginning if it has no messages.
    fn close(
        &mut self,
        session: &Session,
        place: &mut Option<Place>,
        text: &mut String,
    ) -> Result<(), HttpError> {
        if place.take().is_none() {
            self.open(session, text)?;
        }
        text.push_str("]}");
        Ok(())
    }

    async fn refusals(
        &mut self,
        after: Option<(Timestamp, Uuid)>,
        text: &mut String,
    ) -> Result<Stage, HttpError> {
        let after = after.as_ref().map(|(time, id)| (time, *id));
        let read = async |supabase: &Supabase, rows| supabase.refusals_after(after, rows).await;
        let (questions, rows) = self.page(self.rows, read).await?;
        self.rows = (rows * 2).min(MAX_ROWS);
        let Some(last) = questions.last() else {
            text.push_str("]}");
            return Ok(Stage::End);
        };
        let after = Some((last.created_at.clone(), last.id));
        for question in &questions {
            self.separate(text);
            text.push_str(&to_json(question)?);
        }
        Ok(Stage::Refusals { after })
    }

    fn separate(&mut self, text: &mut String) {
        if std::mem::replace(&mut self.has_element, true) {
            text.push(',');
        }
    }

    /// Reads a page of `rows`, or of half as many after each page that was too large. Returns the number of rows, too.
    async fn page<T>(
        &mut self,
        mut rows: u32,
        read: impl AsyncFn(&Supabase, u32) -> Result<Option<Vec<T>>, HttpError>,
    ) -> Result<(Vec<T>, u32), HttpError> {
        loop {
            self.pages += 1;
            if self.pages > MAX_PAGES {
                return Err(HttpError::internal(format!("more than {MAX_PAGES} pages")));
            }
            let supabase = self.supabase.with_new_permit(Deadline::after(self.time));
            if let Some(page) = read(&supabase, rows).await? {
                return Ok((page, rows));
            }
            if rows == 1 {
                return Err(unavailable("export", "one row is too large"));
            }
            rows = rows.div_ceil(2);
        }
    }
}

/// Removes `hedged` from the user's messages.
fn exported(message: ExportedMessage) -> ExportedMessage {
    ExportedMessage { hedged: message.hedged.filter(|_| message.is_answer()), ..message }
}

/// Unexpected rows, or rows in another order than requested.
fn unexpected_order() -> HttpError {
    unavailable("export", "rows came in an unexpected order")
}

/// The time in RFC 3339.
fn now() -> String {
    let milliseconds = now_ms() as f64;
    js_sys::Date::new(&milliseconds.into()).to_iso_string().into()
}
