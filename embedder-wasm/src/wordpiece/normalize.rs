//! Text → the letters and punctuation that BERT reads: without accents, capitals and control
//! characters.
//!
//! Each character is normalized independently of its neighbours. Unicode would also reorder
//! adjacent combining characters, but those that survive normalization are in no token of the
//! vocabulary: a word that contains one is \[UNK\] in any order.
//!
//! The general categories are those of Unicode 9, at which the reference tokenizer is frozen and
//! with which the model was trained: newer categories would strip or split characters that the
//! model has always read whole. So the crate is the one of the reference, which never changes.
//! Decompositions of existing characters never change, and none added since Unicode 9 leads to a
//! token, so they come from the maintained crate.

use unicode_categories::UnicodeCategories as _;
use unicode_normalization::char::decompose_canonical;

/// A normalized character of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// Part of a word.
    Letter(char),
    /// A word by itself.
    Punctuation(char),
    /// The end of a word, if one has begun.
    Space,
}

/// Calls `emit` with the symbols of the text, in order.
pub(super) fn normalize(text: &str, mut emit: impl FnMut(Symbol)) {
    for c in text.chars() {
        if c.is_ascii() {
            normalize_ascii(c, &mut emit);
        } else {
            normalize_unicode(c, &mut emit);
        }
    }
}

/// A fast path with the result of [`normalize_unicode`].
fn normalize_ascii(c: char, emit: &mut impl FnMut(Symbol)) {
    match c {
        'a'..='z' | '0'..='9' => emit(Symbol::Letter(c)),
        'A'..='Z' => emit(Symbol::Letter(c.to_ascii_lowercase())),
        ' ' | '\t' | '\n' | '\r' => emit(Symbol::Space),
        '!'..='~' => emit(Symbol::Punctuation(c)),
        _ => {} // control characters
    }
}

fn normalize_unicode(c: char, emit: &mut impl FnMut(Symbol)) {
    if matches!(c, '\t' | '\n' | '\r') {
        return emit(Symbol::Space);
    }
    if c == char::REPLACEMENT_CHARACTER || c.is_other() {
        return;
    }
    if c.is_whitespace() {
        return emit(Symbol::Space);
    }
    let ideograph = is_cjk_ideograph(c);
    if ideograph {
        emit(Symbol::Space);
    }
    decompose_canonical(c, |part| {
        if !part.is_mark_nonspacing() {
            part.to_lowercase().for_each(|lower| emit(letter_or_punctuation(lower)));
        }
    });
    if ideograph {
        emit(Symbol::Space);
    }
}

fn letter_or_punctuation(c: char) -> Symbol {
    if c.is_ascii_punctuation() || c.is_punctuation() { Symbol::Punctuation(c) } else { Symbol::Letter(c) }
}

/// Ideographs, each a word by itself: the blocks of BERT's original `tokenization.py`, but with
/// extension E from U+2B920 instead of U+2B820, like the reference tokenizer.
fn is_cjk_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ascii_path_returns_the_same_as_the_unicode_path() {
        for c in '\0'..='\x7f' {
            let (mut fast, mut full) = (Vec::new(), Vec::new());
            normalize_ascii(c, &mut |symbol| fast.push(symbol));
            normalize_unicode(c, &mut |symbol| full.push(symbol));
            assert_eq!(fast, full, "{c:?}");
        }
    }

    #[test]
    fn accents_and_capitals_are_removed() {
        assert_eq!(shown("Crème BRÛLÉE"), "creme brulee");
        assert_eq!(shown("Ελλάς ΣΟΦΌΣ"), "ελλας σοφοσ"); // Σ is σ in every position
        assert_eq!(shown("İstanbul ǅ"), "istanbul ǆ");
        assert_eq!(shown("e\u{301}\u{323}"), "e");
        assert_eq!(shown("ガギ"), "カキ");
    }

    #[test]
    fn hangul_syllables_become_their_letters() {
        assert_eq!(shown("한"), "\u{1112}\u{1161}\u{11ab}");
    }

    #[test]
    fn control_and_format_characters_are_removed_but_line_breaks_become_spaces() {
        assert_eq!(shown("a\0b\u{ad}c\u{200d}d\u{feff}e\u{fffd}f\u{e000}g\u{85}h\u{b}i"), "abcdefghi");
        assert_eq!(shown("a\tb\nc\rd\u{a0}e\u{3000}f\u{2028}g"), "a b c d e f g");
    }

    #[test]
    fn ideographs_and_punctuation_are_separate_words() {
        assert_eq!(shown("日本go"), " 日  本 go");
        assert_eq!(shown("don't…"), "don(')t(…)");
        assert_eq!(shown("\u{37e}≠"), "(;)(=)"); // decompose to ASCII punctuation
        assert_eq!(shown("\u{2b820}\u{2b920}"), "\u{2b820} \u{2b920} ");
    }

    #[test]
    fn characters_newer_than_unicode_9_are_letters() {
        assert_eq!(shown("\u{8d3}\u{2e4f}"), "\u{8d3}\u{2e4f}"); // Mn since 11, Po since 12
    }

    /// Spaces unchanged, punctuation in parentheses.
    fn shown(text: &str) -> String {
        let mut shown = String::new();
        normalize(text, |symbol| match symbol {
            Symbol::Letter(c) => shown.push(c),
            Symbol::Punctuation(c) => shown.extend(['(', c, ')']),
            Symbol::Space => shown.push(' '),
        });
        shown
    }
}
