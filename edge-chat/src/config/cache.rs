//! When the settings are read and how long they serve. Time comes from outside; nothing here waits.

use std::rc::Rc;

use crate::http::error::Failure;

/// For how long what was read is used, in milliseconds.
const KEEP_MS: u64 = 60_000;
/// For how long a failure stands before the next try, in milliseconds: many requests must not become many calls.
const FAILURE_MS: u64 = 1_000;
/// After this time a reading that has not ended is taken for lost: the runtime has ended the request that began it.
const READING_LIMIT_MS: u64 = 10_000;

/// What an isolate knows of the settings.
pub(super) struct Cache<T> {
    kept: Option<(u64, Rc<T>)>,
    /// Since when a request reads.
    reading_since_ms: Option<u64>,
    failed: Option<(u64, Failure)>,
}

/// What a request does next.
pub(super) enum Step<T> {
    Use(Rc<T>),
    /// Read, then call [`Cache::finish`].
    Read,
    /// Another request is reading. Its future is not ours to await, so look again later.
    Wait,
    GiveUp(Failure),
}

impl<T> Cache<T> {
    pub(super) const EMPTY: Self = Self { kept: None, reading_since_ms: None, failed: None };

    pub(super) fn next(&mut self, now_ms: u64) -> Step<T> {
        if let Some((at_ms, value)) = &self.kept
            && within(*at_ms, KEEP_MS, now_ms)
        {
            return Step::Use(Rc::clone(value));
        }
        if self.reading_since_ms.is_some_and(|since_ms| within(since_ms, READING_LIMIT_MS, now_ms)) {
            return Step::Wait;
        }
        if let Some((at_ms, failure)) = &self.failed
            && within(*at_ms, FAILURE_MS, now_ms)
        {
            return Step::GiveUp(failure.clone());
        }
        self.reading_since_ms = Some(now_ms);
        Step::Read
    }

    /// Notes that a reading ended without a result.
    pub(super) fn abandon(&mut self) {
        self.reading_since_ms = None;
    }

    /// Takes in what was read; `asked_ms` is when the reading began, so that nothing is used for longer than it may.
    pub(super) fn finish(&mut self, read: Result<Rc<T>, Failure>, asked_ms: u64, now_ms: u64) {
        self.reading_since_ms = None;
        match read {
            Ok(value) => {
                self.kept = Some((asked_ms, value));
                self.failed = None;
            }
            Err(failure) => self.failed = Some((now_ms, failure)),
        }
    }
}

/// Whether a time is less than a span ago. One in the future, from a clock that was set back, is not.
fn within(since_ms: u64, span_ms: u64, now_ms: u64) -> bool {
    now_ms.checked_sub(since_ms).is_some_and(|age_ms| age_ms < span_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_reads_and_the_others_wait_for_it() {
        let mut cache = Cache::EMPTY;
        assert!(matches!(cache.next(1000), Step::Read));
        assert!(matches!(cache.next(1001), Step::Wait));
        cache.finish(Ok(Rc::new(7)), 1000, 1500);
        assert!(matches!(cache.next(1501), Step::Use(value) if *value == 7));
        assert!(matches!(cache.next(1000 + KEEP_MS - 1), Step::Use(_)));
        assert!(matches!(cache.next(1000 + KEEP_MS), Step::Read));
    }

    #[test]
    fn a_failure_stands_for_a_moment() {
        let mut cache = Cache::<u8>::EMPTY;
        assert!(matches!(cache.next(0), Step::Read));
        cache.finish(Err(Failure::internal("no")), 0, 100);
        assert!(matches!(cache.next(100 + FAILURE_MS - 1), Step::GiveUp(_)));
        assert!(matches!(cache.next(100 + FAILURE_MS), Step::Read));
    }

    #[test]
    fn a_reading_that_was_lost_is_begun_again() {
        let mut cache = Cache::<u8>::EMPTY;
        assert!(matches!(cache.next(0), Step::Read));
        assert!(matches!(cache.next(READING_LIMIT_MS - 1), Step::Wait));
        assert!(matches!(cache.next(READING_LIMIT_MS), Step::Read));
        cache.abandon();
        assert!(matches!(cache.next(READING_LIMIT_MS), Step::Read));
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nothing() {
        let mut cache = Cache::EMPTY;
        assert!(matches!(cache.next(5000), Step::Read));
        cache.finish(Ok(Rc::new(7)), 5000, 5000);
        assert!(matches!(cache.next(4999), Step::Read));
    }
}
