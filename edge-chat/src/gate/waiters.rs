//! Requests that wait in a Durable Object for another run of their question.

use std::cell::RefCell;

use futures_channel::oneshot::{Receiver, Sender, channel};
use uuid::Uuid;

/// Waiting requests per user. More than a client that repeats a question has.
const MAX_WAITERS: usize = 4;

/// The waiting requests of one object. If the object is evicted they are lost; their callers have a deadline.
#[derive(Default)]
pub(super) struct Waiters(RefCell<Vec<Waiter>>);

struct Waiter {
    message_id: Uuid,
    wake: Sender<()>,
}

impl Waiters {
    /// Returns a future that completes when the question's run ends. `None` if too many requests wait already.
    pub(super) fn join(&self, message_id: Uuid) -> Option<Receiver<()>> {
        let mut waiters = self.0.borrow_mut();
        waiters.retain(|waiter| !waiter.wake.is_canceled());
        if waiters.len() >= MAX_WAITERS {
            return None;
        }
        let (wake, woken) = channel();
        waiters.push(Waiter { message_id, wake });
        Some(woken)
    }

    /// Wakes all requests.
    pub(super) fn wake_all(&self) {
        for waiter in self.0.take() {
            let _ = waiter.wake.send(());
        }
    }

    /// Wakes the requests that wait for a question.
    pub(super) fn wake(&self, message_id: Uuid) {
        let woken: Vec<_> =
            self.0.borrow_mut().extract_if(.., |waiter| waiter.message_id == message_id).collect();
        for waiter in woken {
            // Fails if the request has given up in the meantime.
            let _ = waiter.wake.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Uuid = Uuid::from_u128(1);
    const SECOND: Uuid = Uuid::from_u128(2);

    #[test]
    fn only_the_waiters_of_the_question_are_woken() {
        let waiters = Waiters::default();
        let [mut a, mut b] = [FIRST, FIRST].map(|id| waiters.join(id).expect("a place"));
        let mut other = waiters.join(SECOND).expect("a place");
        waiters.wake(FIRST);
        assert_eq!([a.try_recv(), b.try_recv()], [Ok(Some(())), Ok(Some(()))]);
        assert_eq!(other.try_recv(), Ok(None));
    }

    #[test]
    fn all_waiters_can_be_woken() {
        let waiters = Waiters::default();
        let mut waiting = [FIRST, SECOND].map(|id| waiters.join(id).expect("a place"));
        waiters.wake_all();
        assert!(waiting.iter_mut().all(|woken| woken.try_recv() == Ok(Some(()))));
        assert!(waiters.0.borrow().is_empty());
    }

    #[test]
    fn waiters_are_bounded_and_free_their_place_when_they_give_up() {
        let waiters = Waiters::default();
        let mut waiting: Vec<_> = (0..MAX_WAITERS).map(|_| waiters.join(FIRST).expect("a place")).collect();
        assert!(waiters.join(FIRST).is_none() && waiters.join(SECOND).is_none());
        waiting.pop();
        waiting.push(waiters.join(SECOND).expect("the place of the waiter that gave up"));
        assert!(waiters.join(FIRST).is_none());
        waiters.wake(FIRST);
        assert!(waiters.join(FIRST).is_some());
    }
}
