//! Parses timestamps of the database.

use std::time::SystemTime;

use chrono::DateTime;

/// Parses RFC 3339, such as `2026-11-22T10:04:05.123456+00:00`; `None` for anything else.
pub fn parse_timestamp(timestamp: &str) -> Option<SystemTime> {
    DateTime::parse_from_rfc3339(timestamp).ok().map(SystemTime::from)
}
