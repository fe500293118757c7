//! The OpenAI-compatible API for chat completions: the request, and the pieces of a streamed response.

use serde::{Deserialize, Serialize};

use super::prompt::Message;

/// The body of `POST …/chat/completions`.
#[derive(Debug, Serialize)]
pub struct CompletionRequest<'a> {
    model: &'a str,
    messages: &'a [Message],
    stream: bool,
    stream_options: StreamOptions,
    temperature: f64,
    max_tokens: u32,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl<'a> CompletionRequest<'a> {
    /// Asks for a stream, for the likeliest words, and for the number of tokens at the end.
    pub fn new(model: &'a str, messages: &'a [Message], max_tokens: u32) -> Self {
        let stream_options = StreamOptions { include_usage: true };
        Self { model, messages, stream: true, stream_options, temperature: 0.0, max_tokens }
    }
}

/// One event of a streamed response.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Output. Empty for events without any, such as the role, and for the thoughts of reasoning models.
    pub text: String,
    /// The reason why the model stopped, if it did.
    pub finish: Option<Finish>,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the output.
    pub completion_tokens: Option<u64>,
    /// Whether the stream ends here.
    pub is_last: bool,
}

/// The reason why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It had finished.
    Stop,
    /// Something cut it off: a limit of tokens, a filter.
    Cut,
}

/// Data that is not a piece of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PieceError {
    /// Not JSON, or JSON of another form.
    #[error("the data are not a piece of a chat completion")]
    Malformed,
    /// The server reports an error within the stream.
    #[error("the server reported an error in its stream")]
    Reported,
}

#[derive(Deserialize)]
struct RawPiece {
    choices: Option<Vec<RawChoice>>,
    /// Workers AI.
    response: Option<serde_json::Value>,
    usage: Option<RawUsage>,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct RawChoice {
    delta: Option<RawDelta>,
    /// In a response that is not streamed.
    message: Option<RawDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct RawDelta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct RawUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

impl Piece {
    /// Reads the data of one server-sent event, or the body of a response that is not streamed.
    pub fn parse(data: &str) -> Result<Self, PieceError> {
        if data.trim() == "[DONE]" {
            return Ok(Self { is_last: true, ..Self::default() });
        }
        let raw: RawPiece = serde_json::from_slice(data.as_bytes()).map_err(|_| PieceError::Malformed)?;
        if raw.error.is_some() {
            return Err(PieceError::Reported);
        }
        if raw.choices.is_none() && raw.response.is_none() && raw.usage.is_none() {
            return Err(PieceError::Malformed);
        }
        let choice = raw.choices.into_iter().flatten().next();
        let finish =
            choice.as_ref().and_then(|choice| choice.finish_reason.as_deref()).map(|reason| match reason {
                "stop" | "eos" | "end_turn" => Finish::Stop,
                _ => Finish::Cut,
            });
        let delta = choice.and_then(|choice| choice.delta.or(choice.message));
        let text = match raw.response {
            Some(serde_json::Value::String(text)) => Some(text),
            _ => delta.and_then(|delta| delta.content),
        };
        let usage = raw.usage.as_ref();
        Ok(Self {
            text: text.unwrap_or_default(),
            finish,
            prompt_tokens: usage.and_then(|usage| usage.prompt_tokens),
            completion_tokens: usage.and_then(|usage| usage.completion_tokens),
            is_last: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_asks_for_a_stream_with_usage() {
        let messages = [Message { role: "user", content: "hi".to_owned() }];
        let body = serde_json::to_value(CompletionRequest::new("m", &messages, 200)).unwrap();
        assert_eq!(
            body,
            serde_json::json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }], "stream": true,
                "stream_options": { "include_usage": true }, "temperature": 0.0, "max_tokens": 200 })
        );
    }

    #[test]
    fn pieces_of_different_servers_are_read() {
        let text = |data: &str| Piece::parse(data).unwrap().text;
        assert_eq!(
            text(r#"{"choices":[{"delta":{"role":"assistant","content":null},"finish_reason":null}]}"#),
            ""
        );
        assert_eq!(text(r#"{"choices":[{"delta":{"content":" 5"}}],"created":1}"#), " 5");
        assert_eq!(text(r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#), "");
        assert_eq!(text(r#"{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}"#), "whole");
        assert_eq!(text(r#"{"response":"It","p":"abc"}"#), "It");
        let usage =
            Piece::parse(r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#).unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(7), Some(3)));
        assert!(Piece::parse("[DONE]").unwrap().is_last);
    }

    #[test]
    fn the_reason_of_the_end_is_read() {
        let finish = |reason: &str| {
            Piece::parse(&format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#))
                .unwrap()
                .finish
        };
        assert_eq!(finish("stop"), Some(Finish::Stop));
        assert_eq!(finish("length"), Some(Finish::Cut));
        assert_eq!(finish("content_filter"), Some(Finish::Cut));
    }

    #[test]
    fn other_data_are_errors() {
        for data in ["", "{", "[]", "{}", "null", "<html>", r#"{"choices":7}"#] {
            assert_eq!(Piece::parse(data), Err(PieceError::Malformed), "{data}");
        }
        assert_eq!(Piece::parse(r#"{"error":{"message":"no"}}"#), Err(PieceError::Reported));
    }
}
