//! What is learned about a request while it is answered. It never holds a token or a vector.

use std::cell::{Ref, RefCell};
use std::future::Future;

use serde::Serialize;
use worker::Date;

use crate::http::error::HttpError;

/// The stages and facts of one request.
pub(crate) struct Trace {
    started_ms: u64,
    stages: RefCell<Vec<(&'static str, u64)>>,
    facts: RefCell<Facts>,
}

/// What the log says about a question.
#[derive(Default, Clone, Serialize)]
pub(crate) struct Facts {
    /// Cosine of the nearest passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) similarity: Option<f64>,
    /// Calibrated confidence that what was found answers the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f64>,
    /// Whether question and outcome are in the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) persisted: Option<bool>,
    /// The question itself; only if the site owner wants it in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<String>,
    /// Faults that did not change the response.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<String>,
}

impl Trace {
    pub(crate) fn start() -> Self {
        Self { started_ms: Date::now().as_millis(), stages: RefCell::default(), facts: RefCell::default() }
    }

    /// Milliseconds since the request came.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        Date::now().as_millis().saturating_sub(self.started_ms)
    }

    /// Runs a stage and notes how long it took.
    pub(crate) async fn time<T>(&self, stage: &'static str, work: impl Future<Output = T>) -> T {
        let before = self.elapsed_ms();
        let result = work.await;
        self.stages.borrow_mut().push((stage, self.elapsed_ms().saturating_sub(before)));
        result
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.facts.borrow_mut());
    }

    /// Notes a fault that the client does not learn of, or not in words.
    pub(crate) fn fault(&self, what: &str, error: &HttpError) {
        let detail = error.detail.as_deref().unwrap_or(&error.body.message);
        self.note(|facts| facts.faults.push(format!("{what}: {detail}")));
    }

    pub(crate) fn facts(&self) -> Ref<'_, Facts> {
        self.facts.borrow()
    }

    /// The stages so far, in the order they ended.
    pub(crate) fn stages(&self) -> Vec<(&'static str, u64)> {
        self.stages.borrow().clone()
    }

    /// The value of a `Server-Timing` header.
    pub(crate) fn server_timing(&self) -> String {
        let mut parts: Vec<_> =
            self.stages.borrow().iter().map(|(stage, ms)| format!("{stage};dur={ms}")).collect();
        parts.push(format!("total;dur={}", self.elapsed_ms()));
        parts.join(", ")
    }
}
