//! One HTTP exchange with Supabase: with a deadline, a circuit breaker, one retry if it is idempotent, and a size limit.

use std::cell::Cell;
use std::time::Duration;

use chat_core::error::ErrorCode;
use futures_util::StreamExt;
use serde::Deserialize;
use uuid::Uuid;
use worker::js_sys::Math;
use worker::{
    AbortController, Date, Delay, Fetch, Headers, Method, Request, RequestInit, RequestRedirect, Response,
};

use super::circuit::{Circuit, OPEN_MS, Observation};
use super::deadline::Deadline;
use super::large::{LARGE_BYTES, LargeAnswers};
use crate::http::error::HttpError;

/// Bytes of a response that are read by default: enough for any page.
pub(super) const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// The pause before a retry, in milliseconds: one to three times this value, so that many isolates do not retry at once.
const RETRY_PAUSE_MS: f64 = 50.0;

/// The period of the database's rate limits, in seconds, and so the longest wait.
const MAX_LIMIT_S: u64 = 60;

/// A timeout of a call that began with less time than this says nothing about Supabase.
const MIN_TIME: Duration = Duration::from_secs(1);

thread_local! {
    static CIRCUITS: [Cell<Circuit>; 3] = const { [const { Cell::new(Circuit::CLOSED) }; 3] };
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
    pub(crate) large_answers: LargeAnswers,
}

/// Why an attempt failed.
enum UpstreamError {
    /// No connection, or a broken one.
    Connection(&'static str),
    /// A status that may indicate an outage.
    Status(u16),
    /// The user has reached a rate limit of the database. Contains the seconds to wait.
    Limited(u64),
    /// The response is larger than `max_bytes`.
    TooLarge,
    /// An error that a retry would not change.
    Final(HttpError),
}

/// A response whose body is not read yet. Dropping it cancels the exchange.
pub(crate) struct Answer {
    pub(crate) response: Response,
    connection: Connection,
}

/// Cancels its exchange when dropped.
pub(crate) struct Connection(Option<AbortController>);

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}

impl Exchange {
    /// The body of a successful response.
    pub(crate) async fn read(&self, deadline: Deadline) -> Result<Vec<u8>, HttpError> {
        self.run(deadline, async || self.body().await).await
    }

