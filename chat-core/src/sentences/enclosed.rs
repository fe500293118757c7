//! Finds the ranges that brackets, quotation marks, code spans and tags enclose. No sentence ends
//! in there.

use std::ops::Range;

use crate::limits::MAX_PASSAGE_BYTES;

/// The longest text in brackets or quotation marks. Two marks that are further apart rarely belong together, and a mark
/// without a counterpart must not join the rest of a passage.
const MAX_ENCLOSED_BYTES: usize = 400;
/// How many open marks a closing mark is compared with, innermost first.
const MAX_NESTING: usize = 16;

/// An opening mark whose counterpart has not been found yet.
struct Open {
    mark: Mark,
    start: usize,
}

impl Open {
    /// The longest text that it can enclose, with its marks.
    fn max_bytes(&self) -> usize {
        match self.mark {
            Mark::Comment => MAX_PASSAGE_BYTES,
            Mark::Tag | Mark::Char(_) => MAX_ENCLOSED_BYTES,
        }
    }
}

#[derive(Clone, Copy)]
enum Mark {
    /// A bracket or quotation mark.
    Char(char),
    /// `<` of an HTML tag or an address.
    Tag,
    /// `<!--`.
    Comment,
}

/// The ranges that the marks of a text enclose.
#[derive(Default)]
struct Scan {
    /// With their marks, in order. A range inside another one is left out.
    enclosed: Vec<Range<usize>>,
    /// Innermost last.
    open: Vec<Open>,
    /// The offsets of backticks without a counterpart.
    ticks: Vec<usize>,
}

/// The enclosed ranges with their marks, in order. A range inside another one is left out.
pub(super) fn enclosed(text: &str) -> Vec<Range<usize>> {
    scan(text).enclosed
}

/// The offset of the first mark that a continuation of the text may still close.
pub(crate) fn first_open(text: &str) -> Option<usize> {
    let Scan { open, ticks, .. } = scan(text);
    let ticks = ticks.into_iter().find(|start| text.len() - start <= MAX_PASSAGE_BYTES);
    let open = open.into_iter().find(|open| text.len() - open.start <= open.max_bytes());
    open.map(|open| open.start).into_iter().chain(ticks).min()
}

fn scan(text: &str) -> Scan {
    #[cfg(test)]
    crate::work::add(text.len());
    let mut scan = Scan::default();
    let mut before = None;
    let mut position = 0;
    while let Some(c) = char_at(text, position) {
        let start = position;
        if c == '`' {
            match code_span(text, start) {
                Ok(end) => {
                    scan.enclosed.push(start..end);
                    position = end;
                }
                Err(end) => {
                    scan.ticks.push(start);
                    position = end;
                }
            }
        } else {
            position += c.len_utf8();
            let next = char_at(text, position);
            if !scan.close(before, c, next, position)
                && let Some(mark) = opening_mark(text, before, start, c, next)
            {
                scan.open.push(Open { mark, start });
            }
        }
        before = Some(c);
    }
    scan
}

impl Scan {
    /// Closes the innermost mark whose counterpart is `c`, which ends at `end`. False if there is none.
    fn close(&mut self, before: Option<char>, c: char, next: Option<char>, end: usize) -> bool {
        let is_counterpart = |open: &Open| closes(open.mark, before, c, next);
        let Some(depth) = self.open.iter().rev().take(MAX_NESTING).position(is_counterpart) else {
            return false;
        };
        self.open.truncate(self.open.len() - depth);
        if let Some(Open { start, .. }) = self.open.pop().filter(|open| end - open.start <= open.max_bytes())
        {
            while self.enclosed.pop_if(|inner| inner.start > start).is_some() {}
            self.enclosed.push(start..end);
        }
        true
    }
}

pub(super) fn char_at(text: &str, position: usize) -> Option<char> {
    text.get(position..)?.chars().next()
}

/// The mark that opens at `start`, if `c` is one.
fn opening_mark(text: &str, before: Option<char>, start: usize, c: char, next: Option<char>) -> Option<Mark> {
    let is_after_gap = || before.is_none_or(|c| c.is_whitespace() || "([{<>=*_~-–—/:|“„«".contains(c));
    let is_before_word = || next.is_some_and(|c| !c.is_whitespace());
    let is_before_letter = || next.is_some_and(char::is_alphabetic);
    match c {
        '(' | '[' | '{' | '“' | '„' | '‚' | '«' | '‹' | '（' | '［' | '｛' | '【' | '〔' | '「' | '『'
        | '《' | '〈' => Some(Mark::Char(c)),
        // "»" opens in German. Straight marks are also inches.
        '"' | '»' | '›' => (is_after_gap() && is_before_word()).then_some(Mark::Char(c)),
        // Also apostrophes, as in "rock ’n’ roll", "the '90s".
        '‘' | '\'' => (is_after_gap() && is_before_letter()).then_some(Mark::Char(c)),
        '<' if text.get(start..).is_some_and(|rest| rest.starts_with("<!--")) => Some(Mark::Comment),
        '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || c == '/').then_some(Mark::Tag),
        _ => None,
    }
}

