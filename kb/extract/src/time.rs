//! Dates and times as seconds.

use std::time::Duration;

use toml::value::{Datetime, Offset};

pub(crate) const DAY_SECONDS: i64 = 86_400;

/// The time since 1970 of a timestamp such as `2026-11-22T10:04:05.5+00:00`; `None` for an invalid one, one without a zone
/// and one before 1970.
pub fn timestamp(text: &str) -> Option<Duration> {
    // The zone may have no minutes.
    let at: Datetime = text.parse().or_else(|_| format!("{text}:00").parse()).ok()?;
    let time = at.time.filter(|time| time.second.is_some() && at.offset.is_some())?;
    Some(Duration::new(seconds(at)?.try_into().ok()?, time.nanosecond.unwrap_or_default()))
}

/// Seconds since 1970. A time without a zone is UTC.
pub(crate) fn seconds(Datetime { date, time, offset }: Datetime) -> Option<i64> {
    let date = date?;
    let (year, month, day) = (i64::from(date.year), i64::from(date.month), i64::from(date.day));
    // The year begins in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = time.map_or(0, |time| {
        i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + time.second.map_or(0, i64::from)
    });
    let minutes_east = match offset {
        Some(Offset::Custom { minutes }) => i64::from(minutes),
        _ => 0,
    };
    Some(days * DAY_SECONDS + seconds - minutes_east * 60)
}
