//! How often, and after what pause, a request is repeated.

use std::time::Duration;

use backon::ExponentialBuilder;

/// Pauses that double, each with up to the same time again added at random: commands that a scheduler starts together must
/// not repeat their requests together.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// Repetitions after the first attempt.
    pub retries: u32,
    /// Pause before the first repetition, without the random part.
    pub first_pause: Duration,
}

impl Default for Backoff {
    /// 8 to 16 seconds of pauses in all.
    fn default() -> Self {
        Self { retries: 5, first_pause: Duration::from_millis(250) }
    }
}

impl Backoff {
    pub(super) fn pauses(self) -> ExponentialBuilder {
        ExponentialBuilder::default()
            .with_factor(2.0)
            .with_min_delay(self.first_pause)
            .without_max_delay()
            .with_max_times(self.retries as usize)
            .with_jitter()
    }
}

#[cfg(test)]
mod tests {
    use backon::BackoffBuilder;

    use super::*;

    #[test]
    fn pauses_double_and_end_and_at_most_double_again_at_random() {
        let backoff = Backoff { retries: 3, first_pause: Duration::from_millis(10) };
        for _ in 0..100 {
            let pauses: Vec<_> = backoff.pauses().build().map(|pause| pause.as_millis()).collect();
            assert_eq!(pauses.len(), 3);
            for (pause, base) in pauses.iter().zip([10, 20, 40]) {
                assert!((base..=2 * base).contains(pause), "{pauses:?}");
            }
        }
    }

    #[test]
    fn pauses_differ_from_one_request_to_the_next() {
        let first = || Backoff::default().pauses().build().next().unwrap();
        assert!((0..20).any(|_| first() != first()));
    }
}
