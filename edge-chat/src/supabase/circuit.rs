//! A circuit breaker: when Supabase fails again and again, it is left alone for a moment and nobody waits in vain.

use uuid::Uuid;

/// Failures in a row that must count before the circuit opens.
const FAILURES_TO_OPEN: usize = 5;
/// How long it stays open, in milliseconds. After that, one call tries.
pub(super) const OPEN_MS: u64 = 5_000;

/// What a call says about the service.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    /// It works.
    Health,
    /// It is in trouble, whoever calls.
    Trouble,
    /// It failed, but what this user asked may be the reason. Of one user this counts once.
    TroubleFor(Uuid),
}

/// The state of one service's circuit, as an isolate sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Circuit {
    failures: usize,
    /// Users whose failures are among those that count.
    users: [Option<Uuid>; FAILURES_TO_OPEN],
    /// Until then no call is made.
    open_until_ms: u64,
}

impl Circuit {
    pub(super) const CLOSED: Self = Self { failures: 0, users: [None; FAILURES_TO_OPEN], open_until_ms: 0 };

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
    pub(super) fn record(&mut self, sign: Sign, now_ms: u64) {
        match sign {
            Sign::Health => {
                *self = Self::CLOSED;
                return;
            }
            Sign::Trouble => {}
            Sign::TroubleFor(user) if self.users.contains(&Some(user)) => {
                // Says nothing new. If it was the call that tries, another one may.
                self.open_until_ms = self.open_until_ms.min(now_ms);
                return;
            }
            Sign::TroubleFor(user) => {
                if let Some(place) = self.users.iter_mut().find(|place| place.is_none()) {
                    *place = Some(user);
                }
            }
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

    fn after(signs: impl IntoIterator<Item = Sign>) -> Circuit {
        let mut circuit = Circuit::CLOSED;
        for sign in signs {
            assert_eq!(circuit.admit(0), Ok(()));
            circuit.record(sign, 0);
        }
        circuit
    }

    fn after_failures(count: usize) -> Circuit {
        after(vec![Sign::Trouble; count])
    }

    fn trouble_for(user: u128) -> Sign {
        Sign::TroubleFor(Uuid::from_u128(user))
    }

    #[test]
    fn five_failures_in_a_row_open_it() {
        assert_eq!(after_failures(4).admit(0), Ok(()));
        assert_eq!(after_failures(5).admit(1), Err(OPEN_MS - 1));
    }

    #[test]
    fn a_success_between_them_does_not() {
        let mut circuit = after_failures(4);
        circuit.record(Sign::Health, 0);
        circuit.record(Sign::Trouble, 0);
        assert_eq!(circuit.admit(0), Ok(()));
    }

    #[test]
    fn one_user_alone_never_opens_it_and_five_do() {
        assert_eq!(after((0..100).map(|_| trouble_for(1))).admit(0), Ok(()));
        assert_eq!(after((0..100).map(|turn| trouble_for(turn % 4))).admit(0), Ok(()));
        assert!(after((0..5).map(trouble_for)).admit(0).is_err());
        let mixed = [Sign::Trouble; 4].into_iter().chain([trouble_for(1)]);
        assert!(after(mixed).admit(0).is_err());
    }

    #[test]
    fn one_user_alone_does_not_keep_it_open() {
        let mut circuit = after((0..5).map(trouble_for));
        assert_eq!(circuit.admit(OPEN_MS), Ok(()));
        circuit.record(trouble_for(0), OPEN_MS + 1);
        assert_eq!(circuit.admit(OPEN_MS + 1), Ok(()), "the next one tries");
        assert!(circuit.admit(OPEN_MS + 1).is_err(), "only one");
        circuit.record(trouble_for(9), OPEN_MS + 2);
        assert_eq!(circuit.admit(OPEN_MS + 3), Err(OPEN_MS - 1));
    }

    #[test]
    fn when_its_time_is_over_one_call_tries() {
        let mut circuit = after_failures(5);
        assert_eq!(circuit.admit(OPEN_MS), Ok(()));
        assert!(circuit.admit(OPEN_MS + 1).is_err(), "only one");
        circuit.record(Sign::Trouble, OPEN_MS + 2);
        assert_eq!(circuit.admit(OPEN_MS + 3), Err(OPEN_MS - 1));
        assert_eq!(circuit.admit(2 * OPEN_MS + 2), Ok(()));
        circuit.record(Sign::Health, 2 * OPEN_MS + 3);
        assert_eq!(circuit, Circuit::CLOSED);
    }
}
