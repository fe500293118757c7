//! One HTTP exchange with Supabase: with a deadline, a circuit breaker, one retry if it is idempotent, and a size limit.

use std::cell::RefCell;
use std::time::Duration;

use chat_core::error::ErrorCode;
use serde::Deserialize;
use uuid::Uuid;
use worker::js_sys::{Math, global};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;
use worker::web_sys::{self, WorkerGlobalScope};
use worker::{Delay, Method, Response};

use super::deadline::Deadline;
use super::large::{LARGE_BYTES, LargeResponses};
use crate::circuit::{Circuit, OPEN_MS, Observation};
use crate::clock::now_ms;
use crate::http::body::{Pieces, read_small};
use crate::http::connection::Connection;
use crate::http::error::HttpError;

/// Bytes of a response that are read by default: enough for any page.
pub(super) const MAX_RESPONSE_BYTES: usize = 1024 * 1024;
/// The pause before a retry, in milliseconds: one to three times this value, so that many isolates do not retry at once.
const RETRY_PAUSE_MS: f64 = 50.0;

/// The period of the database's rate limits, in seconds, and so the longest wait.
const MAX_LIMIT_S: u64 = 60;

/// A timeout of a call that began with less time than this says nothing about Supabase.
const MIN_TIME: Duration = Duration::from_secs(1);

thread_local! {
    static CIRCUITS: RefCell<[Circuit; 3]> = const { RefCell::new([Circuit::CLOSED; 3]) };
}

/// The services of Supabase. They can fail independently, so each has a circuit.
#[derive(Clone, Copy)]
pub(crate) enum Service {
    Rest,
    Storage,
    Keys,
}

/// A request to Supabase, not sent yet.
pub(crate) struct Exchange {
    pub(crate) service: Service,
    /// A name for the log.
    pub(crate) what: &'static str,
    /// The user it is made for, whose request may be the reason of a failure.
    pub(crate) caller: Option<Uuid>,
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
    /// Whether it has the same effect if it is sent twice. Such a request is retried once.
    pub(crate) is_idempotent: bool,
    /// Bytes of the response that are read.
    pub(crate) max_bytes: usize,
    /// Permits for large responses.
    pub(crate) large_responses: LargeResponses,
}

/// The reason why an attempt failed.
enum UpstreamError {
    /// No connection, or a broken one.
    Connection(&'static str),
    /// A status that may indicate an outage.
    Status(u16),
    /// The user has reached a rate limit of the database. Contains the seconds to wait.
    Limited(u64),
    /// The response is larger than `max_bytes`.
    TooLarge,
    /// Status 404.
    NotFound,
    /// An error that a retry would not change.
    Final(HttpError),
}

/// A response whose body is not read yet. Dropping it cancels the exchange.
pub(crate) struct OpenResponse {
    response: web_sys::Response,
    connection: Connection,
}

/// The part of a response that is read.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Headers,
    Body,
}

impl Exchange {
    /// The body of a successful response.
    pub(crate) async fn read(&self, deadline: Deadline) -> Result<Vec<u8>, HttpError> {
        let received = self.run(deadline, Scope::Body).await;
        received.map(|(_, body)| body).map_err(|error| error.into_http_error(self.what))
    }

    /// The body of a successful response; `None` if it is too large.
    pub(crate) async fn read_if_not_too_large(
        &self,
        deadline: Deadline,
    ) -> Result<Option<Vec<u8>>, HttpError> {
        match self.run(deadline, Scope::Body).await {
            Ok((_, body)) => Ok(Some(body)),
            Err(UpstreamError::TooLarge) => Ok(None),
            Err(error) => Err(error.into_http_error(self.what)),
        }
    }

    /// The body of a successful response; `None` for status 404.
    pub(crate) async fn read_if_there(&self, deadline: Deadline) -> Result<Option<Vec<u8>>, HttpError> {
        match self.run(deadline, Scope::Body).await {
            Ok((_, body)) => Ok(Some(body)),
            Err(UpstreamError::NotFound) => Ok(None),
            Err(error) => Err(error.into_http_error(self.what)),
        }
    }

    /// The response, after its headers. Statuses of 500 and more, 401, 429 and redirects are errors.
    pub(crate) async fn open(&self, deadline: Deadline) -> Result<OpenResponse, HttpError> {
        let received = self.run(deadline, Scope::Headers).await;
        received.map(|(response, _)| response).map_err(|error| error.into_http_error(self.what))
    }

