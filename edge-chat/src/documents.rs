//! `GET /api/documents/{id}/download`: the original file of a document, for users who may see the document.

use std::time::Duration;

use chat_core::error::ErrorCode;
use futures_util::{Stream, StreamExt, stream};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;
use worker::worker_sys::FixedLengthStream as SizedStream;
use worker::{ByteStream, Error, FixedLengthStream, Headers, Response, ResponseBuilder};

use crate::call::Call;
use crate::clock::within;
use crate::http::connection::Connection;
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::supabase::{OpenResponse, Supabase, unavailable};

/// Request headers that are forwarded to storage.
const REQUEST_HEADERS: [(&str, &str); 3] =
    [("range", "Range"), ("if-range", "If-Range"), ("if-none-match", "If-None-Match")];
/// Response headers of storage that are forwarded to the client.
const RESPONSE_HEADERS: [&str; 5] =
    ["Accept-Ranges", "Content-Length", "Content-Range", "ETag", "Last-Modified"];
/// Media types in which a browser runs no scripts. All others are sent as `application/octet-stream`.
const HARMLESS_TYPES: [&str; 13] = [
    "application/pdf",
    "application/msword",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/csv",
    "text/markdown",
    "text/plain",
    "application/epub+zip",
];
/// Characters that are encoded in `filename*`: all but attr-char of RFC 8187, section 3.2.1.
const ENCODED_IN_FILE_NAME: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');
/// How long storage may pause within a file.
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// Streams the file. A document that is hidden, has no file, or may not be linked is "not found".
pub(crate) async fn download(call: Call, id: Uuid, is_head: bool) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    let files = call.trace.time("documents", supabase.document_files(&[id])).await?;
    let file = files.into_iter().next().ok_or_else(no_document)?;
    let path = file.storage_path.ok_or_else(no_document)?;
    let asked: Vec<_> =
        REQUEST_HEADERS.into_iter().filter_map(|(from, to)| Some((to, call.header(from)?))).collect();
    let answer = call.trace.time("storage", open(&supabase, &path, &asked)).await?.ok_or_else(no_document)?;
    match answer.status() {
        200 | 206 | 304 => Ok(Reply::new(proxy_response(answer, &file.name, is_head)?, "download")),
        416 => Err(no_such_range(answer.header("Content-Range"))),
        // Storage answers 400, 403 or 404 for a file that does not exist or that this user may not open.
        400..=499 => Err(no_document()),
        status => Err(unavailable("storage", &format!("HTTP {status}"))),
    }
}

/// Opens the file. Storage ignores `If-Range`, so if its condition fails, the whole file is requested.
async fn open(
    supabase: &Supabase,
    path: &str,
    headers: &[(&'static str, String)],
) -> Result<Option<OpenResponse>, HttpError> {
    let answer = supabase.open_file(path, headers).await?;
    let condition = headers.iter().find(|(name, _)| *name == "If-Range").map(|(_, condition)| condition);
    let is_other_version = match (&answer, condition) {
        (Some(answer), Some(condition)) if answer.status() == 206 => {
            answer.header("ETag").as_ref() != Some(condition)
        }
        _ => false,
    };
    if !is_other_version {
        return Ok(answer);
    }
    let unconditional: Vec<_> =
        headers.iter().filter(|(name, _)| !matches!(*name, "Range" | "If-Range")).cloned().collect();
    supabase.open_file(path, &unconditional).await
}

fn no_such_range(range: Option<String>) -> HttpError {
    let message = "The file has no such range. Ask for less, or without the header Range.";
    let error = HttpError::new(ErrorCode::InvalidRequest, message).with_status(416);
    match range {
        Some(range) => error.with_header("Content-Range", range),
        None => error,
    }
}

fn proxy_response(answer: OpenResponse, name: &str, is_head: bool) -> worker::Result<Response> {
    let (mut from, connection) = answer.into_parts();
    let status = from.status_code();
    let headers = Headers::new();
    for name in RESPONSE_HEADERS {
        if let Some(value) = from.headers().get(name)? {
            headers.set(name, &value)?;
        }
    }
    let media_type = from.headers().get("Content-Type")?.unwrap_or_default();
    headers.set("Content-Type", harmless_type(&media_type))?;
    headers.set("Content-Disposition", &disposition(name))?;
    let builder = ResponseBuilder::new().with_status(status).with_headers(headers);
    if is_head || status == 304 {
        return Ok(builder.empty());
    }
    let length = announced_length(from.headers())?;
    let body = with_pause_limit(from.stream()?, connection);
    match length {
        // A client can only detect truncation if it knows the length.
        Some(length) => {
            let body: SizedStream = FixedLengthStream::wrap(body, length).into();
            Ok(builder.stream(body.readable()))
        }
        None => builder.from_stream(body),
    }
}

/// The length of the body as we read it. Unknown for a compressed body, which the runtime decompresses.
fn announced_length(headers: &Headers) -> worker::Result<Option<u64>> {
    if headers.has("Content-Encoding")? {
        return Ok(None);
    }
    Ok(headers.get("Content-Length")?.and_then(|length| length.parse().ok()))
}

/// Streams the body and fails after a long pause. The connection is closed with the stream.
fn with_pause_limit(body: ByteStream, connection: Connection) -> impl Stream<Item = worker::Result<Vec<u8>>> {
    stream::unfold(Some((body, connection)), |state| async {
        let (mut body, connection) = state?;
        let piece = match within(MAX_PAUSE, body.next()).await {
            Some(piece) => piece?,
            None => Err(Error::RustError("storage paused for too long".to_owned())),
        };
        let is_broken = piece.is_err();
        Some((piece, (!is_broken).then_some((body, connection))))
    })
}

fn harmless_type(media_type: &str) -> &'static str {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match HARMLESS_TYPES.into_iter().find(|harmless| essence.eq_ignore_ascii_case(harmless)) {
        Some("text/csv") => "text/csv; charset=utf-8",
        Some("text/markdown") => "text/markdown; charset=utf-8",
        Some("text/plain") => "text/plain; charset=utf-8",
        Some(harmless) => harmless,
        None => "application/octet-stream",
    }
}

/// `Content-Disposition` (RFC 6266) for a download, with the name in ASCII and in UTF-8.
fn disposition(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|character| match character {
            '"' | '\\' | '/' | '%' => '_',
            ' '..='~' => character,
            _ => '_',
        })
        .collect();
    let encoded = utf8_percent_encode(name, ENCODED_IN_FILE_NAME);
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

fn no_document() -> HttpError {
    HttpError::not_found("There is no such document, or it has no file to download.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_media_types_are_forwarded() {
        assert_eq!(harmless_type("application/PDF"), "application/pdf");
        assert_eq!(harmless_type("text/plain; charset=latin1"), "text/plain; charset=utf-8");
        for other in
            ["", "text/html", "image/svg+xml", "application/javascript", "text/xml", "application/pdf,x"]
        {
            assert_eq!(harmless_type(other), "application/octet-stream", "{other}");
        }
    }

    #[test]
    fn file_names_are_escaped_in_the_header() {
        assert_eq!(disposition("a.pdf"), "attachment; filename=\"a.pdf\"; filename*=UTF-8''a.pdf");
        assert_eq!(
            disposition("é\"; x=\"\r\nSet-Cookie: a/../%2e.pdf"),
            "attachment; filename=\"__; x=___Set-Cookie: a_..__2e.pdf\"; \
             filename*=UTF-8''%C3%A9%22%3B%20x%3D%22%0D%0ASet-Cookie%3A%20a%2F..%2F%252e.pdf"
        );
    }
}
