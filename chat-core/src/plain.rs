//! Markdown source → the text a reader sees, without markup. The quotes beside it keep the source to the letter.

use crate::sentences::UnitKind;

/// How far the end of a link, tag or comment is looked for, in bytes. Keeps hostile text cheap, and nesting shallow.
const LOOKAHEAD: usize = 1000;
/// How many bytes may be looked ahead for each byte of a text; after that, brackets and stars are characters like the rest.
/// A link or emphasis costs its own length.
const LOOKAHEAD_PER_BYTE: usize = 64;

/// What a reader sees of a unit. Characters are only left out; none is added but the one an entity stands for, and the
/// space for a line end within a sentence.
pub(crate) fn plain_text(source: &str, kind: UnitKind) -> String {
    match kind {
        UnitKind::Code => without_fences(source),
        UnitKind::Sentence => on_one_line(&inline(source)),
        UnitKind::TableRow | UnitKind::Passage => inline(source),
    }
}

/// Joins the lines that a sentence is wrapped into; those of a quotation start with ">".
fn on_one_line(text: &str) -> String {
    let lines = text.split('\n').enumerate().map(|(number, line)| match number {
        0 => line.trim_end(),
        _ => line.trim().trim_start_matches(['>', ' ']),
    });
    lines.collect::<Vec<_>>().join(" ")
}

fn without_fences(source: &str) -> String {
    let is_fence = |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let lines: Vec<_> = source.lines().collect();
    let body = match lines.as_slice() {
        [first, body @ .., last] if is_fence(first) && is_fence(last) => body,
        [first, body @ ..] if is_fence(first) => body,
        all => all,
    };
    body.join("\n")
}

/// Removes inline markup from a text.
fn inline(source: &str) -> String {
    inline_within(source, &mut Lookahead { left: LOOKAHEAD_PER_BYTE * source.len() })
}

/// The bytes that may still be looked at ahead of where the text is read.
struct Lookahead {
    left: usize,
}

impl Lookahead {
    /// What follows, as far as it may be looked at.
    fn at<'a>(&self, rest: &'a str) -> &'a str {
        rest.get(..rest.floor_char_boundary(LOOKAHEAD.min(self.left))).unwrap_or(rest)
    }

    fn note(&mut self, used: usize) {
        #[cfg(test)]
        crate::work::add(used);
        self.left = self.left.saturating_sub(used);
    }
}

fn inline_within(source: &str, lookahead: &mut Lookahead) -> String {
    #[cfg(test)]
    crate::work::add(source.len());
    let mut plain = String::with_capacity(source.len());
    let mut rest = source;
    let mut before = None;
    let mut open = Vec::new();
    while let Some(c) = rest.chars().next() {
        let (text, length) = match c {
            '\\' => escape(rest),
            '`' => code_span(rest),
            '!' if rest.starts_with("![") => link(rest, 1, lookahead),
            '[' => link(rest, 0, lookahead),
            '<' => angle_brackets(rest),
            '*' | '_' | '~' => emphasis(rest, c, before, &mut open, lookahead),
            '&' => entity(rest),
            _ => None,
        }
        .unwrap_or_else(|| (c.to_string(), c.len_utf8()));
        plain.push_str(&text);
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        before = taken.chars().next_back();
        rest = after;
    }
    plain
}

/// `\*` is a star.
fn escape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest.chars().nth(1).filter(char::is_ascii_punctuation)?;
    Some((escaped.to_string(), 2))
}

/// What stands between two equal runs of backticks; a run without an end is itself.
fn code_span(rest: &str) -> Option<(String, usize)> {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let (fence, after) = rest.split_at_checked(ticks)?;
    let mut from = 0;
    loop {
        let Some(found) = after.get(from..)?.find(fence) else { return Some((fence.to_owned(), ticks)) };
        let end = from + found;
        let tail = after.get(end..)?;
        let run = tail.len() - tail.trim_start_matches('`').len();
        if run == ticks {
            let code = after.get(..end)?;
            let is_padded = code.starts_with(' ') && code.ends_with(' ') && code.trim() != "";
            let code = if is_padded { code.get(1..end - 1)? } else { code };
            return Some((code.to_owned(), ticks + end + ticks));
        }
        from = end + run;
    }
}

