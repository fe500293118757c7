//! The headings above a chunk, short enough for the model.

use super::{CountTokens, SECTION_SEPARATOR};

/// Most tokens, [CLS] and [SEP] included, that the headings may take of what the model reads.
const MAX_CONTEXT_TOKENS: usize = 64;

/// The headings that a chunk and its sentences are embedded below: its section, shortened if it would take too much of what
/// the model reads. With them, a chunk that was cut here has at most [`super::MAX_TOKENS`] tokens; a text that an administrator
/// has edited may have more.
pub fn headings(section: Option<&str>, count_tokens: &CountTokens<'_>) -> Option<String> {
    section.and_then(|section| shorten(section, count_tokens))
}

/// The section path, without its outermost headings and then without the end of the last one if it is too long.
pub(super) fn shorten(path: &str, count_tokens: &CountTokens<'_>) -> Option<String> {
    let mut context = path;
    while count_tokens(context) > MAX_CONTEXT_TOKENS
        && let Some((_, inner)) = context.split_once(SECTION_SEPARATOR)
    {
        context = inner;
    }
    if count_tokens(context) <= MAX_CONTEXT_TOKENS {
        return Some(context.to_owned()).filter(|context| !context.is_empty());
    }
    // Its longest start that is short enough, found by halving.
    let ends: Vec<_> = context.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let start = |end: usize| context.get(..end).unwrap_or_default();
    let kept = ends.partition_point(|end| count_tokens(start(*end)) <= MAX_CONTEXT_TOKENS);
    let end = kept.checked_sub(1).and_then(|last| ends.get(last))?;
    Some(start(*end).to_owned())
}

pub(crate) fn with_context(context: Option<&str>, content: &str) -> String {
    match context {
        Some(context) => format!("{context}\n{content}"),
        None => content.to_owned(),
    }
}