    /// The response and, for [`Scope::Body`], its body. Not generic, because each instance would add several kB to the Worker.
    async fn run(&self, deadline: Deadline, scope: Scope) -> Result<(OpenResponse, Vec<u8>), UpstreamError> {
        self.circuit(|circuit, now| circuit.admit(now))
            .map_err(|wait_ms| UpstreamError::Final(circuit_open(self.what, wait_ms)))?;
        let had_time = deadline.remaining() >= MIN_TIME;
        let result = deadline.limit(self.what, self.attempts(scope)).await;
        let observation = match &result {
            Ok(Ok(_)) => Observation::Healthy,
            Ok(Err(error)) => self.observation(error),
            Err(_) if had_time => self.failing_for_caller(),
            Err(_) => return result.map_err(UpstreamError::Final)?,
        };
        self.circuit(|circuit, now| circuit.record(observation, now));
        result.map_err(UpstreamError::Final)?
    }

    fn observation(&self, error: &UpstreamError) -> Observation {
        match error {
            UpstreamError::Limited(_)
            | UpstreamError::TooLarge
            | UpstreamError::NotFound
            | UpstreamError::Final(_) => Observation::Healthy,
            UpstreamError::Connection(_) => Observation::Failing,
            // From a gateway: Supabase itself did not respond. 520 to 530 are Cloudflare's.
            UpstreamError::Status(300..=399 | 502..=504 | 520..=530) => Observation::Failing,
            // Includes queries that exceeded the statement timeout (500) and rate limits of the user (429).
            UpstreamError::Status(_) => self.failing_for_caller(),
        }
    }

    fn failing_for_caller(&self) -> Observation {
        self.caller.map_or(Observation::Failing, Observation::FailingFor)
    }

    fn circuit<T>(&self, change: impl FnOnce(&mut Circuit, u64) -> T) -> T {
        CIRCUITS.with_borrow_mut(|[rest, storage, keys]| {
            let circuit = match self.service {
                Service::Rest => rest,
                Service::Storage => storage,
                Service::Keys => keys,
            };
            change(circuit, now_ms())
        })
    }

    /// Never returns an outer error; the type is that of `Deadline::limit`.
    async fn attempts(
        &self,
        scope: Scope,
    ) -> Result<Result<(OpenResponse, Vec<u8>), UpstreamError>, HttpError> {
        let mut may_retry = self.is_idempotent;
        loop {
            match self.attempt(scope).await {
                Err(error) if may_retry && error.is_transient() => {
                    let pause_ms = RETRY_PAUSE_MS * (1.0 + 2.0 * Math::random());
                    Delay::from(Duration::from_millis(pause_ms as u64)).await;
                    may_retry = false;
                }
                result => return Ok(result),
            }
        }
    }

    async fn attempt(&self, scope: Scope) -> Result<(OpenResponse, Vec<u8>), UpstreamError> {
        let mut response = self.send().await?;
        let error = error_from_status(self.what, response.response.status());
        if scope == Scope::Headers {
            return match error {
                Some(error) if error.is_status_or_unauthorized() => Err(error),
                _ => Ok((response, Vec::new())),
            };
        }
        let body = self.read_body(&response.response).await;
        if body.is_ok() {
            response.connection.end();
        }
        match error {
            Some(UpstreamError::Status(429)) => {
                let limit = body.ok().and_then(|body| database_limit_s(&body));
                Err(limit.map_or(UpstreamError::Status(429), UpstreamError::Limited))
            }
            Some(UpstreamError::NotFound) if body.as_deref().is_ok_and(is_unknown_assistant) => {
                Err(UpstreamError::Final(unknown_assistant()))
            }
            Some(error) => Err(error),
            None => body.map(|body| (response, body)),
        }
    }

    /// Calls `fetch` without a [`worker::Request`], which reads four properties of the request that it makes.
    async fn send(&self) -> Result<OpenResponse, UpstreamError> {
        // The error may repeat a header, and with it a token.
        let request = self.request().map_err(|_| {
            UpstreamError::Final(HttpError::internal(format!("{}: no request can be made", self.what)))
        })?;
        let (connection, signal) = Connection::new();
        request.set_signal(Some(&signal));
        let scope = global().unchecked_into::<WorkerGlobalScope>();
        let response = JsFuture::from(scope.fetch_with_str_and_init(&self.url, &request)).await;
        match response.map(JsCast::dyn_into) {
            Ok(Ok(response)) => Ok(OpenResponse { response, connection }),
            _ => Err(UpstreamError::Connection("no connection")),
        }
    }

