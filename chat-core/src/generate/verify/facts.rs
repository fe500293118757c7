//! Facts that must be in the source to the letter: quotes, links and identifiers. Numbers and names
//! are words of the sentence; see `support.rs`.

/// Quotation marks, each with those that close it.
const QUOTES: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”', '“']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('»', &['«']),
    ('「', &['」']),
    ('『', &['』']),
];

/// The passages between quotation marks. A mark that is not closed quotes nothing.
pub(super) fn quotes(text: &str) -> Vec<&str> {
    let mut quotes = Vec::new();
    let mut rest = text;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| QUOTES.iter().any(|(open, _)| open == c)) {
        let inside = rest.get(at + open.len_utf8()..).unwrap_or_default();
        let closing = QUOTES.iter().find(|(mark, _)| *mark == open).map_or(&[][..], |(_, closing)| closing);
        let Some(end) = inside.find(closing) else { break };
        let (quote, after) = inside.split_at_checked(end).unwrap_or((inside, ""));
        if quote.contains(char::is_alphanumeric) {
            quotes.push(quote);
        }
        rest = after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
    }
    quotes
}

/// The parts of a quote between the places where words were left out.
pub(super) fn parts(quote: &str) -> impl Iterator<Item = String> {
    let parts = quote
        .split("[...]")
        .flat_map(|part| part.split("[…]"))
        .flat_map(|part| part.split("..."))
        .flat_map(|part| part.split('…'));
    parts.map(quotable).filter(|part| part.contains(char::is_alphanumeric))
}

/// A form in which a quote and its source are the same to the letter: one kind of white space and quotation marks, and no
/// punctuation at the ends, which belongs to the sentence around it.
pub(super) fn quotable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.extend(word.chars().map(|c| match c {
            '“' | '”' | '„' | '«' | '»' | '″' => '"',
            '‘' | '’' | '‚' | '′' => '\'',
            '‑' | '–' | '—' => '-',
            c => c,
        }));
    }
    let plain = plain.replace(" :", ":").replace(" ;", ";").replace(" ,", ",").replace(" .", ".");
    plain.trim_matches([',', '.', ';', ':', '!', '?', ' ', '"', '\'']).to_owned()
}

/// Whether the words of `quote` are in `text`, both as [`quotable`] returns them, from the beginning of a word to the end of one.
pub(super) fn contains_quote(text: &str, quote: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(quote).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + quote.len()..).and_then(|after| after.chars().next());
        let begins_inside = is_letter(before) && is_letter(quote.chars().next());
        let ends_inside = is_letter(after) && is_letter(quote.chars().next_back());
        !begins_inside && !ends_inside
    })
}

/// Links, e-mail addresses and identifiers.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '"' | '“' | '”' | '`' | ',' | ';')
    })
    .map(|word| {
        word.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '\'' | '’' | '[' | ']' | '*'))
    })
    .filter(|word| is_identifier(word))
}

fn is_identifier(word: &str) -> bool {
    let has_letter = word.contains(char::is_alphabetic);
    let is_link = word.contains("://") || word.starts_with("www.") || is_domain(word);
    let is_code = (word.contains('_') && word.len() > 1)
        || word.contains("::")
        || word.starts_with("--")
        || (word.starts_with('/') && word.len() > 2)
        || word.contains(['{', '}', '\\', '='])
        || is_camel_case(word);
    // A code of at least six letters and digits: an order, a bank account, a licence key.
    let is_serial = word.contains(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        && word.chars().filter(char::is_ascii_alphanumeric).count() >= 6
        && !word.starts_with(|c: char| c.is_ascii_digit());
    has_letter && (word.contains('@') || is_link || is_code || is_serial)
}

/// "example.com", but not "etc." or "3.5".
fn is_domain(word: &str) -> bool {
    let host = word.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((name, last)) = host.rsplit_once('.') else { return false };
    let is_label = |label: &str| label.chars().all(|c| c.is_alphanumeric() || c == '-') && !label.is_empty();
    (2..=8).contains(&last.len())
        && last.bytes().all(|byte| byte.is_ascii_lowercase())
        && name.split('.').all(is_label)
        && name.len() > 1
}

/// "camelCase", but not "iPhone", "McDonald" or "PhD".
fn is_camel_case(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && word.chars().skip(2).any(|c| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.len() > 7
}
