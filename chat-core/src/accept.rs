//! Content negotiation: whether the client wants an event stream or one JSON document.

/// The form of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `text/event-stream`, also the default.
    EventStream,
    /// `application/json`: the same outcome as one document.
    Json,
}

/// Reads an `Accept` header. The higher quality wins. At equal quality an explicit type wins over a wildcard, and the
/// stream wins over JSON. A header that allows neither gets the default.
pub fn negotiate(accept: Option<&str>) -> Format {
    let accept = accept.unwrap_or_default();
    let stream = preference(accept, "text", "event-stream");
    let json = preference(accept, "application", "json");
    if json > stream { Format::Json } else { Format::EventStream }
}

/// The quality in thousandths and the specificity (2 type, 1 subtype wildcard, 0 wildcard) of the best matching range.
fn preference(accept: &str, kind: &str, subtype: &str) -> (u16, u8) {
    let named = |range: &str| -> Option<u8> {
        let (range_kind, range_subtype) = range.trim().split_once('/')?;
        match (range_kind.eq_ignore_ascii_case(kind), range_subtype.eq_ignore_ascii_case(subtype)) {
            (true, true) => Some(2),
            (true, false) if range_subtype == "*" => Some(1),
            _ if range_kind == "*" && range_subtype == "*" => Some(0),
            _ => None,
        }
    };
    let (specificity, quality) = accept
        .split(',')
        .filter_map(|item| {
            let mut parts = item.split(';');
            let specificity = named(parts.next()?)?;
            Some((specificity, parts.find_map(quality).unwrap_or(1000)))
        })
        // The most specific range decides the quality of a type, not the highest quality.
        .max()
        .unwrap_or((0, 0));
    if quality == 0 { (0, 0) } else { (quality, specificity) }
}

fn quality(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    // Not `str::parse`, whose tables would add 15 kB to the compressed Worker.
    let value: f64 = serde_json::from_str(value.trim()).ok()?;
    (0.0..=1.0).contains(&value).then_some((value * 1000.0).round() as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_default() {
        for accept in [
            None,
            Some(""),
            Some("*/*"),
            Some("text/event-stream"),
            Some("text/html"),
            Some("text/*"),
            Some(";;,/"),
        ] {
            assert_eq!(negotiate(accept), Format::EventStream, "{accept:?}");
        }
    }

    #[test]
    fn json_is_chosen_when_requested() {
        for accept in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/*",
            "application/json, text/plain, */*",
            "text/event-stream;q=0.5, application/json",
            "text/event-stream;q=0, */*",
        ] {
            assert_eq!(negotiate(Some(accept)), Format::Json, "{accept}");
        }
    }

    #[test]
    fn the_stream_wins_a_tie_and_a_higher_quality() {
        for accept in [
            "application/json, text/event-stream",
            "application/json;q=0.2, text/event-stream;q=0.9",
            "application/json;q=0.5, */*",
            "application/json;q=0",
        ] {
            assert_eq!(negotiate(Some(accept)), Format::EventStream, "{accept}");
        }
    }
}