    async fn read_body(&self, response: &web_sys::Response) -> Result<Vec<u8>, UpstreamError> {
        let cut_off = |_| UpstreamError::Connection("the answer was cut off");
        if is_small(response, self.max_bytes.min(LARGE_BYTES)) {
            return read_small(response).await.map_err(cut_off);
        }
        let mut body = Vec::new();
        let Some(stream) = response.body() else { return Ok(body) };
        let pieces = Pieces::of(&stream);
        while let Some(piece) = pieces.next().await.map_err(cut_off)? {
            let before = body.len();
            let length = before + piece.length() as usize;
            if length > self.max_bytes {
                return Err(UpstreamError::TooLarge);
            }
            if length > LARGE_BYTES && !self.large_responses.acquire().await {
                return Err(UpstreamError::Final(unavailable(self.what, "too many large answers at a time")));
            }
            body.resize(length, 0);
            piece.copy_to(body.get_mut(before..).unwrap_or_default());
        }
        Ok(body)
    }

    fn request(&self) -> Result<web_sys::RequestInit, JsValue> {
        let headers = web_sys::Headers::new()?;
        for (name, value) in &self.headers {
            headers.set(name, value)?;
        }
        let request = web_sys::RequestInit::new();
        request.set_method(self.method.as_ref());
        request.set_headers(&headers);
        // Following a redirect would send the user's token elsewhere.
        request.set_redirect(web_sys::RequestRedirect::Manual);
        if let Some(body) = &self.body {
            request.set_body(&body.as_str().into());
        }
        Ok(request)
    }
}

/// Whether the headers say that the body has at most so many bytes. The length of a compressed body is not that of its text.
fn is_small(response: &web_sys::Response, max_bytes: usize) -> bool {
    let headers = response.headers();
    let header = |name| headers.get(name).ok().flatten();
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
    length.is_some_and(|length| length <= max_bytes) && header("content-encoding").is_none()
}

impl OpenResponse {
    /// The response, and the connection, which must live until the body is read.
    pub(crate) fn into_parts(self) -> (Response, Connection) {
        (self.response.into(), self.connection)
    }

    pub(crate) fn status(&self) -> u16 {
        self.response.status()
    }

    /// A header. A value that is not text counts as missing.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name).ok().flatten()
    }
}

impl UpstreamError {
    /// Whether a retry may succeed.
    fn is_transient(&self) -> bool {
        matches!(self, Self::Connection(_) | Self::Status(429 | 502 | 503 | 504))
    }

    /// Whether even the caller of [`Exchange::open`], who handles statuses, cannot handle it.
    fn is_status_or_unauthorized(&self) -> bool {
        match self {
            Self::Status(_) => true,
            Self::Final(error) => error.body.code == ErrorCode::Unauthorized,
            Self::Connection(_) | Self::Limited(_) | Self::TooLarge | Self::NotFound => false,
        }
    }

    fn into_http_error(self, what: &'static str) -> HttpError {
        match self {
            Self::Connection(detail) => unavailable(what, detail),
            Self::Status(status) => unavailable(what, &format!("HTTP {status}")),
            Self::Limited(seconds) => {
                HttpError::rate_limited(seconds).with_detail(format!("{what}: rate limit of the database"))
            }
            Self::TooLarge => unavailable(what, "the answer is too large"),
            Self::NotFound => HttpError::internal(format!("{what}: HTTP 404")),
            Self::Final(error) => error,
        }
    }
}

/// The error for an unsuccessful status.
fn error_from_status(what: &str, status: u16) -> Option<UpstreamError> {
    let detail = || format!("{what}: HTTP {status}");
    Some(match status {
        200..=299 => return None,
        401 => UpstreamError::Final(
            HttpError::new(ErrorCode::Unauthorized, "Your session is no longer valid. Sign in again.")
                .with_detail(detail()),
        ),
        403 => UpstreamError::Final(
            HttpError::new(
                ErrorCode::Forbidden,
                "You may not use this knowledge base. Ask an admin for access.",
            )
            .with_detail(detail()),
        ),
        404 => UpstreamError::NotFound,
        301 | 302 | 303 | 307 | 308 | 429 | 500.. => UpstreamError::Status(status),
        // Any other status means that the Worker and the database are incompatible.
        _ => UpstreamError::Final(HttpError::internal(detail())),
    })
}

/// Whether the database itself responded with 404 (PostgREST maps the error code `PT404` to that status), because there is no
/// such assistant for the caller.
fn is_unknown_assistant(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Raised {
        code: String,
    }
    serde_json::from_slice(body).is_ok_and(|raised: Raised| raised.code == "PT404")
}

