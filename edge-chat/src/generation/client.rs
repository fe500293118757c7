//! Streams a completion from the model.

use std::pin::Pin;

use chat_core::generate::{CompletionRequest, Message, Piece, PieceError};
use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::stream::{Stream, StreamExt, once, unfold};
use futures_util::{FutureExt, TryStreamExt};
use serde::Serialize;
use worker::{Env, Fetch, Headers, Method, Request, RequestInit, RequestRedirect, Response};

use crate::config::{ModelConfig, Provider};
use crate::http::connection::Connection;

/// The binding of Workers AI.
const AI_BINDING: &str = "AI";
/// Bytes of a response that are read: many times what an answer of 1,000 tokens takes.
const MAX_RESPONSE_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of an error response that are read.
const MAX_ERROR_BYTES: usize = 16 * 1024;
/// The UTF-8 byte order mark.
const BOM: &[u8] = b"\xEF\xBB\xBF";
/// The number of an error of Workers AI.
const NO_SUCH_MODEL: &str = "5007";

/// The reason why the model's output ended early. The text is for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ModelError {
    /// The prompt has more tokens than the model takes.
    #[error("the prompt is too long for the model")]
    PromptTooLong,
    /// Wrong address, key or model: only the operator can fix it.
    #[error("the model's server rejects the configuration: {0}")]
    Rejected(String),
    /// The server cannot answer now.
    #[error("the model's server cannot answer: {0}")]
    Unavailable(String),
    /// The server cannot answer for some seconds.
    #[error("the model's server cannot answer for {retry_after_s} s: HTTP {status}")]
    Busy { status: u16, retry_after_s: u64 },
    /// The response cannot be read.
    #[error("the model's response cannot be read: {0}")]
    Unreadable(String),
}

/// The model's output. Dropping it closes the connection.
pub(super) type ModelOutput = Pin<Box<dyn Stream<Item = Result<Piece, ModelError>>>>;

/// The input of Workers AI. It names the model apart from the input and has no option for the usage, which it always sends.
#[derive(Serialize)]
struct WorkersAiRequest<'a> {
    messages: &'a [Message],
    stream: bool,
    temperature: f64,
    max_tokens: u32,
}

/// Sends the prompt. Returns when the response has begun.
pub(super) async fn stream(
    model: &ModelConfig,
    env: &Env,
    messages: &[Message],
) -> Result<ModelOutput, ModelError> {
    let max_tokens = model.max_tokens;
    match &model.provider {
        Provider::OpenAi { url, key } => {
            let body = serde_json::to_string(&CompletionRequest::new(&model.model, messages, max_tokens));
            let body =
                body.map_err(|_| ModelError::Unreadable("the request cannot be written".to_owned()))?;
            open_ai(url, key.as_deref(), body).await
        }
        Provider::WorkersAi => {
            let request = WorkersAiRequest { messages, stream: true, temperature: 0.0, max_tokens };
            workers_ai(env, &model.model, &request).await
        }
    }
}

/// Whether the Worker has the binding of Workers AI.
pub(super) fn has_workers_ai(env: &Env) -> bool {
    env.ai(AI_BINDING).is_ok()
}

async fn workers_ai(
    env: &Env,
    model: &str,
    request: &WorkersAiRequest<'_>,
) -> Result<ModelOutput, ModelError> {
    let ai = env.ai(AI_BINDING).map_err(|_| ModelError::Rejected(missing_binding()))?;
    let bytes = ai.run_bytes(model, request).await.map_err(|error| workers_ai_error(&error.to_string()))?;
    Ok(pieces(bytes.map_err(|_| connection_lost()), None))
}

