//! Paging: where a page ended.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat_core::error::ErrorCode;
use uuid::Uuid;

use crate::http::address::{Address, parse_id};
use crate::http::error::Failure;

/// The last row of a page: its time, as Postgres wrote it, and its id.
pub(super) struct Cursor {
    pub(super) time: String,
    pub(super) id: Uuid,
}

impl Cursor {
    /// The parameter `cursor` of a request.
    pub(super) fn of(address: &Address) -> Result<Option<Self>, Failure> {
        let Some(text) = address.parameter("cursor")? else { return Ok(None) };
        Self::decode(&text).map(Some).ok_or_else(|| {
            Failure::new(
                ErrorCode::InvalidRequest,
                "cursor must be the next_cursor of the page before; leave it out for the first page",
            )
        })
    }

    pub(super) fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}~{}", self.time, self.id))
    }

    fn decode(text: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (time, id) = text.split_once('~')?;
        let id = parse_id(id)?;
        is_timestamp(time).then(|| Self { time: time.to_owned(), id })
    }
}

/// The parameter `limit` of a request.
pub(super) fn page_size(address: &Address, default: u32, most: u32) -> Result<u32, Failure> {
    let Some(text) = address.parameter("limit")? else { return Ok(default) };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|limit| is_number && (1..=most).contains(limit)).ok_or_else(|| {
        Failure::new(ErrorCode::InvalidRequest, &format!("limit must be a whole number from 1 to {most}"))
    })
}

/// A time as PostgREST writes it, such as `2026-01-31T23:59:59.123456+00:00`, that Postgres would take: it becomes part
/// of a filter.
fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    let clock_end = time.find(['.', '+', '-', 'Z']).unwrap_or(time.len());
    let (clock, rest) = time.split_at(clock_end);
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(['+', '-', 'Z']).unwrap_or(rest.len())),
        None => ("0", rest),
    };
    is_date(date)
        && numbers(clock, ':', &[2, 2, 2]).is_some_and(|clock| matches!(clock[..], [0..24, 0..60, 0..60]))
        && (1..=6).contains(&fraction.len())
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && (zone == "Z"
            || zone.strip_prefix(['+', '-']).is_some_and(|zone| {
                numbers(zone, ':', &[2, 2]).is_some_and(|zone| matches!(zone[..], [0..15, 0..60]))
            }))
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

/// Numbers of so many digits each, separated by one character.
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

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let cursor = Cursor { time: "2026-02-28T23:59:59.123456+00:00".to_owned(), id: Uuid::from_u128(7) };
        let decoded = Cursor::decode(&cursor.encode()).expect("a cursor");
        assert_eq!((decoded.time, decoded.id), (cursor.time, cursor.id));
    }

    #[test]
    fn only_times_that_postgres_would_take_are_times() {
        for time in [
            "2026-02-28T23:59:59.123456+00:00",
            "2024-02-29T00:00:00+05:30",
            "2026-12-31T00:00:00Z",
            "2026-12-31T00:00:00.1-03:00",
        ] {
            assert!(is_timestamp(time), "{time}");
        }
        for odd in [
            "",
            "now",
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
            "2026-01-01T00:00:00Z\"),or(id.neq.x",
            "2026-01-01 00:00:00Z",
            "+026-01-01T00:00:00Z",
        ] {
            assert!(!is_timestamp(odd), "{odd}");
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let id = Uuid::nil();
        for odd in [
            String::new(),
            "%".to_owned(),
            encode(""),
            encode("2026-01-01T00:00:00Z"),
            encode("2026-01-01T00:00:00Z~x"),
            encode(&format!("x~{id}")),
            encode(&format!("2026-01-01T00:00:00Z~{id},x")),
            format!("{}=", encode(&format!("2026-01-01T00:00:00Z~{id}"))),
        ] {
            assert!(Cursor::decode(&odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn a_page_size_is_a_plain_number_in_range() {
        let size = |query: &str| page_size(&Address::parse(&format!("http://h/?{query}")), 20, 100).ok();
        assert_eq!([size(""), size("limit=1"), size("limit=100")], [Some(20), Some(1), Some(100)]);
        for odd in
            ["limit=", "limit=0", "limit=101", "limit=-1", "limit=%2B5", "limit=1e1", "limit=5&limit=5"]
        {
            assert_eq!(size(odd), None, "{odd}");
        }
    }
}
