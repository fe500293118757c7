//! When the published keys are fetched and how long they are used. The caller passes the time in; nothing here waits.

use std::rc::Rc;
use std::time::Duration;

use super::jws::Header;
use super::key_set::{KeySet, Lookup};
use super::keys::PublicKey;
use crate::single_flight::{self, SingleFlight, is_within};

/// After this time a set is fetched again.
const REFRESH_AFTER: Duration = Duration::from_secs(10 * 60);
/// How long a set is used while it cannot be fetched again: the longest that a withdrawn key is accepted.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);
/// The least time between two fetches for unknown keys: tokens with invented keys must not make us fetch.
const UNKNOWN_KEY_PAUSE: Duration = Duration::from_secs(30);
/// The pause after a failed fetch while there is a set to use...
const RETRY_PAUSE: Duration = Duration::from_secs(30);
/// ... and when there is none, which locks everyone out.
const EMPTY_RETRY_PAUSE: Duration = Duration::from_secs(5);
/// A fetch that takes longer counts as lost: its request was cancelled.
const FETCH_LIMIT: Duration = Duration::from_secs(4);

/// The key set of an isolate. Times are milliseconds since 1970.
pub(super) struct KeyCache {
    flight: SingleFlight<KeySet, String>,
    /// When an unknown key last caused a fetch.
    unknown_key_ms: Option<u64>,
}

/// The next step of a request for the key of its token.
pub(super) enum KeyStep {
    Use(Rc<PublicKey>),
    /// The token cannot be valid.
    Reject(&'static str),
    /// It is unknown whether the token is valid.
    GiveUp(String),
    /// Fetch the set, then call [`KeyCache::finish`].
    Fetch,
    /// Another request is fetching; ask again later.
    Wait,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self { flight: SingleFlight::new(FETCH_LIMIT), unknown_key_ms: None }
    }
}

impl KeyCache {
    /// `has_fetched`: this request has fetched before and does not fetch for an unknown key again.
    pub(super) fn next(&mut self, wanted: &Header, now_ms: u64, has_fetched: bool) -> KeyStep {
        let keys = match self.flight.next(MAX_AGE, EMPTY_RETRY_PAUSE, now_ms) {
            single_flight::Step::Use(keys) => keys,
            single_flight::Step::Fetch => return KeyStep::Fetch,
            single_flight::Step::Wait => return KeyStep::Wait,
            single_flight::Step::GiveUp(reason) => return KeyStep::GiveUp(reason),
        };
        if let single_flight::Step::Fetch = self.flight.next(REFRESH_AFTER, RETRY_PAUSE, now_ms) {
            return KeyStep::Fetch;
        }
        match keys.find(wanted) {
            Lookup::Found(key) => KeyStep::Use(key),
            Lookup::Unusable(reason) => KeyStep::Reject(reason),
            Lookup::Unknown if self.flight.is_fetching(now_ms) => KeyStep::Wait,
            Lookup::Unknown => self.fetch_for_unknown_key(now_ms, has_fetched),
        }
    }

    fn fetch_for_unknown_key(&mut self, now_ms: u64, has_fetched: bool) -> KeyStep {
        if let Some(reason) = self.flight.failure(RETRY_PAUSE, now_ms) {
            return KeyStep::GiveUp(reason);
        }
        let is_recent = |since_ms| is_within(since_ms, UNKNOWN_KEY_PAUSE, now_ms);
        if has_fetched || self.unknown_key_ms.is_some_and(is_recent) {
            return KeyStep::Reject("unknown key");
        }
        self.unknown_key_ms = Some(now_ms);
        self.flight.start(now_ms);
        KeyStep::Fetch
    }

    /// Stores the result of a fetch; `None` if nothing is published at the address.
    pub(super) fn finish(&mut self, fetched: Result<Option<KeySet>, String>, now_ms: u64) {
        let keys = match fetched {
            Ok(Some(keys)) => Ok(keys),
            // The project has no public keys, unless it had some: those do not vanish with their whole address.
            Ok(None) if self.flight.value(MAX_AGE, now_ms).is_none_or(|keys| keys.is_empty()) => {
                Ok(KeySet::default())
            }
            Ok(None) => Err("nothing at the address".to_owned()),
            Err(reason) => Err(reason),
        };
        self.flight.finish(keys.map(Rc::new), now_ms, now_ms);
    }
}
