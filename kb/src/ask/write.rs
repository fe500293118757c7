//! Lets a language model write the answer, with the same prompt and the same checks as the Worker.

use std::time::Duration;

use chat_core::answer::Answer;
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::Assessment;
use chat_core::generate::{
    CompletionRequest, Ending, Fallback, Finish, Generation, GenerationReport, Message, Piece, TAG_CHARS,
};
use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::supabase::http_client;

/// Bytes of a response that are read.
const MAX_RESPONSE_BYTES: usize = 2 * 1024 * 1024;

/// An OpenAI-compatible server and its model.
#[derive(Debug, Clone)]
pub struct Model {
    /// The base URL, without `/chat/completions`.
    pub url: Url,
    /// The name that the server knows.
    pub name: String,
    /// Sent to that server only.
    pub key: Option<String>,
    /// Time for the whole answer.
    pub timeout: Duration,
    /// Tokens of the answer.
    pub max_tokens: u32,
}

/// Why the model wrote no answer. Unlike the Worker, `kb` says what is wrong: the reader is the operator.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    #[error("the server of the language model cannot be reached: {0}")]
    Connection(#[from] reqwest::Error),
    #[error("the server of the language model answered with {0}")]
    Status(StatusCode),
    #[error("the response of the language model cannot be read: {0}")]
    Unreadable(String),
}

/// The written answer, or `None` with the reason in the report, and what went wrong, if anything did.
pub(super) async fn write(
    question: &str,
    rows: &[MatchedChunk],
    assessment: &Assessment,
    quotes: &Answer,
    model: &Model,
) -> (Option<Answer>, GenerationReport, Option<WriteError>) {
    let mut generation = Generation::new(question, rows, assessment, Some(quotes), true, &model.name);
    let deadline = Instant::now() + model.timeout;
    let (fault, error) = match timeout_at(deadline, read(&mut generation, model)).await {
        Ok(Ok(())) => (None, None),
        Ok(Err(error)) => (Some(Fallback::Error), Some(error)),
        Err(_) => (Some(Fallback::Timeout), None),
    };
    generation.end(Ending::Cut);
    let (answer, report) = generation.finish(fault);
    (answer, report, error)
}

async fn read(generation: &mut Generation, model: &Model) -> Result<(), WriteError> {
    let client = http_client(&model.url)?;
    for share in [1.0, 0.5] {
        let tag: String = Uuid::new_v4().simple().to_string().chars().take(TAG_CHARS).collect();
        let response = send(&client, model, &generation.messages(&tag, share)).await?;
        match response.status() {
            StatusCode::OK => return read_pieces(generation, response).await,
            // Perhaps too long a prompt.
            StatusCode::BAD_REQUEST if share == 1.0 => {}
            status => return Err(WriteError::Status(status)),
        }
    }
    Ok(())
}

async fn send(client: &Client, model: &Model, messages: &[Message]) -> Result<Response, WriteError> {
    let url = format!("{}/chat/completions", model.url.as_str().trim_end_matches('/'));
    let body = CompletionRequest::new(&model.name, messages, model.max_tokens);
    let body = serde_json::to_vec(&body).map_err(|error| WriteError::Unreadable(error.to_string()))?;
    let mut request = client.post(url).header(CONTENT_TYPE, "application/json").body(body);
    if let Some(key) = &model.key {
        request = request.bearer_auth(key);
    }
    Ok(request.send().await?)
}

async fn read_pieces(generation: &mut Generation, response: Response) -> Result<(), WriteError> {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !media_type.is_some_and(|media_type| media_type.starts_with("text/event-stream")) {
        return Err(WriteError::Unreadable("it is not a stream of events".to_owned()));
    }
    let mut left = MAX_RESPONSE_BYTES;
    let bytes = response.bytes_stream().map(move |piece| {
        let piece = piece?;
        left = left
            .checked_sub(piece.len())
            .ok_or_else(|| WriteError::Unreadable("it is too long".to_owned()))?;
        Ok::<_, WriteError>(piece)
    });
    let mut events = Box::pin(bytes.eventsource());
    let mut finish = None;
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| WriteError::Unreadable(error.to_string()))?;
        let piece = Piece::parse(&event.data).map_err(|error| WriteError::Unreadable(error.to_string()))?;
        generation.set_usage(piece.prompt_tokens, piece.completion_tokens);
        finish = finish.or(piece.finish);
        generation.push(&piece.text);
        if piece.is_last || generation.is_done() {
            break;
        }
    }
    generation.end(if finish == Some(Finish::Cut) { Ending::Cut } else { Ending::Whole });
    Ok(())
}
