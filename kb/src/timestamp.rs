//! Parses timestamps of the database.

use std::time::{Duration, SystemTime};

use chrono::DateTime;

/// Parses RFC 3339, as PostgREST writes times, or the text of Postgres (`2026-11-22 10:04:05.1+00`); `None` for anything else.
pub fn parse_timestamp(timestamp: &str) -> Option<SystemTime> {
    let text = |_| DateTime::parse_from_str(timestamp, "%Y-%m-%d %H:%M:%S%.f%#z");
    DateTime::parse_from_rfc3339(timestamp).or_else(text).ok().map(SystemTime::from)
}

/// Reports whether a time of the database is longer ago than `age`, or cannot be parsed. A time in the
/// future means that the clocks differ.
pub fn is_longer_ago(timestamp: &str, age: Duration, now: SystemTime) -> bool {
    parse_timestamp(timestamp).is_none_or(|at| now.duration_since(at).is_ok_and(|passed| passed > age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_time_are_read() {
        let read =
            |text| parse_timestamp(text).map(|time| time.duration_since(SystemTime::UNIX_EPOCH).unwrap());
        let time = read("2026-11-22T10:04:05.123456+00:00");
        assert!(time.is_some());
        assert_eq!(read("2026-11-22 10:04:05.123456+00"), time);
        assert_eq!(read("2026-11-22T11:04:05.123456+01:00"), time);
        for wrong in ["", "2026-11-22", "2026-11-22 10:04:05", "2026-02-30 10:04:05+00", "infinity"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
