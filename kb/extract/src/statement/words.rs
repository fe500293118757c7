//! Words that tie a sentence or heading to other text, in the languages that kb calibrates: English, German, French, Spanish, Italian,
//! Portuguese and Dutch. The words are in `words.txt`.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::clean::ends_sentence;

/// Each list is the section of `words.txt` with its name.
macro_rules! lists {
    ($($name:ident)*) => { $(static $name: Phrases = Phrases::of(stringify!($name));)* };
}

lists! {
    AFFIRMS COPULAS ELLIPSES ELSEWHERE EXCLUSIONS EXCEPTIONS EXEMPT FIGURES FOLLOWING FORWARD
    HEARSAY INTERROGATIVES JOINS LEANERS LEADS_ON LIMITS NEGATIONS OPENERS OTHERS OUTDATED
    INNER_POINTERS PAIRS PAST POINTERS PRONOUNS QUESTION_MARKS REPEATS SCOPES SEQUELS SPANS SPEAKERS
    STANDS_ALONE THIS_DOCUMENT WARNINGS YES_OR_NO
}

/// "Please note: …"
const MAX_LABEL_WORDS: usize = 2;
/// A longer sentence without a verb is one with a verb.
const MAX_ELLIPSIS_WORDS: usize = 8;
/// A short sentence that points back and negates refutes the sentence before it.
const MAX_REFUTATION_WORDS: usize = 4;
/// Where in a sentence it may still point back.
const MAX_POINTER_WORDS: usize = 8;
/// Longest sentence without a verb whose last word negates: "In bad weather, no."
const MAX_NEGATED_WORDS: usize = 7;
/// Longest sentence that says who or what is exempt.
const MAX_EXEMPT_WORDS: usize = 12;
/// A sentence reports an opinion only within its first words.
const MAX_HEARSAY_WORDS: usize = 6;
/// No phrase of [`REPEATS`] is longer.
const MAX_REPEAT_WORDS: usize = 3;
/// The first words of a sentence, which say what it is about.
const OPENING_WORDS: usize = 4;
/// No phrase of [`FIGURES`] is longer.
const MAX_OPENING_BYTES: usize = 40;
/// Longest ending behind an apostrophe: "they're".
const MAX_ENDING_BYTES: usize = 2;

/// Returns whether a sentence cannot be understood without the one before it.
pub(super) fn refers_back(sentence: &str) -> bool {
    points_back(sentence) || label_of(sentence).is_some_and(|(_, rest)| points_back(rest))
}

fn points_back(sentence: &str) -> bool {
    let words = words(sentence);
    // "Sie endet": the reader, "Sie", has another form of the verb.
    let is_she = || match words.as_slice() {
        [sie, verb, ..] if sie == "sie" => {
            verb.ends_with('t') && verb != "nicht"
                || matches!(verb.as_str(), "wird" | "kann" | "darf" | "muss" | "soll")
        }
        _ => false,
    };
    // Italian "Il prezzo": no verb behind French "il" ends like this.
    let is_article = || match words.as_slice() {
        [il, noun, ..] if il == "il" => {
            noun.ends_with(['o', 'i', 'l', 'm', 'n', 'r'])
                && !matches!(noun.as_str(), "n" | "en" | "lui" | "leur")
        }
        _ => false,
    };
    let stands_alone = || begins_with(&words, &STANDS_ALONE) || begins_with(&words, &THIS_DOCUMENT);
    // "Without the card, this does not apply."
    let points_inside = || {
        let starts = (1..words.len().min(MAX_POINTER_WORDS)).filter_map(|at| words.get(at..));
        starts.into_iter().any(|rest| begins_with(rest, &INNER_POINTERS))
    };
    is_she() || begins_with(&words, &POINTERS) && !stands_alone() && !is_article() || points_inside()
}

