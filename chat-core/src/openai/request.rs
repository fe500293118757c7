//! Parses the body of `POST /v1/chat/completions` into a question.

use serde_json::Value;
use uuid::Uuid;

use crate::assistant::AssistantName;
use crate::error::ApiError;
use crate::fields::Fields;
use crate::reading::Reading;
use crate::request::{self, ChatRequest};

/// The name of the model that is the default assistant. Another assistant is `evidence-chat/` and its name.
pub const MODEL_NAME: &str = "evidence-chat";

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "stream",
    "n",
    "tools",
    "functions",
    "response_format",
    "modalities",
    "logprobs",
    "embedding",
    "embedding_model",
    "message_id",
    "session_id",
    "previous",
    "reading",
    "truncated",
    "include_citations",
    "mode",
];

const NO_EMBEDDING: &str = "embedding is missing: this server does not embed questions. Send the vector of the last user \
    message as embedding and the fingerprint of its model as embedding_model, or use the OpenAI adapter of Evidence Chat, \
    which does that.";

/// A question as an OpenAI client asks it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAiRequest {
    /// The question.
    pub question: ChatRequest,
    /// What the client calls the model.
    pub model: String,
    /// Whether the client wants a stream of chunks.
    pub is_streamed: bool,
}

/// Why a body is not such a question.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestError {
    /// What to change.
    pub error: ApiError,
    /// The field that is wrong.
    pub param: Option<&'static str>,
}

impl OpenAiRequest {
    /// Parses and checks a request body. `new_id` becomes the question's id if the client gives none.
    pub fn parse(body: &[u8], new_id: Uuid) -> Result<Self, RequestError> {
        let mut fields = Fields::parse(body, FIELDS).map_err(|error| RequestError { error, param: None })?;
        reject_unsupported(&mut fields)?;
        let model =
            check("model", fields.required("model").and_then(|value| request::model(value, "model")))?;
        let assistant = check("model", assistant(&model))?;
        let is_streamed = fields.take("stream").map_or(Ok(false), |value| boolean(&value, "stream"))?;
        let message = check("messages", fields.required("messages").and_then(|value| question(&value)))?;
        let embedding = fields.take("embedding").ok_or_else(|| ApiError::invalid_request(NO_EMBEDDING));
        let embedding =
            check("embedding", embedding.and_then(|value| request::embedding(&value, "embedding")))?;
        let mut id = |name| {
            let value = fields.take(name);
            check(name, value.map(|value| request::uuid(&value, name)).transpose())
        };
        let (message_id, session_id) = (id("message_id")?.unwrap_or(new_id), id("session_id")?);
        let fingerprint = fingerprint(fields.take("embedding_model"), &model, assistant.is_some())?;
        let include_citations = fields.take("include_citations").map_or(Ok(true), request::include_citations);
        let is_extractive = fields.take("mode").map_or(Ok(false), request::is_extractive);
        let previous = fields.take("previous").map(request::previous).transpose();
        let reading = fields.take("reading").map(Reading::parse).transpose();
        let truncated = fields.take("truncated").map_or(Ok(false), request::truncated);
        let question = ChatRequest {
            embedding,
            previous: check("previous", previous)?,
            reading: check("reading", reading)?,
            truncated: check("truncated", truncated)? || request::is_truncated(&message),
            message,
            message_id,
            assistant: assistant.unwrap_or_default(),
            session_id,
            model: fingerprint,
            include_citations: check("include_citations", include_citations)?,
            is_extractive: check("mode", is_extractive)?,
        };
        Ok(Self { question, model, is_streamed })
    }
}

fn check<T>(param: &'static str, result: Result<T, ApiError>) -> Result<T, RequestError> {
    result.map_err(|error| RequestError { error, param: Some(param) })
}

fn invalid<T>(param: &'static str, message: impl Into<String>) -> Result<T, RequestError> {
    check(param, Err(ApiError::invalid_request(message)))
}

fn boolean(value: &Value, param: &'static str) -> Result<bool, RequestError> {
    value.as_bool().map_or_else(|| invalid(param, format!("{param} must be true or false")), Ok)
}

/// Rejects what would change the form or the meaning of the response, because it would be missing in silence.
fn reject_unsupported(fields: &mut Fields) -> Result<(), RequestError> {
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    let is_text = |value: &Value| value.get("type").is_some_and(|kind| kind == "text");
    let is_only_text = |value: &Value| *value == serde_json::json!(["text"]);
    let is_acceptable = |name: &str, value: &Value| match name {
        "n" => value.as_f64() == Some(1.0),
        "response_format" => is_text(value),
        "modalities" => is_only_text(value),
        "logprobs" => *value == Value::Bool(false),
        _ => is_empty(value),
    };
    for (name, message) in [
        ("n", "n must be 1: there is one answer to a question"),
        ("tools", "tools are not supported"),
        ("functions", "functions are not supported"),
        ("response_format", "response_format must be of the type text: answers are text with citations"),
        ("modalities", "modalities must be [\"text\"]"),
        ("logprobs", "logprobs are not available"),
    ] {
        if fields.take(name).is_some_and(|value| !is_acceptable(name, &value)) {
            return invalid(name, message);
        }
    }
    Ok(())
}

/// The fingerprint of the model that made the vector. A client that cannot send a field of its own may put it in the place
/// of the model's name, unless that is one of ours.
fn fingerprint(value: Option<Value>, model: &str, is_ours: bool) -> Result<String, RequestError> {
    match value {
        Some(value) => check("embedding_model", request::model(value, "embedding_model")),
        None if is_ours => invalid(
            "embedding_model",
            "embedding_model is missing: send the fingerprint of the model that made the vector",
        ),
        None => Ok(model.to_owned()),
    }
}

/// The assistant that the name of a model asks for. `None` for any other name, with which clients ask the default assistant.
fn assistant(model: &str) -> Result<Option<AssistantName>, ApiError> {
    match model.strip_prefix(MODEL_NAME) {
        Some("") => Ok(Some(AssistantName::default())),
        Some(rest) => rest.strip_prefix('/').map(AssistantName::parse).transpose(),
        None => Ok(None),
    }
}

/// The text of the last message of the user.
fn question(messages: &Value) -> Result<String, ApiError> {
    let Some(messages) = messages.as_array() else {
        return Err(ApiError::invalid_request("messages must be an array"));
    };
    let role_of = |message: &Value| message.get("role").and_then(Value::as_str).map(str::to_owned);
    if messages.iter().any(|message| role_of(message).is_none()) {
        return Err(ApiError::invalid_request("each of the messages must be an object with a role"));
    }
    let last = messages.iter().rev().find(|message| role_of(message).is_some_and(|role| role == "user"));
    let content = last.ok_or_else(|| {
        ApiError::invalid_request("messages must have one with the role user: it is the question")
    })?;
    match content.get("content") {
        Some(text @ Value::String(_)) => request::message(text),
        Some(Value::Array(parts)) => request::message(&Value::String(text_of(parts)?)),
        _ => Err(ApiError::invalid_request("the content of the last user message must be text")),
    }
}

/// The text of a message in parts.
fn text_of(parts: &[Value]) -> Result<String, ApiError> {
    let text_of = |part: &Value| {
        let is_text = part.get("type").is_some_and(|kind| kind == "text");
        part.get("text").and_then(Value::as_str).filter(|_| is_text).map(str::to_owned)
    };
    let texts: Option<Vec<_>> = parts.iter().map(text_of).collect();
    let texts = texts.ok_or_else(|| {
        ApiError::invalid_request("the last user message must consist of text: it has another part")
    })?;
    Ok(texts.join("\n"))
}
