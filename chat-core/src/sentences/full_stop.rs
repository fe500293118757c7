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
    "abb", "abr", "abs", "abt", "adm", "admon", "allg", "anh", "anl", "anm", "ann", "anz", "apdo", "appt",
    "apr", "aprox", "apt", "arr", "art", "atte", "aufl", "aug", "ausg", "avda", "ave", "avg", "avv", "betr",
    "bez", "bijv", "blvd", "boul", "bros", "cap", "chap", "cia", "cit", "cod", "coll", "corp", "ctra", "dec",
    "dept", "depto", "dez", "dic", "dna", "dott", "dpto", "eds", "ehem", "ene", "engl", "env", "esq", "est",
    "evt", "ext", "fam", "fasc", "fdo", "feb", "fevr", "fig", "figs", "fri", "geb", "gem", "ges", "gest",
    "gez", "gov", "gral", "hab", "habil", "hnos", "hwy", "ibid", "inc", "inh", "insg", "izq", "jahrl", "jan",
    "janv", "jew", "juil", "juill", "jul", "jun", "jur", "kap", "lic", "lun", "maj", "mar", "max", "med",
    "mevr", "min", "mind", "mio", "misc", "mon", "nachm", "nat", "no", "nov", "num", "oct", "okt", "pag",
    "pers", "phil", "pres", "prov", "pza", "quart", "ref", "rep", "rer", "sat", "sec", "sen", "sep", "sept",
    "seq", "sez", "sig", "spez", "sta", "ste", "sto", "sun", "suppl", "tel", "telef", "thu", "thur", "thurs",
    "tue", "tues", "uds", "ungef", "univ", "urspr", "usw", "verh", "vol", "vorm", "wed", "zus",
];

/// Function words that often begin a sentence and have a capital only there, next to the English ones of [`is_stop_word`]:
/// English, German, French and Spanish.
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
    "solo", "son", "sous", "su", "sur", "sus", "tambien", "thus", "todas", "today", "todos", "tous", "tout",
    "toute", "toutes", "tras", "uber", "um", "un", "una", "und", "une", "unser", "unsere", "unter", "until",
    "usted", "von", "vor", "vos", "votre", "vous", "wahrend", "was", "weil", "wenn", "wer", "wie", "wir",
    "without", "y", "ya", "yes", "yet", "zu", "zum", "zur", "zwischen",
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
/// Letters before an apostrophe at the beginning of a sentence: "L'accès", "Don't".
const ELIDED: &[&str] = &["c", "don", "j", "l", "n", "qu", "s"];

/// Longer words are no abbreviations.
const MAX_ABBREVIATION_BYTES: usize = 24;
/// Marks after the number of an item.
const ITEM_MARKS: &[char] = &['.', ')'];
/// How far before an item the item before it may begin.
const MAX_ITEM_BYTES: usize = 400;
/// Letters from which a word is no abbreviation before a number, unless it is in a list.
const MIN_WORD_LETTERS: usize = 5;

/// The possible meaning of a full stop after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It belongs to the word.
    Inner,
    /// It may belong to the word, to the sentence, or to both.
    Ambiguous,
    /// It ends the sentence, except before a number or label: the word may be an abbreviation that no rule knows.
    BeforeWords,
    /// It ends the sentence.
    Final,
}