/// Returns whether a sentence takes its subject, verb or case from what is above it, if something
/// is: "Not on Sundays.", "Others pay.", "The Pro plan does."
pub(super) fn is_elliptic(sentence: &str) -> bool {
    let words = words(sentence);
    // "Es ist klein.", "Unfortunately, we do not."
    if begins_with(&words, &LEANERS) && !begins_with(&words, &STANDS_ALONE) {
        return true;
    }
    if is_fragment(sentence) || ends_with_colon(sentence) || is_question(sentence) {
        return false;
    }
    let is = |at: usize, list: &Phrases| words.get(at).is_some_and(|word| is_in(word, list));
    let is_short = words.len() <= MAX_ELLIPSIS_WORDS;
    // "Others pay.", but not "Dogs and other animals"
    let other = words.iter().take(OPENING_WORDS).position(|word| is_in(word, &OTHERS));
    let has_others = other.is_some_and(|at| (1..at).all(|before| !is(before, &JOINS)));
    // "Not available on Mondays.", but not "Not covered are cars."
    let first = usize::from(is(0, &NEGATIONS));
    let is_predicate = words.get(first).is_some_and(|word| is_inflected(word, &AFFIRMS));
    let is_rest = is_predicate && !sentence.contains(": ") || is_short && begins_with(&words, &EXCEPTIONS);
    let has_verb = || (first..first + 3).any(|at| is(at, &COPULAS));
    // "The Pro plan does.", "Many still have not."
    let is_negated = words.last().is_some_and(|word| word == "not");
    let last = words.len().checked_sub(1 + usize::from(is_negated));
    let has_auxiliary = (is_short || is_negated) && last.is_some_and(|last| is(last, &ELLIPSES));
    has_others
        || has_pronoun(sentence)
        || is_rest && !has_verb()
        || has_auxiliary
        || is_cut_short(&words)
        || is_exempt(&words)
}

/// "Elsewhere they cost 5 €.", "Seit Mai kostet er 9 €."
fn has_pronoun(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_opener = words.next().is_some_and(|first| is_in(&first.to_lowercase(), &OPENERS));
    // German "Sie" is the reader.
    is_opener && words.take(OPENING_WORDS).any(|word| is_in(word, &PRONOUNS))
}

/// "Room 5 does not.", "In bad weather, no."
fn is_cut_short(words: &[String]) -> bool {
    let is_short = |word: &String| match word.as_str() {
        "not" | "nicht" | "doesn't" | "don" | "isn" | "can't" => words.len() <= MAX_REFUTATION_WORDS + 1,
        "no" | "non" | "não" | "niet" => words.len() <= MAX_NEGATED_WORDS,
        _ => false,
    };
    words.last().is_some_and(is_short)
}

/// Returns whether a short sentence says who or what is exempt.
fn is_exempt(words: &[String]) -> bool {
    words.len() <= MAX_EXEMPT_WORDS && words.iter().any(|word| is_inflected(word, &EXEMPT))
}

/// Returns whether a text addresses its reader as German "Sie", which has a capital also inside a
/// sentence.
pub(super) fn is_formal(text: &str) -> bool {
    let is_inside = |(at, _): (usize, &str)| {
        text.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_alphabetic() || c == ','))
    };
    [" Sie ", " Ihnen ", " Ihr ", " Ihre", " Ihren "]
        .iter()
        .any(|word| text.match_indices(word).any(is_inside))
}

/// Returns whether an item goes on from the one before it: "danach: 50 %".
pub(super) fn is_sequel(item: &str) -> bool {
    begins_with(&words(item), &SEQUELS)
}

/// Returns whether a sentence is about the two sentences before it.
pub(super) fn is_about_two(sentence: &str) -> bool {
    begins_with(&words(sentence), &PAIRS)
}

/// Returns whether a sentence refutes the one before it or makes an exception to it.
pub(super) fn is_exception(sentence: &str) -> bool {
    let makes_exception = |sentence: &str| {
        let words = words(sentence);
        let is_refutation = || {
            words.len() <= MAX_REFUTATION_WORDS
                && points_back(sentence)
                && words.iter().any(|word| is_in(word, &NEGATIONS))
        };
        begins_with(&words, &EXCEPTIONS) || is_cut_short(&words) || is_exempt(&words) || is_refutation()
    };
    makes_exception(sentence) || label_of(sentence).is_some_and(|(_, rest)| makes_exception(rest))
}

/// The name before a sentence, and the sentence: "Note: …"
fn label_of(sentence: &str) -> Option<(&str, &str)> {
    sentence.split_once(": ").filter(|(label, _)| word_count(label) <= MAX_LABEL_WORDS)
}

/// Returns whether a sentence reports what others say or what was: the next one may say otherwise.
pub(super) fn is_hearsay(sentence: &str) -> bool {
    let words = words(sentence);
    // "When we say", "If you think": it is no opinion of others.
    let before = |at: usize| at.checked_sub(1).and_then(|before| words.get(before));
    let is_own = |at: usize| before(at).is_some_and(|word| is_in(word, &SPEAKERS));
    let starts = (0..words.len().min(MAX_HEARSAY_WORDS)).filter(|at| !is_own(*at));
    let mut rests = starts.filter_map(|at| words.get(at..));
    rests.any(|rest| begins_with(rest, &HEARSAY)) || begins_with(&words, &PAST)
}

