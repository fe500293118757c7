//! The deadline of a request.

use std::time::Duration;

use chat_core::error::ErrorCode;

use crate::clock::{now_ms, within};
use crate::http::error::HttpError;

/// A time after which a request stops waiting.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    ends_ms: u64,
}

impl Deadline {
    pub(crate) fn after(limit: Duration) -> Self {
        Self { ends_ms: now_ms().saturating_add(limit.as_millis() as u64) }
    }

    /// Extends the deadline to at least `min` from now.
    pub(crate) fn at_least(self, min: Duration) -> Self {
        Self { ends_ms: self.ends_ms.max(Self::after(min).ends_ms) }
    }

    /// Shortens the deadline to at most `max` from now.
    pub(crate) fn at_most(self, max: Duration) -> Self {
        Self { ends_ms: self.ends_ms.min(Self::after(max).ends_ms) }
    }

    /// Half of the remaining time, for optional work.
    pub(crate) fn half(self) -> Self {
        Self { ends_ms: self.ends_ms - self.remaining().as_millis() as u64 / 2 }
    }

    pub(crate) fn remaining(self) -> Duration {
        Duration::from_millis(self.ends_ms.saturating_sub(now_ms()))
    }

    /// Cancels a future at the deadline by dropping it.
    pub(crate) async fn limit<T>(
        self,
        what: &str,
        future: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        let remaining = self.remaining();
        within(remaining, future).await.unwrap_or_else(|| {
            let message = "The knowledge base took too long to answer. Please try again.";
            let detail = format!("{what}: no answer within the {} ms that were left", remaining.as_millis());
            Err(HttpError::new(ErrorCode::UpstreamTimeout, message).with_detail(detail))
        })
    }
}