/// Whether a full stop between `sentence`, from its beginning on, and `next`, without opening marks, ends the sentence. `next` has a
/// first character and does not begin with a small letter.
pub(super) fn ends_sentence(sentence: &str, next: &str) -> bool {
    let sentence = sentence.trim_end_matches(['*', '_']);
    let word = last_word(sentence);
    let before = sentence.strip_suffix(word).unwrap_or_default();
    match meaning(before, word) {
        Stop::Inner => false,
        Stop::Ambiguous => begins_sentence(next, word),
        Stop::BeforeWords => {
            begins_with_item(sentence, next) || !(begins_with_number(next) || begins_with_label(next))
        }
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
    if is_label(word) && (is_at_beginning(before) || has_item_before(before, word)) {
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

/// Whether a word of Latin letters looks like an abbreviation: at most two letters, no vowel, or an end that no word has
/// ("Hauptstr", "Hausnr", "monatl", "Abschn"). Words in capitals are none ("PDF" has no full stop of its own), except Roman numerals and Spanish plurals
/// ("EE. UU.").
fn is_short(word: &str, folded: &str) -> bool {
    if is_acronym(word) {
        let mut letters = word.chars();
        return is_roman(word) || (letters.next() == letters.next() && letters.next().is_none());
    }
    let is_latin = folded.chars().all(|c| c.is_ascii_lowercase() || "ßæœø".contains(c));
    let has_vowel = folded.contains(['a', 'e', 'i', 'o', 'u', 'y', 'æ', 'œ', 'ø']);
    let stem = folded.strip_suffix(['l', 'n', 'r']).unwrap_or_default();
    let is_cut = stem.ends_with(['b', 'c', 'd', 'f', 'g', 'k', 'p', 's', 't', 'z'])
        || stem.ends_with("ch")
        || folded.ends_with("nr");
    // "design", "foreign".
    let is_cut = is_cut && !folded.ends_with("gn");
    is_latin && (folded.chars().count() <= 2 || !has_vowel || is_cut)
}

/// One letter, or one or two each with full stops between them: "J", "U.S", "a.m", "Ph.D". Syllables and ideographs are words.
fn is_initials(word: &str) -> bool {
    let max = if word.contains('.') { 2 } else { 1 };
    let is_letter = |c: char| c.is_alphabetic() && c < '\u{900}';
    // Without tatweel, which stretches an Arabic letter.
    let length = |part: &str| part.chars().filter(|c| *c != 'ـ').count();
    word.split('.').all(|part| (1..=max).contains(&length(part)) && part.chars().all(is_letter))
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
    "\"'“‘„‚«»‹›([{*_¿¡\\".contains(c)
}

/// Whether a text begins with a word that has a capital only at the beginning of a sentence. `before` is the word before it.
fn begins_sentence(next: &str, before: &str) -> bool {
    let (word, rest) = first_word(next);
    let mut letters = word.chars();
    if !letters.next().is_some_and(char::is_uppercase) {
        // Languages without capitals write ordinals without a full stop.
        return !word.is_empty() && before.chars().all(char::is_numeric);
    }
    // "Sa. So." are weekdays, "A5" is a number, "IN" is Indiana.
    let is_abbreviation = rest.starts_with('.') && word.chars().count() <= 2;
    let is_part = rest.starts_with(|c: char| c.is_numeric() || c == '-');
    if is_abbreviation || is_part || letters.next().is_some_and(char::is_uppercase) {
        return false;
    }
    let folded = fold(word);
    if rest.starts_with(['\'', '’']) && is_in(ELIDED, &folded) {
        return true;
    }
    let is_opener = is_in(SENTENCE_OPENERS, &folded) || (is_stop_word(&folded) && !is_in(NAMES, &folded));
    is_opener && !(is_initials(before) && is_in(PARTICLES, &folded))
}

/// The letters at the beginning of a text and what follows. No letters if they are too many for a function word.
fn first_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_alphabetic() || is_accent(c))).unwrap_or(text.len());
    text.split_at_checked(end).filter(|_| end <= MAX_ABBREVIATION_BYTES).unwrap_or(("", text))
}

/// Whether a text begins with digits, perhaps after a sign.
fn begins_with_number(next: &str) -> bool {
    let is_sign = |c: char| is_currency(c) || " +-–−±~≈<>≤≥#§№".contains(c);
    next.trim_start_matches(is_sign).starts_with(char::is_numeric)
}

/// Whether a text begins with a capital or Roman numeral that is no word: "App. B", "Sect. IV", but "A member", "I am".
fn begins_with_label(next: &str) -> bool {
    let (word, rest) = first_word(next);
    let is_word = word.starts_with(['A', 'I', 'O', 'Y']) && rest.starts_with([' ', '\'', '’']);
    match word.chars().count() {
        1 => word.starts_with(char::is_uppercase) && !rest.starts_with(['\'', '’']) && !is_word,
        2.. => is_roman(word),
        _ => false,
    }
}

/// Whether the next item of a list in running text begins: "2. Close it" after "1. Open the case".
fn begins_with_item(sentence: &str, next: &str) -> bool {
    let rest = next.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = next.strip_suffix(rest).unwrap_or_default();
    rest.starts_with(ITEM_MARKS) && has_item_before(sentence, number)
}

/// Whether the item with the number before `number` is near the end of a text.
fn has_item_before(text: &str, number: &str) -> bool {
    let near = text.get(text.ceil_char_boundary(text.len().saturating_sub(MAX_ITEM_BYTES))..);
    let previous = number.parse::<u8>().ok().and_then(|number| number.checked_sub(1));
    let Some((near, previous)) = near.zip(previous) else { return false };
    ITEM_MARKS.iter().any(|mark| near.contains(&format!("{previous}{mark} ")))
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
