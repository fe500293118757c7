//! Timestamps of Postgres.

use serde::{Deserialize, Deserializer, Serialize};

/// A time in RFC 3339, such as `2026-01-31T23:59:59.123456+00:00`, which Postgres parses without loss. It contains no character
/// with a meaning in a PostgREST filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Timestamp(String);

impl Timestamp {
    /// Parses RFC 3339 and the format of Postgres, which has a space instead of the `T` and may omit the minutes of the zone.
    /// `None` for what Postgres would reject, such as the 30th of February.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once(['T', ' '])?;
        let clock_end = time.find(['.', '+', '-', 'Z']).unwrap_or(time.len());
        let (clock, rest) = time.split_at(clock_end);
        let (fraction, zone) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.find(['+', '-', 'Z']).unwrap_or(rest.len())),
            None => ("0", rest),
        };
        let is_time = is_date(date) && is_clock(clock) && is_fraction(fraction);
        let zone = zone_with_minutes(zone)?;
        is_time.then(|| Self(format!("{date}T{clock}.{fraction}{zone}")))
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

fn is_date(text: &str) -> bool {
    let Some(&[year, month, day]) = numbers(text, '-', &[4, 2, 2]).as_deref() else { return false };
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

fn is_clock(text: &str) -> bool {
    matches!(numbers(text, ':', &[2, 2, 2]).as_deref(), Some([0..24, 0..60, 0..60]))
}

fn is_fraction(text: &str) -> bool {
    (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn zone_with_minutes(zone: &str) -> Option<String> {
    if zone == "Z" {
        return Some("+00:00".to_owned());
    }
    let offset = zone.strip_prefix(['+', '-'])?;
    let zone = if offset.len() == 2 { format!("{zone}:00") } else { zone.to_owned() };
    let is_offset = matches!(numbers(zone.get(1..)?, ':', &[2, 2]).as_deref(), Some([0..15, 0..60]));
    is_offset.then_some(zone)
}

/// Parses numbers with the given numbers of digits, separated by one character.
fn numbers(text: &str, separator: char, digits: &[usize]) -> Option<Vec<u32>> {
    let parts: Vec<_> = text.split(separator).collect();
    let fits = parts.len() == digits.len()
        && parts
            .iter()
            .zip(digits)
            .all(|(part, digits)| part.len() == *digits && part.bytes().all(|byte| byte.is_ascii_digit()));
    if !fits {
        return None;
    }
    parts.into_iter().map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Timestamp::parse(text).map(|time| time.0)
    }

    #[test]
    fn both_formats_are_normalized() {
        for (text, expected) in [
            ("2026-02-28T23:59:59.123456+00:00", "2026-02-28T23:59:59.123456+00:00"),
            ("2026-02-28 23:59:59.1+00", "2026-02-28T23:59:59.1+00:00"),
            ("2024-02-29 00:00:00+05:30", "2024-02-29T00:00:00.0+05:30"),
            ("2026-12-31T00:00:00Z", "2026-12-31T00:00:00.0+00:00"),
            ("2026-12-31T00:00:00.5-03", "2026-12-31T00:00:00.5-03:00"),
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
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567Z",
            "2026-01-01T00:00:00+15:00",
            "2026-01-01T00:00:00+é0",
            "2026-01-01T00:00:00Z\"),or(id.neq.x",
            "+026-01-01T00:00:00Z",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
