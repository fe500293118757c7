//! Routes a request, and gives every response the headers all of them carry.

use std::cell::Cell;
use std::rc::Rc;

use chat_core::error::ErrorCode;
use futures_util::FutureExt;
use uuid::Uuid;
use worker::{Context, Env, Request, Response, Result};

use crate::config::{Config, Settings, variable};
use crate::http::address::{Address, parse_id};
use crate::http::body::read_json;
use crate::http::cors::{Cors, PREFLIGHT_HEADERS};
use crate::http::error::Failure;
use crate::http::reply::Reply;
use crate::identity::{Authenticated, Runtime, authenticate};
use crate::observe::{RequestLine, Trace, count};
use crate::supabase::{Deadline, Supabase};
use crate::{chat, documents, limits, sessions, site};

/// Headers of every response. The API is for scripts: nothing of it is ever shown as a page.
const SECURITY_HEADERS: &[(&str, &str)] = &[
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("Strict-Transport-Security", "max-age=31536000"),
];

/// The paths of the Worker.
#[derive(Clone, Copy)]
enum Route {
    Health,
    Ready,
    Config,
    Chat,
    Sessions,
    Session(Uuid),
    Messages(Uuid),
    Download(Uuid),
    Unknown,
}

/// A request on its way through the Worker.
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) request: Request,
    pub(crate) address: Address,
    pub(crate) env: Env,
    pub(crate) config: Rc<Config>,
    pub(crate) trace: Rc<Trace>,
    pub(crate) deadline: Deadline,
}

impl Route {
    fn of(path: &str) -> Self {
        let Some(path) = path.strip_prefix("/api/") else { return Self::Unknown };
        let segments: Vec<_> = path.split('/').collect();
        let with_id = |id: &str, route: fn(Uuid) -> Self| parse_id(id).map_or(Self::Unknown, route);
        match segments.as_slice() {
            ["health"] => Self::Health,
            ["ready"] => Self::Ready,
            ["config"] => Self::Config,
            ["chat"] => Self::Chat,
            ["sessions"] => Self::Sessions,
            ["sessions", id] => with_id(id, Self::Session),
            ["sessions", id, "messages"] => with_id(id, Self::Messages),
            ["documents", id, "download"] => with_id(id, Self::Download),
            _ => Self::Unknown,
        }
    }

    /// The path for the log. An unknown one is not written down: it is the caller's text.
    fn name(self) -> &'static str {
        match self {
            Self::Health => "/api/health",
            Self::Ready => "/api/ready",
            Self::Config => "/api/config",
            Self::Chat => "/api/chat",
            Self::Sessions => "/api/sessions",
            Self::Session(_) => "/api/sessions/{id}",
            Self::Messages(_) => "/api/sessions/{id}/messages",
            Self::Download(_) => "/api/documents/{id}/download",
            Self::Unknown => "unknown",
        }
    }

    /// The methods it takes.
    fn allow(self) -> &'static str {
        match self {
            Self::Chat => "POST, OPTIONS",
            Self::Session(_) => "GET, PATCH, DELETE, OPTIONS",
            Self::Sessions | Self::Messages(_) => "GET, OPTIONS",
            Self::Health | Self::Ready | Self::Config | Self::Download(_) | Self::Unknown => {
                "GET, HEAD, OPTIONS"
            }
        }
    }

    fn takes(self, method: &str) -> bool {
        self.allow().split(", ").any(|allowed| allowed == method)
    }
}

/// Answers a request. What began is brought to its end also when the client goes away: outcomes are written down,
/// questions without one are released, and every request has its line in the log.
pub(crate) async fn respond(request: Request, env: Env, context: Context) -> Result<Response> {
    let context = Rc::new(context);
    let response = Rc::new(Cell::new(None));
    let handled = {
        let (context, response) = (Rc::clone(&context), Rc::clone(&response));
        async move { response.set(Some(handle(request, env, &context).await)) }
    };
    let handled = handled.boxed_local().shared();
    context.wait_until(handled.clone());
    handled.await;
    response.take().unwrap_or_else(|| Err("the response was taken twice".into()))
}

/// Answers a request, whatever happens on the way.
async fn handle(request: Request, env: Env, context: &Context) -> Result<Response> {
    let trace = Rc::new(Trace::start());
    let request_id = Uuid::new_v4().to_string();
    let address = Address::parse(&request.inner().url());
    let route = Route::of(address.path());
    // As it was sent: the typed method takes every unknown one for GET.
    let method = request.inner().method();
    let origin = request.headers().get("origin")?;
    let cors = Cors::judge(&variable(&env, "CHAT_ALLOWED_ORIGINS").unwrap_or_default(), origin.as_deref());

    let result = match (route, method.as_str()) {
        (Route::Unknown, _) => Err(nothing_here()),
        (_, "OPTIONS") => preflight(&cors),
        (_, method) if !route.takes(method) => Err(Failure::method_not_allowed(route.allow())),
        (Route::Health, _) => site::health(),
        _ => match Call::new(request, address, &request_id, &env, &trace) {
            Ok(call) => dispatch(route, &method, call).await,
            Err(failure) => Err(failure),
        },
    };

    let (mut reply, detail) = match result {
        Ok(reply) => (reply, None),
        Err(failure) => {
            let (code, detail) = (failure.error.code.as_str(), failure.detail.clone());
            (Reply::new(error_response(failure, &request_id)?, code), detail)
        }
    };
    finish(&mut reply.response, &request_id, &cors, &trace)?;
    let line = RequestLine {
        request_id,
        route: route.name(),
        method: known_method(&method),
        status: reply.response.status_code(),
        ms: trace.elapsed_ms(),
        outcome: reply.outcome,
        detail,
    };
    count(&env, &line, &trace);
    match reply.afterwards {
        None => line.write(&trace),
        Some(afterwards) => context.wait_until(async move {
            afterwards.await;
            line.write(&trace);
        }),
    }
    Ok(reply.response)
}

