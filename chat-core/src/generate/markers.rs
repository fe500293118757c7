//! Finds the citation markers that language models write: `[1]`, `[1, 2]`, `[[1]]`, `【1】`, `[doc1]`, `(Source 1)`, and
//! `^[Document Name]`.

/// Characters of an unfinished marker that are held back. A longer text in brackets is no marker.
const MAX_MARKER_CHARS: usize = 512;
/// Numbers in one marker; further ones are ignored.
const MAX_NUMBERS: usize = 16;

/// What stands before the number of a marker, in lower case.
const PREFIXES: &[&str] =
    &["doc", "document", "passage", "ref", "reference", "source", "sources", "src", "quelle", "fuente"];

/// What a marker refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The number of a source, as the model wrote it.
    Number(u32),
    /// The name of a document.
    Name(String),
}

/// A text cut into words and markers.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Marked {
    /// The text without its markers.
    pub(crate) text: String,
    /// The references, each with the byte offset in `text` at which its marker stood.
    pub(crate) references: Vec<(usize, Reference)>,
    /// The bytes of the source at its end that may be the beginning of a marker and are in neither of the two.
    pub(crate) held: usize,
}

/// Separates markers from text. With `is_complete`, nothing is held: an unfinished marker is text.
pub(crate) fn separate(source: &str, is_complete: bool) -> Marked {
    let mut marked = Marked::default();
    let mut rest = source;
    while let Some(start) = rest.find(['[', '【', '(', '^']) {
        let (before, tail) = rest.split_at_checked(start).unwrap_or((rest, ""));
        marked.text.push_str(before);
        match marker(tail) {
            Found::Marker { length, references } => {
                let at = marked.text.len();
                marked.references.extend(references.into_iter().map(|reference| (at, reference)));
                rest = tail.get(length..).unwrap_or_default();
            }
            Found::Unfinished if !is_complete => {
                marked.held = tail.len();
                return marked;
            }
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
        references: Vec<Reference>,
    },
    /// What follows decides whether it is a marker.
    Unfinished,
    Text,
}

/// Reads the marker at the beginning of a text that starts with `[`, `【`, `(` or `^`.
fn marker(text: &str) -> Found {
    if let Some(inside) = text.strip_prefix("^[") {
        return named(inside);
    }
    match text.chars().next() {
        Some('^') if text.len() == 1 => Found::Unfinished,
        Some('^') | None => Found::Text,
        Some(opening) => numbered(text, opening),
    }
}

/// `inside` is what follows `^[`.
fn named(inside: &str) -> Found {
    match closing(inside, |c| c == ']', |c| c != '\n') {
        Closing::At(end) => {
            let name = inside.get(..end).unwrap_or_default().trim();
            let name = name.trim_matches(['"', '\'', '“', '”']);
            if name.is_empty() {
                return Found::Text;
            }
            Found::Marker {
                length: "^[".len() + end + "]".len(),
                references: vec![Reference::Name(name.to_owned())],
            }
        }
        Closing::Unknown => Found::Unfinished,
        Closing::Never => Found::Text,
    }
}

fn numbered(text: &str, opening: char) -> Found {
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
    let may_be_inside =
        |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | ';' | '-' | '–' | '#' | '†' | ':' | '.');
    match closing(inside, |c| c == close, may_be_inside) {
        Closing::At(end) => {
            let words = inside.get(..end).unwrap_or_default();
            let Some(numbers) = numbers(words, opening) else { return Found::Text };
            let mut length = start + end;
            for _ in 0..doubled {
                if text.get(length..).is_some_and(|rest| rest.starts_with(close)) {
                    length += close.len_utf8();
                }
            }
            Found::Marker { length, references: numbers.into_iter().map(Reference::Number).collect() }
        }
        Closing::Unknown if inside.is_empty() || may_become_numbers(inside, opening) => Found::Unfinished,
        Closing::Unknown | Closing::Never => Found::Text,
    }
}

