//! Pages that ask not to be indexed: the `X-Robots-Tag` header and `<meta name="robots">`.

use std::cell::Cell;

use html5ever::Attribute;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use reqwest::header::HeaderMap;

/// Bytes of a page that are searched; a head is rarely longer.
const MAX_SEARCHED_BYTES: usize = 256 * 1024;

/// Directives of `X-Robots-Tag` that take a value: the text before their colon is not the name of a robot.
const DIRECTIVES_WITH_VALUE: [&str; 4] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Whether the headers forbid the robot called `product` to index the page.
pub(crate) fn in_headers(headers: &HeaderMap, product: &str) -> bool {
    headers
        .get_all("x-robots-tag")
        .iter()
        .any(|value| forbids(&String::from_utf8_lossy(value.as_bytes()), product))
}

/// `noindex, nofollow` addresses every robot; `otherbot: noindex, nofollow` addresses one until the value names another.
fn forbids(value: &str, product: &str) -> bool {
    let mut is_addressed = true;
    value.split(',').any(|part| {
        let directive = match part.split_once(':') {
            Some((name, directive)) if !is_one_of(name, &DIRECTIVES_WITH_VALUE) => {
                is_addressed = is_one_of(name, &[product, "*"]);
                directive
            }
            _ => part,
        };
        is_addressed && is_one_of(directive, &["noindex", "none"])
    })
}

/// Whether a `<meta name="robots">`, or one with the name of our robot, in the head of an HTML page forbids indexing.
///
/// Only tokenizes. A tree builder is not needed to find meta elements, and costs much more for deeply nested pages.
pub(crate) fn in_html(html: &[u8], product: &str) -> bool {
    let searched = &html[..html.len().min(MAX_SEARCHED_BYTES)];
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(&*String::from_utf8_lossy(searched)));
    let head = Head { product, is_over: Cell::new(false), is_forbidden: Cell::new(false) };
    let tokenizer = Tokenizer::new(head, TokenizerOpts::default());
    // `Head` stops the tokenizer at the end of the head.
    let _ = tokenizer.feed(&input);
    if !tokenizer.sink.is_over.get() {
        tokenizer.end();
    }
    tokenizer.sink.is_forbidden.get()
}

/// Reads the tags of a page up to `<body>`.
struct Head<'a> {
    product: &'a str,
    is_over: Cell<bool>,
    is_forbidden: Cell<bool>,
}

impl TokenSink for Head<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(Tag { kind: TagKind::StartTag, name, attrs, .. }) = token else {
            return TokenSinkResult::Continue;
        };
        match &*name {
            "meta" => {
                if self.forbids(&attrs) {
                    self.is_forbidden.set(true);
                }
                TokenSinkResult::Continue
            }
            "body" => {
                self.is_over.set(true);
                // The one result that makes the tokenizer return before the end of its input.
                TokenSinkResult::Script(())
            }
            // Their content is text, even if it looks like a tag.
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
}

impl Head<'_> {
    fn forbids(&self, attributes: &[Attribute]) -> bool {
        let value = |name: &str| {
            attributes
                .iter()
                .find(|attribute| &*attribute.name.local == name)
                .map(|attribute| &*attribute.value)
        };
        let is_addressed = value("name").is_some_and(|name| is_one_of(name, &["robots", self.product]));
        let directives = value("content").unwrap_or_default();
        is_addressed && directives.split(',').any(|directive| is_one_of(directive, &["noindex", "none"]))
    }
}

fn is_one_of(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.trim().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PRODUCT: &str = "evidencechatbot";

    #[test]
    fn a_header_addresses_every_robot_or_one_robot() {
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
            assert_eq!(forbids(value, PRODUCT), forbidden, "{value}");
        }
    }

    #[test]
    fn a_robot_name_applies_to_its_own_header_line_only() {
        let mut headers = HeaderMap::new();
        headers.append("x-robots-tag", "otherbot: nofollow".parse().unwrap());
        assert!(!in_headers(&headers, PRODUCT));
        headers.append("x-robots-tag", "noindex".parse().unwrap());
        assert!(in_headers(&headers, PRODUCT));
    }

    #[test]
    fn noindex_in_the_head_of_a_page_is_found() {
        for html in [
            r#"<meta name="robots" content="noindex">"#,
            r#"<!doctype html><HTML><Head><META CONTENT='follow, NoIndex' NAME='Robots'/>"#,
            "<head><meta\nname = robots\tcontent=none>",
            r#"<meta name=EvidenceChatBot content=noindex />"#,
            r#"<meta charset=utf-8><title>a < b <body></title><meta name="robots" content="noindex">"#,
            r#"<script>"<body>"</script><meta name="robots" content="noindex">"#,
        ] {
            assert!(in_html(html.as_bytes(), PRODUCT), "{html}");
        }
        let not_utf8 = b"<title>\xff\xfe\xe4</title><meta name=robots content=noindex>";
        assert!(in_html(not_utf8, PRODUCT));
    }

    #[test]
    fn text_that_only_looks_like_noindex_is_ignored() {
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
            assert!(!in_html(html.as_bytes(), PRODUCT), "{html}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_searched(parts in prop::collection::vec(
            prop::sample::select(vec!["<", "meta ", "name", "=", "\"", "'", ">", "/", "ä", "!--", "-->", "robots", "\0"]), 0..40,
        )) {
            in_html(parts.concat().as_bytes(), PRODUCT);
        }
    }

    #[test]
    fn unclosed_tags_are_searched_in_linear_time() {
        for part in ["<", "<!--", "<meta ", "<meta a='", "<script", "<title>"] {
            let page = part.repeat(1_000_000 / part.len());
            assert!(!in_html(page.as_bytes(), PRODUCT));
        }
    }

    #[test]
    fn a_tag_with_very_many_attributes_is_searched_in_seconds() {
        let attributes: String = (0..100_000).map(|number| format!("{number:x} ")).collect();
        let started = std::time::Instant::now();
        assert!(!in_html(format!("<meta {attributes}>").as_bytes(), PRODUCT));
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }
}
