//! The Cloudflare Worker of Evidence Chat: it authenticates users, limits their rate, searches the knowledge base and streams
//! the answer.
//!
//! `chat-core` chooses the answer; this crate connects it to the browser and to Supabase.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::disallowed_methods
    )
)]

mod call;
mod chat;
mod circuit;
mod citation_use;
mod clock;
mod config;
mod documents;
mod gate;
mod generation;
mod http;
mod identity;
mod limits;
mod me;
mod microtasks;
mod observe;
mod route;
mod router;
mod sessions;
mod settings;
mod single_flight;
mod site;
mod supabase;

pub use gate::UserGate;

/// Runs once in each isolate.
#[worker::event(start)]
fn start() {
    microtasks::run_by_promise();
}

/// The Worker's entry point.
#[worker::event(fetch)]
async fn fetch(
    request: worker::Request,
    env: worker::Env,
    context: worker::Context,
) -> worker::Result<worker::Response> {
    router::respond(request, env, context).await
}
