//! Removes the Markdown that language models write into their sentences.

/// The words without marks of emphasis and code, and with the texts of links instead of their targets.
pub(super) fn without_markup(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let (kept, length) = match c {
            '\\' => escaped(rest),
            '`' => code(rest),
            '!' | '[' => link(rest).map(|(words, length)| (without_markup(words), length)),
            '*' | '_' | '~' => emphasis(rest, c, before),
            _ => None,
        }
        .unwrap_or_else(|| (c.to_string(), c.len_utf8()));
        text.push_str(&kept);
        let (read, unread) = rest.split_at_checked(length).unwrap_or((rest, ""));
        before = read.chars().next_back();
        rest = unread;
    }
    text
}

/// `\*` is "*".
fn escaped(rest: &str) -> Option<(String, usize)> {
    let c = rest.chars().nth(1).filter(char::is_ascii_punctuation)?;
    Some((c.to_string(), 2))
}

/// The text between two equal runs of backticks.
fn code(rest: &str) -> Option<(String, usize)> {
    let inside = rest.trim_start_matches('`');
    let ticks = rest.strip_suffix(inside)?;
    let end = inside.find(ticks)?;
    Some((inside.get(..end)?.trim().to_owned(), 2 * ticks.len() + end))
}

/// `[text](target)` and `![text](target)`.
fn link(rest: &str) -> Option<(&str, usize)> {
    let inside = rest.trim_start_matches('!').strip_prefix('[')?;
    let text = inside.get(..inside.find(['[', ']'])?)?;
    let target = inside.get(text.len()..)?.strip_prefix("](")?;
    let after = target.get(target.find(['(', ')'])?..)?.strip_prefix(')')?;
    Some((text, rest.len() - after.len()))
}

/// A run of stars, underscores or tildes next to a word. Between spaces or digits a star means multiplication, and an underscore inside
/// a word belongs to it.
fn emphasis(rest: &str, mark: char, before: Option<char>) -> Option<(String, usize)> {
    let behind = rest.trim_start_matches(mark);
    let length = rest.len() - behind.len();
    let after = behind.chars().next();
    let count = |is: fn(char) -> bool| before.into_iter().chain(after).filter(|c| is(*c)).count();
    let is_markup = match mark {
        '_' => count(char::is_alphanumeric) == 1,
        '~' => length == 2,
        _ => count(|c| !c.is_whitespace()) > 0 && count(|c| c.is_ascii_digit()) < 2,
    };
    is_markup.then(|| (String::new(), length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::MAX_WRITTEN_SENTENCE_BYTES;

    #[test]
    fn markup_is_removed_and_words_are_kept() {
        for (source, plain) in [
            ("Refunds take *5 days*, **really**.", "Refunds take 5 days, really."),
            ("See [our *help*](https://e.org/a).", "See our help."),
            ("![A red shoe](shoe.png) costs ~~9~~ 8 €.", "A red shoe costs 9 8 €."),
            ("Run `npm i *` and ``a ` b``.", "Run npm i * and a ` b."),
            ("Set __init__ and snake_case_name and _so_", "Set init and snake_case_name and so"),
            (r"Fish \*not bold\*", "Fish *not bold*"),
        ] {
            assert_eq!(without_markup(source), plain);
        }
    }

    #[test]
    fn text_that_only_looks_like_markup_is_kept() {
        for text in [
            "2 * 3 * 4 = 24",
            "2*3*4",
            "a < b > c",
            "x [3] y",
            "[x]",
            "~5 days",
            "C:\\dir",
            "`",
            "[a](b",
            "Hi!",
        ] {
            assert_eq!(without_markup(text), text);
        }
    }

    proptest! {
        #[test]
        fn letters_are_neither_lost_nor_added(
            words in prop::collection::vec("[a-zé]{1,6}", 1..6),
            marks in prop::collection::vec("[*_`~ ]{0,3}|\\[|\\]", 6..7),
        ) {
            let source: String = words.iter().zip(&marks).flat_map(|(word, mark)| [word.as_str(), mark.as_str()]).collect();
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            prop_assert_eq!(letters(&without_markup(&source)), letters(&source));
        }

        #[test]
        fn the_text_is_never_longer_than_its_source(source in "(?s)([\\[\\](){}<>*_`~!&;\\\\ \na-z0-9é👩]{0,8}){0,6}|.*") {
            prop_assert!(without_markup(&source).len() <= source.len());
        }
    }

    #[test]
    fn hostile_nesting_is_cheap() {
        for piece in ["[", "![", "[a](", "`", "*a _b "] {
            without_markup(&piece.repeat(10 * MAX_WRITTEN_SENTENCE_BYTES));
        }
    }
}
