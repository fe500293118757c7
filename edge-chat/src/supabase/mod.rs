//! The client of Supabase. Every call carries the user's token, and Row Level Security decides. Only the public settings are
//! read without a token.

mod chat;
mod deadline;
mod documents;
mod exchange;
mod export;
mod keys;
mod large;
mod sessions;
mod timestamp;

use std::rc::Rc;

use chat_core::assistant::AssistantName;
use chat_core::error::ErrorCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use worker::Method;

use crate::config::Project;
use crate::http::error::HttpError;
use crate::http::json::to_json;
use crate::identity::Authenticated;
pub(crate) use chat::{NewRefusal, RecordedTurn};
pub(crate) use deadline::Deadline;
pub(crate) use documents::DocumentFile;
use exchange::{Exchange, MAX_RESPONSE_BYTES, Service};
pub(crate) use exchange::{OpenResponse, unavailable, unknown_assistant};
pub(crate) use export::ExportedMessage;
pub(crate) use keys::KeyFetcher;
use large::LargeResponses;
pub(crate) use sessions::{Message, Session};
pub(crate) use timestamp::Timestamp;

/// The function that returns the settings of an assistant.
const CHAT_CONFIG: &str = "chat_config";

/// The request header with the secret that proves to the database that a call comes from the Worker.
const WORKER_HEADER: &str = "x-evidence-chat-worker";

/// Supabase on behalf of one user.
#[derive(Clone)]
pub(crate) struct Supabase {
    project: Rc<Project>,
    user: Rc<Authenticated>,
    deadline: Deadline,
    large_responses: LargeResponses,
}

impl Supabase {
    pub(crate) fn as_user(project: &Rc<Project>, user: Authenticated, deadline: Deadline) -> Self {
        let large_responses = LargeResponses::default();
        Self { project: Rc::clone(project), user: Rc::new(user), deadline, large_responses }
    }

    /// A copy with another deadline.
    pub(crate) fn with_deadline(&self, deadline: Deadline) -> Self {
        Self { deadline, ..self.clone() }
    }

    /// A copy with another deadline and its own permit for large responses.
    pub(crate) fn with_new_permit(&self, deadline: Deadline) -> Self {
        Self { deadline, large_responses: LargeResponses::default(), ..self.clone() }
    }

    /// Lets other requests read large responses, after this one has dropped its own.
    pub(crate) fn release_large_responses(&self) {
        self.large_responses.release();
    }

    pub(crate) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Reads rows of a table.
    async fn select<T: DeserializeOwned>(
        &self,
        table: &'static str,
        query: &Query,
    ) -> Result<Vec<T>, HttpError> {
        self.fetch(self.request(Method::Get, table, query)).await
    }

    /// Reads rows of a table. `None` if the response is too large.
    async fn select_if_not_too_large<T: DeserializeOwned>(
        &self,
        table: &'static str,
        query: &Query,
    ) -> Result<Option<Vec<T>>, HttpError> {
        let request = self.request(Method::Get, table, query);
        request.read_if_not_too_large(self.deadline).await?.map(|body| parse(table, &body)).transpose()
    }

    fn request(&self, method: Method, table: &'static str, query: &Query) -> Exchange {
        self.exchange(Service::Rest, table, method, format!("/rest/v1/{table}?{}", query.encode()))
    }

    /// The result of [`Project::chat_config`] for an assistant that may be for this user only.
    pub(crate) async fn chat_config<T: DeserializeOwned>(
        &self,
        assistant: &AssistantName,
    ) -> Result<T, HttpError> {
        self.fetch(self.rpc(CHAT_CONFIG, &json!({ "assistant": assistant }))?).await
    }

    /// A call of an idempotent function.
    fn rpc(&self, function: &'static str, parameters: &impl Serialize) -> Result<Exchange, HttpError> {
        let path = format!("/rest/v1/rpc/{function}");
        let mut exchange = self.exchange(Service::Rest, function, Method::Post, path);
        exchange.body = Some(to_json(parameters)?);
        exchange.is_idempotent = true;
        Ok(exchange)
    }