/// `[text](target)`, `[text][label]`, `![description](target)`: the text. Brackets of any other kind stay.
fn link(rest: &str, bang: usize, lookahead: &mut Lookahead) -> Option<(String, usize)> {
    let rest = lookahead.at(rest);
    let inside = rest.get(bang + 1..)?;
    let close = closing(inside, '[', ']', lookahead)?;
    let after = inside.get(close + 1..)?;
    let (open, end) = match after.chars().next()? {
        '(' => ('(', ')'),
        '[' => ('[', ']'),
        _ => return None,
    };
    let target = closing(after.get(1..)?, open, end, lookahead)?;
    if open == '[' && after.get(1..=target)?.chars().all(|c| c.is_ascii_digit()) {
        // "[a][1]": a footnote or an index, not a link whose label we know.
        return None;
    }
    Some((inline_within(inside.get(..close)?, lookahead), bang + 1 + close + 1 + 1 + target + 1))
}

/// Where a bracket closes, brackets inside it counted.
fn closing(text: &str, open: char, close: char, lookahead: &mut Lookahead) -> Option<usize> {
    let found = closing_in(text, open, close);
    lookahead.note(found.unwrap_or(text.len()));
    found
}

fn closing_in(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == open {
            depth += 1;
        } else if c == close {
            let Some(less) = depth.checked_sub(1) else { return Some(at) };
            depth = less;
        }
    }
    None
}

/// `<https://example.com>` is the address; a tag or comment is nothing.
fn angle_brackets(rest: &str) -> Option<(String, usize)> {
    let rest = rest.get(..rest.floor_char_boundary(LOOKAHEAD)).unwrap_or(rest);
    if let Some(comment) = rest.strip_prefix("<!--") {
        let end = comment.find("-->")?;
        return Some((String::new(), "<!--".len() + end + "-->".len()));
    }
    let inside = rest.get(1..rest.find('>')?)?;
    let length = inside.len() + 2;
    let is_address = !inside.contains(char::is_whitespace)
        && (inside.contains("://") || (inside.contains('@') && !inside.contains('=')));
    if is_address {
        return Some((inside.to_owned(), length));
    }
    let name = inside.trim_start_matches('/');
    let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.split([' ', '\t', '\n', '/']).next()?.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_tag.then(|| (String::new(), length))
}

/// A run of stars, underscores or tildes is markup if it has a counterpart. At the very start or end of the text it needs
/// none, because a unit may end inside what is emphasised. Any other is characters like the rest.
fn emphasis(
    rest: &str,
    mark: char,
    before: Option<char>,
    open: &mut Vec<(char, usize)>,
    lookahead: &mut Lookahead,
) -> Option<(String, usize)> {
    let run = rest.len() - rest.trim_start_matches(mark).len();
    let (marks, behind) = rest.split_at_checked(run)?;
    let after = behind.chars().next();
    let is_visible = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
    let is_literal = match mark {
        '~' => run != 2,
        // Inside a word.
        '_' => before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric),
        // Between digits it multiplies.
        _ => before.is_some_and(|c| c.is_ascii_digit()) && after.is_some_and(|c| c.is_ascii_digit()),
    };
    if is_literal || run > 3 {
        return Some((marks.to_owned(), run));
    }
    if is_visible(before)
        && let Some(opened) = open.iter().rposition(|opened| *opened == (mark, run))
    {
        open.truncate(opened);
        return Some((String::new(), run));
    }
    if is_visible(after) && (before.is_none() || is_closed(behind, mark, run, lookahead)) {
        open.push((mark, run));
        return Some((String::new(), run));
    }
    let is_cut_off = is_visible(before) && after.is_none();
    Some((if is_cut_off { String::new() } else { marks.to_owned() }, run))
}