/// Returns whether a sentence at the top of a document says what the document does not hold for;
/// not what it tells: "This page says what is not covered."
pub(super) fn is_notice(sentence: &str) -> bool {
    let words = words(without_label(sentence));
    let mut told = words.iter().take_while(|word| !is_in(word, &INTERROGATIVES));
    begins_with(&words, &THIS_DOCUMENT)
        && told.any(|word| is_in(word, &LIMITS) || word == "longer" || word == "version")
}

/// A sentence without a name before it: "Note: …"
fn without_label(sentence: &str) -> &str {
    label_of(sentence).map_or(sentence, |(_, rest)| rest)
}

/// Returns whether a short sentence only sends its reader to another page.
pub(super) fn sends_elsewhere(sentence: &str) -> bool {
    let words = words(sentence);
    words.len() <= MAX_EXEMPT_WORDS && begins_with(&words, &ELSEWHERE)
}

/// Returns whether a sentence is about its own document.
pub(super) fn is_about_document(sentence: &str) -> bool {
    begins_with(&words(without_label(sentence)), &THIS_DOCUMENT)
}

/// Returns whether a sentence of a box at the top of a document says that the document is out of
/// date.
pub(super) fn is_outdated(sentence: &str) -> bool {
    let words = words(sentence);
    (0..words.len()).filter_map(|at| words.get(at..)).any(|rest| begins_with(rest, &OUTDATED))
}

/// Returns whether a sentence is about all figures around it: "All prices include VAT."
pub(super) fn is_about_figures(sentence: &str) -> bool {
    let opening = sentence.get(..sentence.floor_char_boundary(MAX_OPENING_BYTES)).unwrap_or_default();
    begins_with(&words(opening), &FIGURES)
}

/// Returns whether a sentence warns of what is above it.
pub(super) fn is_warning(sentence: &str) -> bool {
    begins_with(&words(sentence), &WARNINGS)
}

/// Returns whether a sentence says that something follows.
pub(super) fn looks_ahead(sentence: &str) -> bool {
    words(sentence).iter().any(|word| is_in(word, &FORWARD) || is_in(word, &FOLLOWING))
}

/// Returns whether a line announces what follows it: "Not covered:", "The following cannot be
/// returned."
pub(super) fn announces(line: &str) -> bool {
    let is_told = line.contains(": ") || is_question(line);
    let promises = || !is_told && words(line).iter().any(|word| is_in(word, &FOLLOWING));
    ends_with_colon(line) || promises()
}

/// Returns whether a line ends in a word that leads on: "… which is not refunded if".
pub(super) fn leads_on(line: &str) -> bool {
    is_fragment(line) && ends_in(line, &LEADS_ON)
}

/// Returns whether a line above a list, table or code is only the start of a sentence: "We ship to
/// all countries except". The text of an item says something without the items below it, unless it
/// ends in a word that leads on.
pub(super) fn is_open(text: &str, is_item: bool) -> bool {
    let leads_on = || [&LEADS_ON, &NEGATIONS, &SCOPES].iter().any(|list| ends_in(text, list));
    is_fragment(text) && !is_value(text) && (!is_item || leads_on())
}

/// Returns whether a line is a figure or a name with a figure: "9 € per month", "From 5 €",
/// "Weight: 7 kg".
fn is_value(line: &str) -> bool {
    // "(1)" and "2." are the numbers of a part.
    let is_number = |c: char| c.is_numeric() || matches!(c, '€' | '$' | '£');
    let is_figure = |word: &str| word.contains(is_number) && !word.ends_with([')', '.']);
    let value = line.rsplit(": ").next().unwrap_or(line);
    [value.split(' ').next(), value.split(' ').next_back()].into_iter().flatten().any(is_figure)
}

