//! The informative words of a text, normalized so that they can be compared.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use unicode_segmentation::UnicodeSegmentation;

use crate::limits::MAX_STEMMED_CHARS;
use crate::stems;

/// English words that do not carry the subject of a question.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "don", "each",
    "else", "every", "few", "for", "from", "get", "give", "got", "had", "has", "have", "having", "he", "her",
    "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "know", "let", "like",
    "long", "many", "may", "me", "might", "more", "most", "much", "must", "my", "no", "not", "of", "often",
    "on", "one", "only", "or", "other", "our", "out", "please", "shall", "she", "should", "show", "so",
    "some", "soon", "such", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "too", "us", "very", "want", "was", "we", "were", "what", "when", "where",
    "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// German function words that do not occur in other languages that questions are likely to be in.
const GERMAN_WORDS: &[&str] = &[
    "darf", "durch", "eine", "einem", "einen", "einer", "eines", "für", "gibt", "ich", "ist", "kann", "muss",
    "nach", "nicht", "oder", "sich", "sind", "und", "vom", "von", "wann", "warum", "welche", "welchem",
    "welchen", "welcher", "welches", "wem", "wer", "werden", "wir", "wird", "wurde", "wurden", "zum", "zur",
    "über",
];
/// German function words that are also Dutch, French, Portuguese or English words: two of them are needed.
const SHARED_GERMAN_WORDS: &[&str] = &[
    "auf", "aus", "bei", "bis", "das", "dem", "den", "der", "des", "die", "ein", "er", "es", "im", "man",
    "mein", "mit", "sie", "vor", "wie", "wo", "zu",
];

/// English stop words that are as common in German, so they do not count for English.
const ENGLISH_AND_GERMAN_WORDS: &[&str] = &["am", "an", "in", "so", "was"];

/// Characters of a word that [`is_one_typo_away`] compares; shorter words have too many neighbours.
const MIN_TYPO_CHARS: usize = 5;

/// Whether a word is in a list of words with a space between them.
pub(crate) fn is_listed(word: &str, list: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// Whether a word is a stop word, ignoring case.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Whether a text has German function words, and more of them than English ones. German capitalizes all nouns.
pub(crate) fn is_german(text: &str) -> bool {
    let words: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
    let count_in =
        |list: &[&str]| words.iter().filter(|word| list.binary_search(&word.as_str()).is_ok()).count();
    let (german, shared) = (count_in(GERMAN_WORDS), count_in(SHARED_GERMAN_WORDS));
    let english = count_in(STOP_WORDS) - count_in(ENGLISH_AND_GERMAN_WORDS);
    (german > 0 || shared > 1) && german + shared > english
}

/// The words of a text with repetitions: lower case, without accents, stemmed. A number with grouping commas also occurs
/// without them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    bases(text).map(stem)
}

/// The informative words of an English text: [`words`] without stop words.
pub(crate) fn informative_words(text: &str) -> impl Iterator<Item = String> {
    bases(text).filter(|base| !is_stop_word(base)).map(stem)
}

/// One word in the forms in which texts are compared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NormalizedWord {
    /// Lower case, without accents, without what an apostrophe adds to it: "l'eau" is "eau", "shop's" is "shop".
    pub(crate) base: String,
    /// The stem of `base`.
    pub(crate) stem: String,
    /// Whether "not" is joined to it, as in "don't" and "cannot".
    pub(crate) is_negated: bool,
}

/// Normalizes one word, as [`words`] does with all words of a text.
pub(crate) fn normalized_word(word: &str) -> NormalizedWord {
    let folded = fold(word);
    let is_negated = folded.ends_with("n't") || folded == "cannot";
    let base = match folded.strip_suffix("n't").or_else(|| folded.strip_suffix("not").filter(|_| is_negated))
    {
        Some("ca") => "can",
        Some("wo") => "will",
        Some("sha") => "shall",
        Some(verb) => verb,
        None => match folded.split_once('\'') {
            Some((before, clitic)) if CLITICS.contains(&clitic) || clitic.is_empty() => before,
            Some((before, rest))
                if before.chars().count() <= 2 && before.chars().all(char::is_alphabetic) =>
            {
                rest
            }
            _ => &folded,
        },
    };
    // "U.S." and "US" are the same.
    let is_initials = base.contains('.')
        && base.split('.').all(|part| part.chars().count() <= 1 && part.chars().all(char::is_alphabetic));
    let base = if is_initials { base.replace('.', "") } else { base.to_owned() };
    let stem = stem(base.clone());
    NormalizedWord { base, stem, is_negated }
}

/// A word longer than [`MAX_STEMMED_CHARS`] is a key, a hash or a hex dump: it has no endings, and the stemmer takes quadratic
/// time. It is kept whole, because two keys with the same beginning are different.
fn stem(word: String) -> String {
    if word.chars().nth(MAX_STEMMED_CHARS).is_some() {
        return word;
    }
    #[cfg(test)]
    crate::work::add(word.len());
    stems::stem(&word)
}

