//! `POST /api/search`: the passages that fit a text which may still be typed, or those that the reader reads before the text is sent as
//! a question. Nothing is stored, and the text is never logged.

use std::pin::pin;

use chat_core::error::ErrorCode;
use chat_core::passages_to_read;
use chat_core::search::{SearchRequest, SearchResults, Wanted, match_count};
use futures_util::FutureExt;
use futures_util::future::{Either, join, ready, select};
use serde_json::json;
use worker::Response;

use super::client::Client;
use super::query::{Joined, Query};
use super::run::abandoned;
use super::{admit_beside, with_rate_limit_headers};
use crate::call::Call;
use crate::gate::{Budget, Gate, SearchDecision};
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::limits;
use crate::supabase::Supabase;

/// Searches for a user, with the same rules of access as for a question. A search that will probably be admitted begins at once.
pub(crate) async fn search(mut call: Call) -> Result<Reply, HttpError> {
    let user = call.user().await?;
    let user_id = user.user_id();
    let env = call.env.clone();
    let network = user.is_anonymous().then(|| call.client_network()).transpose()?;
    let is_anonymous = network.is_some();
    let mut limit = limits::check_search_limit(user_id, network, &env).boxed_local();
    let read = async { Ok::<_, HttpError>(SearchRequest::parse(&call.body().await?)?) };
    let request = if is_anonymous {
        // Before anything is asked: it costs nothing to become another anonymous user, of whom nothing is known.
        let (checked, request) = join(limit, read).await;
        checked?;
        limit = ready(Ok(())).boxed_local();
        request
    } else {
        read.await
    };
    let is_on = call.config.search_rate_limit > 0;
    let request = match request {
        Ok(request) if is_on => request,
        rejected => {
            limit.await?;
            rejected?;
            let none = Budget { limit: 0, remaining: 0, reset_ms: 0 };
            return with_rate_limit_headers(none, Err(turned_off()));
        }
    };

    let gate = Gate::for_user(&call.env, user_id)?;
    let client = Client::new(&call.request);
    let supabase = call.supabase(user);
    let found = async {
        // A visitor who types on has no use for the results.
        match select(pin!(find(&call, &supabase, &request)), pin!(client.disconnected())).await {
            Either::Left((found, _)) => found,
            Either::Right(_) => Err(abandoned()),
        }
    };
    let early = gate.expect_search_admission();
    let admission = async {
        // The gate uses a Durable Object even if it rejects the search.
        limit.await?;
        gate.admit_search(&call.config, call.deadline, early).await
    };
    let (decision, found) = admit_beside(&call.trace, admission, found.boxed_local(), early).await;
    let SearchDecision { is_admitted, budget } = decision?;
    let result = if is_admitted { found.await } else { Err(HttpError::rate_limited(budget.reset_s())) };
    with_rate_limit_headers(budget, result)
}

async fn find(call: &Call, supabase: &Supabase, request: &SearchRequest) -> Result<Reply, HttpError> {
    let settings = call.settings(&request.assistant, Some(supabase)).await?;
    call.trace.note(|facts| facts.assistant = Some(request.assistant.clone()));
    settings.check_origin(call.header("origin").as_deref())?;
    let (count, previous) = match &request.wanted {
        Wanted::Results { limit } => (match_count(*limit), None),
        Wanted::Statements { previous } => (settings.match_count, previous.as_ref()),
    };
    let SearchRequest { query: text, embedding, model, assistant, wanted } = request;
    let query = Query { text, embedding, previous, model, assistant };
    let found = query.search(supabase, &call.trace, count).await?;
    let (rows, thresholds) = (&found.rows, &settings.thresholds);
    match wanted {
        Wanted::Results { limit } => {
            let results = SearchResults::new(text, *limit, rows, thresholds);
            Ok(Reply::new(Response::from_json(&results)?, "results"))
        }
        Wanted::Statements { .. } => {
            let joined = found.joined.as_ref().map(Joined::search);
            let (question, passages) = passages_to_read(text, rows, joined, thresholds);
            let body = json!({ "question": question, "passages": passages });
            Ok(Reply::new(Response::from_json(&body)?, "statements"))
        }
    }
}

fn turned_off() -> HttpError {
    let message = "Search while typing is turned off here. Ask a question instead.";
    HttpError::new(ErrorCode::Forbidden, message)
}
