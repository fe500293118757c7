//! Parses timestamps of the database.

use std::time::{Duration, SystemTime};

/// Days before each month of a common year.
const DAYS_BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// Parses `2026-11-22T10:04:05.123456+00:00`; `None` for an invalid timestamp or one before 1970.
pub fn parse_timestamp(timestamp: &str) -> Option<SystemTime> {
    let (date, time) = timestamp.split_once(['T', ' '])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let zone_at = time.find(['Z', '+', '-'])?;
    let (time, zone) = time.split_at_checked(zone_at)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days_before(year, month, day)? * 86_400 + hour * 3600 + minute * 60 + second;
    let (is_east, offset) = zone_offset(zone)?;
    let seconds = if is_east { seconds.checked_sub(offset)? } else { seconds + offset };
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds(fraction)?))
}

/// Days from 1 January 1970.
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    let days_before_year = |year: u64| {
        let before = year - 1;
        before * 365 + before / 4 - before / 100 + before / 400
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let leap_day = u64::from(is_leap && month > 2);
    let in_year = DAYS_BEFORE.get(usize::try_from(month).ok()?.checked_sub(1)?)? + leap_day + day - 1;
    Some(days_before_year(year.max(1)) + in_year).and_then(|days| days.checked_sub(days_before_year(1970)))
}

/// Whether the zone is east of Greenwich, and its offset in seconds: `Z`, `+01`, `+01:00`, `-05:30`.
fn zone_offset(zone: &str) -> Option<(bool, u64)> {
    if zone == "Z" {
        return Some((true, 0));
    }
    let (is_east, offset) = match zone.split_at_checked(1)? {
        ("+", offset) => (true, offset),
        ("-", offset) => (false, offset),
        _ => return None,
    };
    let [hours, minutes] =
        numbers(offset, ':', [2, 2]).or_else(|| numbers(offset, ':', [2]).map(|[h]| [h, 0]))?;
    Some((is_east, hours * 3600 + minutes * 60))
}

fn nanoseconds(fraction: &str) -> Option<u32> {
    let is_fraction = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if is_fraction { format!("{fraction:0<9}").parse().ok() } else { None }
}

/// Splits a text into numbers with the given numbers of digits.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(timestamp: &str) -> Option<u64> {
        Some(parse_timestamp(timestamp)?.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
    }

    #[test]
    fn timestamps_of_the_database_are_parsed() {
        // date -u -d TIMESTAMP +%s
        for (timestamp, expected) in [
            ("1970-01-01T00:00:00+00:00", 0),
            ("2026-11-22T10:04:05.123456+00:00", 1_795_341_845),
            ("2026-11-22 10:04:05+00", 1_795_341_845),
            ("2026-11-22T10:04:05Z", 1_795_341_845),
            ("2026-11-22T12:04:05+02:00", 1_795_341_845),
            ("2026-11-22T04:34:05-05:30", 1_795_341_845),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("2024-12-31T23:59:59Z", 1_735_689_599),
        ] {
            assert_eq!(seconds(timestamp), Some(expected), "{timestamp}");
        }
        let fraction = parse_timestamp("1970-01-01T00:00:00.5+00:00").unwrap();
        assert_eq!(fraction.duration_since(SystemTime::UNIX_EPOCH).unwrap(), Duration::from_millis(500));
    }

    #[test]
    fn invalid_timestamps_are_rejected() {
        for text in [
            "",
            "T",
            "now",
            "2026-11-22",
            "2026-11-22T10:04:05",
            "2026-13-22T10:04:05Z",
            "2026-00-22T10:04:05Z",
            "2026-11-00T10:04:05Z",
            "2026-11-22T25:04:05Z",
            "2026-11-22T10:04:05.Z",
            "2026-11-22T10:04:05+1",
            "2026-11-22T10:04+00:00",
            "26-11-22T10:04:05Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "2026-11-22T10:04:05é",
            "é026-11-22T10:04:05Z",
            "infinity",
            "+026-11-22T10:04:05Z",
            "0000-11-22T10:04:05Z",
            "2026-11-22T10:04:05.1234567890Z",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text:?}");
        }
    }
}