/// English endings after an apostrophe: "don't", "it's", "we'll".
const CLITICS: &[&str] = &["d", "ll", "m", "re", "s", "t", "ve"];

/// Words in lower case without accents, split at commas and apostrophes, as Postgres does.
fn bases(text: &str) -> impl Iterator<Item = String> {
    let bases = |part: &str| -> Vec<String> {
        let is_base = |(position, base): &(usize, &str)| {
            !base.is_empty() && (*position == 0 || !CLITICS.contains(base))
        };
        part.split('\'').enumerate().filter(is_base).map(|(_, base)| base.to_owned()).collect()
    };
    let of_word = move |word: &str| {
        let whole = word.contains(',').then(|| word.replace(',', ""));
        word.split(',').flat_map(bases).chain(whole).collect::<Vec<_>>()
    };
    let folded = fold(text);
    folded.unicode_words().flat_map(of_word).collect::<Vec<_>>().into_iter()
}

/// Lower case, Latin letters without accents, one kind of apostrophe. In other scripts, combining marks make different letters.
pub(crate) fn fold(text: &str) -> String {
    #[cfg(test)]
    crate::work::add(text.len());
    let lower = text.to_lowercase().replace('’', "'");
    if lower.is_ascii() {
        return lower;
    }
    let mut is_after_latin = false;
    let is_kept = |c: &char| {
        let is_accent = ('\u{300}'..='\u{36f}').contains(c);
        is_after_latin = c.is_ascii_alphabetic() || (is_accent && is_after_latin);
        !(is_accent && is_after_latin)
    };
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&lower);
    let kept: String = decomposed.chars().filter(is_kept).collect();
    ComposingNormalizerBorrowed::new_nfc().normalize(&kept).into_owned()
}