async fn open_ai(url: &str, key: Option<&str>, body: String) -> Result<ModelOutput, ModelError> {
    // The errors of these calls may repeat what they were given.
    let no_request = |_: worker::Error| ModelError::Rejected("no request can be made for it".to_owned());
    let headers = Headers::new();
    headers.set("Content-Type", "application/json").map_err(no_request)?;
    headers.set("Accept", "text/event-stream").map_err(no_request)?;
    if let Some(key) = key {
        headers.set("Authorization", &format!("Bearer {key}")).map_err(no_request)?;
    }
    let mut init = RequestInit::new();
    // Following a redirect would send the key and the passages elsewhere.
    init.with_method(Method::Post).with_headers(headers).with_redirect(RequestRedirect::Manual);
    init.with_body(Some(body.into()));
    let request = Request::new_with_init(&format!("{url}/chat/completions"), &init).map_err(no_request)?;
    let (connection, signal) = Connection::new();
    let sent = Fetch::Request(request).send_with_signal(&signal).await;
    let mut response = sent.map_err(|_| ModelError::Unavailable("no connection".to_owned()))?;
    match response.status_code() {
        200 => {}
        status => {
            let retry_after = response.headers().get("retry-after").ok().flatten();
            let retry_after_s = retry_after.and_then(|seconds| seconds.trim().parse().ok());
            return Err(error_from_status(status, retry_after_s, &error_body(&mut response).await));
        }
    }
    let media_type = response.headers().get("content-type").ok().flatten().unwrap_or_default();
    let media_type = media_type.to_ascii_lowercase();
    let bytes = response.stream().map_err(|_| ModelError::Unreadable("it has no body".to_owned()))?;
    let bytes = bytes.map_err(|_| connection_lost());
    if media_type.starts_with("text/event-stream") {
        Ok(pieces(bytes, Some(connection)))
    } else if media_type.starts_with("application/json") {
        // A server that does not stream.
        let body = read(bytes, MAX_RESPONSE_BYTES).await?;
        let piece = Piece::parse(&String::from_utf8_lossy(&body)).map_err(unreadable);
        let last = Piece { is_last: true, ..Piece::default() };
        Ok(Box::pin(once(async { piece }).chain(once(async { Ok(last) }))))
    } else {
        Err(ModelError::Unreadable("neither a stream of events nor JSON".to_owned()))
    }
}

/// The pieces of a stream of events. The bytes are bounded, so that a line without an end cannot fill the memory.
fn pieces(
    bytes: impl Stream<Item = Result<Vec<u8>, ModelError>> + Unpin + 'static,
    connection: Option<Connection>,
) -> ModelOutput {
    let mut left = MAX_RESPONSE_BYTES;
    let mut bom = BOM.iter();
    let bounded = bytes.map(move |piece| {
        let mut piece = piece?;
        left = left.checked_sub(piece.len()).ok_or_else(too_long)?;
        strip_bom(&mut piece, &mut bom);
        Ok(piece)
    });
    let events = Box::pin(bounded.eventsource());
    Box::pin(unfold(Some((events, connection)), |state| async {
        let (mut events, connection) = state?;
        let piece = match events.next().await? {
            Ok(event) => Piece::parse(&event.data).map_err(unreadable),
            Err(EventStreamError::Transport(error)) => Err(error),
            // These errors contain the text.
            Err(EventStreamError::Utf8(_)) => Err(ModelError::Unreadable("it is not UTF-8".to_owned())),
            Err(EventStreamError::Parser(_)) => Err(ModelError::Unreadable("it has no events".to_owned())),
        };
        let is_over = piece.as_ref().map_or(true, |piece| piece.is_last);
        Some((piece, (!is_over).then_some((events, connection))))
    }))
}

/// Removes the byte order mark at the beginning of a stream, however it is cut: `eventsource-stream` 0.2.3 panics on it.
/// `expected` are the bytes of the mark that have not come yet; it is empty once another byte has come.
fn strip_bom(piece: &mut Vec<u8>, expected: &mut std::slice::Iter<'_, u8>) {
    let marked = piece.iter().zip(expected.as_slice()).take_while(|(byte, bom)| byte == bom).count();
    let is_over = marked < piece.len();
    piece.drain(..marked);
    if is_over {
        *expected = [].iter();
    } else if marked > 0 {
        expected.nth(marked - 1);
    }
}

