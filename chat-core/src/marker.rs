//! `[n]` markers, and source text that looks like them.

/// Escapes source text that looks like one of our markers, as Markdown does: a quoted `[3]` must not refer to our third
/// document.
pub(crate) fn escape_markers(text: &str) -> String {
    replace_markers(text, r"\[", r"\]")
}

/// The text with other brackets around bracketed numbers.
pub(crate) fn replace_markers(text: &str, open: &str, close: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, end)) = find_marker(rest) {
        let parts = (rest.get(..start), rest.get(start + 1..end - 1), rest.get(end..));
        let (Some(before), Some(number), Some(after)) = parts else { break };
        replaced.extend([before, open, number, close]);
        rest = after;
    }
    replaced + rest
}

/// The first `[digits]` in a text, as a byte range.
pub(crate) fn find_marker(text: &str) -> Option<(usize, usize)> {
    text.match_indices('[').find_map(|(start, _)| {
        let inside = text.get(start + 1..)?;
        let digits = inside.len() - inside.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        (digits > 0 && inside.get(digits..)?.starts_with(']')).then_some((start, start + digits + 2))
    })
}

/// Whether a text contains what [`escape_markers`] writes. Clients would unescape it and show another text than the source.
pub(crate) fn has_escaped_marker(text: &str) -> bool {
    text.match_indices(r"\[").any(|(start, bracket)| {
        let inside = text.get(start + bracket.len()..).unwrap_or_default();
        let digits = inside.len() - inside.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        digits > 0 && inside.get(digits..).is_some_and(|rest| rest.starts_with(r"\]"))
    })
}