/// Whether two words differ by at most one inserted, deleted or replaced letter or one swap of neighbours. False for words
/// shorter than [`MIN_TYPO_CHARS`] and for words with a digit: another number or code means something else.
pub(crate) fn is_one_typo_away(a: &str, b: &str) -> bool {
    // In bytes, because most words are decided here: one character is up to four bytes.
    if a.len().min(b.len()) < MIN_TYPO_CHARS || a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    if !may_be_one_typo_away(a.as_bytes(), b.as_bytes()) || [a, b].iter().any(|word| has_digit(word)) {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (shorter, longer) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    if shorter.len() < MIN_TYPO_CHARS || longer.len() - shorter.len() > 1 {
        return false;
    }
    let same_start = shorter.iter().zip(longer).take_while(|(a, b)| a == b).count();
    let same_end = |short: &[char], long: &[char]| {
        short.iter().rev().zip(long.iter().rev()).take_while(|(a, b)| a == b).count()
    };
    let (short_rest, long_rest) =
        (shorter.get(same_start..).unwrap_or_default(), longer.get(same_start..).unwrap_or_default());
    let same_tail = same_end(short_rest, long_rest);
    let changed = |rest: &[char]| rest.len() - same_tail;
    match (short_rest, long_rest) {
        _ if changed(long_rest) <= 1 => true,
        ([a, b, ..], [c, d, ..]) => changed(short_rest) == 2 && changed(long_rest) == 2 && a == d && b == c,
        _ => false,
    }
}

fn has_digit(word: &str) -> bool {
    word.contains(char::is_numeric)
}

/// A cheap necessary condition: between the common prefix and suffix at most two characters differ.
fn may_be_one_typo_away(a: &[u8], b: &[u8]) -> bool {
    let different = if a.is_ascii() && b.is_ascii() { 2 } else { 2 * 4 };
    let same_start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let same_end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    same_start + same_end + different >= a.len().max(b.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::work;

    fn informative(text: &str) -> Vec<String> {
        informative_words(text).collect()
    }

    #[test]
    fn stop_words_are_sorted_for_binary_search() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("The") && !is_stop_word("refund"));
        assert!(GERMAN_WORDS.is_sorted() && SHARED_GERMAN_WORDS.is_sorted());
    }

    #[test]
    fn german_is_recognized_by_its_function_words() {
        for text in [
            "Wie lange dauert die Lieferung?",
            "Wann kommt mein Paket in Zürich an?",
            "Kann man hier parken?",
        ] {
            assert!(is_german(text), "{text}");
        }
        for text in [
            "When did Otto von Bismarck die?",
            "Iron Man release date London?",
            "MIT tuition in Boston?",
            "Refunds",
            "",
            "Quel est le prix du billet ?",
            "Quels sont les horaires des trains pour Lyon ?",
            "Wie is de burgemeester van Utrecht?",
            "Qual é o preço das entradas em Lisboa?",
            "¿Dónde está?",
        ] {
            assert!(!is_german(text), "{text}");
        }
    }

    #[test]
    fn stop_words_are_removed_from_a_question() {
        assert_eq!(informative("How do I request a refund?"), ["request", "refund"]);
        assert_eq!(informative("What’s the customer's deadline? Don't know"), ["custom", "deadlin"]);
        assert!(informative("What is it?").is_empty());
    }

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        for forms in [
            &["refund", "refunds", "refunded", "refunding", "REFUND", "refund's"][..],
            &["cancel", "cancels", "cancelled", "canceling", "cancellation"],
            &["policy", "policies"],
            &["change", "changes", "changed", "changing"],
            &["ship", "ships", "shipped", "shipping"],
            &["box", "boxes"],
            &["sell", "selling"],
            &["payment", "payments"],
        ] {
            let stems: Vec<_> = forms.iter().flat_map(|form| informative_words(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
    }

    #[test]
    fn one_typo_is_tolerated_in_long_words() {
        for (a, b) in [
            ("warsaw", "warzaw"),
            ("warsaw", "warsw"),
            ("warsaw", "warssaw"),
            ("warsaw", "wrasaw"),
            ("größe", "grösse"),
        ] {
            assert_eq!(is_one_typo_away(a, b), (a, b) != ("größe", "grösse"), "{a} {b}");
            assert_eq!(is_one_typo_away(b, a), is_one_typo_away(a, b), "{b} {a}");
        }
        for (a, b) in [("form", "from"), ("warsaw", "wasraw2"), ("warsaw", "wasarw"), ("refund", "refuse")] {
            assert!(!is_one_typo_away(a, b), "{a} {b}");
        }
        assert!(is_one_typo_away("refund", "refund"));
    }

    #[test]
    fn another_number_or_code_is_never_a_typo() {
        for (a, b) in [
            ("24.12.2024", "23.12.2024"),
            ("10117", "10115"),
            ("hx4501", "hx4502"),
            ("25000", "15000"),
            ("10.15", "10.14"),
            ("model", "model2"),
            ("٢٥٠٠٠", "١٥٠٠٠"),
        ] {
            assert!(!is_one_typo_away(a, b) && !is_one_typo_away(b, a), "{a} {b}");
        }
    }

    #[test]
    fn words_includes_stop_words() {
        assert_eq!(super::words("The refunds, e-mailed").collect::<Vec<_>>(), ["the", "refund", "e", "mail"]);
    }

    #[test]
    fn a_word_of_more_than_64_characters_is_not_stemmed() {
        let word = |letters: usize| "letter".repeat(11)[..letters].to_owned() + "s";
        assert_eq!(words(&word(63)).collect::<Vec<_>>(), [word(63).trim_end_matches('s')]);
        assert_eq!(words(&word(64)).collect::<Vec<_>>(), [word(64)]);
        // The limit counts characters, not bytes.
        let accents = |letters: usize| "ж".repeat(letters);
        assert_eq!(words(&accents(64)).collect::<Vec<_>>(), [accents(64)]);
    }

    #[test]
    fn a_very_long_word_is_processed_once_and_not_stemmed() {
        let long = "ay".repeat(100_000);
        let (found, work) = work::measure(|| words(&long).collect::<Vec<_>>());
        assert_eq!(found, [long.as_str()]);
        assert_eq!(work, long.len());
    }

    #[test]
    fn an_apostrophe_separates_words_and_english_endings_are_dropped() {
        assert_eq!(informative("O'Brien l’eau we'll"), ["o", "brien", "l", "eau"]);
    }

    #[test]
    fn accents_and_grouping_commas_are_ignored() {
        assert_eq!(informative("Céloron Größe Straße"), ["celoron", "große", "straße"]);
        assert_eq!(informative("10,000 3.5"), ["10", "000", "10000", "3.5"]);
        assert_eq!(informative("возврат денег мой が か"), ["возврат", "денег", "мой", "が", "か"]);
    }

    proptest! {
        #[test]
        fn any_text_is_processed_in_linear_time(
            text in "(([a-zé'’,0-9]{1,5}){0,40}|(ay){0,60}|[\\PC]{0,60}| ){0,8}",
            times in prop_oneof![9 => Just(1_usize), 1 => Just(200)],
        ) {
            let text = text.repeat(times);
            let (_, work) = work::measure(|| words(&text).count());
            // Lower case has at most three times the bytes; a number with commas is there twice.
            prop_assert!(work <= 7 * text.len(), "{work} for {}", text.len());
        }

        #[test]
        fn one_typo_is_always_recognized(word in "[a-zé]{5,12}", at in 0..12_usize, other in "[a-zж]") {
            let mut letters: Vec<char> = word.chars().collect();
            let at = at.min(letters.len() - 2);
            letters.swap(at, at + 1);
            prop_assert!(is_one_typo_away(&word, &letters.iter().collect::<String>()));
            letters.swap(at, at + 1);
            letters.insert(at, other.chars().next().unwrap());
            prop_assert!(is_one_typo_away(&word, &letters.iter().collect::<String>()));
            letters.remove(at + 1);
            prop_assert!(is_one_typo_away(&word, &letters.iter().collect::<String>()));
        }
    }
}
