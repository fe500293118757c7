//! Writes raised and lowered glyphs so that they do not change the numbers and words next to them.

use std::collections::BTreeMap;

use crate::shifted::{Line, Shift};

/// Maximum size of raised and lowered glyphs relative to the line.
const MAX_SIZE: f64 = 0.9;
/// Minimum distance of raised glyphs from the baseline in em, and of lowered ones. The smallest of common programs are 0.3
/// and 0.1.
const MIN_RAISE: f64 = 0.15;
const MIN_DROP: f64 = 0.05;
/// Share of the characters of a line that give it their size, as one in so many. Initials and marks are fewer.
const MAIN_STYLE_SHARE: usize = 5;
/// Steps in points by which sizes and baselines count as different.
const STEP: f64 = 0.25;

/// Glyphs one after another with one size and baseline.
pub(super) struct Run {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) baseline: f64,
}

/// Size and baseline of a line: the largest that a fifth of its characters have, else those of most characters.
pub(super) fn main_style(runs: &[Run]) -> Option<(f64, f64)> {
    let mut styles: BTreeMap<(i64, i64), (usize, &Run)> = BTreeMap::new();
    for run in runs {
        let step = |length: f64| (length / STEP).round() as i64;
        let (characters, _) = styles.entry((step(run.size), step(run.baseline))).or_insert((0, run));
        *characters += run.text.chars().filter(|c| !c.is_whitespace()).count();
    }
    let total: usize = styles.values().map(|(characters, _)| characters).sum();
    let frequent = styles.values().rev().filter(|(characters, _)| characters * MAIN_STYLE_SHARE >= total);
    let largest = frequent.max_by(|(_, one), (_, other)| one.size.total_cmp(&other.size));
    let (_, run) = largest.or_else(|| styles.values().max_by_key(|(characters, _)| *characters))?;
    Some((run.size, run.baseline))
}

/// The text of a line with this size and baseline.
pub(super) fn text(runs: &[Run], size: f64, baseline: f64) -> String {
    let shift = |run: &Run| {
        let raise = (baseline - run.baseline) / size;
        match run.size < MAX_SIZE * size {
            true if raise > MIN_RAISE => Some(Shift::Raised),
            true if raise < -MIN_DROP => Some(Shift::Lowered),
            _ => None,
        }
    };
    let mut line = Line::default();
    let mut parts = runs.chunk_by(|one, other| shift(one) == shift(other)).peekable();
    while let Some(part) = parts.next() {
        let shown: String = part.iter().map(|run| run.text.as_str()).collect();
        let next = parts.peek().and_then(|part| part.first()?.text.chars().next());
        let before = line.as_str().chars().next_back().filter(|c| !c.is_whitespace());
        let after = next.filter(|c| !(c.is_whitespace() || shown.ends_with(' ')));
        line.set(part.first().and_then(shift).filter(|shift| match shift {
            // Between spaces, it is a text of its own in small type; at the start of a line, the number of a note.
            Shift::Raised => before.or(after).is_some() || line.as_str().is_empty(),
            // The figures of H2O stay, because readers type them.
            _ => before.into_iter().chain(after).any(|c| c.is_ascii_digit()),
        }));
        line.push(&shown);
    }
    line.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of 10 points on the baseline; text in braces is raised, in brackets lowered.
    fn shown(marked: &str) -> String {
        let mut runs = Vec::new();
        let mut rest = marked;
        while let Some(first) = rest.chars().next() {
            let (end, size, baseline) = match first {
                '{' => ('}', 6.5, 96.7),
                '[' => (']', 6.5, 101.0),
                _ => (' ', 10.0, 100.0),
            };
            let (text, after) = if end == ' ' {
                rest.split_at(rest.find(['{', '[']).unwrap_or(rest.len()))
            } else {
                rest[1..].split_once(end).unwrap()
            };
            runs.push(Run { text: text.to_owned(), size, baseline });
            rest = after;
        }
        let (size, baseline) = main_style(&runs).unwrap();
        text(&runs, size, baseline)
    }

    #[test]
    fn raised_figures_do_not_change_a_number() {
        for (marked, expected) in [
            ("At most 10{6} rows", "At most 10⁶ rows"),
            ("a limit of 5{1} GB", "a limit of 5¹ GB"),
            ("a limit of 5{1,2} GB", "a limit of 5¹,² GB"),
            ("a limit of 5{12 }GB", "a limit of 5¹² GB"),
            ("10{-3} m and 2{n} rows", "10⁻³ m and 2ⁿ rows"),
            ("for 2{1}/[2] hours", "for 2¹/2 hours"),
            ("{1}See the terms", "¹See the terms"),
            ("{1 }See the terms", "¹ See the terms"),
            ("5{1}", "5¹"),
            ("5{123}", "5¹²³"),
        ] {
            assert_eq!(shown(marked), expected, "{marked}");
        }
    }

    #[test]
    fn raised_letters_join_a_number_and_not_a_word() {
        for (marked, expected) in [
            ("the 1{st} and 21{ème} of May", "the 1st and 21ème of May"),
            ("our Refunds{TM} are free", "our Refunds™ are free"),
            ("our refunds{a}are free", "our refunds a are free"),
            ("our refunds{*} are free", "our refunds* are free"),
            ("our refunds {a} are free", "our refunds a are free"),
        ] {
            assert_eq!(shown(marked), expected, "{marked}");
        }
    }

    #[test]
    fn lowered_figures_do_not_change_a_number() {
        assert_eq!(shown("101[2] is five, H[2]O is water"), "101₂ is five, H2O is water");
    }

    #[test]
    fn an_initial_does_not_raise_its_line() {
        let initial = Run { text: "T".to_owned(), size: 22.0, baseline: 112.0 };
        let rest = Run { text: "he customer pays 30 euros".to_owned(), size: 10.0, baseline: 100.0 };
        let runs = [initial, rest];
        let (size, baseline) = main_style(&runs).unwrap();
        assert_eq!((size, text(&runs, size, baseline).as_str()), (10.0, "The customer pays 30 euros"));
    }
}
