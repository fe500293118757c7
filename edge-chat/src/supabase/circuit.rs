//! A circuit breaker: when Supabase fails again and again, it is left alone for a moment and nobody waits in vain.

/// Calls in a row that must fail before the circuit opens.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it stays open, in milliseconds. After that, one call tries.
pub(super) const OPEN_MS: u64 = 5_000;

/// The state of one service's circuit, as an isolate sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Circuit {
    failures: u32,
    /// Until then no call is made.
    open_until_ms: u64,
}

impl Circuit {
    pub(super) const CLOSED: Self = Self { failures: 0, open_until_ms: 0 };

    /// Whether a call may be made now; if not, the milliseconds to wait.
    pub(super) fn admit(&mut self, now_ms: u64) -> Result<(), u64> {
        if self.failures < FAILURES_TO_OPEN {
            return Ok(());
        }
        // A wait that is longer than it can be comes from a clock that was set back.
        let wait_ms = self.open_until_ms.saturating_sub(now_ms);
        if (1..=OPEN_MS).contains(&wait_ms) {
            return Err(wait_ms);
        }
        // This call tries; until it is back, the others keep waiting.
        self.open_until_ms = now_ms + OPEN_MS;
        Ok(())
    }

    /// Notes how a call went.
    pub(super) fn record(&mut self, is_success: bool, now_ms: u64) {
        if is_success {
            *self = Self::CLOSED;
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES_TO_OPEN {
            self.open_until_ms = now_ms + OPEN_MS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_failures(count: u32) -> Circuit {
        let mut circuit = Circuit::CLOSED;
        for _ in 0..count {
            assert_eq!(circuit.admit(0), Ok(()));
            circuit.record(false, 0);
        }
        circuit
    }

    #[test]
    fn five_failures_in_a_row_open_it() {
        assert_eq!(after_failures(4).admit(0), Ok(()));
        assert_eq!(after_failures(5).admit(1), Err(OPEN_MS - 1));
    }

    #[test]
    fn a_success_between_them_does_not() {
        let mut circuit = after_failures(4);
        circuit.record(true, 0);
        circuit.record(false, 0);
        assert_eq!(circuit.admit(0), Ok(()));
    }

    #[test]
    fn when_its_time_is_over_one_call_tries() {
        let mut circuit = after_failures(5);
        assert_eq!(circuit.admit(OPEN_MS), Ok(()));
        assert!(circuit.admit(OPEN_MS + 1).is_err(), "only one");
        circuit.record(false, OPEN_MS + 2);
        assert_eq!(circuit.admit(OPEN_MS + 3), Err(OPEN_MS - 1));
        assert_eq!(circuit.admit(2 * OPEN_MS + 2), Ok(()));
        circuit.record(true, 2 * OPEN_MS + 3);
        assert_eq!(circuit, Circuit::CLOSED);
    }
}