async fn read(
    mut bytes: impl Stream<Item = Result<Vec<u8>, ModelError>> + Unpin,
    max_bytes: usize,
) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(piece) = bytes.next().await {
        let piece = piece?;
        if body.len() + piece.len() > max_bytes {
            return Err(too_long());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// The body of an error response; empty if it cannot be read.
async fn error_body(response: &mut Response) -> String {
    let Ok(bytes) = response.stream() else { return String::new() };
    let bytes = bytes.map_err(|_| connection_lost());
    let body = read(bytes, MAX_ERROR_BYTES).map(Result::unwrap_or_default).await;
    String::from_utf8_lossy(&body).into_owned()
}

/// `retry_after_s` is a header. Its other form, a date, is rare and counts as missing.
fn error_from_status(status: u16, retry_after_s: Option<u64>, body: &str) -> ModelError {
    // llama.cpp, vLLM and OpenAI name it differently.
    let is_too_long =
        ["exceed_context_size", "context_length_exceeded", "maximum context length", "context length"];
    match (status, retry_after_s) {
        (400 | 413 | 422, _) if is_too_long.iter().any(|words| body.contains(words)) => {
            ModelError::PromptTooLong
        }
        (429 | 503, Some(retry_after_s)) => ModelError::Busy { status, retry_after_s },
        // The body is not logged: a proxy may repeat the key in it.
        (300..=499, _) if status != 408 && status != 429 => ModelError::Rejected(format!("HTTP {status}")),
        _ => ModelError::Unavailable(format!("HTTP {status}")),
    }
}

/// The errors of Workers AI have a number: "AiError: 5007: No such model". Only the number is logged, because the text may
/// repeat the input.
fn workers_ai_error(message: &str) -> ModelError {
    let mut words = message.split(|c: char| !c.is_ascii_digit());
    let code = words.find(|word| word.len() == 4).unwrap_or("without a number");
    if message.contains("context window") {
        ModelError::PromptTooLong
    } else if code == NO_SUCH_MODEL {
        ModelError::Rejected(format!("Workers AI has no such model (error {code})"))
    } else {
        ModelError::Unavailable(format!("Workers AI error {code}"))
    }
}

pub(super) fn missing_binding() -> String {
    format!("the binding {AI_BINDING} is missing")
}

fn connection_lost() -> ModelError {
    ModelError::Unavailable("the connection was lost".to_owned())
}

fn too_long() -> ModelError {
    ModelError::Unreadable("it is too long".to_owned())
}

fn unreadable(error: PieceError) -> ModelError {
    ModelError::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_a_kind_of_error() {
        for status in [301, 302, 400, 401, 403, 404, 422] {
            assert!(
                matches!(error_from_status(status, Some(7), "secret"), ModelError::Rejected(text) if !text.contains("secret"))
            );
        }
        for status in [408, 429, 500, 502, 503, 529] {
            assert!(matches!(error_from_status(status, None, ""), ModelError::Unavailable(_)), "{status}");
        }
        for status in [429, 503] {
            let busy = ModelError::Busy { status, retry_after_s: 7 };
            assert_eq!(error_from_status(status, Some(7), ""), busy);
        }
    }

    #[test]
    fn errors_of_workers_ai_are_kinds_of_errors_without_their_text() {
        let too_long = "AiError: 5021: The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8000).";
        assert_eq!(workers_ai_error(too_long), ModelError::PromptTooLong);
        assert!(matches!(workers_ai_error("AiError: 5007: No such model @cf/x"), ModelError::Rejected(_)));
        let overloaded = workers_ai_error("AiError: 3040: Capacity exceeded for: my secret question");
        assert_eq!(overloaded, ModelError::Unavailable("Workers AI error 3040".to_owned()));
        assert!(matches!(workers_ai_error("no"), ModelError::Unavailable(_)));
    }

    #[test]
    fn a_byte_order_mark_is_removed_however_the_stream_is_cut() {
        for (pieces, text) in [
            (vec!["\u{feff}data: a\u{feff}"], "data: a\u{feff}"),
            (vec!["data: ", "\u{feff}a"], "data: \u{feff}a"),
            (vec!["", "\u{feff}", "\u{feff}x"], "\u{feff}x"),
        ] {
            let whole: Vec<u8> = pieces.concat().into_bytes();
            let by_byte = whole.iter().map(|byte| vec![*byte]).collect();
            for pieces in [pieces.iter().map(|piece| piece.as_bytes().to_vec()).collect(), by_byte] {
                let pieces: Vec<Vec<u8>> = pieces;
                let mut expected = BOM.iter();
                let mut read = Vec::new();
                for mut piece in pieces {
                    strip_bom(&mut piece, &mut expected);
                    read.extend(piece);
                }
                assert_eq!(String::from_utf8_lossy(&read), text);
            }
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_is_recognized() {
        for body in [
            r#"{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            r#"{"message":"This model's maximum context length is 4096 tokens"}"#,
        ] {
            assert_eq!(error_from_status(400, None, body), ModelError::PromptTooLong);
        }
    }
}
