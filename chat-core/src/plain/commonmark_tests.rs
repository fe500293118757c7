//! Compares the plain text of generated Markdown with what pulldown-cmark renders.
//!
//! Deliberate differences to CommonMark, which the generator avoids and `deliberate_differences` shows:
//! - A unit may begin or end inside emphasis, so marks at its start or end need no counterpart.
//! - A passage may not contain the definitions of its links, so `[text][label]` is a link without them.
//! - A star between digits means multiplication. One tilde means "about". Longer runs than three marks are literal.
//! - Only common entities are decoded.
//! - Labels of images and links are read even inside other links.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser};

use super::plain_text;
use crate::sentences::UnitKind;

/// An inline element of Markdown.
#[derive(Debug, Clone)]
enum Inline {
    /// Source that needs no nesting: words, code, escapes, entities, autolinks, tags and comments.
    Leaf(String),
    Emphasis(&'static str, Vec<Inline>),
    Link(Vec<Inline>, String),
    Image(Vec<Inline>, String),
}

/// `outside` is the mark of the emphasis around them. Marks alternate, because equal ones in a row are ambiguous;
/// `nested_emphasis_of_equal_marks` has examples of those.
fn source(inlines: &[Inline], outside: char) -> String {
    inlines.iter().map(|inline| inline.source(outside)).collect::<Vec<_>>().join(" ")
}

impl Inline {
    fn source(&self, outside: char) -> String {
        match self {
            Self::Leaf(source) => source.clone(),
            Self::Emphasis(mark, inner) => {
                let mark = match outside {
                    '*' => mark.replace('*', "_"),
                    '_' => mark.replace('_', "*"),
                    _ if mark.starts_with(outside) => "*".to_owned(),
                    _ => (*mark).to_owned(),
                };
                let is_emphasis = |inline: Option<&Self>| matches!(inline, Some(Self::Emphasis(..)));
                // Words between marks that would touch: how CommonMark reads three runs in a row depends on their lengths.
                let before = if is_emphasis(inner.first()) { "x " } else { "" };
                let after = if is_emphasis(inner.last()) { " x" } else { "" };
                let inner = source(inner, mark.chars().next().unwrap_or_default());
                format!("{mark}{before}{inner}{after}{mark}")
            }
            Self::Link(inner, target) => format!("[{}]({target})", source(inner, outside)),
            Self::Image(inner, target) => format!("![{}]({target})", source(inner, outside)),
        }
    }
}

fn leaf() -> impl Strategy<Value = Inline> {
    let words = "[a-zé]{1,6}[,.?]?|[0-9]{1,3}|snake_case|a \\* b|x\\[3\\]|\\[x\\]|AT&T|5 < 6|~5";
    let code = "`[a-z*_\\[\\]()<>&~]{1,6}`|``[a-z] ?`[a-z]``|` [a-z]+ `";
    let escapes = r"\\[*_`\[\]()<>&~!#.\\]";
    let entities = "&(amp|lt|gt|quot|#39);";
    let angle_brackets = "<https://e\\.org/[a-z_*]{0,4}>|<[a-z]{1,4}@e\\.org>|</?(b|i|span)>|<br/>|<a href=\"[a-z]\">|<!-- [a-z* ]{0,6} -->";
    prop_oneof![4 => words, 2 => code, 1 => escapes, 1 => entities, 1 => angle_brackets]
        .prop_map(Inline::Leaf)
}

fn target() -> impl Strategy<Value = String> {
    "[a-z/_.*]{1,6}(\\([a-z]\\))?( \"[a-z ]{0,4}\")?"
}

fn several(one: impl Strategy<Value = Inline> + 'static) -> BoxedStrategy<Vec<Inline>> {
    prop::collection::vec(one, 1..4).boxed()
}

fn emphasis(inner: BoxedStrategy<Vec<Inline>>) -> impl Strategy<Value = Inline> {
    let mark = prop::sample::select(vec!["*", "**", "***", "_", "__", "~~"]);
    (mark, inner).prop_map(|(mark, inner)| Inline::Emphasis(mark, inner))
}

fn image(inner: BoxedStrategy<Vec<Inline>>) -> impl Strategy<Value = Inline> {
    (inner, target()).prop_map(|(inner, target)| Inline::Image(inner, target))
}

/// The text of a link, which contains emphasis and images, but no other links.
fn link_text() -> BoxedStrategy<Vec<Inline>> {
    let one = leaf().prop_recursive(2, 6, 3, |inner| {
        let inner = several(inner);
        prop_oneof![2 => emphasis(inner.clone()), 1 => image(inner)]
    });
    several(one)
}

fn inlines() -> BoxedStrategy<Vec<Inline>> {
    let one = leaf().prop_recursive(3, 12, 3, |inner| {
        let link = (link_text(), target()).prop_map(|(inner, target)| Inline::Link(inner, target));
        prop_oneof![2 => emphasis(several(inner)), 1 => link, 1 => image(link_text())]
    });
    several(one)
}

/// The visible text of a paragraph.
fn rendered(markdown: &str) -> String {
    let visible = |event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.to_string()),
        Event::SoftBreak => Some(" ".to_owned()),
        _ => None,
    };
    Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH).filter_map(visible).collect()
}

fn plain(markdown: &str) -> String {
    plain_text(markdown, UnitKind::Sentence)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn plain_text_is_what_commonmark_shows(inlines in inlines(), separator in "[ \n]") {
        // Words around it keep the text a paragraph and its marks away from the ends.
        let source = source(&inlines, ' ');
        // A comment at the start of a line would end the paragraph.
        let separator = if source.starts_with('<') { " " } else { separator.as_str() };
        let markdown = format!("Text{separator}{source} end.");
        prop_assume!(!markdown.contains("~~~"));
        prop_assert_eq!(plain(&markdown), rendered(&markdown));
    }
}

#[test]
fn nested_emphasis_of_equal_marks() {
    for markdown in
        ["A ***a** b* c.", "A *a **b*** c.", "A **a *b* c** d.", "A *a **b** c* d.", "A __a _b___ c."]
    {
        assert_eq!(plain(markdown), rendered(markdown));
    }
}

#[test]
fn deliberate_differences() {
    for (markdown, ours, commonmark) in [
        ("**Cut off.", "Cut off.", "**Cut off."),
        ("Cut off.**", "Cut off.", "Cut off.**"),
        ("See [this][help].", "See this.", "See [this][help]."),
        ("It is 2*3*4.", "It is 2*3*4.", "It is 234."),
        ("About ~5~ days.", "About ~5~ days.", "About 5 days."),
        ("5 &euro;.", "5 &euro;.", "5 €."),
        ("See [a [b](c) d](e).", "See a b d.", "See [a b d](e)."),
    ] {
        assert_eq!((plain(markdown).as_str(), rendered(markdown).as_str()), (ours, commonmark));
    }
}
