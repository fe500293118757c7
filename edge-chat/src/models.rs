//! `GET /v1/models`: what clients of OpenAI's API ask for first.

use chat_core::assistant::AssistantName;
use chat_core::openai::MODEL_NAME;
use chat_core::request::DIMENSIONS;
use serde::Serialize;
use worker::Response;

use crate::call::Call;
use crate::http::error::HttpError;
use crate::http::reply::Reply;

#[derive(Serialize)]
struct List {
    object: &'static str,
    data: [Model; 1],
}

#[derive(Serialize)]
struct Model {
    id: &'static str,
    object: &'static str,
    /// Required by OpenAI's libraries, in seconds since 1970. There is no such time.
    created: u64,
    owned_by: &'static str,
    /// The fingerprint of the stored vectors, as `model` of `/api/config`.
    embedding_model: Option<String>,
    dimensions: usize,
}

/// Lists the default assistant only, so that nobody can list the names of others. Needs a token, because clients check their API key with it.
pub(crate) async fn list(call: Call) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    let settings = call.settings(&AssistantName::default(), Some(&supabase)).await?;
    let model = Model {
        id: MODEL_NAME,
        object: "model",
        created: 0,
        owned_by: MODEL_NAME,
        embedding_model: settings.model,
        dimensions: DIMENSIONS,
    };
    Ok(Reply::new(Response::from_json(&List { object: "list", data: [model] })?, "models"))
}
