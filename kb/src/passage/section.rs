//! The headings above a passage, short enough to store and for the model.

use chat_core::limits::{MAX_NAME_CHARS, MAX_SECTION_BYTES, grapheme_boundary, one_line};

use super::CountTokens;

/// Separates the headings of a section path.
pub const SECTION_SEPARATOR: &str = " › ";

/// Maximum tokens of the headings, `[CLS]` and `[SEP]` included.
const MAX_CONTEXT_TOKENS: usize = 64;

/// The headings that are embedded with a passage and its statements: its section, shortened if it is too long for the model. With
/// them, a passage of a document has at most [`super::MAX_TOKENS`] tokens; one that an administrator edited may have more.
pub fn headings(section: Option<&str>, count_tokens: &CountTokens<'_>) -> Option<String> {
    section.and_then(|section| shorten(section, count_tokens))
}

/// Shortens a section path: removes its outermost headings first, then truncates the last one.
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
    // Binary search for the longest prefix that is short enough.
    let ends: Vec<_> = context.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let start = |end: usize| context.get(..end).unwrap_or_default();
    let kept = ends.partition_point(|end| count_tokens(start(*end)) <= MAX_CONTEXT_TOKENS);
    let end = kept.checked_sub(1).and_then(|last| ends.get(last))?;
    Some(start(*end).to_owned())
}

pub(super) fn with_context(context: Option<&str>, content: &str) -> String {
    match context {
        Some(context) => format!("{context}\n{content}"),
        None => content.to_owned(),
    }
}

/// The innermost heading of a section, which gets its own vector.
pub(super) fn innermost_heading(section: &str) -> &str {
    section.rsplit(SECTION_SEPARATOR).next().unwrap_or(section)
}

/// Joins the innermost headings that fit into [`MAX_SECTION_BYTES`], at least one, each truncated if it is too long.
pub(super) fn section_path(headings: &[String]) -> Option<String> {
    let mut path = String::new();
    let short = headings.iter().rev().map(|heading| one_line(heading, MAX_NAME_CHARS));
    for heading in short.filter(|heading| !heading.is_empty()) {
        if path.is_empty() {
            path = truncated(heading, MAX_SECTION_BYTES);
        } else if heading.len() + SECTION_SEPARATOR.len() + path.len() <= MAX_SECTION_BYTES {
            path = [heading.as_str(), path.as_str()].join(SECTION_SEPARATOR);
        } else {
            break;
        }
    }
    (!path.is_empty()).then_some(path)
}

/// Truncates the text to a number of bytes, the ellipsis included.
fn truncated(mut text: String, max_bytes: usize) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() > max_bytes {
        text.truncate(grapheme_boundary(&text, max_bytes - ELLIPSIS.len()));
        text.push_str(ELLIPSIS);
    }
    text
}