/// Unknown, disabled and forbidden assistants have one error, so that callers cannot probe for
/// names.
pub(crate) fn unknown_assistant() -> HttpError {
    HttpError::new(
        ErrorCode::UnknownAssistant,
        "There is no assistant of this name that you may use. Check its name, or sign in as one of its users.",
    )
}

/// The seconds to wait, if the database itself responded with 429 (PostgREST maps the error code `PT429` to that status), and
/// not a gateway before it.
fn database_limit_s(body: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Raised {
        code: String,
        details: Option<String>,
    }
    let raised: Raised =
        serde_json::from_slice(body).ok().filter(|raised: &Raised| raised.code == "PT429")?;
    let seconds = raised.details.and_then(|text| text.trim().parse().ok());
    Some(seconds.unwrap_or(MAX_LIMIT_S).clamp(1, MAX_LIMIT_S))
}

fn circuit_open(what: &str, wait_ms: u64) -> HttpError {
    unavailable(what, "not called, because the last calls failed")
        .with_header("Retry-After", wait_ms.min(OPEN_MS).div_ceil(1000).max(1).to_string())
}

pub(crate) fn unavailable(what: &str, detail: &str) -> HttpError {
    HttpError::new(
        ErrorCode::UpstreamUnavailable,
        "The knowledge base cannot be reached right now. Please try again in a moment.",
    )
    .with_detail(format!("{what}: {detail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_of_supabase_maps_to_an_error_code() {
        let code = |status| error_from_status("x", status).map(|error| error.into_http_error("x").body.code);
        assert_eq!(code(200), None);
        assert_eq!(code(206), None);
        assert_eq!(code(302), Some(ErrorCode::UpstreamUnavailable));
        assert_eq!(code(401), Some(ErrorCode::Unauthorized));
        assert_eq!(code(403), Some(ErrorCode::Forbidden));
        assert_eq!(code(404), Some(ErrorCode::Internal));
        assert_eq!(code(429), Some(ErrorCode::UpstreamUnavailable));
        assert_eq!(code(500), Some(ErrorCode::UpstreamUnavailable));
        assert_eq!(code(503), Some(ErrorCode::UpstreamUnavailable));
    }

    #[test]
    fn the_message_for_a_refused_token_or_user_says_what_to_do() {
        let message =
            |status| error_from_status("x", status).map(|error| error.into_http_error("x").body.message);
        assert_eq!(message(401).as_deref(), Some("Your session is no longer valid. Sign in again."));
        assert_eq!(
            message(403).as_deref(),
            Some("You may not use this knowledge base. Ask an admin for access.")
        );
    }

    #[test]
    fn a_rate_limit_of_the_database_has_the_seconds_to_wait() {
        let seconds = |body: &str| database_limit_s(body.as_bytes());
        assert_eq!(seconds(r#"{"code":"PT429","message":"slow down","details":"17","hint":null}"#), Some(17));
        for (details, expected) in
            [("\"1\"", 1), ("\"0\"", 1), ("\"3600\"", 60), ("\"-5\"", 60), ("\"soon\"", 60), ("null", 60)]
        {
            assert_eq!(
                seconds(&format!(r#"{{"code":"PT429","details":{details}}}"#)),
                Some(expected),
                "{details}"
            );
        }
        assert_eq!(seconds(r#"{"code":"PT429"}"#), Some(60));
        for other in ["", "[]", "<html>", r#"{"code":"429"}"#, r#"{"message":"PT429"}"#] {
            assert_eq!(seconds(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_database_says_that_an_assistant_is_unknown() {
        assert!(is_unknown_assistant(br#"{"code":"PT404","message":"There is none","hint":null}"#));
        for other in ["", "[]", "<html>", r#"{"code":"PGRST202"}"#, r#"{"message":"PT404"}"#] {
            assert!(!is_unknown_assistant(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_rate_limit_of_the_database_is_not_retried() {
        let limited = UpstreamError::Limited(17);
        assert!(!limited.is_transient());
        let error = limited.into_http_error("x");
        assert_eq!((error.body.code, error.status), (ErrorCode::RateLimited, 429));
        assert_eq!(error.headers, [("Retry-After", "17".to_owned())]);
    }

    #[test]
    fn only_transient_statuses_are_retried() {
        let is_transient = |status| error_from_status("x", status).is_some_and(|error| error.is_transient());
        assert_eq!([429, 502, 503, 504].map(is_transient), [true; 4]);
        assert_eq!([302, 400, 401, 403, 404, 500, 501].map(is_transient), [false; 7]);
    }
}
