//! What anyone may ask: whether the Worker is well, and the public settings of the chat.

use std::time::Duration;

use chat_core::error::ErrorCode;
use chat_core::request::{DIMENSIONS, MAX_MESSAGE_CHARS};
use serde::Serialize;
use serde_json::json;
use worker::Response;

use crate::call::Call;
use crate::config::LinkMode;
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::limits;
use crate::settings::Settings;
use crate::supabase::unavailable;

/// How long `/api/ready` waits for Supabase: monitors ask often and want to know soon.
const READY_TIME: Duration = Duration::from_secs(3);

/// Questions are answered without the secret, but the database cannot tell them from those that are asked past the Worker.
const UNVOUCHED: &str =
    "CHAT_WORKER_SECRET is not set: questions are not counted in the statistics and in content_gaps";

/// The public part of the settings, and what a client has to know of the contract.
#[derive(Serialize)]
struct PublicConfig {
    greeting: Option<String>,
    suggested_questions: Vec<String>,
    citations: bool,
    link_mode: LinkMode,
    /// The fingerprint of the stored vectors.
    model: Option<String>,
    dimensions: usize,
    max_message_chars: usize,
}

#[derive(Serialize)]
struct Ready {
    status: &'static str,
    /// What works, but not as it should.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// `GET /api/health`: the Worker runs. Asks nobody.
pub(crate) fn health() -> Result<Reply, HttpError> {
    Ok(Reply::new(Response::from_json(&json!({ "status": "ok" }))?, "ok"))
}

/// `GET /api/ready`: Supabase can be reached and has the schema.
pub(crate) async fn ready(call: Call) -> Result<Reply, HttpError> {
    call.check_ip_limit().await?;
    let settings = Settings::fresh(&call.config, call.deadline.at_most(READY_TIME));
    call.trace.time("settings", settings).await.map_err(not_ready)?;
    let mut warnings = limits::warnings(&call.env);
    if call.config.project.worker_secret.is_none() {
        warnings.push(UNVOUCHED.to_owned());
    }
    let ready = Ready { status: "ready", warnings };
    Ok(Reply::new(Response::from_json(&ready)?, "ready"))
}

/// A project that is reached but does not fit, such as one without the schema, is not ready either.
fn not_ready(error: HttpError) -> HttpError {
    match error.body.code {
        ErrorCode::Internal => unavailable("not ready", error.detail.as_deref().unwrap_or_default()),
        _ => error,
    }
}

/// `GET /api/config`: what the widget shows before the first question.
pub(crate) async fn config(call: Call) -> Result<Reply, HttpError> {
    let settings = call.settings().await?;
    let response = Response::from_json(&PublicConfig {
        greeting: settings.greeting,
        suggested_questions: settings.suggested_questions,
        citations: settings.citations,
        link_mode: settings.link_mode,
        model: settings.model,
        dimensions: DIMENSIONS,
        max_message_chars: MAX_MESSAGE_CHARS,
    })?;
    response.headers().set("Cache-Control", "public, max-age=60")?;
    Ok(Reply::new(response, "config"))
}
