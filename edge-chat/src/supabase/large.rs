//! Limits how many large responses an isolate processes at a time. All its requests share 128 MB, and a response is in memory
//! several times while it is read, parsed and sent.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use worker::Delay;

use crate::clock::now_ms;

/// Responses of more bytes are large.
pub(super) const LARGE_BYTES: usize = 128 * 1024;
/// Requests that may have a large response at a time. `cargo xtask bench edge --only memory` measures the memory.
const MAX_PERMITS: usize = 4;
/// After this time a permit counts as lost: the runtime has cancelled its request.
const LOST_AFTER_MS: u64 = 60_000;
/// How often and how many times a request polls for a permit. Workers may not await the future of another request.
const POLL: Duration = Duration::from_millis(10);
const MAX_POLLS: u32 = 300;

thread_local! {
    static PERMITS: RefCell<Permits> = const { RefCell::new(Permits::NONE_TAKEN) };
}

/// The permit of a request, from its first large response until it is released, at its end at the latest.
#[derive(Clone, Default)]
pub(crate) struct LargeResponses(Rc<RefCell<Option<Permit>>>);

impl LargeResponses {
    /// Waits for a permit, unless the request has one. `false` on timeout.
    pub(super) async fn acquire(&self) -> bool {
        for _ in 0..MAX_POLLS {
            if self.0.borrow().is_some() {
                return true;
            }
            let now_ms = now_ms();
            if let Some(number) = PERMITS.with_borrow_mut(|permits| permits.take(now_ms)) {
                self.0.replace(Some(Permit(number)));
                return true;
            }
            Delay::from(POLL).await;
        }
        false
    }

    /// Returns the permit before the end of the request, whose large responses must have been dropped.
    pub(super) fn release(&self) {
        self.0.take();
    }
}

/// Returned when dropped.
struct Permit(u64);

impl Drop for Permit {
    fn drop(&mut self) {
        PERMITS.with_borrow_mut(|permits| permits.release(self.0));
    }
}

/// The permits in use. The caller passes the time in.
struct Permits {
    next: u64,
    /// Number and start of each.
    taken: [Option<(u64, u64)>; MAX_PERMITS],
}

impl Permits {
    const NONE_TAKEN: Self = Self { next: 0, taken: [None; MAX_PERMITS] };

    fn take(&mut self, now_ms: u64) -> Option<u64> {
        // A time in the future means that the clock was set back.
        let is_free = |place: &Option<(u64, u64)>| {
            place.is_none_or(|(_, since_ms)| !(since_ms..since_ms + LOST_AFTER_MS).contains(&now_ms))
        };
        let place = self.taken.iter_mut().find(|place| is_free(place))?;
        self.next += 1;
        *place = Some((self.next, now_ms));
        Some(self.next)
    }

    fn release(&mut self, number: u64) {
        for place in &mut self.taken {
            if place.is_some_and(|(taken, _)| taken == number) {
                *place = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_bounded_and_can_be_reused() {
        let mut permits = Permits::NONE_TAKEN;
        let taken: Vec<_> = (0..MAX_PERMITS).map(|_| permits.take(0).expect("a permit")).collect();
        assert_eq!(permits.take(1), None);
        permits.release(taken[1]);
        assert!(permits.take(1).is_some());
        assert_eq!(permits.take(1), None);
    }

    #[test]
    fn a_lost_permit_becomes_free_after_a_minute() {
        let mut permits = Permits::NONE_TAKEN;
        let lost = permits.take(0).expect("a permit");
        for _ in 1..MAX_PERMITS {
            permits.take(LOST_AFTER_MS - 1);
        }
        assert_eq!(permits.take(LOST_AFTER_MS - 1), None);
        assert!(permits.take(LOST_AFTER_MS).is_some());
        permits.release(lost);
        assert_eq!(permits.take(LOST_AFTER_MS), None, "returning a lost permit does not free another one");
    }
}
