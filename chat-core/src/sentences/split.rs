//! Splits running text into sentences.

use std::ops::Range;

use crate::limits::MAX_PASSAGE_BYTES;
use crate::words::is_stop_word;

/// Abbreviations that never end a sentence.
const NEVER_ENDS_SENTENCE: &[&str] = &[
    "approx", "capt", "cf", "col", "dr", "e.g", "eg", "esp", "gen", "hon", "i.e", "ie", "incl", "lt",
    "messrs", "mr", "mrs", "ms", "mt", "prof", "rev", "sgt", "st", "viz", "vs",
];
/// Abbreviations that do not end a sentence before a number: "No. 5", but "No. It is not."
const CONTINUES_BEFORE_NUMBER: &[&str] =
    &["art", "ch", "ext", "fig", "figs", "no", "nos", "p", "pp", "para", "sec", "tel", "vol"];
/// Abbreviations that end a sentence if a capital follows.
const MAY_END_SENTENCE: &[&str] = &[
    "a.m", "al", "apr", "aug", "ave", "co", "corp", "dec", "dept", "ed", "eds", "est", "etc", "excl", "feb",
    "hr", "hrs", "inc", "jan", "jr", "jul", "jun", "ltd", "mar", "max", "min", "nov", "oct", "p.m", "sep",
    "sept", "sr",
];

/// The sentences of `content[range]`, each without surrounding white space.
pub fn sentences(content: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let Some(text) = content.get(range.clone()) else { return Vec::new() };
    #[cfg(test)]
    crate::work::add(text.len());
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut position = 0;
    while let Some(c) = char_at(text, position) {
        position = match c {
            '`' => after_code_span(text, position),
            _ if is_terminator(c) => {
                let end = after_closers(text, position);
                if ends_sentence(text, position, end) {
                    push_trimmed(text, start..end, &mut sentences);
                    start = end;
                }
                end
            }
            _ => position + c.len_utf8(),
        };
    }
    push_trimmed(text, start..text.len(), &mut sentences);
    sentences.into_iter().map(|found| range.start + found.start..range.start + found.end).collect()
}

fn char_at(text: &str, position: usize) -> Option<char> {
    text.get(position..)?.chars().next()
}

fn push_trimmed(text: &str, range: Range<usize>, into: &mut Vec<Range<usize>>) {
    let Some(slice) = text.get(range.clone()) else { return };
    let start = range.start + (slice.len() - slice.trim_start().len());
    let length = slice.trim().len();
    if length > 0 {
        into.push(start..start + length);
    }
}

/// Full-width marks end a sentence without a space after them.
fn is_wide_terminator(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡')
}

fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…') || is_wide_terminator(c)
}

