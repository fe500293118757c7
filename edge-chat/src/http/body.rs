//! Reads bodies. Those of requests are JSON only, up to the size limit.

use std::time::Duration;

use chat_core::error::ErrorCode;
use chat_core::request::MAX_BODY_BYTES;
use futures_util::StreamExt;
use worker::Request;
use worker::js_sys::Uint8Array;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;
use worker::web_sys::{ReadableStream, ReadableStreamDefaultReader, Response};

use super::error::HttpError;
use crate::clock::within;

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the body.
pub(crate) async fn read_json(request: &mut Request) -> Result<Vec<u8>, HttpError> {
    within(BODY_TIMEOUT, read(request)).await.unwrap_or_else(|| {
        let seconds = BODY_TIMEOUT.as_secs();
        let message = format!("The body took longer than {seconds} seconds to arrive.");
        Err(HttpError::new(ErrorCode::InvalidRequest, &message))
    })
}

async fn read(request: &mut Request) -> Result<Vec<u8>, HttpError> {
    let header = |name| request.headers().get(name).ok().flatten();
    if !header("content-type").as_deref().is_some_and(is_json) {
        return Err(HttpError::new(
            ErrorCode::UnsupportedMediaType,
            "Send the body as JSON in UTF-8, with the header Content-Type: application/json.",
        ));
    }
    // As u64, because `usize` has 32 bits here and a client may claim any length.
    let announced = header("content-length").and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BODY_BYTES as u64) {
        return Err(too_large());
    }
    if announced.is_some() {
        // The runtime ends a body at the length that was announced.
        let body = request.bytes().await.map_err(|_| cut_off())?;
        return if body.len() > MAX_BODY_BYTES { Err(too_large()) } else { Ok(body) };
    }
    // A request without a body has no stream. It counts as an empty body.
    let Ok(mut stream) = request.stream() else { return Ok(Vec::new()) };
    let mut body = Vec::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| cut_off())?;
        if body.len() + piece.len() > MAX_BODY_BYTES {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// JSON is UTF-8. A body in another character set would be misread.
fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json"));
    is_json && parts.all(|parameter| !is_other_charset(parameter))
}

fn is_other_charset(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let value = value.trim().trim_matches('"');
    name.trim().eq_ignore_ascii_case("charset")
        && !["utf-8", "utf8"].iter().any(|utf8| value.eq_ignore_ascii_case(utf8))
}

/// The whole body of a response that is known to be small. One call of JavaScript instead of several for each piece of a stream.
pub(crate) async fn read_small(response: &Response) -> Result<Vec<u8>, JsValue> {
    let whole = response.array_buffer()?;
    Ok(Uint8Array::new(&JsFuture::from(whole).await?).to_vec())
}

/// The pieces of a response's body, as the network brings them.
pub(crate) struct Pieces(ReadableStreamDefaultReader);

#[wasm_bindgen]
extern "C" {
    /// The result of one read.
    type Read;
    #[wasm_bindgen(method, getter)]
    fn value(this: &Read) -> Option<Uint8Array>;
}

impl Pieces {
    pub(crate) fn of(body: &ReadableStream) -> Self {
        Self(body.get_reader().unchecked_into())
    }

    /// The next piece; `None` at the end.
    pub(crate) async fn next(&self) -> Result<Option<Uint8Array>, JsValue> {
        let read = JsFuture::from(self.0.read()).await?;
        Ok(read.unchecked_into::<Read>().value())
    }
}

fn cut_off() -> HttpError {
    HttpError::new(ErrorCode::InvalidRequest, "The body was cut off.")
}

fn too_large() -> HttpError {
    HttpError::new(
        ErrorCode::PayloadTooLarge,
        &format!("The request is larger than {} KiB. Ask a shorter question.", MAX_BODY_BYTES / 1024),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_in_utf8_is_accepted() {
        for json in [
            "application/json",
            "Application/JSON ; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json; profile=x",
        ] {
            assert!(is_json(json), "{json}");
        }
        for other in [
            "",
            "text/plain",
            "application/jsonp",
            "application/x-www-form-urlencoded",
            "text/json",
            "application/json; charset=utf-16",
            "application/json, text/plain",
        ] {
            assert!(!is_json(other), "{other}");
        }
    }
}
