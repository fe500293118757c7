//! Paging: where a page ended.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat_core::error::ErrorCode;
use chat_core::request::parse_id;
use uuid::Uuid;

use crate::http::error::HttpError;
use crate::http::url::RequestUrl;
use crate::supabase::Timestamp;

/// The last row of a page: its time and its id.
pub(super) struct Cursor {
    pub(super) time: Timestamp,
    pub(super) id: Uuid,
}

impl Cursor {
    /// The parameter `cursor` of a request.
    pub(super) fn from_url(url: &RequestUrl) -> Result<Option<Self>, HttpError> {
        let Some(text) = url.parameter("cursor")? else { return Ok(None) };
        Self::decode(&text).map(Some).ok_or_else(|| {
            HttpError::new(
                ErrorCode::InvalidRequest,
                "cursor must be the next_cursor of the page before; leave it out for the first page",
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

/// The parameter `limit` of a request.
pub(super) fn page_size(url: &RequestUrl, default: u32, most: u32) -> Result<u32, HttpError> {
    let Some(text) = url.parameter("limit")? else { return Ok(default) };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|limit| is_number && (1..=most).contains(limit)).ok_or_else(|| {
        HttpError::new(ErrorCode::InvalidRequest, &format!("limit must be a whole number from 1 to {most}"))
    })
}

/// Cuts rows to the size of a page. One row more than that was asked for; it tells that there is a next page, which
/// begins after the last row that stays.
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
    fn a_cursor_comes_back_as_it_went() {
        let time = Timestamp::parse("2026-02-28T23:59:59.123456+00:00").expect("a time");
        let cursor = Cursor { time, id: Uuid::from_u128(7) };
        let decoded = Cursor::decode(&cursor.encode()).expect("a cursor");
        assert_eq!((decoded.time, decoded.id), (cursor.time, cursor.id));
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
    fn a_page_is_cut_only_where_there_is_more() {
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
    fn a_page_size_is_a_plain_number_in_range() {
        let size = |query: &str| page_size(&RequestUrl::parse(&format!("http://h/?{query}")), 20, 100).ok();
        assert_eq!([size(""), size("limit=1"), size("limit=100")], [Some(20), Some(1), Some(100)]);
        for odd in
            ["limit=", "limit=0", "limit=101", "limit=-1", "limit=%2B5", "limit=1e1", "limit=5&limit=5"]
        {
            assert_eq!(size(odd), None, "{odd}");
        }
    }
}
