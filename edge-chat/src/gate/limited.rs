//! Remembers in the isolate which users have reached their limit, so that their Durable Objects are not asked. The caller
//! passes the time in.

use std::collections::HashMap;

use uuid::Uuid;

use super::window::WINDOW_MS;

/// Users that are remembered. If there are more, all are forgotten, which costs one request to each object.
const MAX_USERS: usize = 10_000;

/// The time until which each user is limited, in milliseconds.
#[derive(Default)]
pub(super) struct LimitedUsers(HashMap<Uuid, u64>);

impl LimitedUsers {
    pub(super) fn note(&mut self, user: Uuid, until_ms: u64, now_ms: u64) {
        if self.0.len() >= MAX_USERS {
            self.0.retain(|_, until_ms| *until_ms > now_ms);
        }
        if self.0.len() >= MAX_USERS {
            self.0.clear();
        }
        self.0.insert(user, until_ms);
    }

    /// Forgets a user whose limit may end earlier than reported.
    pub(super) fn forget(&mut self, user: Uuid) {
        self.0.remove(&user);
    }

    /// How long the user is still limited, in milliseconds.
    pub(super) fn wait_ms(&mut self, user: Uuid, now_ms: u64) -> Option<u64> {
        let wait_ms = self.0.get(&user)?.saturating_sub(now_ms);
        // A longer wait is impossible, unless the clock was set back.
        let is_limited = (1..=WINDOW_MS as u64).contains(&wait_ms);
        if !is_limited {
            self.0.remove(&user);
        }
        is_limited.then_some(wait_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000;

    #[test]
    fn a_user_is_limited_until_the_given_time() {
        let (user, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut limited = LimitedUsers::default();
        limited.note(user, NOW + 500, NOW);
        assert_eq!(limited.wait_ms(user, NOW), Some(500));
        assert_eq!(limited.wait_ms(user, NOW + 499), Some(1));
        assert_eq!(limited.wait_ms(other, NOW), None);
        assert_eq!(limited.wait_ms(user, NOW + 500), None);
        limited.note(user, NOW + 500, NOW);
        limited.forget(user);
        assert_eq!(limited.wait_ms(user, NOW), None);
    }

    #[test]
    fn a_clock_set_back_limits_nobody_for_longer_than_the_window() {
        let user = Uuid::from_u128(1);
        let mut limited = LimitedUsers::default();
        limited.note(user, NOW + 500, NOW);
        assert_eq!(limited.wait_ms(user, NOW - 2 * WINDOW_MS as u64), None);
    }

    #[test]
    fn the_number_of_remembered_users_is_bounded() {
        let mut limited = LimitedUsers::default();
        for number in 0..3 * MAX_USERS as u64 {
            limited.note(Uuid::from_u128(number.into()), NOW + number + 1, NOW + number);
            assert!(limited.0.len() <= MAX_USERS);
        }
        for number in 0..3 * MAX_USERS as u64 {
            limited.note(Uuid::from_u128(number.into()), NOW + 50_000, NOW);
            assert!(limited.0.len() <= MAX_USERS);
        }
    }
}
