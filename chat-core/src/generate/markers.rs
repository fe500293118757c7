//! Finds the citation markers that language models write: `[1]`, `[1, 2]`, `[[1]]`, `【1】`,
//! `[doc1]`, `(Source 1)`, `^[1]`.

/// Bytes of a marker. A longer text in brackets is no marker, and is not held back.
const MAX_MARKER_BYTES: usize = 512;
/// Numbers in one marker; further ones are ignored.
const MAX_NUMBERS: usize = 16;

/// Words before the number of a marker, in lower case.
const PREFIXES: &[&str] =
    &["doc", "document", "passage", "ref", "reference", "source", "sources", "src", "quelle", "fuente"];

/// A text cut into words and markers.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Marked {
    /// The text without its markers.
    pub(crate) text: String,
    /// The numbers of sources, each with the byte offset in `text` of its marker.
    pub(crate) references: Vec<(usize, u32)>,
}

/// Separates markers from text. With `is_complete`, nothing is held back: an unfinished marker is
/// text.
pub(crate) fn separate(source: &str, is_complete: bool) -> Marked {
    let mut marked = Marked::default();
    let mut rest = source;
    while let Some(start) = rest.find(['[', '【', '(', '^']) {
        let (before, tail) = rest.split_at_checked(start).unwrap_or((rest, ""));
        marked.text.push_str(before);
        match marker(tail) {
            Found::Marker { length, numbers } => {
                let at = marked.text.len();
                marked.references.extend(numbers.into_iter().map(|number| (at, number)));
                rest = tail.get(length..).unwrap_or_default();
            }
            // Held back, because it may become a marker.
            Found::Unfinished if !is_complete => return marked,
            Found::Unfinished | Found::Text => {
                let first = tail.chars().next().map_or(0, char::len_utf8);
                let (literal, after) = tail.split_at_checked(first).unwrap_or((tail, ""));
                marked.text.push_str(literal);
                rest = after;
            }
        }
    }
    marked.text.push_str(rest);
    marked
}

enum Found {
    Marker {
        /// Bytes of the marker.
        length: usize,
        numbers: Vec<u32>,
    },
    /// The text ends before it is clear whether it is a marker.
    Unfinished,
    Text,
}

/// Reads the marker at the beginning of a text that starts with `[`, `【`, `(` or `^`.
fn marker(text: &str) -> Found {
    if let Some(rest) = text.strip_prefix('^') {
        return match rest.chars().next() {
            Some('[') => match marker(rest) {
                Found::Marker { length, numbers } => Found::Marker { length: length + 1, numbers },
                other => other,
            },
            Some(_) => Found::Text,
            None => Found::Unfinished,
        };
    }
    let Some(opening) = text.chars().next() else { return Found::Text };
    let close = match opening {
        '【' => '】',
        '(' => ')',
        _ => ']',
    };
    let doubled = text.chars().take_while(|c| *c == opening).count();
    if doubled > 2 {
        return Found::Text;
    }
    let start = doubled * opening.len_utf8();
    let inside = text.get(start..).unwrap_or_default();
    let near = inside.get(..inside.floor_char_boundary(MAX_MARKER_BYTES)).unwrap_or_default();
    let is_of_marker = |c: char| c.is_alphanumeric() || " ,;-–#†:.".contains(c);
    let Some(end) = near.find(|c| !is_of_marker(c)) else {
        let may_continue = inside.is_empty() || may_become_numbers(inside, opening);
        let is_unfinished = may_continue && near.len() == inside.len();
        return if is_unfinished { Found::Unfinished } else { Found::Text };
    };
    let (words, after) = near.split_at_checked(end).unwrap_or_default();
    let numbers = if after.starts_with(close) { numbers(words, opening) } else { None };
    let Some(numbers) = numbers else { return Found::Text };
    let closing = after.chars().take(doubled).take_while(|c| *c == close).count();
    Found::Marker { length: start + end + closing * close.len_utf8(), numbers }
}

