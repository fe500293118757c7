//! Reads a text into tokens that can be compared: words by stem, numbers by value, names by their capital letter.

use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation;

use super::numbers::{Numeral, iso_month, month, number_word, scaled};
use super::units::{Unit, unit_before, unit_of};
use super::vocabulary::{is_acronym, is_function_word, is_generic};
use crate::words::{is_german, normalized_word};

/// Tokens of one sentence that are read. A sentence has a few dozen; what is longer is a listing.
const MAX_TOKENS: usize = 512;

/// The words of the sources and their stems in lower case and without accents, each under a number.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    ids: BTreeMap<String, u32>,
    words: Vec<String>,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A function word.
    Function,
    Word,
    /// A word with a capital letter where only names have one. `is_generic`: it is the generic part
    /// of a name, such as "University"; a writer may add it.
    Name {
        is_generic: bool,
    },
    /// Digits, or a word for a number. `is_exact`: it surely counts something ("one" and "second" may not).
    Number {
        is_exact: bool,
    },
}

/// A word of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// The word in the [`Lexicon`].
    pub(super) word: u32,
    /// Its stem in the [`Lexicon`]; equal stems match.
    pub(super) stem: u32,
    pub(super) kind: Kind,
    /// The unit of a number.
    pub(super) unit: Option<Unit>,
    /// Whether it begins with a capital letter.
    pub(super) is_capital: bool,
    /// Whether a full stop, a semicolon or a colon stands before it.
    pub(super) begins_clause: bool,
    /// Whether a comma stands before it.
    pub(super) follows_comma: bool,
}

impl Token {
    pub(super) fn is_content(&self) -> bool {
        self.kind != Kind::Function
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number { .. })
    }
}

impl Lexicon {
    fn id(&mut self, word: &str) -> u32 {
        if let Some(id) = self.ids.get(word) {
            return *id;
        }
        let id = self.words.len() as u32;
        self.ids.insert(word.to_owned(), id);
        self.words.push(word.to_owned());
        id
    }

    fn word(&mut self, base: &str, stem: &str) -> (u32, u32) {
        (self.id(base), self.id(stem))
    }

    /// The word in lower case without accents.
    pub(super) fn base(&self, word: u32) -> &str {
        self.words.get(word as usize).map_or("", String::as_str)
    }

    /// Reads a text.
    pub(super) fn read(&mut self, text: &str) -> Vec<Token> {
        let is_german = is_german(text);
        let mut tokens: Vec<Token> = Vec::new();
        let mut last_end = 0;
        // The first word and those after a full stop or an opening quotation mark have a capital letter anyway.
        let mut may_begin_sentence = true;
        let mut year: Option<String> = None;
        for (start, raw) in text.unicode_word_indices() {
            if tokens.len() >= MAX_TOKENS {
                break;
            }
            let between = text.get(last_end..start).unwrap_or_default();
            last_end = start + raw.len();
            let after = text.get(last_end..).unwrap_or_default();
            let begins_clause = between.contains(['.', ';', ':', '!', '?', '\n', '(', ')']);
            // The full stop after an initial ends no sentence.
            let is_initial = || tokens.last().is_some_and(|token| self.base(token.word).chars().count() == 1);
            may_begin_sentence |=
                between.contains(['!', '?', '\n', ':']) || (between.contains('.') && !is_initial());
            let is_capital = raw.chars().next().is_some_and(char::is_uppercase);
            let word = normalized_word(raw);
            let follows_comma = between.contains(',');
            let token = |(word, stem): (u32, u32), kind: Kind, unit: Option<Unit>| Token {
                word,
                stem,
                kind,
                unit,
                is_capital,
                begins_clause,
                follows_comma,
            };
            let could_begin_sentence = std::mem::take(&mut may_begin_sentence);
            if let Some(number) = Numeral::read(&word.base) {
                let value = match (year.take(), number.value.len()) {
                    // 2018–19
                    (Some(year), 2)
                        if matches!(between, "-" | "–" | "—" | "/") && number.suffix.is_empty() =>
                    {
                        format!("{}{}", year.get(..2).unwrap_or_default(), number.value)
                    }
                    _ => number.value,
                };
                year = (value.len() == 4 && number.suffix.is_empty()).then(|| value.clone());
                let key = format!("#{}", scaled(value, after));
                let unit = unit_before(between).or_else(|| unit_of(number.suffix, after));
                tokens.push(token(self.word(&key, &key), Kind::Number { is_exact: true }, unit));
                if let Some(month) = iso_month(text.get(..start).unwrap_or_default(), raw, after) {
                    tokens
                        .push(Token { is_capital: true, ..token(self.word(month, month), Kind::Word, None) });
                }
                continue;
            }
            year = None;
            if let Some((value, is_exact)) = number_word(&word.base) {
                let unit = unit_of("", after);
                let tens = tokens
                    .last()
                    .and_then(|last| self.base(last.word).strip_prefix('#')?.parse::<u32>().ok());
                match (tens, tokens.last_mut()) {
                    // Twenty-five.
                    (Some(tens @ 20..=90), Some(last)) if between == "-" && tens % 10 == 0 && value < 10 => {
                        let key = format!("#{}", tens + value);
                        (last.word, last.stem) = self.word(&key, &key);
                        last.unit = unit;
                    }
                    _ => {
                        let key = format!("#{}", scaled(value.to_string(), after));
                        tokens.push(token(self.word(&key, &key), Kind::Number { is_exact }, unit));
                    }
                }
                continue;
            }
            if word.is_negated {
                // "Can't" is "can" and "not".
                if !word.base.is_empty() {
                    tokens.push(token(self.word(&word.base, &word.stem), Kind::Function, None));
                }
                tokens.push(Token {
                    begins_clause: false,
                    ..token(self.word("not", "not"), Kind::Function, None)
                });
                continue;
            }
            if word.base.is_empty() {
                continue;
            }
            if word.base.contains(|c: char| c.is_ascii_digit()) {
                // "B12", "mp3": it tells things apart as a number does.
                tokens.push(token(self.word(&word.base, &word.base), Kind::Number { is_exact: true }, None));
                continue;
            }
            if let Some(month) = month(&word.base).filter(|_| is_capital) {
                tokens.push(token(self.word(month, month), Kind::Name { is_generic: false }, None));
                continue;
            }
            let kind = if is_function_word(&word.base) && !is_acronym(raw) {
                Kind::Function
            } else if is_capital && !could_begin_sentence && !is_german {
                Kind::Name { is_generic: is_generic(&word.base) }
            } else {
                Kind::Word
            };
            tokens.push(token(self.word(&word.base, &word.stem), kind, None));
        }
        begin_with_names(&mut tokens);
        tokens
    }
}

/// The first word is a name if one follows it directly: "John Smith was …".
fn begin_with_names(tokens: &mut [Token]) {
    if let [first, second, ..] = tokens
        && first.kind == Kind::Word
        && first.is_capital
        && matches!(second.kind, Kind::Name { .. })
        && !second.begins_clause
        && !second.follows_comma
    {
        first.kind = Kind::Name { is_generic: true };
    }
}
