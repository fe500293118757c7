//! The headings above a chunk: in full for people, short enough for the model.

use super::{CountTokens, SECTION_SEPARATOR};

/// Most tokens, [CLS] and [SEP] included, that the headings may take of what the model reads.
const MAX_CONTEXT_TOKENS: usize = 64;

pub(super) fn section_path(headings: &[String]) -> Option<String> {
    (!headings.is_empty()).then(|| headings.join(SECTION_SEPARATOR))
}

/// The section path, without its outermost headings and then without the end of the last one if it is too long.
pub(super) fn shorten(headings: &[String], count_tokens: &CountTokens<'_>) -> Option<String> {
    let mut headings = headings;
    while let [_, inner @ ..] = headings
        && !inner.is_empty()
        && count_tokens(&headings.join(SECTION_SEPARATOR)) > MAX_CONTEXT_TOKENS
    {
        headings = inner;
    }
    let mut context = section_path(headings)?;
    while !context.is_empty() && count_tokens(&context) > MAX_CONTEXT_TOKENS {
        context.pop();
    }
    (!context.is_empty()).then_some(context)
}

pub(super) fn embedded_text(context: Option<&str>, content: &str) -> String {
    match context {
        Some(context) => format!("{context}\n{content}"),
        None => content.to_owned(),
    }
}
