//! Decides in the isolate which searches begin before the user's Durable Object has admitted them. The caller passes the time in.
//!
//! A wrong guess costs the database a search that nobody gets. There is at most one of them per user, isolate and window.

use std::collections::HashMap;

use uuid::Uuid;

use super::Budget;
use super::window::WINDOW_MS;

/// Users that are remembered. If there are more, all are forgotten, which costs a search for each at most.
const MAX_USERS: usize = 10_000;
/// The last questions of each user, which clients may repeat.
const MAX_QUESTIONS: usize = 4;

/// What the isolate knows of the admissions of each user.
#[derive(Default)]
pub(super) struct EarlySearches(HashMap<Uuid, Known>);

#[derive(Default)]
struct Known {
    /// No search is early before this time, in milliseconds.
    not_before_ms: u64,
    /// Questions that were asked before. A repeat has an outcome already or waits for one.
    asked: [Uuid; MAX_QUESTIONS],
}

impl EarlySearches {
    /// Whether a search may begin before its admission. If so, no other one of the user may until [`EarlySearches::note`].
    /// `message_id` is that of a question, which may be a repeat.
    pub(super) fn begin(&mut self, user: Uuid, message_id: Option<Uuid>, now_ms: u64) -> bool {
        if self.0.len() >= MAX_USERS && !self.0.contains_key(&user) {
            self.0.clear();
        }
        let known = self.0.entry(user).or_default();
        if message_id.is_some_and(|id| known.is_repeat(id)) {
            return false;
        }
        let wait_ms = known.not_before_ms.saturating_sub(now_ms);
        // A longer wait is impossible, unless the clock was set back.
        if (1..=WINDOW_MS as u64).contains(&wait_ms) {
            return false;
        }
        // Also ends the wait for a request that was cancelled.
        known.not_before_ms = now_ms + WINDOW_MS as u64;
        true
    }

    /// Records a decision. `budget` is that of an admitted question or search.
    pub(super) fn note(&mut self, user: Uuid, is_early: bool, budget: Option<Budget>, now_ms: u64) {
        let Some(known) = self.0.get_mut(&user) else { return };
        match budget {
            Some(Budget { remaining: 0, reset_ms, .. }) => {
                // One that was not early says nothing about a search for nothing, or one that is not decided.
                let earliest_ms = if is_early { 0 } else { known.not_before_ms };
                known.not_before_ms = earliest_ms.max(now_ms + reset_ms);
            }
            Some(_) if is_early => known.not_before_ms = 0,
            // After a search for nothing, no other one until the window is over.
            Some(_) | None => {}
        }
    }
}

impl Known {
    /// Whether a question was asked before; remembers it.
    fn is_repeat(&mut self, message_id: Uuid) -> bool {
        if self.asked.contains(&message_id) {
            return true;
        }
        self.asked.rotate_right(1);
        if let Some(last) = self.asked.first_mut() {
            *last = message_id;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000;
    const WINDOW: u64 = WINDOW_MS as u64;
    const USER: Uuid = Uuid::from_u128(1);

    fn question(number: u128) -> Option<Uuid> {
        Some(Uuid::from_u128(1000 + number))
    }

    fn budget(remaining: u32) -> Option<Budget> {
        Some(Budget { limit: 20, remaining, reset_ms: 500 })
    }

    #[test]
    fn the_next_search_is_early_once_the_last_one_was_admitted() {
        let mut early = EarlySearches::default();
        assert!(early.begin(USER, question(1), NOW));
        assert!(!early.begin(USER, question(2), NOW), "the first is not decided yet");
        assert!(early.begin(Uuid::from_u128(2), question(3), NOW), "another user");
        early.note(USER, false, budget(18), NOW);
        assert!(!early.begin(USER, question(4), NOW), "the first is still not decided");
        early.note(USER, true, budget(17), NOW);
        assert!(early.begin(USER, question(5), NOW));
    }

    #[test]
    fn a_repeat_is_never_searched_early() {
        let mut early = EarlySearches::default();
        assert!(early.begin(USER, question(1), NOW));
        early.note(USER, true, budget(19), NOW);
        assert!(!early.begin(USER, question(1), NOW));
        assert!(early.begin(USER, question(2), NOW));
    }

    #[test]
    fn searches_without_a_question_are_no_repeats_of_each_other() {
        let mut early = EarlySearches::default();
        for _ in 0..2 {
            assert!(early.begin(USER, None, NOW));
            assert!(!early.begin(USER, None, NOW), "the first is not decided yet");
            early.note(USER, true, budget(19), NOW);
        }
    }

    #[test]
    fn after_a_search_for_nothing_there_is_no_other_one_in_the_window() {
        let mut early = EarlySearches::default();
        assert!(early.begin(USER, question(1), NOW));
        early.note(USER, true, None, NOW);
        assert!(!early.begin(USER, question(2), NOW + WINDOW - 1));
        assert!(early.begin(USER, question(3), NOW + WINDOW));
    }

    #[test]
    fn the_last_place_of_the_window_does_not_end_the_wait_after_a_search_for_nothing() {
        let mut early = EarlySearches::default();
        assert!(early.begin(USER, None, NOW));
        early.note(USER, true, None, NOW);
        early.note(USER, false, budget(0), NOW);
        assert!(!early.begin(USER, None, NOW + 500));
        assert!(early.begin(USER, None, NOW + WINDOW));
    }

    #[test]
    fn nothing_is_searched_early_while_the_limit_is_reached() {
        let mut early = EarlySearches::default();
        assert!(early.begin(USER, question(1), NOW));
        early.note(USER, true, budget(0), NOW);
        assert!(!early.begin(USER, question(2), NOW + 499));
        assert!(early.begin(USER, question(3), NOW + 500));
    }

    #[test]
    fn a_clock_set_back_stops_early_searches_no_longer_than_the_window() {
        let mut early = EarlySearches::default();
        assert!(early.begin(USER, question(1), NOW));
        assert!(early.begin(USER, question(2), NOW - WINDOW));
    }

    #[test]
    fn the_number_of_remembered_users_is_bounded() {
        let mut early = EarlySearches::default();
        for number in 0..3 * MAX_USERS as u128 {
            early.begin(Uuid::from_u128(number), question(number), NOW);
            assert!(early.0.len() <= MAX_USERS);
        }
    }
}
