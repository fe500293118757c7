//! How often and after what pause a request is repeated.

use std::time::Duration;

/// Pauses that double.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// Repetitions after the first attempt.
    pub retries: u32,
    /// Before the first repetition; doubles each time.
    pub first_pause: Duration,
}

impl Default for Backoff {
    /// About eight seconds in all.
    fn default() -> Self {
        Self { retries: 5, first_pause: Duration::from_millis(250) }
    }
}

impl Backoff {
    pub(super) fn pause_before(self, retry: u32) -> Option<Duration> {
        (retry < self.retries).then(|| self.first_pause * 2_u32.saturating_pow(retry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end() {
        let backoff = Backoff { retries: 3, first_pause: Duration::from_millis(10) };
        let pauses: Vec<_> =
            (0..5).map_while(|retry| backoff.pause_before(retry)).map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40]);
    }
}