enum Closing {
    /// The byte offset of the closing bracket.
    At(usize),
    /// The text ends before the bracket.
    Unknown,
    /// Another character or the limit comes first.
    Never,
}

fn closing(inside: &str, is_closing: impl Fn(char) -> bool, may_be_inside: impl Fn(char) -> bool) -> Closing {
    for (count, (at, c)) in inside.char_indices().enumerate() {
        if is_closing(c) {
            return Closing::At(at);
        }
        if count >= MAX_MARKER_CHARS || !may_be_inside(c) {
            return Closing::Never;
        }
    }
    Closing::Unknown
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

/// Whether the reference names a document of this title: equal, ignoring case and the file extension, or at most two edits
/// away.
pub(crate) fn is_name_of(reference: &str, title: &str) -> bool {
    const MAX_EDITS: usize = 2;
    /// A shorter name has too many neighbours.
    const MIN_CHARS_FOR_EDITS: usize = 6;
    let (a, b) = (bare_name(reference), bare_name(title));
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let is_long = || a.chars().count().min(b.chars().count()) >= MIN_CHARS_FOR_EDITS;
    // "Prices 2024" is not a misspelt "Prices 2025".
    a == b || (is_long() && digits(&a) == digits(&b) && distance(&a, &b, MAX_EDITS) <= MAX_EDITS)
}

/// In lower case, with single spaces, without a file extension.
fn bare_name(name: &str) -> String {
    let name = name.trim();
    let stem = match name.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            stem
        }
        _ => name,
    };
    stem.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The Levenshtein distance of two texts, or something above `limit` if it is larger than that.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (row, x) in a.iter().enumerate() {
        let mut current = Vec::with_capacity(previous.len());
        let mut left = row + 1;
        current.push(left);
        for (y, pair) in b.iter().zip(previous.windows(2)) {
            let (diagonal, above) = match pair {
                [diagonal, above] => (*diagonal, *above),
                _ => continue,
            };
            left = (diagonal + usize::from(x != y)).min(above + 1).min(left + 1);
            current.push(left);
        }
        previous = current;
    }
    previous.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers_in(text: &str) -> (String, Vec<u32>) {
        let marked = separate(text, true);
        let numbers = marked.references.iter().filter_map(|(_, reference)| match reference {
            Reference::Number(number) => Some(*number),
            Reference::Name(_) => None,
        });
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
            "^",
            "2^8",
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
    fn the_beginning_of_a_marker_is_held_until_it_is_known() {
        for text in ["a [", "a [1", "a [1,", "a [do", "a (Sour", "a ^", "a ^[Hand", "a 【1†so", "a [["] {
            assert_eq!(separate(text, false).text, "a ", "{text}");
            assert_eq!(separate(text, true).text, text, "complete: {text}");
        }
        for text in ["a [x", "a (what", "a [2024 report and"] {
            assert!(separate(text, false).held == 0 || text.contains("2024"), "{text}");
        }
    }

    #[test]
    fn an_endless_bracket_is_released() {
        for text in ["[".repeat(5000), format!("[{}", "1,".repeat(5000)), format!("^[{}", "a".repeat(5000))] {
            let marked = separate(&text, false);
            assert!(marked.held <= 4 * (MAX_MARKER_CHARS + 2), "{}", marked.held);
        }
    }

    #[test]
    fn document_names_are_matched_with_small_errors_only() {
        for (reference, title) in [
            ("Handbook", "handbook.pdf"),
            ("handbook.PDF", "Handbook"),
            ("Employe Handbook", "Employee Handbook.docx"),
            ("Employee  handbok", "Employee Handbook"),
        ] {
            assert!(is_name_of(reference, title), "{reference} {title}");
        }
        for (reference, title) in [
            ("FAQ", "FAX"),
            ("Prices 2024", "Prices 2025"),
            ("Handbook 2023", "Handbook for staff"),
            ("", "a"),
            ("Policy A", "Policies of B"),
        ] {
            assert!(!is_name_of(reference, title), "{reference} {title}");
        }
    }
}