/// Whether a run of so many marks follows that closes: one behind a visible character.
fn is_closed(behind: &str, mark: char, run: usize, lookahead: &mut Lookahead) -> bool {
    let ahead = lookahead.at(behind);
    let mut text = ahead;
    let mut before = None;
    let mut is_found = false;
    while !is_found && let Some((words, at_mark)) = text.find(mark).and_then(|at| text.split_at_checked(at)) {
        before = words.chars().next_back().or(before);
        text = at_mark.trim_start_matches(mark);
        is_found = at_mark.len() - text.len() == run && before.is_some_and(|c: char| !c.is_whitespace());
    }
    lookahead.note(if is_found { ahead.len() - text.len() } else { ahead.len() });
    is_found
}

/// The entities that writers of Markdown really use.
fn entity(rest: &str) -> Option<(String, usize)> {
    const ENTITIES: [(&str, &str); 6] = [
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
    ];
    let (name, text) = ENTITIES.iter().find(|(name, _)| rest.starts_with(name))?;
    Some(((*text).to_owned(), name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_is_gone_and_words_stay() {
        for (source, plain) in [
            ("Refunds take *5 days*, **really**.", "Refunds take 5 days, really."),
            ("See [our *help*](https://e.org/a_(b)) or [this][help].", "See our help or this."),
            ("![A red shoe](shoe.png) costs ~~9~~ 8 €.", "A red shoe costs 9 8 €."),
            ("Run `npm i *` and ``a ` b``.", "Run npm i * and a ` b."),
            ("Mail <help@e.org> or <https://e.org>.", "Mail help@e.org or https://e.org."),
            ("Fast<br/>and <b class=\"x\">bold</b><!-- not this -->.", "Fastand bold."),
            ("Fish &amp; chips \\*not bold\\*", "Fish & chips *not bold*"),
            ("Wrapped\n  twice,\r\n> and quoted.", "Wrapped twice, and quoted."),
            ("**One.", "One."),
            ("Two.**", "Two."),
            ("__init__ and snake_case_name and _so_", "init and snake_case_name and so"),
        ] {
            assert_eq!(plain_text(source, UnitKind::Sentence), plain, "{source}");
        }
    }

    #[test]
    fn what_only_looks_like_markup_stays() {
        for text in [
            "2 * 3 * 4 = 24",
            "2*3*4",
            "a < b > c",
            "5 < 6",
            "x [3] y",
            "[x]",
            "~5 days",
            "AT&T",
            "C:\\dir",
            "`",
            "[a](b",
            "**",
        ] {
            assert_eq!(plain_text(text, UnitKind::Sentence), text);
        }
    }

    #[test]
    fn code_loses_its_fences_only() {
        assert_eq!(plain_text("```sh\na *b*\n\nc\n```", UnitKind::Code), "a *b*\n\nc");
        assert_eq!(plain_text("~~~\nnever closed", UnitKind::Code), "never closed");
        assert_eq!(plain_text("no fence", UnitKind::Code), "no fence");
    }

    #[test]
    fn hostile_nesting_is_cheap() {
        for text in [
            "[".repeat(100_000),
            "![".repeat(50_000),
            "<".repeat(100_000),
            "`".repeat(99_999) + "x",
            "&".repeat(100_000),
        ] {
            assert_eq!(plain_text(&text, UnitKind::Sentence), text);
        }
        let nested = "[".repeat(300) + &"](a)".repeat(300);
        assert!(plain_text(&nested, UnitKind::Sentence).len() <= nested.len());
    }

    proptest! {
        #[test]
        fn words_are_never_lost_nor_made_up(words in prop::collection::vec("[a-zé]{1,6}", 1..6), marks in prop::collection::vec("[*_`~ ]{0,3}", 6..7)) {
            let source: String = words.iter().zip(&marks).flat_map(|(word, mark)| [word.as_str(), mark.as_str()]).collect();
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            prop_assert_eq!(letters(&plain_text(&source, UnitKind::Sentence)), letters(&source));
        }

        #[test]
        fn any_text_is_read_without_a_fault(source in "(?s)([\\[\\](){}<>*_`~!&;\\\\ \na-z0-9é👩]{0,8}){0,6}|.*") {
            for kind in [UnitKind::Sentence, UnitKind::TableRow, UnitKind::Code, UnitKind::Passage] {
                prop_assert!(plain_text(&source, kind).len() <= source.len());
            }
        }
    }
}
