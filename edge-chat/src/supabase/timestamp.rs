//! Timestamps of Postgres.

use chrono::{DateTime, Datelike, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize};

/// A time in RFC 3339, such as `2026-01-31T23:59:59.123456+00:00`, which Postgres parses without loss. It contains no character
/// with a meaning in a PostgREST filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Timestamp(String);

impl Timestamp {
    /// Parses RFC 3339, as PostgREST writes times, or the text of Postgres (`2026-01-31 23:59:59.1+00`). `None` for what Postgres would reject, such as
    /// the 30th of February or the year 0.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc3339(text)
            .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z"))
            .ok()?
            .to_utc();
        let text = || time.to_rfc3339_opts(SecondsFormat::Micros, false);
        (1..=9999).contains(&time.year()).then(|| Self(text()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Timestamp::parse(text).map(|time| time.0)
    }

    #[test]
    fn a_time_is_normalized_to_microseconds_in_utc() {
        for (text, expected) in [
            ("2026-02-28T23:59:59.123456+00:00", "2026-02-28T23:59:59.123456+00:00"),
            ("2026-02-28 23:59:59.1+00:00", "2026-02-28T23:59:59.100000+00:00"),
            ("2026-02-28 23:59:59.835+00", "2026-02-28T23:59:59.835000+00:00"),
            ("2026-02-28 23:59:59+00", "2026-02-28T23:59:59.000000+00:00"),
            ("2024-02-29T00:00:00+05:30", "2024-02-28T18:30:00.000000+00:00"),
            ("2026-12-31T00:00:00Z", "2026-12-31T00:00:00.000000+00:00"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_postgres_would_reject_is_not_a_timestamp() {
        for wrong in [
            "",
            "now",
            "infinity",
            "2026-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+é0",
            "2026-01-01T00:00:00Z\"),or(id.neq.x",
            "+026-01-01T00:00:00Z",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