/// Returns whether a heading negates or limits what is below it: by a word, a year, a version, or a
/// place or case at its start.
pub(super) fn limits(heading: &str) -> bool {
    let words = words(heading);
    let is_year = |word: &String| word.len() == 4 && matches!(word.get(..2), Some("19" | "20"));
    let is_version =
        |word: &String| matches!(word.as_str(), "version" | "versión" | "versione" | "versão" | "versie");
    let affirms = |word: &String| is_inflected(word, &AFFIRMS) || is_in(word, &SPANS);
    // The name of a parameter: "max_retries".
    let is_code = !heading.contains(' ') && heading.starts_with(char::is_lowercase);
    limits_by_word(heading)
        || is_code
        || begins_scope(heading)
        || names(&words).any(|word| is_year(word) || is_version(word) || affirms(word))
}

/// Words without those of the number of a chapter, which does not limit.
fn names(words: &[String]) -> impl Iterator<Item = &String> {
    words.iter().skip_while(|word| word.chars().all(|c| c.is_ascii_digit()))
}

/// Returns whether a text begins with a place or case: "For companies".
fn begins_scope(text: &str) -> bool {
    let words = words(text);
    let mut names = names(&words);
    names.next().is_some_and(|word| is_in(word, &SCOPES)) && names.next().is_some()
}

/// Returns whether a heading has a word that negates or limits.
pub(super) fn limits_by_word(heading: &str) -> bool {
    words(heading).iter().any(|word| is_inflected(word, &LIMITS))
}

/// Returns whether a short line says for what the text below it holds: "Only for members.", "For
/// companies". A date does not.
pub(super) fn is_status(line: &str) -> bool {
    limits_by_word(line) || is_fragment(line) && begins_scope(line)
}

/// Returns whether a text has a word that limits and does not only negate.
pub(super) fn has_status(text: &str) -> bool {
    words(text).iter().any(|word| is_in(word, &LIMITS) && !is_in(word, &NEGATIONS) && word != "none")
}

/// Returns whether the name of a column says what holds or does not hold for the cells below it:
/// "Allowed" next to "Forbidden".
pub(super) fn decides(column: &str) -> bool {
    limits_by_word(column) || words(column).iter().any(|word| is_inflected(word, &AFFIRMS))
}

/// Returns whether a line only names what is covered or not: "Not covered".
pub(super) fn is_cover(line: &str) -> bool {
    let words = words(line);
    let mut names = words.iter().skip_while(|word| is_in(word, &NEGATIONS));
    let is_name = |word: &String| is_inflected(word, &AFFIRMS) || is_inflected(word, &EXEMPT);
    words.len() <= 3 && is_fragment(line) && names.next().is_some_and(is_name)
}

/// Returns whether a heading or label says what is excluded, and not for whom or since when
/// something holds: "Not covered", but not "Deprecated" or "For companies".
pub(super) fn excludes(heading: &str) -> bool {
    let words = words(heading);
    let is_state = |word: &String| {
        is_in(word, &LIMITS)
            && ![&NEGATIONS, &EXEMPT, &AFFIRMS, &EXCLUSIONS].iter().any(|list| is_inflected(word, list))
    };
    limits_by_word(heading) && !begins_scope(heading) && !words.iter().any(is_state)
}

/// Returns whether a sentence only replies: "No.", "Yes, always."
pub(super) fn is_reply(sentence: &str) -> bool {
    let first = sentence.split(',').next().unwrap_or_default();
    is_yes_or_no(first) && word_count(sentence) <= MAX_REFUTATION_WORDS
}

/// Returns whether a cell only affirms or negates.
pub(super) fn is_yes_or_no(cell: &str) -> bool {
    words(cell).iter().all(|word| is_in(word, &YES_OR_NO))
}

/// Returns whether a cell only repeats the one above it.
pub(super) fn repeats(cell: &str) -> bool {
    let is_phrase = || word_count(cell) <= MAX_REPEAT_WORDS && begins_with(&words(cell), &REPEATS);
    matches!(cell.trim(), "\"" | "''" | "″" | "〃") || cell.len() <= MAX_OPENING_BYTES && is_phrase()
}

/// Returns whether a text is no sentence: it does not end like one.
pub(super) fn is_fragment(text: &str) -> bool {
    !ends_sentence(text)
}

/// Returns whether a sentence asks.
pub(super) fn is_question(sentence: &str) -> bool {
    without_closers(sentence).ends_with(['?', '？', '؟', '⁇', '\u{37e}'])
}

/// Returns whether a sentence announces what follows.
pub(super) fn ends_with_colon(sentence: &str) -> bool {
    let is_smiley = sentence.trim_end().ends_with(":)") && !sentence.contains('(');
    !is_smiley && without_closers(sentence).ends_with([':', '：'])
}

