//! Texts of a given number of tokens.

/// Each word is one token of the vocabulary.
const WORDS: [&str; 12] = [
    "our",
    "support",
    "team",
    "answers",
    "questions",
    "about",
    "shipping",
    "and",
    "returns",
    "every",
    "working",
    "day",
];

/// A text of exactly this many tokens, \[CLS\] and \[SEP\] included.
pub(super) fn with_tokens(tokens: usize) -> String {
    let words: Vec<_> = WORDS.into_iter().cycle().take(tokens - 2).collect();
    words.join(" ")
}