/// The end of a run of terminators and the closing quotes, brackets and emphasis marks after it.
fn after_closers(text: &str, position: usize) -> usize {
    let closes = |c: char| {
        is_terminator(c) || matches!(c, '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '*' | '_' | '」' | '』')
    };
    let rest = text.get(position..).unwrap_or_default();
    position + rest.find(|c| !closes(c)).unwrap_or(rest.len())
}

/// The end of the code span that opens here, or of its backticks if nothing closes it within the size of a passage.
fn after_code_span(text: &str, position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    let rest = rest.get(..rest.floor_char_boundary(MAX_PASSAGE_BYTES)).unwrap_or_default();
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let mut search = ticks;
    while let Some(found) = rest.get(search..).and_then(|tail| tail.find('`')) {
        let run_start = search + found;
        let tail = rest.get(run_start..).unwrap_or_default();
        let run = tail.len() - tail.trim_start_matches('`').len();
        search = run_start + run;
        if run == ticks {
            return position + search;
        }
    }
    position + ticks
}

/// Whether the terminator at `position`, whose closers end at `end`, ends a sentence.
fn ends_sentence(text: &str, position: usize, end: usize) -> bool {
    let after = text.get(end..).unwrap_or_default();
    let Some(next) = after.chars().next() else { return true };
    if text.get(position..end).is_some_and(|marks| marks.contains(is_wide_terminator)) {
        return true;
    }
    if !next.is_whitespace() {
        return false;
    }
    let next_word = after.trim_start().trim_start_matches(['"', '\'', '“', '‘', '«', '(', '[', '*', '_']);
    if next_word.chars().next().is_some_and(char::is_lowercase) {
        return false;
    }
    let is_single_full_stop = text.get(position..end).is_some_and(|marks| marks.matches('.').count() == 1)
        && char_at(text, position) == Some('.');
    !is_single_full_stop || !is_abbreviation(word_before(text, position), next_word)
}

/// The word right before a full stop, including inner full stops ("e.g").
fn word_before(text: &str, position: usize) -> &str {
    let before = text.get(..position).unwrap_or_default();
    let start = before
        .rfind(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map_or(0, |at| at + before.get(at..).and_then(|tail| tail.chars().next()).map_or(0, char::len_utf8));
    before.get(start..).unwrap_or_default()
}

fn is_abbreviation(word: &str, next_word: &str) -> bool {
    let folded = word.to_lowercase();
    let is_in = |list: &[&str]| list.contains(&folded.as_str());
    let next = next_word.chars().next();
    if is_in(NEVER_ENDS_SENTENCE) {
        return true;
    }
    if is_in(CONTINUES_BEFORE_NUMBER) {
        return next.is_some_and(|c| c.is_ascii_digit());
    }
    if is_in(MAY_END_SENTENCE) {
        return !next.is_some_and(char::is_uppercase);
    }
    // "U.S." and "J. Smith" do not end a sentence before a name, but "to the U.S. The order" does.
    let begins_sentence =
        || is_stop_word(next_word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default());
    is_initials(word) && !begins_sentence()
}

/// Single letters with full stops between them: "U.S", "J".
fn is_initials(word: &str) -> bool {
    let mut parts = word.split('.');
    parts.all(|part| part.chars().count() == 1 && part.chars().all(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text, 0..text.len()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn plain_sentences_are_split() {
        assert_eq!(split("One. Two! Three? Four… Five"), ["One.", "Two!", "Three?", "Four…", "Five"]);
        assert_eq!(split("Wait... Then go.  \n Now."), ["Wait...", "Then go.", "Now."]);
    }

    #[test]
    fn abbreviations_do_not_end_a_sentence() {
        for whole in [
            "Mr. Smith met Dr. Jones.",
            "Use a carrier, e.g. UPS, i.e. a big one.",
            "See No. 5 and Fig. 3 on p. 12.",
            "Pay $3.50 for version 3.5.1 today.",
            "The U.S. Government pays.",
            "Written by J. R. Smith in London.",
            "Apples vs. Oranges is a book.",
            "It opens at 9 a.m. every day.",
            "Visit example.com or mail a.b@example.com today.",
            "Yahoo! is one word here.",
        ] {
            assert_eq!(split(whole), [whole]);
        }
    }

    #[test]
    fn abbreviations_can_end_a_sentence() {
        assert_eq!(split("Is it free? No. You pay."), ["Is it free?", "No.", "You pay."]);
        assert_eq!(split("We sell pens, etc. Orders are free."), ["We sell pens, etc.", "Orders are free."]);
        assert_eq!(split("We ship to the U.S. The fee is 5."), ["We ship to the U.S.", "The fee is 5."]);
    }

    #[test]
    fn closing_marks_stay_with_their_sentence() {
        assert_eq!(
            split("He said \"yes.\" **Really.** (It is so.) Fine."),
            ["He said \"yes.\"", "**Really.**", "(It is so.)", "Fine."]
        );
    }

    #[test]
    fn code_spans_are_never_split() {
        assert_eq!(
            split("Run `a. B! C` now. Then ``x ` y. Z`` too."),
            ["Run `a. B! C` now.", "Then ``x ` y. Z`` too."]
        );
        assert_eq!(split("A lone ` tick. Next."), ["A lone ` tick.", "Next."]);
    }

    #[test]
    fn full_width_marks_need_no_space() {
        assert_eq!(split("退款需要五天。请联系我们！谢谢"), ["退款需要五天。", "请联系我们！", "谢谢"]);
    }
}
