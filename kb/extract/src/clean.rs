//! Removes white space and characters that a reader does not see.

/// Collapses line breaks and repeated spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes invisible characters: control characters (except tab and line feed), soft hyphens, zero-width spaces.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
        || (c.is_control() && !matches!(c, '\t' | '\n'))
}
