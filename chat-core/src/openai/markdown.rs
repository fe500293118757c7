//! The text of an answer as Markdown, for clients that render it: a document must not bring pictures, links or other markup into a
//! chat, and its words must not change.

use crate::marker::is_number;

/// A piece of an answer as Markdown that shows its characters. Code is indented; our markers and list items stay.
pub(super) fn markdown(delta: &str) -> String {
    let text = without_markers(delta);
    let markers = delta.get(text.len()..).unwrap_or_default();
    let mut line = text.trim_start_matches('\n');
    let mut shown = text.get(..text.len() - line.len()).unwrap_or_default().to_owned();
    // Only code has lines of its own, or a marker below it.
    if line.contains('\n') || markers.contains('\n') {
        if let Some((introduction, code)) = line.split_once(":\n\n").filter(|(line, _)| !line.contains('\n'))
        {
            push(&mut shown, introduction, false);
            shown.push_str(":\n\n");
            line = code;
        }
        shown.push_str(INDENT);
        push(&mut shown, line, true);
    } else {
        if let Some(item) = line.strip_prefix("- ") {
            shown.push_str("- ");
            line = item;
        }
        push(&mut shown, line, false);
    }
    shown + markers
}

/// What makes a line code.
const INDENT: &str = "    ";

/// A piece without the markers at its end.
fn without_markers(mut text: &str) -> &str {
    while let Some((before, number)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('['))
        && is_number(number)
    {
        text = before.trim_end_matches([' ', '\n']);
    }
    text
}

/// Adds a text, with a backslash before each sign that CommonMark, its usual extensions or formulas between dollars would read as
/// markup, or with indented lines if it is code. What [`escape_markers`](crate::marker::escape_markers) has escaped is right already,
/// but not in code.
fn push(shown: &mut String, text: &str, is_code: bool) {
    let mut escaped_until = 0;
    for (at, sign) in text.char_indices() {
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        if sign == '\\' && at >= escaped_until {
            escaped_until = at + escaped_marker(rest);
        }
        let is_markup = match sign {
            _ if is_code => false,
            _ if at < escaped_until => false,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '~' | '^' | '|' | '$' | '&' | '@' => true,
            // A heading, a list or a line under a heading.
            '#' | '+' | '-' | '=' => before.trim_start().is_empty(),
            '.' | ')' if is_number(before.trim_start()) => true,
            '.' => before.get(at.saturating_sub(3)..).is_some_and(|end| end.eq_ignore_ascii_case("www")),
            ':' => rest.starts_with("://"),
            _ => false,
        };
        if is_markup {
            shown.push('\\');
        }
        if !(is_code && sign == '\\' && at < escaped_until) {
            shown.push(sign);
        }
        if is_code && sign == '\n' {
            shown.push_str(INDENT);
        }
    }
}

/// The length of the escaped marker that a text begins with; 0 if it begins with none.
fn escaped_marker(text: &str) -> usize {
    let number = text.strip_prefix(r"\[").and_then(|text| text.split_once(r"\]"));
    number.filter(|(number, _)| is_number(number)).map_or(0, |(number, _)| number.len() + 4)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

    use super::*;
    use crate::marker::escape_markers;

    /// What a client shows: the words of a text and of code, and a note of everything that a document must not bring in.
    fn rendered(markdown: &str) -> String {
        let mut shown = String::new();
        for event in Parser::new_ext(markdown, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
            match event {
                Event::Text(text) => shown.push_str(&text),
                Event::SoftBreak => shown.push('\n'),
                Event::Start(Tag::Paragraph | Tag::CodeBlock(CodeBlockKind::Indented))
                | Event::End(TagEnd::Paragraph | TagEnd::CodeBlock) => {}
                Event::Start(Tag::List(None) | Tag::Item)
                | Event::End(TagEnd::List(false) | TagEnd::Item) => {}
                other => shown.push_str(&format!("<{other:?}>")),
            }
        }
        shown
    }

    #[test]
    fn markup_in_a_document_is_shown_as_its_signs() {
        for text in [
            "Prices: ![x](https://evil.example/p.png?q=1) see list.",
            "[Sign in again](https://evil.example) or <https://evil.example> or [a][b]",
            "Copy <folder> to __init__ and 2*3*4 and `x` and ~~old~~ and $x_1$ and a|b",
            "# Fees",
            "+ 5 %",
            "=====",
            "3. Open the app",
            "12) Done",
            "5 &lt; 6 &amp; 7 \\* 8 \\",
            "See www.evil.example, https://evil.example and me@evil.example",
            "<script>alert(1)</script><img src=x>",
            "[^1] and [3](https://evil.example) and \\[x\\]",
        ] {
            for markers in ["", " [1]", " [1] [2]"] {
                let delta = format!("{}{markers}", escape_markers(text));
                assert_eq!(rendered(&markdown(&delta)), format!("{text}{markers}"), "{}", markdown(&delta));
            }
        }
        let email = markdown("Write to me@evil.example, https://evil.example or www.evil.example. [1]");
        assert_eq!(email, r"Write to me\@evil.example, https\://evil.example or www\.evil.example. [1]");
    }

    #[test]
    fn ordinary_sentences_are_as_they_are() {
        for text in [
            "Refunds take 5 days (at most), i.e. 120 hours: no fee! [1]",
            " It's free – isn't it? [2]",
            "\n- Shoes: 3–5 days [1]",
            "\n\nOpening hours: Monday 9.30 – 17.00; note: closed on 1. May [3]",
        ] {
            assert_eq!(markdown(text), text);
        }
    }

    #[test]
    fn code_is_indented_with_its_signs() {
        for (delta, expected) in [
            ("npm i\n[1]", "    npm i\n[1]"),
            (
                "\n\nRun *this*:\n\n  a\n```\n# b\n[2]",
                "\n\nRun \\*this\\*:\n\n      a\n    ```\n    # b\n[2]",
            ),
            ("a\\[1\\] = \\[b\\]\nb\n[1]", "    a[1] = \\[b\\]\n    b\n[1]"),
        ] {
            assert_eq!(markdown(delta), expected);
        }
    }

    proptest! {
        #[test]
        fn a_client_shows_the_characters_of_a_line(text in r"[\]\[!()<>*_`~^|$&#+=.:@;/\\a-z0-9é -]{0,40}") {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assume!(!crate::marker::has_escaped_marker(&text) && !text.starts_with("- "));
            let shown = rendered(&markdown(&format!("{} [1]", escape_markers(&text))));
            let expected = format!("{text} [1]");
            prop_assert_eq!(shown, expected.trim_start());
        }

        #[test]
        fn a_client_shows_the_characters_of_code(text in "[`~#a-z \n\\[\\]1]{0,40}") {
            // A blank line at its beginning is not shown.
            let text = text.trim_matches(['\n', ' ']);
            prop_assume!(!text.is_empty());
            let shown = rendered(&markdown(&format!("{}\n[1]", escape_markers(text))));
            prop_assert_eq!(shown, format!("{text}\n[1]"));
        }
    }
}
