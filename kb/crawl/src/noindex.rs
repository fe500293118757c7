//! Pages that ask not to be indexed: the `X-Robots-Tag` header and `<meta name="robots">`.

use std::cell::Cell;
use std::panic::resume_unwind;

use html5ever::Attribute;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use reqwest::header::HeaderMap;
use tokio::task::spawn_blocking;

/// Bytes of a page that are searched; a head is rarely longer.
const MAX_SEARCHED_BYTES: usize = 256 * 1024;

/// The search ends at a tag that may have more attributes, and at a comment with more words. html5ever compares each attribute of a
/// tag with all earlier ones, so a tag that fills the searched bytes would take seconds.
const MAX_ATTRIBUTES: usize = 8192;

/// Bytes after which the number of attributes is checked.
const SLICE_BYTES: usize = 4096;

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

/// [`in_html`] on a blocking thread, because the search of a large page may take long enough to delay other requests. Also
/// returns the page.
pub(crate) async fn in_page(html: Vec<u8>, product: &str) -> (bool, Vec<u8>) {
    let product = product.to_owned();
    let search = spawn_blocking(move || (in_html(&html, &product), html));
    // The task is never aborted, so it can only fail by a panic.
    search.await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// Whether a `<meta name="robots">`, or one with the name of our robot, in the head of an HTML page forbids indexing.
///
/// Only tokenizes. A tree builder is not needed to find meta elements, and costs much more for deeply nested pages.
fn in_html(html: &[u8], product: &str) -> bool {
    let searched = &html[..html.len().min(MAX_SEARCHED_BYTES)];
    let searched = String::from_utf8_lossy(searched);
    let head = Head {
        product,
        has_token: Cell::new(false),
        is_over: Cell::new(false),
        is_forbidden: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(head, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = &*searched;
    let mut separators = 0;
    while !rest.is_empty() && !tokenizer.sink.is_over.get() && separators <= MAX_ATTRIBUTES {
        let (slice, after) = rest.split_at(rest.ceil_char_boundary(SLICE_BYTES));
        rest = after;
        input.push_back(StrTendril::from(slice));
        // `Head` stops the tokenizer at the end of the head.
        let _ = tokenizer.feed(&input);
        let is_inside_token = !tokenizer.sink.has_token.replace(false);
        separators = if is_inside_token { separators + attribute_separators(slice) } else { 0 };
    }
    if rest.is_empty() && !tokenizer.sink.is_over.get() {
        tokenizer.end();
    }
    tokenizer.sink.is_forbidden.get()
}

/// The number of characters in part of a tag after which an attribute can begin.
fn attribute_separators(tag: &str) -> usize {
    tag.bytes().filter(|byte| byte.is_ascii_whitespace() || b"/\"'".contains(byte)).count()
}

/// Reads the tags of a page up to `<body>`.
struct Head<'a> {
    product: &'a str,
    /// Whether a token has ended since this was last reset.
    has_token: Cell<bool>,
    is_over: Cell<bool>,
    is_forbidden: Cell<bool>,
}

impl TokenSink for Head<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if !matches!(token, Token::ParseError(_)) {
            self.has_token.set(true);
        }
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
    use std::future::ready;
    use std::pin::pin;
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    const PRODUCT: &str = "evidencechatbot";
    const NOINDEX: &str = r#"<meta name="robots" content="noindex">"#;

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

    fn page_with_attributes(count: usize) -> Vec<u8> {
        let attributes: String = (0..count).map(|number| format!("{number:x} ")).collect();
        format!("<meta {attributes}>{NOINDEX}").into_bytes()
    }

    #[test]
    fn the_search_goes_on_after_tags_with_many_attributes_and_ends_at_one_with_too_many() {
        assert!(in_html(&page_with_attributes(MAX_ATTRIBUTES / 2), PRODUCT));
        assert!(!in_html(&page_with_attributes(2 * MAX_ATTRIBUTES), PRODUCT));
    }

    #[test]
    fn noindex_after_long_values_comments_and_scripts_is_found() {
        // Of 64 digits of base64, one is a slash.
        let base64 = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAYAAAB/HSuDAAAAwklEQVR4nO3BAQEA".repeat(3000);
        let words = "some words ".repeat(MAX_ATTRIBUTES / 4);
        let script = format!("<script>{}</script>", words.repeat(8));
        for before in
            [format!("<link href='data:image/png;base64,{base64}'>"), format!("<!-- {words} -->"), script]
        {
            assert!(before.len() < MAX_SEARCHED_BYTES - 1000, "{}", before.len());
            assert!(in_html(format!("{before}{NOINDEX}").as_bytes(), PRODUCT), "{:.20}", before);
        }
    }

    #[test]
    fn a_tag_with_very_many_attributes_is_searched_in_seconds() {
        let page = page_with_attributes(100_000);
        let started = Instant::now();
        assert!(!in_html(&page, PRODUCT));
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn other_tasks_run_while_a_tag_with_very_many_attributes_is_searched() {
        let page = page_with_attributes(65_000);
        let mut search = pin!(in_page(page.clone(), PRODUCT));
        tokio::select! {
            biased;
            _ = &mut search => panic!("the search ended before another task ran"),
            () = ready(()) => {}
        }
        assert_eq!(search.await, (false, page));
    }
}
