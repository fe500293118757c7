//! Routes a request, and gives every response the headers all of them carry.

use std::cell::Cell;
use std::rc::Rc;

use chat_core::error::ErrorCode;
use futures_util::FutureExt;
use uuid::Uuid;
use worker::{Context, Env, Request, Response, Result};

use crate::call::Call;
use crate::config::variable;
use crate::http::address::Address;
use crate::http::cors::{Cors, PREFLIGHT_HEADERS};
use crate::http::error::Failure;
use crate::http::reply::Reply;
use crate::observe::{RequestLine, Trace, count};
use crate::route::Route;
use crate::{chat, documents, me, sessions, site};

/// Headers of every response. The API is for scripts: nothing of it is ever shown as a page.
const SECURITY_HEADERS: &[(&str, &str)] = &[
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("Strict-Transport-Security", "max-age=31536000"),
];

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
        (Route::Me, _) => me::delete(call).await,
        (Route::Export, _) => me::export(call).await,
        (Route::Health, _) => site::health(),
        (Route::Unknown, _) => Err(nothing_here()),
    }
}

fn nothing_here() -> Failure {
    Failure::not_found("There is nothing at this address.")
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