fn without_closers(sentence: &str) -> &str {
    let is_closer = |c: char| "\"”“’‘'»)] *†‡⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c);
    sentence.trim_end().trim_end_matches(is_closer)
}

/// Returns whether a paragraph is marked as a question: "Q: …", "Frage 3: …".
pub(super) fn is_marked_question(paragraph: &str) -> bool {
    let mark = paragraph.split_once([':', '：', '.']).map_or("", |(mark, _)| mark);
    let words = words(mark.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' '));
    matches!(words.as_slice(), [name] if is_in(name, &QUESTION_MARKS))
}

/// Returns whether a sentence is only the mark of a question or answer: "Q1.", "A."
pub(super) fn is_mark(sentence: &str) -> bool {
    let number = sentence.strip_suffix('.').and_then(|mark| mark.strip_prefix(['A', 'F', 'Q']));
    number.is_some_and(|number| number.len() <= 2 && number.chars().all(|c| c.is_ascii_digit()))
}

/// The number that begins a line of a text with numbered parts, without what closes it: "5.1", "(a", "§ 3".
pub(super) fn part_number(line: &str) -> Option<&str> {
    let number = line.split(char::is_whitespace).next()?.trim_end_matches(['.', ')', ':']);
    let bare = number.trim_start_matches('(');
    let is_closed = line.get(number.len()..)?.starts_with([')', '.']);
    let is_letter = bare.len() == 1 && bare.starts_with(|c: char| c.is_ascii_lowercase()) && is_closed;
    let is_number = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit() || c == '.');
    (is_letter || is_number && (is_closed || number.contains('.'))).then_some(number)
}

/// The first word of a text, without the ending of a possessive.
pub(super) fn first_word(text: &str) -> &str {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    text.split(is_end).next().unwrap_or_default().trim_end_matches(['.', '-'])
}

/// Returns whether a word in small letters is a name by its other characters: "iPhone",
/// "crates.io", "retention_days"; not "e.g".
pub(super) fn is_name(word: &str) -> bool {
    let mut parts = word.split('.');
    let is_long = |part: &str| part.chars().nth(1).is_some();
    let has_other = |part: &str| part.contains(|c: char| c == '_' || c.is_uppercase() || c.is_numeric());
    parts.clone().all(is_long) && (parts.clone().nth(1).is_some() || parts.any(has_other))
}

pub(super) fn word_count(text: &str) -> usize {
    words(text).len()
}

/// The words of a text in lower case. An apostrophe separates, and short endings are dropped: "l'exception" is "l" and "exception", "don't"
/// is "don". A few words keep theirs.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'");
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_')))
        .map(|word| word.trim_matches(['\'', '_']))
        .filter(|word| !word.is_empty())
        .flat_map(|word| match word.split_once('\'') {
            Some((before, after)) if !matches!(before, "c" | "s" | "can" | "doesn") => {
                [Some(before), Some(after).filter(|after| after.len() > MAX_ENDING_BYTES)]
            }
            _ => [Some(word), None],
        })
        .flatten()
        .map(str::to_owned)
        .collect()
}

/// The words and phrases of a role.
struct Phrases {
    name: &'static str,
    by_first_word: OnceLock<HashMap<String, Vec<Vec<String>>>>,
}

impl Phrases {
    const fn of(name: &'static str) -> Self {
        Self { name, by_first_word: OnceLock::new() }
    }

    fn that_begin_with(&self, word: &str) -> &[Vec<String>] {
        self.by_first_word.get_or_init(|| self.read()).get(word).map(Vec::as_slice).unwrap_or_default()
    }

    fn read(&self) -> HashMap<String, Vec<Vec<String>>> {
        let table = include_str!("words.txt").replace("\n   ", " ");
        let role = self.name.to_lowercase().replace('_', " ");
        let (_, section) = table.split_once(&format!("\n[{role}] ")).unwrap_or_default();
        // Below what the role is, each line begins with its language.
        let lines = section.lines().skip(1).map_while(|line| line.split_once(' '));
        let mut index: HashMap<String, Vec<Vec<String>>> = HashMap::new();
        for phrase in lines.flat_map(|(_, phrases)| phrases.split(',')).map(words) {
            index.entry(phrase.first().cloned().unwrap_or_default()).or_default().push(phrase);
        }
        index
    }
}

fn is_in(word: &str, list: &Phrases) -> bool {
    list.that_begin_with(word).iter().any(|phrase| phrase.len() == 1)
}

