//! Decides whether a full stop ends a sentence or belongs to its word, as in "6 ft. 5 in.", "31. Dezember" and "J. Smith".
//!
//! The two errors have different costs. A sentence that is cut too early is a false quote ("The maximum height is 6 ft."); two
//! sentences that are joined are only a longer quote. So after what may be a number, a unit or an abbreviation, a sentence ends
//! only before a word that has a capital nowhere else, such as "The", "Die", "Les" or "El".

use crate::words::{fold, is_stop_word};

/// Titles, and abbreviations of "for example", "that is" and "compare": whatever follows belongs to them. Like all lists here, in
/// lower case and without accents; "z. B." is "z.b".
const NEEDS_WHAT_FOLLOWS: &[&str] = &[
    "approx", "bspw", "bzw", "ca", "capt", "cf", "col", "d.h", "dipl", "dr", "dra", "e.g", "eg", "esp",
    "gen", "hon", "i.e", "ie", "incl", "ing", "inkl", "insb", "lt", "m", "mag", "messrs", "mlle", "mm",
    "mme", "mr", "mrs", "ms", "mt", "n.b", "p.ej", "p.ex", "prof", "rev", "sgt", "sog", "sra", "srta", "st",
    "u.a", "vgl", "viz", "vs", "z.b", "z.t",
];

/// Abbreviations that [`is_short`] does not find, because they have at least three letters and a vowel. They usually stand before
/// a name, a noun or a number in words; before digits, short words need no list. An abbreviation that usually ends a clause
/// ("etc") or is an everyday word ("ago", "set") is not in the list.
const ABBREVIATIONS: &[&str] = &[
    "abb", "abr", "abs", "abschn", "adm", "admon", "allg", "anh", "anl", "anm", "ann", "apdo", "appt", "apr",
    "aprox", "apt", "arr", "art", "aufl", "aug", "ausg", "avda", "ave", "avg", "betr", "bez", "blvd", "boul",
    "bros", "cap", "chap", "cia", "coll", "corp", "dec", "dept", "depto", "dez", "dic", "dpto", "eds",
    "einschl", "ene", "env", "esq", "est", "evtl", "excl", "exkl", "ext", "fam", "fasc", "feb", "febr",
    "fevr", "fig", "figs", "fri", "geb", "gem", "ges", "gest", "gez", "gov", "gral", "hab", "habil", "hwy",
    "inc", "insg", "izq", "jan", "janv", "jew", "juil", "jul", "jun", "jur", "kap", "lic", "maj", "mar",
    "max", "med", "min", "mind", "mio", "mon", "nachm", "nat", "no", "nov", "num", "oct", "okt", "pag",
    "phil", "pres", "prov", "quart", "rep", "rer", "sat", "sec", "sen", "sep", "sept", "spez", "sta", "ste",
    "sto", "sun", "suppl", "tagl", "tel", "telef", "thu", "thur", "thurs", "tue", "tues", "ubl", "uds",
    "univ", "urspr", "usw", "verh", "vol", "vorm", "wed", "zus",
];

