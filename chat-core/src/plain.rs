//! Renders Markdown source as plain text. Quotes keep the verbatim source.

use crate::sentences::UnitKind;

/// How far to search for the end of a link, tag or comment, in bytes. Bounds the cost and the nesting of hostile text.
const MAX_LOOKAHEAD: usize = 1000;
/// Bytes of lookahead per byte of a text. After that, brackets and stars are ordinary characters. A link or emphasis uses its
/// own length.
const MAX_LOOKAHEAD_PER_BYTE: usize = 64;

/// The visible text of a unit. It is the source with characters left out; only entities are replaced, and line ends within a
/// sentence become spaces.
pub(crate) fn plain_text(source: &str, kind: UnitKind) -> String {
    match kind {
        UnitKind::Code => without_fences(source),
        UnitKind::Sentence => inline(&on_one_line(source)),
        UnitKind::TableRow | UnitKind::Passage => inline(source),
    }
}

/// Joins the lines of a wrapped sentence. Lines of a block quote begin with ">".
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
    inline_within(source, &mut Lookahead { left: MAX_LOOKAHEAD_PER_BYTE * source.len() })
}

/// The remaining budget of lookahead, in bytes.
struct Lookahead {
    left: usize,
}

impl Lookahead {
    /// The part of the rest that may be searched.
    fn at<'a>(&self, rest: &'a str) -> &'a str {
        rest.get(..rest.floor_char_boundary(MAX_LOOKAHEAD.min(self.left))).unwrap_or(rest)
    }

    fn spend(&mut self, used: usize) {
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

/// `\*` becomes `*`.
fn escape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest.chars().nth(1).filter(char::is_ascii_punctuation)?;
    Some((escaped.to_string(), 2))
}

/// The text between two equal runs of backticks. A run without a counterpart is literal.
fn code_span(rest: &str) -> Option<(String, usize)> {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let (fence, after) = rest.split_at_checked(ticks)?;
    let Some(end) = code_length(after, ticks) else { return Some((fence.to_owned(), ticks)) };
    let code = after.get(..end)?;
    let is_padded = code.starts_with(' ') && code.ends_with(' ') && code.trim() != "";
    let code = if is_padded { code.get(1..end - 1)? } else { code };
    Some((code.to_owned(), ticks + end + ticks))
}

/// The length of the code before the next run of exactly `ticks` backticks.
fn code_length(after: &str, ticks: usize) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + after.get(from..)?.find('`')?;
        let tail = after.get(start..)?;
        let run = tail.len() - tail.trim_start_matches('`').len();
        if run == ticks {
            return Some(start);
        }
        from = start + run;
    }
}

/// `[text](target)`, `[text][label]` and `![description](target)` become their text. Other brackets are literal.
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
        // "[a][1]" is more likely an index or a footnote than a link: labels are not resolved here.
        return None;
    }
    Some((inline_within(inside.get(..close)?, lookahead), bang + 1 + close + 1 + 1 + target + 1))
}

/// The offset of the matching closing bracket. Brackets that are escaped, in code or in tags do not count.
fn closing(text: &str, open: char, close: char, lookahead: &mut Lookahead) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    let mut found = None;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if c == close && depth == 0 {
            found = Some(at);
            break;
        }
        at += match c {
            '\\' | '`' | '<' => skipped(text.get(at..).unwrap_or_default(), lookahead),
            _ => c.len_utf8(),
        };
        depth = if c == open { depth + 1 } else { depth - usize::from(c == close) };
    }
    lookahead.spend(found.unwrap_or(text.len()));
    found
}

/// The length of the escape, code span, tag or autolink at the start of a text, in which no other markup counts.
fn skipped(rest: &str, lookahead: &mut Lookahead) -> usize {
    let (length, cost) = match rest.chars().next() {
        Some('\\') => (rest.chars().take(2).map(char::len_utf8).sum(), 0),
        Some('<') => {
            angle_brackets(rest).map_or((1, rest.len().min(MAX_LOOKAHEAD)), |(_, length)| (length, 0))
        }
        _ => {
            let after = rest.trim_start_matches('`');
            let ticks = rest.len() - after.len();
            code_length(after, ticks).map_or((ticks, after.len()), |code| (ticks + code + ticks, 0))
        }
    };
    lookahead.spend(cost);
    length
}