    /// The body of a successful response; `None` if it is too large.
    pub(crate) async fn read_if_not_too_large(
        &self,
        deadline: Deadline,
    ) -> Result<Option<Vec<u8>>, HttpError> {
        self.run(deadline, async || match self.body().await {
            Ok(body) => Ok(Some(body)),
            Err(UpstreamError::TooLarge) => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    async fn body(&self) -> Result<Vec<u8>, UpstreamError> {
        let answer = self.attempt().await?;
        let status = answer.response.status_code();
        let body = self.read_body(answer).await;
        match error_from_status(self.what, status) {
            Some(UpstreamError::Status(429)) => {
                let limit = body.ok().and_then(|body| database_limit_s(&body));
                Err(limit.map_or(UpstreamError::Status(429), UpstreamError::Limited))
            }
            Some(error) => Err(error),
            None => body,
        }
    }

    async fn read_body(&self, mut answer: Answer) -> Result<Vec<u8>, UpstreamError> {
        let Ok(mut stream) = answer.response.stream() else { return Ok(Vec::new()) };
        let mut body = Vec::new();
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|_| UpstreamError::Connection("the answer was cut off"))?;
            let length = body.len() + piece.len();
            if length > self.max_bytes {
                return Err(UpstreamError::TooLarge);
            }
            if length > LARGE_BYTES && !self.large_answers.acquire().await {
                return Err(UpstreamError::Final(unavailable(self.what, "too many large answers at a time")));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// The body of a successful response; `None` for status 404.
    pub(crate) async fn read_if_there(&self, deadline: Deadline) -> Result<Option<Vec<u8>>, HttpError> {
        self.run(deadline, async || {
            let answer = self.attempt().await?;
            match answer.response.status_code() {
                404 => Ok(None),
                status => match error_from_status(self.what, status) {
                    Some(error) => Err(error),
                    None => self.read_body(answer).await.map(Some),
                },
            }
        })
        .await
    }

    /// The response, after its headers. Statuses of 500 and more, 401, 429 and redirects are errors.
    pub(crate) async fn open(&self, deadline: Deadline) -> Result<Answer, HttpError> {
        self.run(deadline, async || {
            let answer = self.attempt().await?;
            match error_from_status(self.what, answer.response.status_code()) {
                Some(error @ UpstreamError::Status(_)) => Err(error),
                Some(UpstreamError::Final(error)) if error.body.code == ErrorCode::Unauthorized => {
                    Err(UpstreamError::Final(error))
                }
                _ => Ok(answer),
            }
        })
        .await
    }

    async fn run<T>(
        &self,
        deadline: Deadline,
        attempt: impl AsyncFn() -> Result<T, UpstreamError>,
    ) -> Result<T, HttpError> {
        self.circuit(|circuit, now| circuit.admit(now))
            .map_err(|wait_ms| circuit_open(self.what, wait_ms))?;
        let had_time = deadline.remaining() >= MIN_TIME;
        let result = deadline.limit(self.what, self.attempts(attempt)).await;
        match result {
            Ok(result) => {
                let sign =
                    result.as_ref().map_or_else(|error| self.observation(error), |_| Observation::Healthy);
                self.circuit(|circuit, now| circuit.record(sign, now));
                result.map_err(|error| error.into_http_error(self.what))
            }
            Err(timeout) => {
                if had_time {
                    self.circuit(|circuit, now| circuit.record(self.failing_for_caller(), now));
                }
                Err(timeout)
            }
        }
    }

    fn observation(&self, error: &UpstreamError) -> Observation {
        match error {
            UpstreamError::Limited(_) | UpstreamError::TooLarge | UpstreamError::Final(_) => {
                Observation::Healthy
            }
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
        CIRCUITS.with(|[rest, storage, keys]| {
            let cell = match self.service {
                Service::Rest => rest,
                Service::Storage => storage,
                Service::Keys => keys,
            };
            let mut circuit = cell.get();
            let result = change(&mut circuit, Date::now().as_millis());
            cell.set(circuit);
            result
        })
    }

    /// Never returns an outer error; the type is that of `Deadline::limit`.
    async fn attempts<T>(
        &self,
        attempt: impl AsyncFn() -> Result<T, UpstreamError>,
    ) -> Result<Result<T, UpstreamError>, HttpError> {
        match attempt().await {
            Err(error) if self.is_idempotent && error.is_transient() => {
                let pause_ms = RETRY_PAUSE_MS * (1.0 + 2.0 * Math::random());
                Delay::from(Duration::from_millis(pause_ms as u64)).await;
                Ok(attempt().await)
            }
            result => Ok(result),
        }
    }

    async fn attempt(&self) -> Result<Answer, UpstreamError> {
        let request = self.request().map_err(|error| {
            UpstreamError::Final(HttpError::internal(format!("{}: request: {error}", self.what)))
        })?;
        let controller = AbortController::default();
        let signal = controller.signal();
        let connection = Connection(Some(controller));
        let response = Fetch::Request(request)
            .send_with_signal(&signal)
            .await
            .map_err(|_| UpstreamError::Connection("no connection"))?;
        Ok(Answer { response, connection })
    }

    fn request(&self) -> worker::Result<Request> {
        let headers = Headers::new();
        for (name, value) in &self.headers {
            headers.set(name, value)?;
        }
        let mut init = RequestInit::new();
        // Following a redirect would send the user's token elsewhere.
        init.with_method(self.method.clone()).with_headers(headers).with_redirect(RequestRedirect::Manual);
        if let Some(body) = &self.body {
            init.with_body(Some(body.as_str().into()));
        }
        Request::new_with_init(&self.url, &init)
    }
}

impl Answer {
    /// The response, and the connection, which must live until the body is read.
    pub(crate) fn into_parts(self) -> (Response, Connection) {
        (self.response, self.connection)
    }
}

impl UpstreamError {
    /// Whether a retry may succeed.
    fn is_transient(&self) -> bool {
        matches!(self, Self::Connection(_) | Self::Status(429 | 502 | 503 | 504))
    }

    fn into_http_error(self, what: &'static str) -> HttpError {
        match self {
            Self::Connection(detail) => unavailable(what, detail),
            Self::Status(status) => unavailable(what, &format!("HTTP {status}")),
            Self::Limited(seconds) => {
                HttpError::rate_limited(seconds).with_detail(format!("{what}: rate limit of the database"))
            }
            Self::TooLarge => unavailable(what, "the answer is too large"),
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
            HttpError::new(ErrorCode::Unauthorized, "Your session is no longer valid. Observation in again.")
                .with_detail(detail()),
        ),
        403 => UpstreamError::Final(
            HttpError::new(
                ErrorCode::Forbidden,
                "You may not use this knowledge base. Ask an admin for access.",
            )
            .with_detail(detail()),
        ),
        301 | 302 | 303 | 307 | 308 | 429 | 500.. => UpstreamError::Status(status),
        // Any other status means that the Worker and the database are incompatible.
        _ => UpstreamError::Final(HttpError::internal(detail())),
    })
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
