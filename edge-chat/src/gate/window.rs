//! The arithmetic of a sliding window.

/// The length of the window, in milliseconds.
pub(super) const WINDOW_MS: i64 = 60_000;

/// Milliseconds until an admission leaves the window, at least one.
pub(super) fn wait_ms(leaving_ms: i64, now_ms: i64) -> u64 {
    u64::try_from(leaving_ms + WINDOW_MS - now_ms).unwrap_or(0).max(1)
}

/// Whole seconds, rounded up so that a wait is never too short.
pub(super) fn whole_seconds(ms: u64) -> u64 {
    ms.div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_rounded_up_to_whole_seconds() {
        let seconds = |leaving_ms, now_ms| whole_seconds(wait_ms(leaving_ms, now_ms));
        assert_eq!(seconds(0, 0), 60);
        assert_eq!(seconds(0, 1), 60);
        assert_eq!(seconds(0, 1000), 59);
        assert_eq!(seconds(0, 59_999), 1);
        assert_eq!(seconds(0, 70_000), 1);
        assert_eq!(whole_seconds(0), 0);
    }
}
