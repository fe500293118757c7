//! A circuit breaker: after repeated failures of a service, calls fail fast for a moment.

use uuid::Uuid;

/// Consecutive failures that open the circuit.
const FAILURES_TO_OPEN: usize = 5;
/// How long it stays open, in milliseconds. Then one call probes the service.
pub(crate) const OPEN_MS: u64 = 5_000;
/// The longest pause that the service itself may ask for. More would switch it off because of one
/// wrong header.
const MAX_OPEN_MS: u64 = 60_000;

/// A statement about the service, from the result of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Observation {
    Healthy,
    /// It fails for everybody.
    Failing,
    /// It failed, but this user's request may be the reason. Failures of one user count once.
    FailingFor(Uuid),
    /// It rejects everybody, and says for how many milliseconds.
    FailingUntil(u64),
}

/// The circuit of one service in one isolate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Circuit {
    failures: usize,
    /// Users whose failure is counted already.
    users: [Option<Uuid>; FAILURES_TO_OPEN],
    /// No calls before this time.
    open_until_ms: u64,
}

impl Circuit {
    pub(crate) const CLOSED: Self = Self { failures: 0, users: [None; FAILURES_TO_OPEN], open_until_ms: 0 };

    /// Whether a call is allowed now; if not, the milliseconds to wait.
    pub(crate) fn admit(&mut self, now_ms: u64) -> Result<(), u64> {
        if self.failures < FAILURES_TO_OPEN {
            return Ok(());
        }
        // A longer wait is impossible, unless the clock was set back.
        let wait_ms = self.open_until_ms.saturating_sub(now_ms);
        if (1..=MAX_OPEN_MS).contains(&wait_ms) {
            return Err(wait_ms);
        }
        // This call probes; the others keep failing fast until it returns.
        self.open_until_ms = now_ms + OPEN_MS;
        Ok(())
    }

    /// Records the result of a call.
    pub(crate) fn record(&mut self, observation: Observation, now_ms: u64) {
        match observation {
            Observation::Healthy => {
                *self = Self::CLOSED;
                return;
            }
            Observation::Failing => {}
            Observation::FailingUntil(wait_ms) => {
                self.failures = FAILURES_TO_OPEN;
                self.open_until_ms = self.open_until_ms.max(now_ms + wait_ms.min(MAX_OPEN_MS));
                return;
            }
            Observation::FailingFor(user) if self.users.contains(&Some(user)) => {
                // This user has already failed, so the failure says nothing new about the service.
                // If this was the probe, another call may probe. A longer pause is one that the
                // service asked for.
                if self.open_until_ms <= now_ms + OPEN_MS {
                    self.open_until_ms = self.open_until_ms.min(now_ms);
                }
                return;
            }
            Observation::FailingFor(user) => {
                if let Some(place) = self.users.iter_mut().find(|place| place.is_none()) {
                    *place = Some(user);
                }
            }
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES_TO_OPEN {
            self.open_until_ms = self.open_until_ms.max(now_ms + OPEN_MS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(observations: impl IntoIterator<Item = Observation>) -> Circuit {
        let mut circuit = Circuit::CLOSED;
        for observation in observations {
            assert_eq!(circuit.admit(0), Ok(()));
            circuit.record(observation, 0);
        }
        circuit
    }

    fn after_failures(count: usize) -> Circuit {
        after(vec![Observation::Failing; count])
    }

    fn failing_for(user: u128) -> Observation {
        Observation::FailingFor(Uuid::from_u128(user))
    }

    #[test]
    fn five_consecutive_failures_open_the_circuit() {
        assert_eq!(after_failures(4).admit(0), Ok(()));
        assert_eq!(after_failures(5).admit(1), Err(OPEN_MS - 1));
    }

    #[test]
    fn a_success_resets_the_count_of_failures() {
        let mut circuit = after_failures(4);
        circuit.record(Observation::Healthy, 0);
        circuit.record(Observation::Failing, 0);
        assert_eq!(circuit.admit(0), Ok(()));
    }

    #[test]
    fn one_user_alone_never_opens_the_circuit_but_five_do() {
        assert_eq!(after((0..100).map(|_| failing_for(1))).admit(0), Ok(()));
        assert_eq!(after((0..100).map(|turn| failing_for(turn % 4))).admit(0), Ok(()));
        assert!(after((0..5).map(failing_for)).admit(0).is_err());
        let mixed = [Observation::Failing; 4].into_iter().chain([failing_for(1)]);
        assert!(after(mixed).admit(0).is_err());
    }

    #[test]
    fn one_user_alone_does_not_keep_the_circuit_open() {
        let mut circuit = after((0..5).map(failing_for));
        assert_eq!(circuit.admit(OPEN_MS), Ok(()));
        circuit.record(failing_for(0), OPEN_MS + 1);
        assert_eq!(circuit.admit(OPEN_MS + 1), Ok(()), "the next call probes");
        assert!(circuit.admit(OPEN_MS + 1).is_err(), "only one");
        circuit.record(failing_for(9), OPEN_MS + 2);
        assert_eq!(circuit.admit(OPEN_MS + 3), Err(OPEN_MS - 1));
    }

    #[test]
    fn a_service_that_says_how_long_it_rejects_calls_is_not_called_until_then() {
        let mut circuit = Circuit::CLOSED;
        circuit.record(Observation::FailingUntil(20_000), 1_000);
        assert_eq!(circuit.admit(1_001), Err(19_999));
        // Calls that began earlier do not shorten the pause, and neither does a shorter one.
        circuit.record(Observation::Failing, 1_002);
        circuit.record(failing_for(1), 1_003);
        circuit.record(failing_for(1), 1_004);
        circuit.record(Observation::FailingUntil(10), 1_005);
        assert_eq!(circuit.admit(20_999), Err(1));
        assert_eq!(circuit.admit(21_000), Ok(()), "one call probes");
        assert!(circuit.admit(21_001).is_err());
        circuit.record(Observation::Healthy, 21_002);
        assert_eq!(circuit, Circuit::CLOSED);
    }

    #[test]
    fn a_pause_is_at_most_a_minute_and_may_be_none() {
        for wait_ms in [60_000, 86_400_000, u64::MAX] {
            let mut circuit = Circuit::CLOSED;
            circuit.record(Observation::FailingUntil(wait_ms), 0);
            assert_eq!(circuit.admit(59_999), Err(1), "{wait_ms}");
            assert_eq!(circuit.admit(60_000), Ok(()), "{wait_ms}");
        }
        let mut circuit = Circuit::CLOSED;
        circuit.record(Observation::FailingUntil(0), 0);
        assert_eq!(circuit.admit(0), Ok(()));
    }

    #[test]
    fn after_the_pause_one_call_probes_the_service() {
        let mut circuit = after_failures(5);
        assert_eq!(circuit.admit(OPEN_MS), Ok(()));
        assert!(circuit.admit(OPEN_MS + 1).is_err(), "only one");
        circuit.record(Observation::Failing, OPEN_MS + 2);
        assert_eq!(circuit.admit(OPEN_MS + 3), Err(OPEN_MS - 1));
        assert_eq!(circuit.admit(2 * OPEN_MS + 2), Ok(()));
        circuit.record(Observation::Healthy, 2 * OPEN_MS + 3);
        assert_eq!(circuit, Circuit::CLOSED);
    }
}