/// Function words that often begin a sentence and have a capital only there, next to the English ones of [`is_stop_word`]:
/// English, German, French, Spanish and, where no word has a capital, Arabic.
const SENTENCE_OPENERS: &[&str] = &[
    "aber", "alle", "although", "antes", "apres", "au", "auch", "aucun", "aucune", "auf", "aunque", "aus",
    "aussi", "aux", "avant", "avec", "bei", "bis", "bitte", "both", "cada", "ce", "ces", "cet", "cette",
    "chaque", "comme", "comment", "como", "con", "cual", "cuando", "da", "danach", "dans", "das", "dazu",
    "de", "del", "dem", "den", "depuis", "der", "des", "desde", "despues", "die", "diese", "dieser",
    "dieses", "du", "durante", "durch", "during", "ein", "eine", "einem", "einen", "einer", "el", "ella",
    "ellas", "elle", "elles", "ellos", "en", "entre", "er", "es", "esa", "ese", "eso", "esta", "estas",
    "este", "esto", "estos", "et", "even", "falls", "fur", "hasta", "hay", "hier", "however", "ich", "ihr",
    "ihre", "il", "ils", "im", "in", "instead", "ist", "its", "je", "jede", "jeder", "jedes", "kein",
    "keine", "la", "las", "le", "les", "leur", "leurs", "lo", "lorsque", "los", "mais", "man", "mas",
    "mientras", "mit", "muy", "nach", "ne", "nicht", "no", "nos", "notre", "nous", "now", "nuestra",
    "nuestro", "nur", "ob", "ohne", "on", "once", "otra", "otro", "ou", "par", "para", "pas", "pendant",
    "pero", "por", "porque", "pour", "quand", "que", "quel", "quelle", "qui", "quien", "sa", "sans", "se",
    "segun", "sein", "seine", "seit", "selon", "ses", "si", "sie", "sin", "since", "sind", "so", "sobre",
    "solo", "son", "sous", "su", "sur", "sus", "tambien", "thus", "todas", "todos", "tous", "tout", "toute",
    "toutes", "tras", "uber", "um", "un", "una", "und", "une", "unser", "unsere", "unter", "until", "usted",
    "von", "vor", "vos", "votre", "vous", "wahrend", "was", "weil", "wenn", "wer", "wie", "wir", "without",
    "y", "ya", "yes", "yet", "zu", "zum", "zur", "zwischen", "إذا", "إن", "بعد", "تم", "ثم", "حتى", "خلال",
    "على", "عند", "في", "قد", "كان", "كانت", "كل", "كما", "لا", "لذلك", "لقد", "لكن", "لم", "لن", "ليس", "من",
    "منذ", "هذا", "هذه", "هل", "هناك", "هو", "هي", "وتم", "وفي", "وقد", "وكان", "ولا", "ولكن", "ولم", "ومن",
    "وهو", "وهي", "يتم", "يجب", "يمكن",
];
/// Short words that may end a sentence, next to [`is_stop_word`].
const SHORT_WORDS: &[&str] = &[
    "ab", "an", "auf", "aus", "da", "du", "er", "es", "go", "ja", "la", "los", "mi", "mit", "nur", "si",
    "ti", "tu", "um", "up", "va", "von", "vor", "ya", "zu",
];
/// English stop words that are also names or months.
const NAMES: &[&str] = &["don", "may", "will"];
/// Words of [`SENTENCE_OPENERS`] that are also parts of a surname: "J. De Niro".
const PARTICLES: &[&str] = &[
    "al", "de", "del", "den", "der", "des", "du", "el", "la", "las", "le", "los", "von", "zu", "zum", "zur",
];
/// What stands before an apostrophe at the beginning of a sentence: "L'accès", "Don't".
const ELIDED: &[&str] = &["c", "don", "j", "l", "n", "qu", "s"];

/// Longer words are no abbreviations.
const MAX_ABBREVIATION_BYTES: usize = 24;
/// Letters from which a word is no abbreviation before a number, unless it is in a list.
const MIN_WORD_LETTERS: usize = 5;

/// What a full stop after a word may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It belongs to the word.
    Inner,
    /// It may belong to the word, to the sentence, or to both.
    Ambiguous,
    /// It ends the sentence, except before a number: the word may be an abbreviation that no rule knows.
    BeforeWords,
    /// It ends the sentence.
    Final,
}

/// Whether a full stop between `sentence`, from its beginning on, and `next`, without opening marks, ends the sentence. `next` has a
/// first character and does not begin with a small letter.
pub(super) fn ends_sentence(sentence: &str, next: &str) -> bool {
    // "31\. Dezember" is Markdown for "31. Dezember".
    let sentence = sentence.trim_end_matches(['\\', '*', '_']);
    let word = last_word(sentence);
    let before = sentence.strip_suffix(word).unwrap_or_default();
    match meaning(before, word) {
        Stop::Inner => false,
        Stop::Ambiguous => begins_sentence(next, is_initial(word)),
        Stop::BeforeWords => !begins_with_number(next),
        Stop::Final => true,
    }
}

