//! Dates and times as seconds.

use chrono::NaiveDate;
use toml::value::{Datetime, Offset};

pub(crate) const DAY_SECONDS: i64 = 86_400;

/// Seconds since 1970. A time without a zone is UTC.
pub(crate) fn seconds(Datetime { date, time, offset }: Datetime) -> Option<i64> {
    let date = date?;
    let date = NaiveDate::from_ymd_opt(date.year.into(), date.month.into(), date.day.into())?;
    let (hour, minute, second) =
        time.map_or((0, 0, 0), |time| (time.hour, time.minute, time.second.unwrap_or_default()));
    let at = date.and_hms_opt(hour.into(), minute.into(), second.min(59).into())?.and_utc().timestamp();
    let minutes_east = match offset {
        Some(Offset::Custom { minutes }) => i64::from(minutes),
        _ => 0,
    };
    Some(at - minutes_east * 60)
}