    /// A call with the Worker's secret: exempt from the rate limits of the database and counted in the statistics.
    fn trusted_rpc(
        &self,
        function: &'static str,
        parameters: &impl Serialize,
    ) -> Result<Exchange, HttpError> {
        let mut exchange = self.rpc(function, parameters)?;
        if let Some(secret) = &self.project.worker_secret {
            exchange.headers.push((WORKER_HEADER, secret.clone()));
        }
        Ok(exchange)
    }

    async fn fetch<T: DeserializeOwned>(&self, exchange: Exchange) -> Result<T, HttpError> {
        parse(exchange.what, &exchange.read(self.deadline).await?)
    }

    /// A request as the user.
    fn exchange(
        &self,
        service: Service,
        what: &'static str,
        method: Method,
        path_and_query: String,
    ) -> Exchange {
        let mut exchange = self.project.exchange(service, what, method, &path_and_query);
        exchange.headers.push(("Authorization", format!("Bearer {}", self.user.token())));
        exchange.caller = Some(self.user.user_id());
        exchange.large_responses = self.large_responses.clone();
        exchange
    }
}

impl Project {
    /// The settings of an assistant for everybody, the model of the knowledge base, and what `checks` find.
    pub(crate) async fn chat_config<T: DeserializeOwned>(
        &self,
        assistant: &AssistantName,
        checks: bool,
        deadline: Deadline,
    ) -> Result<T, HttpError> {
        let path = format!("/rest/v1/rpc/{CHAT_CONFIG}");
        let mut exchange = self.exchange(Service::Rest, CHAT_CONFIG, Method::Post, &path);
        exchange.body = Some(json!({ "assistant": assistant, "checks": checks }).to_string());
        exchange.is_idempotent = true;
        let body = exchange.read(deadline).await.map_err(|error| match error.body.code {
            // No user is involved, so the project key is wrong.
            ErrorCode::Unauthorized | ErrorCode::Forbidden => {
                HttpError::internal(format!("{CHAT_CONFIG}: SUPABASE_PUBLISHABLE_KEY is not accepted"))
            }
            _ => error,
        })?;
        parse(CHAT_CONFIG, &body)
    }

    fn exchange(
        &self,
        service: Service,
        what: &'static str,
        method: Method,
        path_and_query: &str,
    ) -> Exchange {
        let is_idempotent = method == Method::Get;
        let mut headers =
            vec![("apikey", self.publishable_key.clone()), ("Accept", "application/json".to_owned())];
        if !is_idempotent {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        let url = format!("{}{path_and_query}", self.url);
        Exchange {
            service,
            what,
            caller: None,
            method,
            url,
            headers,
            body: None,
            is_idempotent,
            max_bytes: MAX_RESPONSE_BYTES,
            large_responses: LargeResponses::default(),
        }
    }
}

fn parse<T: DeserializeOwned>(what: &'static str, body: &[u8]) -> Result<T, HttpError> {
    read_with(what, body, |body| serde_json::from_slice(body))
}

fn read_with<T>(
    what: &'static str,
    body: &[u8],
    read: impl FnOnce(&[u8]) -> serde_json::Result<T>,
) -> Result<T, HttpError> {
    read(body).map_err(|error| {
        // Only the position: the parser's message may quote data.
        unavailable(what, &format!("unexpected JSON at line {}, column {}", error.line(), error.column()))
    })
}

/// The query of a PostgREST request.
#[derive(Default)]
struct Query(Vec<(&'static str, String)>);

impl Query {
    fn columns(columns: &'static str) -> Self {
        Self(vec![("select", columns.to_owned())])
    }

    /// A condition such as `("id", "eq.5")`. Of user input, it must contain only ids, times, numbers and names of assistants.
    fn filter(mut self, column: &'static str, condition: impl Into<String>) -> Self {
        self.0.push((column, condition.into()));
        self
    }

    fn order(self, columns: &'static str) -> Self {
        self.filter("order", columns)
    }

    fn limit(self, rows: u32) -> Self {
        self.filter("limit", rows.to_string())
    }

    fn encode(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }
}

/// A vector as text: PostgREST would pass a JSON array to Postgres as an array, which is not a vector.
fn vector_literal(vector: &[f32]) -> Result<String, HttpError> {
    to_json(&vector)
}

/// The error for a session that does not exist, or that belongs to another user or assistant.
pub(crate) fn session_not_found() -> HttpError {
    HttpError::new(ErrorCode::NotFound, "This conversation does not exist. Start a new one.")
}
