//! Public endpoints: health, readiness and the public settings of the chat.

use std::time::Duration;

use chat_core::error::ErrorCode;
use chat_core::limits::MAX_MESSAGE_CHARS;
use chat_core::request::DIMENSIONS;
use serde::Serialize;
use serde_json::json;
use worker::Response;

use crate::call::Call;
use crate::generation;
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::limits;
use crate::settings::{AnswerModeSetting, LinkMode, Settings};
use crate::supabase::unavailable;

/// How long `/api/ready` waits for Supabase. Monitors poll often and expect a quick answer.
const READY_TIMEOUT: Duration = Duration::from_secs(3);

/// Without the secret, questions are answered, but the database cannot distinguish the Worker's calls from direct calls.
const MISSING_WORKER_SECRET: &str =
    "CHAT_WORKER_SECRET is not set: questions are not counted in the insights";

const MISSING_MODEL: &str =
    "answers are quotes, because the answer mode is endpoint and CHAT_LLM_URL is not set";

const UNUSED_SITE_KEY: &str = "CHAT_TURNSTILE_SITE_KEY has no effect, because CHAT_ANONYMOUS is not true";

const HIDDEN_FROM_VISITORS: &str =
    "visitors without an account may see none of the documents: see default_audience in chat_settings";

/// How the widget signs visitors in without an account.
#[derive(Serialize)]
struct PublicAnonymousSignIn {
    supabase_url: String,
    publishable_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    turnstile_site_key: Option<String>,
}

/// The public settings and the limits that a client needs.
#[derive(Serialize)]
struct PublicConfig {
    title: Option<String>,
    greeting: Option<String>,
    suggested_questions: Vec<String>,
    /// The address at which visitors reach people.
    #[serde(skip_serializing_if = "Option::is_none")]
    support_url: Option<String>,
    citations: bool,
    link_mode: LinkMode,
    /// The author of answers.
    answer_mode: AnswerModeSetting,
    /// The service that gets a question and its passages if a model writes the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    sends_to: Option<String>,
    /// If the owner lets visitors without an account ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    anonymous: Option<PublicAnonymousSignIn>,
    /// The fingerprint of the stored vectors.
    model: Option<String>,
    dimensions: usize,
    max_message_chars: usize,
}

#[derive(Serialize)]
struct PublicProject {
    supabase_url: String,
    publishable_key: String,
}

#[derive(Serialize)]
struct Ready {
    status: &'static str,
    /// Problems that do not prevent answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// `GET /api/health`: the Worker runs. Calls no other service.
pub(crate) fn health() -> Result<Reply, HttpError> {
    Ok(Reply::new(Response::from_json(&json!({ "status": "ok" }))?, "ok"))
}

/// `GET /api/ready`: Supabase can be reached and has the schema.
pub(crate) async fn ready(call: Call) -> Result<Reply, HttpError> {
    call.check_unknown().await?;
    let settings = Settings::fresh(&call.config, call.deadline.at_most(READY_TIMEOUT));
    let settings = call.trace.time("settings", settings).await.map_err(not_ready)?;
    let mut warnings = Vec::from_iter(limits::warning(&call.env));
    if call.config.project.worker_secret.is_none() {
        warnings.push(MISSING_WORKER_SECRET.to_owned());
    }
    let anonymous = &call.config.anonymous;
    if anonymous.turnstile_site_key.is_some() && !anonymous.is_enabled {
        warnings.push(UNUSED_SITE_KEY.to_owned());
    }
    if anonymous.is_enabled && settings.as_ref().is_some_and(|settings| settings.hides_documents) {
        warnings.push(HIDDEN_FROM_VISITORS.to_owned());
    }
    warnings.extend(settings.as_ref().and_then(|settings| Some(settings.outdated.as_ref()?.warning())));
    if settings.is_some_and(|settings| settings.answer_mode == AnswerModeSetting::Endpoint) {
        warnings.extend(match &call.config.model {
            None => Some(MISSING_MODEL.to_owned()),
            Some(model) => generation::warning(&call.env, model),
        });
    }
    let ready = Ready { status: "ready", warnings };
    Ok(Reply::new(Response::from_json(&ready)?, "ready"))
}

/// A project that responds but is unusable, for example without the schema, is not ready either.
fn not_ready(error: HttpError) -> HttpError {
    match error.body.code {
        ErrorCode::Internal => unavailable("not ready", error.detail.as_deref().unwrap_or_default()),
        _ => error,
    }
}

/// `GET /api/config`: what the widget needs before the first question. Reads the token only for an assistant that is not for
/// everybody, so that the limit of a user does not keep the settings of all others from them.
pub(crate) async fn config(call: Call) -> Result<Reply, HttpError> {
    let assistant = call.assistant()?;
    // Without the limit, a client could have one name after the other looked up.
    if !assistant.is_default() && !Settings::are_cached(&assistant) {
        call.check_unknown().await?;
    }
    let settings = match call.settings(&assistant, None).await {
        Err(error)
            if error.body.code == ErrorCode::UnknownAssistant && call.header("authorization").is_some() =>
        {
            let user = call.supabase(call.user().await?);
            call.settings(&assistant, Some(&user)).await?
        }
        settings => settings?,
    };
    settings.check_origin(call.header("origin").as_deref())?;
    let model = call.config.model.as_ref().filter(|_| settings.answer_mode == AnswerModeSetting::Endpoint);
    // Without a model, answers consist of quotes whatever the setting says.
    let answer_mode = match settings.answer_mode {
        AnswerModeSetting::Endpoint if model.is_none() => AnswerModeSetting::Extractive,
        mode => mode,
    };
    let cache_control = if settings.is_public { "public, max-age=60" } else { "private, no-store" };
    let response = Response::from_json(&PublicConfig {
        title: settings.title,
        greeting: settings.greeting,
        suggested_questions: settings.suggested_questions,
        support_url: settings.support_url,
        citations: settings.citations,
        link_mode: settings.link_mode,
        answer_mode,
        sends_to: model.map(|model| model.sends_to().to_owned()),
        anonymous: call.config.anonymous.is_enabled.then(|| PublicAnonymousSignIn {
            supabase_url: call.config.project.url.clone(),
            publishable_key: call.config.project.publishable_key.clone(),
            turnstile_site_key: call.config.anonymous.turnstile_site_key.clone(),
        }),
        model: settings.model,
        dimensions: DIMENSIONS,
        max_message_chars: MAX_MESSAGE_CHARS,
    })?;
    response.headers().set("Cache-Control", cache_control)?;
    Ok(Reply::new(response, "config"))
}

/// `GET /api/project`: where administrators sign in on the insights page. Both values are public: the widget's pages have them too.
pub(crate) fn project(call: &Call) -> Result<Reply, HttpError> {
    let response = Response::from_json(&PublicProject {
        supabase_url: call.config.project.url.clone(),
        publishable_key: call.config.project.publishable_key.clone(),
    })?;
    Ok(Reply::new(response, "project"))
}
