//! A value that one request fetches for all requests of an isolate. The caller passes the time in; nothing here waits.

use std::rc::Rc;
use std::time::Duration;

/// The state of a fetched value in an isolate. Times are milliseconds since 1970.
pub(crate) struct SingleFlight<T, E> {
    value: Option<(u64, Rc<T>)>,
    failure: Option<(u64, E)>,
    fetching_since_ms: Option<u64>,
    /// A fetch that takes longer counts as lost: the runtime has cancelled its request.
    fetch_limit: Duration,
}

/// The next step of a request.
pub(crate) enum Step<T, E> {
    Use(Rc<T>),
    /// Fetch, then call [`SingleFlight::finish`].
    Fetch,
    /// Another request is fetching. Workers may not await the future of another request, so ask again later.
    Wait,
    GiveUp(E),
}

impl<T, E: Clone> SingleFlight<T, E> {
    pub(crate) const fn new(fetch_limit: Duration) -> Self {
        Self { value: None, failure: None, fetching_since_ms: None, fetch_limit }
    }

    /// Uses a value younger than `max_age`; does not fetch again within `retry_pause` of a failure.
    pub(crate) fn next(&mut self, max_age: Duration, retry_pause: Duration, now_ms: u64) -> Step<T, E> {
        if let Some(value) = self.value(max_age, now_ms) {
            return Step::Use(value);
        }
        if self.is_fetching(now_ms) {
            return Step::Wait;
        }
        if let Some(failure) = self.failure(retry_pause, now_ms) {
            return Step::GiveUp(failure);
        }
        self.start(now_ms);
        Step::Fetch
    }

    /// The value, if it was fetched less than `max_age` ago.
    pub(crate) fn value(&self, max_age: Duration, now_ms: u64) -> Option<Rc<T>> {
        let value = self.value.as_ref().filter(|(fetched_ms, _)| is_within(*fetched_ms, max_age, now_ms));
        value.map(|(_, value)| Rc::clone(value))
    }

    /// The failure of the last fetch, if it ended less than `max_age` ago.
    pub(crate) fn failure(&self, max_age: Duration, now_ms: u64) -> Option<E> {
        let failure = self.failure.as_ref().filter(|(failed_ms, _)| is_within(*failed_ms, max_age, now_ms));
        failure.map(|(_, failure)| failure.clone())
    }

    pub(crate) fn is_fetching(&self, now_ms: u64) -> bool {
        self.fetching_since_ms.is_some_and(|since_ms| is_within(since_ms, self.fetch_limit, now_ms))
    }

    pub(crate) fn start(&mut self, now_ms: u64) {
        self.fetching_since_ms = Some(now_ms);
    }

    /// Stores the result of a fetch. The value's age counts from `fetched_ms`, the failure's from `now_ms`.
    pub(crate) fn finish(&mut self, result: Result<Rc<T>, E>, fetched_ms: u64, now_ms: u64) {
        self.abandon();
        match result {
            Ok(value) => {
                self.value = Some((fetched_ms, value));
                self.failure = None;
            }
            Err(failure) => self.failure = Some((now_ms, failure)),
        }
    }

    /// Ends a fetch without a result.
    pub(crate) fn abandon(&mut self) {
        self.fetching_since_ms = None;
    }
}

/// Whether a time is less than a span ago. A time in the future, from a clock that was set back, is not.
pub(crate) fn is_within(since_ms: u64, span: Duration, now_ms: u64) -> bool {
    now_ms.checked_sub(since_ms).is_some_and(|age_ms| u128::from(age_ms) < span.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_AGE: Duration = Duration::from_secs(60);
    const RETRY_PAUSE: Duration = Duration::from_secs(1);
    const FETCH_LIMIT: Duration = Duration::from_secs(10);

    fn flight() -> SingleFlight<u8, &'static str> {
        SingleFlight::new(FETCH_LIMIT)
    }

    fn next(flight: &mut SingleFlight<u8, &'static str>, now_ms: u64) -> Step<u8, &'static str> {
        flight.next(MAX_AGE, RETRY_PAUSE, now_ms)
    }

    #[test]
    fn one_request_fetches_and_the_others_wait_for_it() {
        let mut flight = flight();
        assert!(matches!(next(&mut flight, 1000), Step::Fetch));
        assert!(matches!(next(&mut flight, 1001), Step::Wait));
        flight.finish(Ok(Rc::new(7)), 1000, 1500);
        assert!(matches!(next(&mut flight, 1501), Step::Use(value) if *value == 7));
        assert!(matches!(next(&mut flight, 60_999), Step::Use(_)));
        assert!(matches!(next(&mut flight, 61_000), Step::Fetch));
    }

    #[test]
    fn a_failure_delays_the_next_fetch() {
        let mut flight = flight();
        assert!(matches!(next(&mut flight, 0), Step::Fetch));
        flight.finish(Err("no"), 0, 100);
        assert!(matches!(next(&mut flight, 1099), Step::GiveUp("no")));
        assert!(matches!(next(&mut flight, 1100), Step::Fetch));
    }

    #[test]
    fn a_lost_or_abandoned_fetch_is_repeated() {
        let mut flight = flight();
        assert!(matches!(next(&mut flight, 0), Step::Fetch));
        assert!(matches!(next(&mut flight, 9_999), Step::Wait));
        assert!(matches!(next(&mut flight, 10_000), Step::Fetch));
        flight.abandon();
        assert!(matches!(next(&mut flight, 10_000), Step::Fetch));
    }

    #[test]
    fn a_clock_that_was_set_back_invalidates_the_value() {
        let mut flight = flight();
        assert!(matches!(next(&mut flight, 5000), Step::Fetch));
        flight.finish(Ok(Rc::new(7)), 5000, 5000);
        assert!(matches!(next(&mut flight, 4999), Step::Fetch));
    }
}
