//! Names: those of several words, their first letters, and words for what comes from a place.

use std::collections::BTreeSet;
use std::ops::Range;

use super::tokens::{Kind, Lexicon, Token};

/// The first word is a name if it is one elsewhere.
pub(super) fn promote_first(tokens: &mut [Token], names: &BTreeSet<u32>) {
    if let Some(first) = tokens.first_mut()
        && first.kind == Kind::Word
        && first.is_capital
        && names.contains(&first.stem)
    {
        first.kind = Kind::Name { is_generic: false };
    }
}

/// Names of several words, each with its first letters in lower case.
pub(super) fn capitalised_runs(tokens: &[Token], lexicon: &Lexicon) -> Vec<(Range<usize>, String)> {
    let mut runs = Vec::new();
    let mut run: Option<(Range<usize>, String)> = None;
    for (at, token) in tokens.iter().enumerate() {
        let continues = !token.begins_clause && !token.follows_comma;
        let base = lexicon.base(token.word);
        if token.is_capital && token.is_content() && !token.is_number() {
            let first = base.chars().next();
            match &mut run {
                Some((range, initials)) if continues => {
                    range.end = at + 1;
                    initials.extend(first);
                }
                _ => {
                    runs.extend(run.take());
                    run = Some((at..at + 1, first.into_iter().collect()));
                }
            }
        } else if !(continues && matches!(base, "of" | "the" | "and" | "for")) {
            runs.extend(run.take());
        }
    }
    runs.extend(run);
    runs.retain(|(_, initials)| (2..=6).contains(&initials.chars().count()));
    runs
}

/// Endings of words for what comes from a place, and of places. Longer ones first.
const PLACE_ENDINGS: &[&str] =
    &["ians", "ian", "eans", "ean", "ish", "ese", "ans", "an", "ia", "is", "a", "i", "y", "e"];
/// Letters of a place without its ending.
const MIN_PLACE_ROOT: usize = 4;

/// What "Canada" and "Canadian" have in common.
pub(super) fn place_root(base: &str) -> Option<&str> {
    let root = PLACE_ENDINGS.iter().find_map(|ending| base.strip_suffix(ending)).unwrap_or(base);
    (root.chars().count() >= MIN_PLACE_ROOT).then_some(root)
}

pub(super) fn is_of_place(base: &str) -> bool {
    ["ian", "ians", "ean", "eans", "an", "ans", "ish", "ese", "i", "is"]
        .iter()
        .any(|ending| base.ends_with(ending))
}
