//! Pages that ask not to be indexed: the `X-Robots-Tag` header and `<meta name="robots">`.

use reqwest::header::HeaderMap;

/// How much of a page is searched, in bytes: a head is rarely longer.
const SEARCHED: usize = 256 * 1024;

/// Directives of `X-Robots-Tag` with a value of their own: what stands before their colon is not a robot's name.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Whether the headers forbid the robot called `product` to index what comes with them.
pub(crate) fn in_headers(headers: &HeaderMap, product: &str) -> bool {
    headers
        .get_all("x-robots-tag")
        .iter()
        .any(|value| forbids(&String::from_utf8_lossy(value.as_bytes()), product))
}

/// `noindex, nofollow` speaks to everybody, `otherbot: noindex, nofollow` to one robot until another is named.
fn forbids(value: &str, product: &str) -> bool {
    let mut addressed = true;
    value.split(',').any(|part| {
        let directive = match part.split_once(':') {
            Some((name, directive)) if !is_one_of(name, &WITH_VALUE) => {
                addressed = is_one_of(name, &[product, "*"]);
                directive
            }
            _ => part,
        };
        addressed && is_one_of(directive, &["noindex", "none"])
    })
}

/// Whether the head of an HTML page holds a meta element with that wish.
pub(crate) fn in_html(html: &[u8], product: &str) -> bool {
    let searched = &html[..html.len().min(SEARCHED)];
    let text = String::from_utf8_lossy(searched).to_ascii_lowercase();
    metas(&text).any(|attributes| {
        let value = |name: &str| attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        value("name").is_some_and(|name| is_one_of(name, &["robots", product]))
            && value("content")
                .is_some_and(|wishes| wishes.split(',').any(|wish| is_one_of(wish, &["noindex", "none"])))
    })
}

fn is_one_of(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.trim().eq_ignore_ascii_case(name))
}

type Attributes<'a> = Vec<(&'a str, &'a str)>;

/// The attributes of each meta element up to the body. No parser: comments and scripts are stepped over, and the rest
/// only has to be good enough for a wish that somebody wants to be found.
fn metas(html: &str) -> impl Iterator<Item = Attributes<'_>> {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('<')? + 1..];
            let name_length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let (name, after) = rest.split_at(name_length);
            match name {
                "body" => return None,
                "meta" => {
                    let (attributes, after) = attributes(after);
                    rest = after;
                    return Some(attributes);
                }
                "script" | "style" | "title" => rest = past(after, &format!("</{name}"))?,
                "" if rest.starts_with("!--") => rest = past(&rest[1..], "-->")?,
                _ => rest = after,
            }
        }
    })
}

fn past<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    text.find(end).map(|at| &text[at + end.len()..])
}

/// Reads `a=b c="d" e='f' g` up to the `>`; returns what follows it as well.
fn attributes(mut text: &str) -> (Attributes<'_>, &str) {
    let mut found = Vec::new();
    loop {
        text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if text.is_empty() {
            return (found, text);
        }
        if let Some(after) = text.strip_prefix('>') {
            return (found, after);
        }
        // A name has at least one character, whatever it is, so that every round goes forward.
        let first = text.chars().next().map_or(0, char::len_utf8);
        let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/');
        let name_length = text[first..].find(is_end).map_or(text.len(), |at| first + at);
        let (name, after) = text.split_at(name_length);
        let (value, after) = match after.trim_ascii_start().strip_prefix('=') {
            Some(value) => attribute_value(value.trim_ascii_start()),
            None => ("", after),
        };
        found.push((name, value));
        text = after;
    }
}

fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WE: &str = "evidencechatbot";

    #[test]
    fn headers_speak_to_everybody_or_to_one_robot() {
        for (value, forbidden) in [
            ("noindex", true),
            ("NoFollow , NOINDEX", true),
            ("none", true),
            ("*: noindex", true),
            ("EvidenceChatBot: noindex", true),
            ("otherbot: nofollow, EvidenceChatBot: noindex", true),
            ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", true),
            ("", false),
            ("index, nofollow", false),
            ("noindexed", false),
            ("otherbot: noindex, nofollow", false),
            ("EvidenceChatBot: nofollow, otherbot: none", false),
            ("max-image-preview: none", false),
        ] {
            assert_eq!(forbids(value, WE), forbidden, "{value}");
        }
    }

    #[test]
    fn every_header_line_starts_anew() {
        let mut headers = HeaderMap::new();
        headers.append("x-robots-tag", "otherbot: nofollow".parse().unwrap());
        assert!(!in_headers(&headers, WE));
        headers.append("x-robots-tag", "noindex".parse().unwrap());
        assert!(in_headers(&headers, WE));
    }

    #[test]
    fn the_wish_is_found_in_the_head_of_a_page() {
        for html in [
            r#"<meta name="robots" content="noindex">"#,
            r#"<!doctype html><HTML><Head><META CONTENT='follow, NoIndex' NAME='Robots'/>"#,
            "<head><meta\nname = robots\tcontent=none>",
            r#"<meta name=EvidenceChatBot content=noindex />"#,
            r#"<meta charset=utf-8><title>a < b <body></title><meta name="robots" content="noindex">"#,
            r#"<script>"<body>"</script><meta name="robots" content="noindex">"#,
        ] {
            assert!(in_html(html.as_bytes(), WE), "{html}");
        }
        let not_utf8 = b"<title>\xff\xfe\xe4</title><meta name=robots content=noindex>";
        assert!(in_html(not_utf8, WE));
    }

    #[test]
    fn what_only_looks_like_the_wish_is_none() {
        for html in [
            "",
            "<",
            "<meta",
            r#"<meta name="robots" content="index, follow">"#,
            r#"<meta name="otherbot" content="noindex">"#,
            r#"<meta name="description" content="noindex">"#,
            r#"<!-- <meta name="robots" content="noindex"> -->"#,
            r#"<script>'<meta name="robots" content="noindex">'</script>"#,
            r#"<body><p><meta name="robots" content="noindex">"#,
            r#"<metadata name="robots" content="noindex">"#,
            r#"<meta name="robots"><p content="noindex">"#,
        ] {
            assert!(!in_html(html.as_bytes(), WE), "{html}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_searched_to_an_end(parts in prop::collection::vec(
            prop::sample::select(vec!["<", "meta ", "name", "=", "\"", "'", ">", "/", "ä", "!--", "-->", "robots", "\0"]), 0..40,
        )) {
            in_html(parts.concat().as_bytes(), WE);
        }
    }

    #[test]
    fn a_page_of_nothing_but_openings_takes_no_time() {
        for part in ["<", "<!--", "<meta ", "<meta a='", "<script", "<title>"] {
            let page = part.repeat(1_000_000 / part.len());
            assert!(!in_html(page.as_bytes(), WE));
        }
    }
}
