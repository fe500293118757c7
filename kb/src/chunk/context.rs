//! The headings above a chunk, short enough for the model.

use super::{CountTokens, SECTION_SEPARATOR};

/// Maximum tokens of the headings, `[CLS]` and `[SEP]` included.
const MAX_CONTEXT_TOKENS: usize = 64;

/// The headings that are embedded with a chunk and its sentences: its section, shortened if it is too long for the model. With
/// them, a chunk made by this module has at most [`super::MAX_TOKENS`] tokens; one that an administrator edited may have more.
pub fn headings(section: Option<&str>, count_tokens: &CountTokens<'_>) -> Option<String> {
    section.and_then(|section| shorten(section, count_tokens))
}

/// Shortens a section path: removes its outermost headings first, then truncates the last one.
pub(crate) fn shorten(path: &str, count_tokens: &CountTokens<'_>) -> Option<String> {
    let mut context = path;
    while count_tokens(context) > MAX_CONTEXT_TOKENS
        && let Some((_, inner)) = context.split_once(SECTION_SEPARATOR)
    {
        context = inner;
    }
    if count_tokens(context) <= MAX_CONTEXT_TOKENS {
        return Some(context.to_owned()).filter(|context| !context.is_empty());
    }
    // Binary search for the longest prefix that is short enough.
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
