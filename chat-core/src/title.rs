//! The title of a session, derived from its first message without a model.

use unicode_segmentation::UnicodeSegmentation;

/// The maximum length of a derived title, in characters, without the ellipsis.
pub const MAX_DERIVED_TITLE_CHARS: usize = 80;

/// The first [`MAX_DERIVED_TITLE_CHARS`] characters of the message, truncated at the last word boundary and marked with "…".
/// Runs of white space become one space; graphemes are never split.
pub fn session_title(message: &str) -> String {
    let text = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = longest_prefix(&text);
    if head.len() == text.len() {
        return text;
    }
    let at_boundary = text.get(head.len()..).is_some_and(|rest| rest.starts_with(' '));
    let cut = match head.rfind(' ') {
        _ if at_boundary => head,
        Some(space) => head.get(..space).unwrap_or(head),
        None => head,
    };
    format!("{}…", cut.trim_end())
}

/// The longest prefix of whole graphemes within the limit.
fn longest_prefix(text: &str) -> &str {
    let mut chars = 0;
    let mut end = 0;
    for grapheme in text.graphemes(true) {
        chars += grapheme.chars().count();
        if chars > MAX_DERIVED_TITLE_CHARS {
            break;
        }
        end += grapheme.len();
    }
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_message_is_its_own_title() {
        assert_eq!(session_title("How do refunds work?"), "How do refunds work?");
        assert_eq!(session_title(&"x".repeat(80)), "x".repeat(80));
    }

    #[test]
    fn white_space_becomes_single_spaces() {
        assert_eq!(session_title("  How\n\n do\trefunds \u{a0} work? "), "How do refunds work?");
    }

    #[test]
    fn a_long_message_is_cut_at_the_last_word_boundary() {
        let message = format!("{} tail", "word ".repeat(20).trim_end());
        assert_eq!(session_title(&message), format!("{}…", "word ".repeat(16).trim_end()));
        let message = format!("{} and mostly", "x".repeat(70));
        assert_eq!(session_title(&message), format!("{} and…", "x".repeat(70)));
    }

    #[test]
    fn a_word_that_ends_at_the_limit_is_kept() {
        let message = format!("{} {} more", "x".repeat(40), "y".repeat(39));
        assert_eq!(session_title(&message), format!("{} {}…", "x".repeat(40), "y".repeat(39)));
    }

    #[test]
    fn one_long_word_is_cut_at_the_limit() {
        assert_eq!(session_title(&"x".repeat(100)), format!("{}…", "x".repeat(80)));
    }

    #[test]
    fn graphemes_are_never_split() {
        let family = "👩‍👩‍👧‍👦";
        let title = session_title(&family.repeat(30));
        assert_eq!(title, format!("{}…", family.repeat(80 / family.chars().count())));
        let accents = "e\u{301}".repeat(60);
        assert_eq!(session_title(&accents), format!("{}…", "e\u{301}".repeat(40)));
    }
}