/// `<https://example.com>` becomes the URL; tags and comments are removed.
fn angle_brackets(rest: &str) -> Option<(String, usize)> {
    let rest = rest.get(..rest.floor_char_boundary(MAX_LOOKAHEAD)).unwrap_or(rest);
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

/// A run of stars, underscores or tildes is markup if it has a counterpart, else literal. At the start or end of the text it
/// needs no counterpart, because a unit may begin or end inside emphasis. `open` has the marks that are not closed yet.
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
    if is_literal(mark, run, before, after) {
        return Some((marks.to_owned(), run));
    }
    let unused = if is_visible(before) { run - close(open, mark, run) } else { run };
    if unused < run {
        return Some((marks.get(..unused)?.to_owned(), run));
    }
    if is_visible(after) && (before.is_none() || is_closed(behind, mark, run, lookahead)) {
        open.push((mark, run));
        return Some((String::new(), run));
    }
    let is_cut_off = is_visible(before) && after.is_none();
    Some((if is_cut_off { String::new() } else { marks.to_owned() }, run))
}

fn is_visible(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_whitespace())
}

/// Whether a run of marks is never markup, because of its length or its neighbours.
fn is_literal(mark: char, run: usize, before: Option<char>, after: Option<char>) -> bool {
    let both = |is: fn(char) -> bool| before.is_some_and(is) && after.is_some_and(is);
    match mark {
        '~' => run != 2,
        // Not inside a word.
        '_' => run > 3 || both(char::is_alphanumeric),
        // Between digits, a star means multiplication.
        _ => run > 3 || both(|c| c.is_ascii_digit()),
    }
}

/// Closes up to `run` open marks, the innermost first, and returns how many.
fn close(open: &mut Vec<(char, usize)>, mark: char, run: usize) -> usize {
    let mut closed = 0;
    while closed < run
        && let Some(innermost) = open.iter().rposition(|(opened, _)| *opened == mark)
        && let Some((_, count)) = open.get_mut(innermost)
    {
        let used = (*count).min(run - closed);
        *count -= used;
        closed += used;
        let is_used_up = *count == 0;
        open.truncate(if is_used_up { innermost } else { innermost + 1 });
    }
    closed
}

/// Whether the following marks close a run of `run` marks, after those that open in between. Marks that are escaped, in
/// code or in tags do not count.
fn is_closed(behind: &str, mark: char, run: usize, lookahead: &mut Lookahead) -> bool {
    let ahead = lookahead.at(behind);
    let mut at = 0;
    let mut before = None;
    let mut unclosed = run;
    while unclosed > 0
        && let Some(rest) = ahead.get(at..)
        && let Some(c) = rest.chars().next()
    {
        let length = match c {
            '\\' | '`' | '<' => skipped(rest, lookahead),
            _ if c == mark => rest.len() - rest.trim_start_matches(mark).len(),
            _ => c.len_utf8(),
        };
        let (taken, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let after = tail.chars().next();
        if c == mark && !is_literal(mark, length, before, after) {
            if is_visible(before) {
                unclosed = unclosed.saturating_sub(length);
            } else if is_visible(after) {
                unclosed += length;
            }
        }
        before = taken.chars().next_back();
        at += length;
    }
    lookahead.spend(at);
    unclosed == 0
}

/// The entities that are common in Markdown.
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
mod commonmark_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_is_removed_and_words_are_kept() {
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
    fn text_that_only_looks_like_markup_is_kept() {
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
    fn only_the_fences_of_code_are_removed() {
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
        fn letters_are_neither_lost_nor_added(words in prop::collection::vec("[a-zé]{1,6}", 1..6), marks in prop::collection::vec("[*_`~ ]{0,3}", 6..7)) {
            let source: String = words.iter().zip(&marks).flat_map(|(word, mark)| [word.as_str(), mark.as_str()]).collect();
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            prop_assert_eq!(letters(&plain_text(&source, UnitKind::Sentence)), letters(&source));
        }

        #[test]
        fn the_text_is_never_longer_than_its_source(source in "(?s)([\\[\\](){}<>*_`~!&;\\\\ \na-z0-9é👩]{0,8}){0,6}|.*") {
            for kind in [UnitKind::Sentence, UnitKind::TableRow, UnitKind::Code, UnitKind::Passage] {
                prop_assert!(plain_text(&source, kind).len() <= source.len());
            }
        }
    }
}