async fn dispatch(route: Route, method: &str, call: Call) -> std::result::Result<Reply, Failure> {
    match (route, method) {
        (Route::Ready, _) => site::ready(call).await,
        (Route::Config, _) => site::config(call).await,
        (Route::Chat, _) => chat::answer(call).await,
        (Route::Sessions, _) => sessions::list(call).await,
        (Route::Session(id), "PATCH") => sessions::rename(call, id).await,
        (Route::Session(id), "DELETE") => sessions::delete(call, id).await,
        (Route::Session(id), _) => sessions::show(call, id).await,
        (Route::Messages(id), _) => sessions::messages(call, id).await,
        (Route::Download(id), _) => documents::download(call, id, method == "HEAD").await,
        (Route::Health, _) => site::health(),
        (Route::Unknown, _) => Err(nothing_here()),
    }
}

fn nothing_here() -> Failure {
    Failure::not_found("There is nothing at this address.")
}

impl Call {
    fn new(
        request: Request,
        address: Address,
        id: &str,
        env: &Env,
        trace: &Rc<Trace>,
    ) -> std::result::Result<Self, Failure> {
        let config = Rc::new(Config::from_env(env)?);
        Ok(Self {
            id: id.to_owned(),
            request,
            address,
            env: env.clone(),
            deadline: Deadline::after(config.upstream_timeout),
            config,
            trace: Rc::clone(trace),
        })
    }

    /// A request header. One that is no text counts as missing.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.request.headers().get(name).ok().flatten()
    }

    /// The body. What else the request has to wait for has its time from then on.
    pub(crate) async fn body(&mut self) -> std::result::Result<Vec<u8>, Failure> {
        let body = read_json(&mut self.request).await?;
        self.deadline = Deadline::after(self.config.upstream_timeout);
        Ok(body)
    }

    /// Who asks. Only here a token is looked at; a request without a valid one counts against its IP address.
    pub(crate) async fn user(&self) -> std::result::Result<Authenticated, Failure> {
        let authorization = self.header("authorization");
        let runtime = Runtime(self.deadline);
        let user = authenticate(authorization.as_deref(), &self.config.identity, &runtime);
        let user = self.trace.time("auth", self.deadline.limit("auth", user)).await;
        if user.is_err() {
            limits::by_address(&self.request, &self.env).await?;
        }
        user
    }

    /// Who asks for something else than an answer: with a limit of its own.
    pub(crate) async fn reader(&self) -> std::result::Result<Authenticated, Failure> {
        let user = self.user().await?;
        limits::by_user(user.user_id(), &self.env).await?;
        Ok(user)
    }

    pub(crate) fn supabase(&self, user: Authenticated) -> Supabase {
        Supabase::as_user(&self.config.project, user, self.deadline)
    }

    pub(crate) async fn settings(&self) -> std::result::Result<Settings, Failure> {
        self.trace.time("settings", Settings::current(&self.config, self.deadline)).await
    }
}

fn finish(response: &mut Response, request_id: &str, cors: &Cors, trace: &Trace) -> Result<()> {
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.set(name, value)?;
    }
    headers.set("X-Request-Id", request_id)?;
    headers.set("Server-Timing", &trace.server_timing())?;
    if !headers.has("Cache-Control")? {
        headers.set("Cache-Control", "no-store")?;
    }
    for (name, value) in cors.headers() {
        headers.set(name, value)?;
    }
    Ok(())
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
    Ok(Reply::new(response, "preflight"))
}

fn error_response(failure: Failure, request_id: &str) -> Result<Response> {
    let response =
        Response::from_json(&failure.error.with_request_id(request_id))?.with_status(failure.status);
    for (name, value) in &failure.headers {
        response.headers().set(name, value)?;
    }
    Ok(response)
}

/// The method for the log. One that no route takes is the caller's text.
fn known_method(method: &str) -> &'static str {
    ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_to_the_letter() {
        const ID: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
        let name = |path: &str| Route::of(path).name();
        assert_eq!(name("/api/chat"), "/api/chat");
        assert_eq!(name(&format!("/api/sessions/{ID}/messages")), "/api/sessions/{id}/messages");
        for path in [
            "",
            "/",
            "/api",
            "/api/",
            "/api//chat",
            "//api/chat",
            "/api/chat/",
            "/API/chat",
            "/api/chat%2f",
            "/api/sessions/",
            "/api/sessions/1",
            "/api/sessions/6f9619ff8b864d01b42d00cf4fc964ff",
            &format!("/api/sessions/{ID}/"),
            &format!("/api/sessions/{ID}/messages/x"),
            &format!("/api/documents/{ID}"),
        ] {
            assert_eq!(name(path), "unknown", "{path}");
        }
    }

    #[test]
    fn each_route_takes_its_methods_only() {
        assert!(Route::Chat.takes("POST") && !Route::Chat.takes("GET") && !Route::Chat.takes("post"));
        assert!(Route::Session(Uuid::nil()).takes("PATCH"));
        assert!(!Route::Health.takes("") && !Route::Health.takes("GET, HEAD"));
    }
}