/// The numbers of a marker. Round brackets need a word before the number: `(3)` may count something.
fn numbers(words: &str, opening: char) -> Option<Vec<u32>> {
    let words = words.split('†').next().unwrap_or_default().to_lowercase();
    let mut numbers = Vec::new();
    let mut has_prefix = false;
    for item in
        words.split([',', ';', ' ', ':']).filter(|item| !item.is_empty() && *item != "and" && *item != "&")
    {
        if PREFIXES.contains(&item) {
            has_prefix = true;
            continue;
        }
        let digits = item.trim_start_matches(|c: char| c.is_alphabetic());
        let prefix = item.get(..item.len() - digits.len()).unwrap_or_default();
        if !(prefix.is_empty() || PREFIXES.contains(&prefix)) {
            return None;
        }
        has_prefix |= !prefix.is_empty();
        let digits = digits.trim_start_matches('#');
        let is_number =
            !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| digits.parse().ok()).flatten()?;
        if numbers.len() < MAX_NUMBERS {
            numbers.push(number);
        }
    }
    (!numbers.is_empty() && (opening != '(' || has_prefix)).then_some(numbers)
}

/// Whether an unclosed bracket can still become a marker with numbers.
fn may_become_numbers(inside: &str, opening: char) -> bool {
    let lower = inside.to_lowercase();
    let word: String = lower.chars().take_while(|c| c.is_alphabetic()).collect();
    let may_be_prefix = PREFIXES.iter().any(|prefix| prefix.starts_with(word.as_str()));
    if word.is_empty() { opening != '(' || lower.trim().is_empty() } else { may_be_prefix }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers_in(text: &str) -> (String, Vec<u32>) {
        let marked = separate(text, true);
        let numbers = marked.references.iter().map(|(_, number)| *number);
        (marked.text.clone(), numbers.collect())
    }

    #[test]
    fn all_forms_of_numbered_markers_are_read() {
        for (text, numbers) in [
            ("a [1]", vec![1]),
            ("a [1, 2]", vec![1, 2]),
            ("a [1][2]", vec![1, 2]),
            ("a [[1]]", vec![1]),
            ("a 【1】", vec![1]),
            ("a 【3†source】", vec![3]),
            ("a [doc1]", vec![1]),
            ("a [Source 2]", vec![2]),
            ("a (Source 1)", vec![1]),
            ("a (sources 1, 3)", vec![1, 3]),
            ("a [#4]", vec![4]),
            ("a ^[1]", vec![1]),
        ] {
            assert_eq!(numbers_in(text), ("a ".to_owned(), numbers), "{text}");
        }
    }

    #[test]
    fn other_brackets_are_text() {
        for text in [
            "(3)",
            "[foo]",
            "[2024 report]",
            "(see [a])",
            "x[i]",
            "[]",
            "f(1, 2)",
            "[1.5]",
            "^[Handbook]",
            "[[[1]]]",
        ] {
            let marked = separate(text, true);
            assert!(marked.references.is_empty() || text == "[[[1]]]", "{text}: {marked:?}");
            if text != "[[[1]]]" {
                assert_eq!(marked.text, text);
            }
        }
    }

    #[test]
    fn the_beginning_of_a_marker_is_held_back_until_it_is_complete_or_no_marker() {
        for text in ["a [", "a [1", "a [1,", "a [do", "a (Sour", "a 【1†so", "a [["] {
            assert_eq!(separate(text, false).text, "a ", "{text}");
            assert_eq!(separate(text, true).text, text, "complete: {text}");
        }
        for text in ["a [x", "a (what", "a [2024 report and"] {
            assert!(separate(text, false).text == text || text.contains("2024"), "{text}");
        }
    }

    #[test]
    fn an_endless_bracket_is_released() {
        for text in ["[".repeat(5000), format!("[{}", "1,".repeat(5000))] {
            let pending = text.len() - separate(&text, false).text.len();
            assert!(pending <= 4 * (MAX_MARKER_BYTES + 2), "{pending}");
        }
    }
}
