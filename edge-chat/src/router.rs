//! Routes each request to its endpoint and adds the headers that all responses carry.

use std::cell::Cell;
use std::rc::Rc;

use chat_core::error::ErrorCode;
use futures_util::FutureExt;
use uuid::Uuid;
use worker::{Context, Env, Request, Response, Result};

use crate::call::Call;
use crate::config::variable;
use crate::http::cors::{Cors, PREFLIGHT_HEADERS};
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::http::url::RequestUrl;
use crate::observe::{RequestLine, Trace, count};
use crate::route::{Route, RouteMethod};
use crate::{chat, citation_use, documents, me, sessions, site};

/// Headers of every response. The API is for scripts: no response is ever shown as a page.
const SECURITY_HEADERS: &[(&str, &str)] = &[
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("Strict-Transport-Security", "max-age=31536000"),
];

/// Answers a request. It runs to its end even if the client disconnects: outcomes are stored, questions without an
/// outcome are released, and every request gets its log line.
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

/// Answers a request, turns errors into responses, and writes the log line.
async fn handle(request: Request, env: Env, context: &Context) -> Result<Response> {
    let trace = Rc::new(Trace::start());
    let request_id = Uuid::new_v4().to_string();
    let url = RequestUrl::parse(&request.inner().url());
    let route = Route::parse(url.path());
    let method = RouteMethod::parse(&request.inner().method());
    let origin = request.headers().get("origin")?;
    let cors = Cors::new(&variable(&env, "CHAT_ALLOWED_ORIGINS").unwrap_or_default(), origin.as_deref());

    let result = match allowed(route, method) {
        Ok((route, method)) => {
            let call = || Call::new(request, url, &request_id, &env, &trace);
            dispatch(route, method, &cors, call).await
        }
        Err(error) => Err(error),
    };

    let (mut reply, detail) = match result {
        Ok(reply) => (reply, None),
        Err(error) => {
            let (code, detail) = (error.body.code.as_str(), error.detail.clone());
            (Reply::new(error_response(error, &request_id)?, code), detail)
        }
    };
    add_common_headers(&mut reply.response, &request_id, &cors, &trace)?;
    let line = RequestLine {
        request_id,
        // Unknown paths and methods are the caller's text, so they are not logged.
        route: route.map_or("unknown", Route::name),
        method: method.map_or("other", RouteMethod::name),
        status: reply.response.status_code(),
        ms: trace.elapsed_ms(),
        outcome: reply.outcome,
        detail,
    };
    let report = move || {
        // A model may have declined after the response began.
        let line = RequestLine { outcome: trace.facts().outcome.unwrap_or(line.outcome), ..line };
        count(&env, &line, &trace);
        line.write(&trace);
    };
    match reply.afterwards {
        None => report(),
        Some(afterwards) => context.wait_until(async move {
            afterwards.await;
            report();
        }),
    }
    Ok(reply.response)
}

fn allowed(
    route: Option<Route>,
    method: Option<RouteMethod>,
) -> std::result::Result<(Route, RouteMethod), HttpError> {
    let route = route.ok_or_else(|| HttpError::not_found("There is nothing at this address."))?;
    let method = method.filter(|method| route.methods().contains(method));
    method.map(|method| (route, method)).ok_or_else(|| HttpError::method_not_allowed(&route.allow()))
}

/// Calls the endpoint for a method that the route takes. `call` reads the configuration and may
/// fail; health checks and preflights work without it.
async fn dispatch(
    route: Route,
    method: RouteMethod,
    cors: &Cors,
    call: impl FnOnce() -> std::result::Result<Call, HttpError>,
) -> std::result::Result<Reply, HttpError> {
    use RouteMethod::{Delete, Head, Options, Patch};
    match (route, method) {
        (_, Options) => preflight(cors),
        (Route::Health, _) => site::health(),
        (Route::Ready, _) => site::ready(call()?).await,
        (Route::Config, _) => site::config(call()?).await,
        (Route::Project, _) => site::project(&call()?),
        (Route::CitationUse, _) => citation_use::count(call()?).await,
        (Route::Chat, _) => chat::answer(call()?).await,
        (Route::Search, _) => chat::search(call()?).await,
        (Route::Sessions, _) => sessions::list(call()?).await,
        (Route::Session(id), Patch) => sessions::rename(call()?, id).await,
        (Route::Session(id), Delete) => sessions::delete(call()?, id).await,
        (Route::Session(id), _) => sessions::show(call()?, id).await,
        (Route::Messages(id), _) => sessions::messages(call()?, id).await,
        (Route::Feedback { session, message }, Delete) => {
            sessions::remove_feedback(call()?, session, message).await
        }
        (Route::Feedback { session, message }, _) => sessions::give_feedback(call()?, session, message).await,
        (Route::Download(id), method) => documents::download(call()?, id, method == Head).await,
        (Route::Me, _) => me::delete(call()?).await,
        (Route::Export, _) => me::export(call()?).await,
    }
}

fn preflight(cors: &Cors) -> std::result::Result<Reply, HttpError> {
    if !cors.is_allowed() {
        return Err(HttpError::new(
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

fn add_common_headers(response: &mut Response, request_id: &str, cors: &Cors, trace: &Trace) -> Result<()> {
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

fn error_response(error: HttpError, request_id: &str) -> Result<Response> {
    let response = Response::from_json(&error.body.with_request_id(request_id))?.with_status(error.status);
    for (name, value) in &error.headers {
        response.headers().set(name, value)?;
    }
    Ok(response)
}