/// Returns whether a word of a list is meant, in whatever gender, number or case.
fn is_inflected(word: &str, list: &Phrases) -> bool {
    const ENDINGS: [&str; 13] = ["en", "em", "er", "es", "e", "os", "as", "a", "i", "s", "ées", "ée", "és"];
    let stems =
        || ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending)).filter(|stem| stem.len() > 4);
    is_in(word, list)
        || stems().any(|stem| ["", "o", "e"].iter().any(|end| is_in(&format!("{stem}{end}"), list)))
}

fn ends_in(line: &str, list: &Phrases) -> bool {
    words(line).last().is_some_and(|word| is_in(word, list))
}

/// Returns whether words begin with one of the phrases.
fn begins_with(words: &[String], list: &Phrases) -> bool {
    let phrases = words.first().map(|first| list.that_begin_with(first)).unwrap_or_default();
    phrases.iter().any(|phrase| words.starts_with(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_point_back_are_recognized_in_each_language() {
        for sentence in [
            "It is free.",
            "They cost 5 euros.",
            "However, in that case we deduct 10 euros.",
            "The same applies to notes.",
            "It's open.",
            "Er enthält Telefon-Support.",
            "Dies gilt nicht für Bücher.",
            "Elle est gratuite.",
            "Sin embargo, es gratis.",
            "Questo è gratuito.",
            "Isso custa 5 euros.",
            "Dit geldt niet.",
        ] {
            assert!(refers_back(sentence), "{sentence}");
        }
        for sentence in [
            "Items are free.",
            "",
            "…",
            "Italy is far.",
            "We ship it.",
            "Es gibt drei Tarife.",
            "Il y a trois tarifs.",
            "Sie können zahlen.",
        ] {
            assert!(!refers_back(sentence), "{sentence}");
        }
    }

    #[test]
    fn exceptions_and_refutations_are_recognized() {
        for sentence in [
            "It does not.",
            "Except on Sundays.",
            "This does not apply to books.",
            "Das gilt nicht für Bücher.",
            "Sauf le dimanche.",
            "They never do.",
            "They don't.",
            "À l'exception des livres.",
            "Con l’eccezione dei libri.",
        ] {
            assert!(is_exception(sentence), "{sentence}");
        }
        for sentence in ["It is free.", "We do not ship to the islands.", "Das gilt für Bücher."] {
            assert!(!is_exception(sentence), "{sentence}");
        }
    }

    #[test]
    fn headings_that_limit_are_recognized() {
        for heading in [
            "What is not covered",
            "Deprecated",
            "Exclusions",
            "For business customers",
            "In Germany",
            "Prices 2023",
            "Nicht versichert",
            "Sans garantie",
            "Version 1.2",
            "If you are late",
            "Solo para socios",
            "Until May",
        ] {
            assert!(limits(heading), "{heading}");
        }
        for heading in ["Refunds", "Shipping and delivery", "3. Prices", "Opening hours", "Preise"] {
            assert!(!limits(heading), "{heading}");
        }
    }

    #[test]
    fn phrases_are_words_as_texts_have_them() {
        assert!(is_warning("Don't run this.") && is_warning("Let op!"));
        assert!(refers_back("Quest'ultimo è gratuito.") && limits("L'exception"));
        assert!(is_hearsay("Vermeintlich ist es frei.") && is_hearsay("En el pasado era gratis."));
        for list in [&POINTERS, &STANDS_ALONE, &EXCEPTIONS, &LIMITS, &QUESTION_MARKS] {
            assert!(list.that_begin_with("").is_empty() && !list.read().is_empty(), "{}", list.name);
        }
        assert!(is_in("for", &SCOPES) && is_in("tijdens", &SCOPES) && !is_in("except", &SCOPES));
    }

    #[test]
    fn notices_speak_about_their_document() {
        assert!(is_notice("This page is about version 2, which is no longer supported."));
        assert!(is_notice("Diese Anleitung gilt nur für das Modell B."));
        assert!(!is_notice("We do not ship on Sundays.") && !is_notice("This page lists all our shops."));
    }

    #[test]
    fn questions_are_recognized() {
        assert!(is_question("Can I (really)?") && is_question("How?”") && !is_question("Yes."));
        assert!(
            is_marked_question("Q: Can I?")
                && is_marked_question("Frage 3: Wie")
                && !is_marked_question("Question time is at 5")
        );
    }
}