/// Whether `c` is the counterpart of an opening mark.
fn closes(open: Mark, before: Option<char>, c: char, next: Option<char>) -> bool {
    let ends_word =
        || before.is_some_and(|c| !c.is_whitespace()) && next.is_none_or(|next| !next.is_alphanumeric());
    match (open, c) {
        (Mark::Char('('), ')')
        | (Mark::Char('['), ']')
        | (Mark::Char('{'), '}')
        | (Mark::Char('“'), '”')
        | (Mark::Char('„'), '“' | '”')
        | (Mark::Char('«'), '»')
        | (Mark::Char('»'), '«')
        | (Mark::Char('‹'), '›')
        | (Mark::Char('›'), '‹')
        | (Mark::Char('（'), '）')
        | (Mark::Char('［'), '］')
        | (Mark::Char('｛'), '｝')
        | (Mark::Char('【'), '】')
        | (Mark::Char('〔'), '〕')
        | (Mark::Char('「'), '」')
        | (Mark::Char('『'), '』')
        | (Mark::Char('《'), '》')
        | (Mark::Char('〈'), '〉')
        | (Mark::Tag, '>') => true,
        (Mark::Char('"'), '"')
        | (Mark::Char('\''), '\'')
        | (Mark::Char('‘'), '’')
        | (Mark::Char('‚'), '‘' | '’') => ends_word(),
        (Mark::Comment, '>') => before == Some('-'),
        _ => false,
    }
}

/// The end of the code span that opens at `position`. The end of its backticks is the error if nothing closes it within the size
/// of a passage.
fn code_span(text: &str, position: usize) -> Result<usize, usize> {
    let rest = text.get(position..).unwrap_or_default();
    let rest = rest.get(..rest.floor_char_boundary(MAX_PASSAGE_BYTES)).unwrap_or_default();
    let ticks_at = |at: usize| {
        let tail = rest.get(at..).unwrap_or_default();
        tail.len() - tail.trim_start_matches('`').len()
    };
    let ticks = ticks_at(0);
    let mut end = ticks;
    let mut is_closed = false;
    while !is_closed && let Some(found) = rest.get(end..).and_then(|tail| tail.find('`')) {
        let run = ticks_at(end + found);
        end += found + run;
        is_closed = run == ticks;
    }
    #[cfg(test)]
    crate::work::add(if is_closed { end } else { rest.len() });
    if is_closed { Ok(position + end) } else { Err(position + ticks) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        enclosed(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn marks_enclose_what_is_between_them() {
        for part in [
            "(a (b) c)",
            "[a]",
            "{a}",
            "“a”",
            "„a“",
            "„a”",
            "«a»",
            "« a »",
            "»a«",
            "‘a’",
            "‚a‘",
            "\"a\"",
            "'a'",
            "「a『b』」",
            "（a）",
            "`(a`",
            "``a ` b``",
            "<a title=\"b\">",
            "<!-- a > b -->",
            "‘don’t’",
        ] {
            assert_eq!(parts(part), [part]);
            assert_eq!(parts(&format!("A {part}, b")), [part]);
        }
        assert_eq!(parts("[a](b \"c\") (d"), ["[a]", "(b \"c\")"]);
    }

    #[test]
    fn a_mark_without_a_counterpart_encloses_nothing() {
        for text in [
            "a) b",
            "(a",
            "a (b] c",
            "6\" by 8\" pipes",
            "don't, won't",
            "the '90s, the '80s",
            "a < b > c",
            "-> a",
            "a ` b",
            "“a",
            "customers' own",
        ] {
            assert!(parts(text).is_empty(), "{text}");
        }
        assert!(parts(&format!("({})", "a ".repeat(MAX_ENCLOSED_BYTES))).is_empty());
        assert_eq!(parts(&format!("(a {}(b) c", "d ".repeat(MAX_ENCLOSED_BYTES))), ["(b)"]);
        assert_eq!(parts("(a [b) c]"), ["(a [b)"]);
    }

    #[test]
    fn a_continuation_can_close_only_what_is_open_and_near() {
        assert_eq!(first_open("a (b) [c (d"), Some(6));
        assert_eq!(first_open("a `b"), Some(2));
        assert_eq!(first_open("a (b)"), None);
        assert_eq!(first_open(&format!("(a {}", "b ".repeat(MAX_ENCLOSED_BYTES))), None);
    }
}
