//! `POST /api/search`: the passages that fit a text which may still be typed, or those that the reader reads before the text is sent as
//! a question. Nothing is stored, and the text is never logged.

use std::pin::pin;

use chat_core::error::ErrorCode;
use chat_core::passages_to_read;
use chat_core::search::{SearchRequest, SearchResults, Wanted, match_count};
use futures_util::future::{Either, select};
use serde_json::json;
use worker::Response;

use super::client::Client;
use super::query::{Joined, Query};
use super::run::abandoned;
use crate::call::Call;
use crate::http::error::HttpError;
use crate::http::reply::Reply;
use crate::supabase::Supabase;

/// Searches for a user, with the same rules of access as for a question.
pub(crate) async fn search(mut call: Call) -> Result<Reply, HttpError> {
    let user = call.searching_user().await?;
    let request = SearchRequest::parse(&call.body().await?)?;
    if !call.config.is_search_on {
        return Err(turned_off());
    }
    let client = Client::new(&call.request);
    let supabase = call.supabase(user);
    // A visitor who types on has no use for the results.
    match select(pin!(find(&call, &supabase, &request)), pin!(client.disconnected())).await {
        Either::Left((found, _)) => found,
        Either::Right(_) => Err(abandoned()),
    }
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
