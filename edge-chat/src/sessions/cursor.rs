//! Paging by keyset cursors.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat_core::error::ErrorCode;
use chat_core::request::parse_id;
use uuid::Uuid;

use crate::http::error::HttpError;
use crate::http::url::RequestUrl;
use crate::supabase::Timestamp;

/// The time and id of the last row of a page.
pub(super) struct Cursor {
    pub(super) time: Timestamp,
    pub(super) id: Uuid,
}

impl Cursor {
    /// Reads the query parameter `cursor`.
    pub(super) fn from_url(url: &RequestUrl) -> Result<Option<Self>, HttpError> {
        let Some(text) = url.parameter("cursor")? else { return Ok(None) };
        Self::decode(&text).map(Some).ok_or_else(|| {
            HttpError::new(
                ErrorCode::InvalidRequest,
                "cursor must be the next_cursor of the previous page; leave it out for the first page",
            )
        })
    }

    pub(super) fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}~{}", self.time.as_str(), self.id))
    }

    fn decode(text: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (time, id) = text.split_once('~')?;
        Some(Self { time: Timestamp::parse(time)?, id: parse_id(id)? })
    }
}

/// Reads the query parameter `limit`.
pub(super) fn page_size(url: &RequestUrl, default: u32, max: u32) -> Result<u32, HttpError> {
    let Some(text) = url.parameter("limit")? else { return Ok(default) };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|limit| is_number && (1..=max).contains(limit)).ok_or_else(|| {
        HttpError::new(ErrorCode::InvalidRequest, &format!("limit must be a whole number from 1 to {max}"))
    })
}

/// Truncates rows to the size of a page and returns the cursor of the next page. One row more than the page was requested; if it
/// is there, there is a next page.
pub(super) fn truncate_page<T>(
    rows: &mut Vec<T>,
    size: u32,
    cursor: impl Fn(&T) -> Cursor,
) -> Option<String> {
    let size = size as usize;
    let has_more = rows.len() > size;
    rows.truncate(size);
    rows.last().filter(|_| has_more).map(|last| cursor(last).encode())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_encoding_and_decoding() {
        let time = Timestamp::parse("2026-02-28T23:59:59.123456+00:00").expect("a time");
        let cursor = Cursor { time, id: Uuid::from_u128(7) };
        let decoded = Cursor::decode(&cursor.encode()).expect("a cursor");
        assert_eq!((decoded.time, decoded.id), (cursor.time, cursor.id));
    }

    #[test]
    fn an_invalid_cursor_is_rejected() {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let id = Uuid::nil();
        for wrong in [
            String::new(),
            "%".to_owned(),
            encode(""),
            encode("2026-01-01T00:00:00Z"),
            encode("2026-01-01T00:00:00Z~x"),
            encode(&format!("x~{id}")),
            encode(&format!("2026-01-01T00:00:00Z~{id},x")),
            format!("{}=", encode(&format!("2026-01-01T00:00:00Z~{id}"))),
        ] {
            assert!(Cursor::decode(&wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_page_is_truncated_only_if_there_are_more_rows() {
        let cursor = |id: &u128| Cursor {
            time: Timestamp::parse("2026-01-01T00:00:00Z").expect("a time"),
            id: Uuid::from_u128(*id),
        };
        let mut rows = vec![1, 2, 3];
        assert_eq!(truncate_page(&mut rows, 3, cursor), None);
        assert_eq!(truncate_page(&mut rows, 2, cursor), Some(cursor(&2).encode()));
        assert_eq!(rows, [1, 2]);
    }

    #[test]
    fn a_page_size_is_a_whole_number_in_range() {
        let size = |query: &str| page_size(&RequestUrl::parse(&format!("http://h/?{query}")), 20, 100).ok();
        assert_eq!([size(""), size("limit=1"), size("limit=100")], [Some(20), Some(1), Some(100)]);
        for wrong in
            ["limit=", "limit=0", "limit=101", "limit=-1", "limit=%2B5", "limit=1e1", "limit=5&limit=5"]
        {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }
}
