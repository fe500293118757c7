//! White space, characters that a reader does not see, and marks.

/// Collapses line breaks and repeated spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes invisible characters: control characters (except tab and line feed), soft hyphens, zero-width spaces.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

/// Returns whether a line ends with the end of a sentence, ignoring closing marks and the marks of
/// notes.
pub(crate) fn ends_sentence(line: &str) -> bool {
    let is_closing = |c: char| "\"”“»«)]’‘'」』*_†‡⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c) || c.is_whitespace();
    line.trim_end_matches(is_closing)
        .ends_with(['.', '!', '?', '…', ':', '。', '：', '！', '？', '؟', '۔', '।'])
}

pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
        || (c.is_control() && !matches!(c, '\t' | '\n'))
}
