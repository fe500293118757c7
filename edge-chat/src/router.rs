//! Routes a request, and gives every response the headers all of them carry.

use chat_core::error::ErrorCode;
use uuid::Uuid;
use worker::{Context, Date, Env, Method, Request, Response, Result};

use crate::chat;
use crate::config::variable;
use crate::cors::{Cors, PREFLIGHT_HEADERS};
use crate::error::Failure;
use crate::log::RequestLine;
use crate::reply::Reply;

/// The paths of the Worker.
#[derive(Clone, Copy)]
enum Route {
    Chat,
    Health,
    Unknown,
}

impl Route {
    fn of(path: &str) -> Self {
        match path {
            "/api/chat" => Self::Chat,
            "/api/health" => Self::Health,
            _ => Self::Unknown,
        }
    }

    /// The path for the log. An unknown one is not written down: it is the caller's text.
    fn name(self) -> &'static str {
        match self {
            Self::Chat => "/api/chat",
            Self::Health => "/api/health",
            Self::Unknown => "unknown",
        }
    }
}

/// Answers a request, whatever happens on the way.
pub(crate) async fn respond(request: Request, env: &Env, context: &Context) -> Result<Response> {
    let started = Date::now().as_millis();
    let request_id = Uuid::new_v4().to_string();
    let route = Route::of(&request.path());
    let origin = request.headers().get("origin")?;
    let cors = Cors::judge(&variable(env, "CHAT_ALLOWED_ORIGINS").unwrap_or_default(), origin.as_deref());

    let result = dispatch(route, request, &cors, &request_id, env, context).await;

    let (mut response, outcome, detail) = match result {
        Ok(Reply { response, outcome }) => (response, outcome, None),
        Err(failure) => {
            let (code, detail) = (failure.error.code.as_str(), failure.detail.clone());
            (error_response(failure, &request_id)?, code, detail)
        }
    };
    let headers = response.headers_mut();
    headers.set("X-Request-Id", &request_id)?;
    headers.set("X-Content-Type-Options", "nosniff")?;
    headers.set("Cache-Control", "no-store")?;
    for (name, value) in cors.headers() {
        headers.set(name, value)?;
    }
    RequestLine {
        request_id: &request_id,
        route: route.name(),
        status: response.status_code(),
        ms: Date::now().as_millis().saturating_sub(started),
        outcome,
        detail: detail.as_deref(),
    }
    .write();
    Ok(response)
}

async fn dispatch(
    route: Route,
    request: Request,
    cors: &Cors,
    request_id: &str,
    env: &Env,
    context: &Context,
) -> std::result::Result<Reply, Failure> {
    match (route, request.method()) {
        (Route::Unknown, _) => Err(Failure::new(ErrorCode::NotFound, "There is nothing at this address.")),
        (_, Method::Options) => preflight(cors),
        (Route::Chat, Method::Post) => chat::answer(request, request_id, env, context).await,
        (Route::Chat, _) => Err(Failure::method_not_allowed("POST, OPTIONS")),
        (Route::Health, Method::Get | Method::Head) => health(),
        (Route::Health, _) => Err(Failure::method_not_allowed("GET, HEAD, OPTIONS")),
    }
}

fn health() -> std::result::Result<Reply, Failure> {
    let response = Response::from_json(&serde_json::json!({ "status": "ok" }))?;
    Ok(Reply { response, outcome: "ok" })
}

fn preflight(cors: &Cors) -> std::result::Result<Reply, Failure> {
    if !cors.is_allowed() {
        return Err(Failure::new(
            ErrorCode::Forbidden,
            "This origin may not use the chat. Add it to CHAT_ALLOWED_ORIGINS.",
        ));
    }
    let response = Response::empty()?.with_status(204);
    for (name, value) in PREFLIGHT_HEADERS {
        response.headers().set(name, value)?;
    }
    Ok(Reply { response, outcome: "preflight" })
}

fn error_response(failure: Failure, request_id: &str) -> Result<Response> {
    let response =
        Response::from_json(&failure.error.with_request_id(request_id))?.with_status(failure.status);
    for (name, value) in &failure.headers {
        response.headers().set(name, value)?;
    }
    Ok(response)
}