/// The word at the end of a text, with the full stops and apostrophes inside it: "e.g", "don't".
fn last_word(text: &str) -> &str {
    let is_of_word = |c: char| c.is_alphanumeric() || is_accent(c) || matches!(c, '.' | '\'' | '’');
    let word = text.rsplit(|c| !is_of_word(c)).next().unwrap_or_default();
    // After a closing quotation mark there is no word.
    let word = if word.ends_with(['\'', '’']) { "" } else { word };
    word.trim_start_matches(['.', '\'', '’'])
}

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn meaning(before: &str, word: &str) -> Stop {
    if word.is_empty() || word.len() > MAX_ABBREVIATION_BYTES {
        return Stop::Final;
    }
    if is_label(word) && is_at_beginning(before) {
        return Stop::Inner;
    }
    let unit = word.trim_start_matches(|c: char| c.is_numeric() || c == '.');
    let follows_number = unit.len() < word.len() || before.trim_end().ends_with(char::is_numeric);
    match unit {
        "" => number(before, word),
        _ if follows_number && is_unit(unit) => Stop::Ambiguous,
        _ => abbreviation(before, word),
    }
}

/// A whole number below 1000 may be an ordinal ("am 31. Dezember"), two numbers a date ("am 24.12. Heiligabend").
fn number(before: &str, word: &str) -> Stop {
    if is_amount(before) {
        return Stop::Final;
    }
    let lengths: Vec<usize> = word.split('.').map(|part| part.chars().count()).collect();
    match lengths.as_slice() {
        [..=3] | [..=2, ..=2] => Stop::Ambiguous,
        _ => Stop::BeforeWords,
    }
}

/// Whether what is before a number shows that it is no ordinal: "$5", "12,50", "9:30", "COVID-19".
fn is_amount(before: &str) -> bool {
    let mut reversed = before.chars().rev();
    let mark = reversed.next();
    let mut is_after = |is: fn(char) -> bool| reversed.next().is_some_and(is);
    match mark {
        Some(',' | ':') => is_after(char::is_numeric),
        Some('-') => is_after(char::is_alphabetic),
        Some(mark) => is_currency(mark),
        None => false,
    }
}

/// Whether what follows a number may be a unit: "6 ft", "6ft", "3rd", "9 am", but not "1990s", "5 GB" and "um 5 an".
fn is_unit(word: &str) -> bool {
    let letters = word.chars().count();
    let is_word = is_function_word(word) && !matches!(word, "am" | "in");
    letters < 4 && word != "s" && word.chars().all(char::is_alphabetic) && !is_acronym(word) && !is_word
}

/// Two or more capital letters.
fn is_acronym(word: &str) -> bool {
    word.chars().nth(1).is_some() && word.chars().all(char::is_uppercase)
}

/// Whether a word without a capital is a short everyday word.
fn is_function_word(word: &str) -> bool {
    let is_listed = || is_stop_word(word) || is_in(SHORT_WORDS, &fold(word));
    word.starts_with(char::is_lowercase) && is_listed()
}

/// Whether a sorted list has a word.
fn is_in(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '£' | '¥') || ('\u{20a0}'..='\u{20cf}').contains(&c)
}

fn abbreviation(before: &str, word: &str) -> Stop {
    let folded = fold(word);
    let is_acronym = is_acronym(word);
    if is_in(NEEDS_WHAT_FOLLOWS, &folded) || is_in(NEEDS_WHAT_FOLLOWS, &with_part_before(before, &folded)) {
        // "CA" is California, "MR" may be a title.
        return if is_acronym { Stop::Ambiguous } else { Stop::Inner };
    }
    let is_word = is_function_word(word);
    if is_in(ABBREVIATIONS, &folded) || is_initials(word) || (!is_word && is_short(word, &folded)) {
        return Stop::Ambiguous;
    }
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    if is_word || letters >= MIN_WORD_LETTERS { Stop::Final } else { Stop::BeforeWords }
}

/// "z.b" for the "B" of "z. B.", which may have a space.
fn with_part_before(before: &str, folded: &str) -> String {
    let first = before.trim_end().strip_suffix('.').map(last_word).unwrap_or_default();
    if first.len() > 2 || folded.len() > 2 {
        return String::new();
    }
    [&fold(first), ".", folded].concat()
}

