//! The arithmetic of a sliding window.

/// Length of the window, in milliseconds.
pub(super) const WINDOW_MS: i64 = 60_000;
/// The same, in seconds.
pub(super) const SECONDS: u64 = WINDOW_MS as u64 / 1000;

/// Whole seconds until an admission leaves the window and makes room, at least one.
pub(super) fn retry_after_seconds(leaving_ms: i64, now_ms: i64) -> u64 {
    let wait_ms = u64::try_from(leaving_ms + WINDOW_MS - now_ms).unwrap_or(0);
    wait_ms.div_ceil(1000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_rounded_up_so_that_it_is_never_too_short() {
        assert_eq!(retry_after_seconds(0, 0), 60);
        assert_eq!(retry_after_seconds(0, 1), 60);
        assert_eq!(retry_after_seconds(0, 1000), 59);
        assert_eq!(retry_after_seconds(0, 59_999), 1);
        assert_eq!(retry_after_seconds(0, 70_000), 1);
    }
}
