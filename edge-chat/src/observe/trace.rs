//! Timings and facts collected during a request. Never contains a token or a vector.

use std::cell::{Ref, RefCell};
use std::future::Future;

use chat_core::DecidedBy;
use chat_core::assistant::AssistantName;
use chat_core::generate::GenerationReport;
use serde::Serialize;

use crate::clock::now_ms;
use crate::http::error::HttpError;

/// The stages and facts of one request.
pub(crate) struct Trace {
    started_ms: u64,
    stages: RefCell<Vec<(&'static str, u64)>>,
    facts: RefCell<Facts>,
}

/// The log fields of a question.
#[derive(Default, Clone, Serialize)]
pub(crate) struct Facts {
    /// The assistant that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) assistant: Option<AssistantName>,
    /// Cosine of the nearest passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) similarity: Option<f64>,
    /// Whether the question was searched together with the one before it, and that result used; missing if none was before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) follow_up: Option<bool>,
    /// Calibrated confidence that the passages answer the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f64>,
    /// The judge of the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decided_by: Option<DecidedBy>,
    /// The outcome, if it is another one than when the response began.
    #[serde(skip)]
    pub(crate) outcome: Option<&'static str>,
    /// How the answer was written, if a model was to write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generation: Option<GenerationReport>,
    /// Whether question and outcome are in the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) persisted: Option<bool>,
    /// The question itself, if the site owner enables that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<String>,
    /// Faults that did not change the response.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) faults: Vec<String>,
}

impl Trace {
    pub(crate) fn start() -> Self {
        Self { started_ms: now_ms(), stages: RefCell::default(), facts: RefCell::default() }
    }

    /// Milliseconds since the request arrived.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        now_ms().saturating_sub(self.started_ms)
    }

    /// Runs a stage and records how long it took.
    pub(crate) async fn time<T>(&self, stage: &'static str, work: impl Future<Output = T>) -> T {
        let before = self.elapsed_ms();
        let result = work.await;
        self.stages.borrow_mut().push((stage, self.elapsed_ms().saturating_sub(before)));
        result
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.facts.borrow_mut());
    }

    /// Records a fault that the client is not told about in detail.
    pub(crate) fn fault(&self, what: &str, error: &HttpError) {
        let detail = error.detail.as_deref().unwrap_or(&error.body.message);
        self.note(|facts| facts.faults.push(format!("{what}: {detail}")));
    }

    pub(crate) fn facts(&self) -> Ref<'_, Facts> {
        self.facts.borrow()
    }

    /// The stages so far, in the order in which they ended.
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
