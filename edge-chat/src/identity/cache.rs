//! When the published keys are fetched and how long they serve. Time comes from outside; nothing here waits.

use std::rc::Rc;

use super::jws::Header;
use super::key_set::{Choice, KeySet};
use super::keys::PublicKey;

/// How long a set is used before it is fetched again.
const FRESH_S: u64 = 10 * 60;
/// How long a set serves when it cannot be fetched again: the longest that a withdrawn key is believed.
const KEEP_S: u64 = 60 * 60;
/// Time between two fetches for the sake of unknown keys: tokens with invented ones must not make us fetch.
const SEARCH_PAUSE_S: u64 = 30;
/// Time after a failed fetch before the next, as long as a set serves...
const RETRY_PAUSE_S: u64 = 30;
/// ... and when there is none, which keeps everyone out.
const EMPTY_RETRY_PAUSE_S: u64 = 5;
/// After this time a fetch that has not ended is taken for lost: the request that began it was cancelled.
const FETCH_LIMIT_S: u64 = 4;

#[derive(Default)]
pub(super) struct Cache {
    set: Option<Held>,
    /// Since when a request fetches.
    fetching_since_s: Option<u64>,
    failure: Option<FetchFailure>,
    /// When an unknown key last caused a fetch.
    searched_s: Option<u64>,
}

struct Held {
    keys: KeySet,
    fetched_s: u64,
}

struct FetchFailure {
    at_s: u64,
    reason: String,
}

/// What a request does next about the key of its token.
pub(super) enum Step {
    Use(Rc<PublicKey>),
    /// The token cannot be valid.
    Refuse(&'static str),
    /// Whether the token is valid cannot be told now.
    GiveUp(String),
    /// Fetch the set, then call [`Cache::finish`].
    Fetch,
    /// Another request is fetching. Its future is not ours to await, so look again later.
    Wait,
}

impl Cache {
    /// `has_fetched`: this request has fetched before and does not do so for an unknown key again.
    pub(super) fn next(&mut self, wanted: &Header, now_s: u64, has_fetched: bool) -> Step {
        let is_fetching = within(self.fetching_since_s, FETCH_LIMIT_S, now_s);
        let Some(held) = self.held(now_s) else {
            return match self.recent_failure(EMPTY_RETRY_PAUSE_S, now_s) {
                _ if is_fetching => Step::Wait,
                Some(reason) => Step::GiveUp(reason),
                None => self.fetch(now_s),
            };
        };
        let is_fresh = within(Some(held.fetched_s), FRESH_S, now_s);
        let choice = held.keys.find(wanted);
        let failure = self.recent_failure(RETRY_PAUSE_S, now_s);
        if !is_fresh && !is_fetching && failure.is_none() {
            return self.fetch(now_s);
        }
        match choice {
            Choice::Key(key) => Step::Use(key),
            Choice::Unfit(reason) => Step::Refuse(reason),
            Choice::Unknown if is_fetching => Step::Wait,
            Choice::Unknown => match failure {
                Some(reason) => Step::GiveUp(reason),
                None if has_fetched || within(self.searched_s, SEARCH_PAUSE_S, now_s) => {
                    Step::Refuse("unknown key")
                }
                None => {
                    self.searched_s = Some(now_s);
                    self.fetch(now_s)
                }
            },
        }
    }

    /// Takes in what a fetch brought; `None` if nothing is published at the address.
    pub(super) fn finish(&mut self, fetched: Result<Option<KeySet>, String>, now_s: u64) {
        self.fetching_since_s = None;
        let keys = match fetched {
            Ok(Some(keys)) => Ok(keys),
            // A project without public keys. But keys that were there do not vanish with their whole address.
            Ok(None) if self.held(now_s).is_none_or(|held| held.keys.is_empty()) => Ok(KeySet::default()),
            Ok(None) => Err("nothing at the address".to_owned()),
            Err(reason) => Err(reason),
        };
        match keys {
            Ok(keys) => {
                self.set = Some(Held { keys, fetched_s: now_s });
                self.failure = None;
            }
            Err(reason) => self.failure = Some(FetchFailure { at_s: now_s, reason }),
        }
    }

    /// The set, while it serves.
    fn held(&self, now_s: u64) -> Option<&Held> {
        self.set.as_ref().filter(|held| within(Some(held.fetched_s), KEEP_S, now_s))
    }

    fn fetch(&mut self, now_s: u64) -> Step {
        self.fetching_since_s = Some(now_s);
        Step::Fetch
    }

    fn recent_failure(&self, pause_s: u64, now_s: u64) -> Option<String> {
        let failure = self.failure.as_ref().filter(|failure| within(Some(failure.at_s), pause_s, now_s));
        failure.map(|failure| failure.reason.clone())
    }
}

/// Whether a time is less than a span ago.
fn within(since_s: Option<u64>, span_s: u64, now_s: u64) -> bool {
    since_s.is_some_and(|since_s| now_s.saturating_sub(since_s) < span_s)
}