/// Whether a word looks like an abbreviation: at most two letters, no vowel, or "street" and "number" at the end of a German
/// word. Words in capitals are none ("PDF" has no full stop of its own), except Roman numerals and Spanish plurals ("EE. UU.").
/// Other alphabets only abbreviate to one letter.
fn is_short(word: &str, folded: &str) -> bool {
    let letters = folded.chars().count();
    if !folded.chars().all(|c| c.is_ascii_lowercase() || matches!(c, 'ß' | 'æ' | 'œ' | 'ø')) {
        // Without tatweel, which only stretches a letter. Syllables and ideographs are words.
        return folded.chars().filter(|c| *c != 'ـ').count() == 1 && folded.chars().all(|c| c < '\u{900}');
    }
    if is_acronym(word) {
        return is_roman(word) || (letters == 2 && word.chars().nth(0) == word.chars().nth(1));
    }
    let has_vowel = folded.contains(['a', 'e', 'i', 'o', 'u', 'y', 'æ', 'œ', 'ø']);
    letters <= 2 || !has_vowel || folded.ends_with("str") || folded.ends_with("nr")
}

/// One letter, or one or two each with full stops between them: "J", "U.S", "a.m", "Ph.D".
fn is_initials(word: &str) -> bool {
    let max = if word.contains('.') { 2 } else { 1 };
    word.split('.')
        .all(|part| (1..=max).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic))
}

fn is_initial(word: &str) -> bool {
    word.chars().count() == 1
}

/// Whether a word can number an item: "1", "a", "IV".
fn is_label(word: &str) -> bool {
    let length = word.chars().count();
    length == 1 || length <= 3 && (word.chars().all(char::is_numeric) || is_roman(word))
}

/// Larger numerals are rarely ordinals.
fn is_roman(word: &str) -> bool {
    word.chars().all(|c| matches!(c, 'I' | 'V' | 'X'))
}

/// Whether an item may begin here: at the beginning of a sentence or after a colon, but not at the minutes of "9:30".
fn is_at_beginning(before: &str) -> bool {
    let rest = before.trim_end_matches(|c: char| c.is_whitespace() || is_opening(c));
    rest.is_empty() || (rest.len() < before.len() && rest.ends_with([':', ';']))
}

/// Marks before the first word of a sentence.
pub(super) fn is_opening(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '“'
            | '‘'
            | '„'
            | '‚'
            | '«'
            | '»'
            | '‹'
            | '›'
            | '('
            | '['
            | '{'
            | '*'
            | '_'
            | '¿'
            | '¡'
            | '\\'
    )
}

/// Whether a text begins with a word that has a capital only at the beginning of a sentence.
fn begins_sentence(next: &str, is_after_initial: bool) -> bool {
    let end = next.find(|c: char| !(c.is_alphabetic() || is_accent(c))).unwrap_or(next.len());
    let Some((word, rest)) = next.split_at_checked(end).filter(|_| end <= MAX_ABBREVIATION_BYTES) else {
        return false;
    };
    // "Sa. So." are weekdays, "A5" is a number, "IN" is Indiana.
    let is_abbreviation = rest.starts_with('.') && word.chars().count() <= 2;
    let is_part = rest.starts_with(|c: char| c.is_numeric() || c == '-');
    if is_abbreviation || is_part || word.chars().nth(1).is_some_and(char::is_uppercase) {
        return false;
    }
    let folded = fold(word);
    if rest.starts_with(['\'', '’']) && is_in(ELIDED, &folded) {
        return true;
    }
    let is_opener = is_in(SENTENCE_OPENERS, &folded) || (is_stop_word(&folded) && !is_in(NAMES, &folded));
    is_opener && !(is_after_initial && is_in(PARTICLES, &folded))
}

/// Whether a text begins with digits, perhaps after a sign, that do not number an item ("2. Close it").
fn begins_with_number(next: &str) -> bool {
    let is_sign = |c: char| is_currency(c) || " +-–−±~≈<>≤≥#§№".contains(c);
    let number = next.trim_start_matches(is_sign);
    number.starts_with(char::is_numeric) && !begins_with_item(next)
}

fn begins_with_item(next: &str) -> bool {
    let rest = next.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = next.len() - rest.len();
    let after_mark = rest.trim_start_matches('\\').strip_prefix(['.', ')']);
    (1..=2).contains(&digits) && after_mark.is_some_and(|after| after.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_binary_search() {
        for list in
            [NEEDS_WHAT_FOLLOWS, ABBREVIATIONS, SENTENCE_OPENERS, NAMES, PARTICLES, ELIDED, SHORT_WORDS]
        {
            assert!(list.is_sorted());
        }
    }
}
