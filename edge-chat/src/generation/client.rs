//! Streams a completion from the model.

use std::pin::Pin;

use chat_core::generate::{CompletionRequest, Message, Piece, PieceError};
use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::stream::{Stream, StreamExt, once, unfold};
use futures_util::{FutureExt, TryStreamExt};
use worker::{AbortController, Env, Fetch, Headers, Method, Request, RequestInit, RequestRedirect, Response};

use crate::config::{ModelConfig, Provider};

/// The binding of Workers AI.
const AI_BINDING: &str = "AI";
/// Bytes of a response that are read: many times what an answer of 1,000 tokens takes.
const MAX_RESPONSE_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of an error response that are read.
const MAX_ERROR_BYTES: usize = 16 * 1024;

/// Why the model's output ended early. The text is for the log.
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
    /// The response cannot be read.
    #[error("the model's response cannot be read: {0}")]
    Unreadable(String),
}

/// The model's output. Dropping it closes the connection.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = Result<Piece, ModelError>>>>;

/// Cancels the request when dropped.
struct Connection(AbortController);

impl Drop for Connection {
    fn drop(&mut self) {
        // A controller can abort once; what was read to its end ignores it.
        std::mem::take(&mut self.0).abort();
    }
}

/// Sends the prompt. Returns when the response has begun.
pub(super) async fn stream(
    model: &ModelConfig,
    env: &Env,
    messages: &[Message],
) -> Result<Pieces, ModelError> {
    let body = CompletionRequest::new(&model.model, messages, model.max_tokens);
    match &model.provider {
        Provider::OpenAi { url, key } => {
            let body =
                serde_json::to_string(&body).map_err(|error| ModelError::Unreadable(error.to_string()))?;
            open_ai(url, key.as_deref(), body).await
        }
        Provider::WorkersAi => {
            let ai = env
                .ai(AI_BINDING)
                .map_err(|_| ModelError::Rejected(format!("the binding {AI_BINDING} is missing")))?;
            let bytes = ai.run_bytes(&model.model, &body).await;
            let bytes = bytes.map_err(|error| ModelError::Unavailable(short(&error.to_string())))?;
            Ok(pieces(bytes.map_err(|_| ModelError::Unavailable("the connection was lost".to_owned())), None))
        }
    }
}

async fn open_ai(url: &str, key: Option<&str>, body: String) -> Result<Pieces, ModelError> {
    let no_request = |error: worker::Error| ModelError::Rejected(short(&error.to_string()));
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
    let controller = AbortController::default();
    let signal = controller.signal();
    let connection = Connection(controller);
    let sent = Fetch::Request(request).send_with_signal(&signal).await;
    let mut response = sent.map_err(|_| ModelError::Unavailable("no connection".to_owned()))?;
    match response.status_code() {
        200 => {}
        status => return Err(error_from_status(status, &error_body(&mut response).await)),
    }
    let media_type = response.headers().get("content-type").ok().flatten().unwrap_or_default();
    let bytes = response.stream().map_err(|error| ModelError::Unreadable(short(&error.to_string())))?;
    let bytes = bytes.map_err(|_| ModelError::Unavailable("the connection was lost".to_owned()));
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
) -> Pieces {
    let mut left = MAX_RESPONSE_BYTES;
    let bounded = bytes.map(move |piece| {
        let piece = piece?;
        left = left
            .checked_sub(piece.len())
            .ok_or_else(|| ModelError::Unreadable("it is too long".to_owned()))?;
        Ok(piece)
    });
    let events = Box::pin(bounded.eventsource());
    Box::pin(unfold(Some((events, connection)), |state| async {
        let (mut events, connection) = state?;
        let piece = match events.next().await? {
            Ok(event) => Piece::parse(&event.data).map_err(unreadable),
            Err(EventStreamError::Transport(error)) => Err(error),
            Err(error) => Err(ModelError::Unreadable(short(&error.to_string()))),
        };
        let is_over = piece.as_ref().map_or(true, |piece| piece.is_last);
        Some((piece, (!is_over).then_some((events, connection))))
    }))
}

async fn read(
    mut bytes: impl Stream<Item = Result<Vec<u8>, ModelError>> + Unpin,
    max_bytes: usize,
) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(piece) = bytes.next().await {
        let piece = piece?;
        if body.len() + piece.len() > max_bytes {
            return Err(ModelError::Unreadable("it is too long".to_owned()));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// What a server says about an error; empty if that cannot be read.
async fn error_body(response: &mut Response) -> String {
    let Ok(bytes) = response.stream() else { return String::new() };
    let bytes = bytes.map_err(|_| ModelError::Unavailable(String::new()));
    let body = read(bytes, MAX_ERROR_BYTES).map(Result::unwrap_or_default).await;
    String::from_utf8_lossy(&body).into_owned()
}

fn error_from_status(status: u16, body: &str) -> ModelError {
    // llama.cpp, vLLM and OpenAI name it differently.
    let is_too_long =
        ["exceed_context_size", "context_length_exceeded", "maximum context length", "context length"];
    match status {
        400 | 413 | 422 if is_too_long.iter().any(|words| body.contains(words)) => ModelError::PromptTooLong,
        // The body is not logged: a proxy may repeat the key in it.
        300..=499 if status != 408 && status != 429 => ModelError::Rejected(format!("HTTP {status}")),
        _ => ModelError::Unavailable(format!("HTTP {status}")),
    }
}

fn unreadable(error: PieceError) -> ModelError {
    ModelError::Unreadable(error.to_string())
}

/// Bounds a message for the log.
fn short(message: &str) -> String {
    message.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_a_kind_of_error() {
        for status in [301, 302, 400, 401, 403, 404, 422] {
            assert!(
                matches!(error_from_status(status, "secret"), ModelError::Rejected(text) if !text.contains("secret"))
            );
        }
        for status in [408, 429, 500, 502, 503, 529] {
            assert!(matches!(error_from_status(status, ""), ModelError::Unavailable(_)), "{status}");
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_is_recognized() {
        for body in [
            r#"{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            r#"{"message":"This model's maximum context length is 4096 tokens"}"#,
        ] {
            assert_eq!(error_from_status(400, body), ModelError::PromptTooLong);
        }
    }
}
