//! The informative words of a question and their weights.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::chunk::QueryTerm;
use crate::passage::Passage;
use crate::sentences::sentences;
use crate::words::{informative_words, is_german, is_one_typo_away, is_stop_word, words};

/// Words that count; the same limit as in `match_chunks`.
const MAX_TERMS: usize = 64;

/// Words one typo away that are treated as the same word of the question. Bounds the cost of passages that consist of such
/// words.
const MAX_TYPOS: usize = 8;

/// The longest question that the reader reads, in words: of its 64 tokens, certainly to the end. With the longer ones of govuk read, the
/// sentences that ask first, it has .596 first and .802 in three statements; decided by the search, .609 and .787.
const MAX_READ_WORDS: usize = 40;

/// The weight of words if the search gives none: that of a word in every twentieth passage.
const UNKNOWN_WEIGHT: f64 = 3.0;

/// How much more a word of a question weighs than one of the question before it. With less, an answer quotes what the question
/// before it asked for.
const OWN_WEIGHT: f64 = 3.0;

/// The informative words of a question.
#[derive(Clone)]
pub(crate) struct Question {
    terms: Vec<Term>,
    /// Sum of their weights.
    total: f64,
    is_readable: bool,
    is_long: bool,
}

#[derive(Clone)]
struct Term {
    stem: String,
    /// The stem and, if no passage contains it, the words of the passages that are one typo away.
    forms: BTreeSet<String>,
    weight: f64,
    /// Whether it is written like a name or a number, and in the sentence that asks.
    is_name: bool,
}

impl Question {
    /// `query_terms` are the words with the weights of the search; without them all words have the same weight.
    pub(crate) fn new(text: &str, query_terms: Option<&[QueryTerm]>, passages: &[Passage<'_>]) -> Self {
        let names = names(actual_question(text));
        let mut terms: Vec<Term> = Vec::new();
        for (stem, weight) in weighted_stems(text, query_terms) {
            if terms.len() == MAX_TERMS {
                break;
            }
            if terms.iter().any(|term| term.forms.contains(&stem)) || !(weight > 0.0 && weight.is_finite()) {
                continue;
            }
            let is_name = names.contains(&stem);
            terms.push(Term { forms: word_forms(&stem, passages), stem, weight, is_name });
        }
        let total = terms.iter().map(|term| term.weight).sum();
        let is_long = text.split_whitespace().nth(MAX_READ_WORDS).is_some();
        Self { terms, total, is_readable: is_readable(text), is_long }
    }

    /// A question that was searched together with the one before it, in the form of [`joined`](crate::follow_up::joined).
    /// Only its own names and numbers can be missing from an answer.
    pub(crate) fn joined(
        joined: &str,
        question: &str,
        query_terms: Option<&[QueryTerm]>,
        passages: &[Passage<'_>],
    ) -> Self {
        let mut both = Self::new(joined, query_terms, passages);
        let names = names(actual_question(question));
        let own: BTreeSet<String> = words(question).collect();
        for term in &mut both.terms {
            term.is_name = names.contains(&term.stem);
            if own.contains(&term.stem) {
                term.weight *= OWN_WEIGHT;
            }
        }
        both.total = both.terms.iter().map(|term| term.weight).sum();
        both
    }

    /// The number of informative words.
    pub(crate) fn word_count(&self) -> usize {
        self.terms.len()
    }

    /// Whether the embedding model can read the question. If not, only its words count.
    pub(crate) fn is_readable(&self) -> bool {
        self.is_readable
    }

    /// Whether the reader reads it.
    pub(crate) fn is_for_reader(&self) -> bool {
        self.is_readable && !self.is_long
    }

    /// The sum of the weights (inverse document frequencies, in nats) of all words.
    pub(crate) fn weight(&self) -> f64 {
        self.total
    }

    /// The weight of the words for which `has_word` is true, as a share of the total, from 0 to 1.
    pub(crate) fn coverage(&self, has_word: impl Fn(&str) -> bool) -> f64 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let covered = self.terms.iter().filter(|term| term.is_covered(&has_word)).map(|term| term.weight);
        covered.sum::<f64>() / self.total
    }

    /// The number of names and numbers for which `has_word` is false. Only the name itself counts: one that differs in a letter
    /// may be a typo or another name.
    pub(crate) fn missing_names(&self, has_word: impl Fn(&str) -> bool) -> usize {
        self.terms.iter().filter(|term| term.is_name && !has_word(&term.stem)).count()
    }

    /// The question without the words of these stems.
    pub(crate) fn without(&self, stems: &BTreeSet<String>) -> Self {
        let mut rest = self.clone();
        rest.terms.retain(|term| !stems.contains(&term.stem));
        rest.total = rest.terms.iter().map(|term| term.weight).sum();
        rest
    }
}

impl Term {
    fn is_covered(&self, has_word: &impl Fn(&str) -> bool) -> bool {
        #[cfg(test)]
        crate::work::add(self.forms.len());
        self.forms.iter().any(|form| has_word(form))
    }
}

/// Stems with weights, single words first. Postgres lists a compound such as "state-of-the-art" or a URL next to its parts, with
/// a high weight because the whole is rare. That weight is divided among its informative parts; a part that is listed itself
/// keeps its own weight.
fn weighted_stems(text: &str, query_terms: Option<&[QueryTerm]>) -> Vec<(String, f64)> {
    let Some(terms) = query_terms else {
        return informative_words(text).map(|stem| (stem, UNKNOWN_WEIGHT)).collect();
    };
    let with_stems = terms.iter().map(|term| (words(&term.word).collect::<Vec<_>>(), term));
    let (single, compound): (Vec<_>, Vec<_>) = with_stems.partition(|(stems, _)| stems.len() == 1);
    let parts = compound.into_iter().flat_map(|(_, term)| {
        let stems: Vec<_> = informative_words(&term.word).collect();
        let share = term.weight / stems.len().max(1) as f64;
        stems.into_iter().map(move |stem| (stem, share))
    });
    let single = single.into_iter().filter(|(_, term)| !is_stop_word(&term.word));
    let single = single.flat_map(|(stems, term)| stems.into_iter().map(|stem| (stem, term.weight)));
    single.chain(parts).collect()
}

/// Whether at least half of the letters are Latin. The vocabulary of all-MiniLM-L6-v2 has words of Latin script only; texts in
/// other scripts become single letters, and their vectors are similar whatever they say. `match_chunks` uses the same rule
/// (`internal.kb_is_readable`).
fn is_readable(text: &str) -> bool {
    let is_latin = |c: &char| *c <= '\u{24f}' || ('\u{1e00}'..='\u{1eff}').contains(c);
    let (latin, other): (Vec<char>, Vec<char>) =
        text.chars().filter(|c| c.is_alphabetic()).partition(is_latin);
    latin.len() >= other.len()
}

/// The sentence that asks: the last one with a question mark, else the whole text. Other sentences may describe a situation.
fn actual_question(text: &str) -> &str {
    let sentences = sentences(text, 0..text.len());
    let asked = sentences.into_iter().rev().filter_map(|range| text.get(range));
    asked.into_iter().find(|sentence| sentence.contains('?')).unwrap_or(text)
}

fn word_forms(stem: &str, passages: &[Passage<'_>]) -> BTreeSet<String> {
    let is_known = passages.iter().any(|passage| passage.words().contains(stem));
    let mut forms = BTreeSet::from([stem.to_owned()]);
    if !is_known {
        // Best passages first.
        for word in passages.iter().flat_map(Passage::words) {
            if is_one_typo_away(word, stem) {
                forms.insert(word.clone());
            }
            if forms.len() > MAX_TYPOS {
                break;
            }
        }
    }
    forms
}

/// Stems of the words that are written like a name (capitalized, not first in a sentence) or like a number. Capitals are no
/// sign of a name in a text without lower case or in German.
fn names(text: &str) -> BTreeSet<String> {
    let starts_with = |word: &str, is: fn(char) -> bool| word.chars().next().is_some_and(is);
    let has_lower_case = text.unicode_words().any(|word| starts_with(word, char::is_lowercase));
    let capitals_are_names = has_lower_case && !is_german(text);
    let is_name = |(position, word): &(usize, &str)| {
        (*position > 0 && capitals_are_names && starts_with(word, char::is_uppercase))
            || starts_with(word, char::is_numeric)
    };
    // Digits grouped by commas are one number.
    let is_whole = |word: &str, stem: &String| !word.contains(',') || word.replace(',', "") == *stem;
    let ranges = sentences(text, 0..text.len());
    let of_sentence = |sentence: &str| -> Vec<String> {
        let named = sentence.unicode_words().enumerate().filter(is_name);
        named.flat_map(|(_, word)| words(word).filter(move |stem| is_whole(word, stem))).collect()
    };
    ranges.into_iter().filter_map(|range| text.get(range)).flat_map(of_sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::chunk;

    fn term(word: &str, weight: f64) -> QueryTerm {
        QueryTerm { word: word.to_owned(), weight }
    }

    fn coverage(question: &Question, text: &str) -> f64 {
        let words: BTreeSet<String> = words(text).collect();
        question.coverage(|word| words.contains(word))
    }

    #[test]
    fn coverage_is_the_share_of_the_weight() {
        let terms = [term("refunds", 3.0), term("card", 1.0)];
        let question = Question::new("Refunds by card?", Some(&terms), &[]);
        assert_eq!(coverage(&question, "A refund."), 0.75);
        assert_eq!(coverage(&question, "Refunded to cards."), 1.0);
        assert_eq!(coverage(&question, "Trees."), 0.0);
    }

    #[test]
    fn the_number_of_typos_treated_as_the_word_is_limited() {
        let typos: String = ('a'..='z').map(|letter| format!("re{letter}fund ")).collect();
        let rows = [chunk(1, 1, 0.5, "A reffund."), chunk(2, 2, 0.4, &typos)];
        let passages: Vec<_> = rows.iter().map(Passage::new).collect();
        let question = Question::new("refund", None, &passages);
        assert_eq!(question.terms[0].forms.len(), 1 + MAX_TYPOS);
        assert_eq!(coverage(&question, "reffund"), 1.0, "the best passage comes first");
    }

    #[test]
    fn without_weights_all_informative_words_count_the_same() {
        let question = Question::new("What are the refunds by card?", None, &[]);
        assert_eq!(coverage(&question, "the refund"), 0.5);
    }

    #[test]
    fn a_question_without_informative_words_has_no_coverage() {
        for terms in [Some(&[][..]), None] {
            assert_eq!(coverage(&Question::new("What is it?", terms, &[]), "what is it"), 0.0);
        }
    }

    #[test]
    fn invalid_weights_are_ignored() {
        let terms =
            [term("a", f64::NAN), term("b", -1.0), term("c", f64::INFINITY), term("d", 0.0), term("e", 2.0)];
        assert_eq!(coverage(&Question::new("a b c d e", Some(&terms), &[]), "e"), 1.0);
    }

    #[test]
    fn a_repeated_word_counts_once() {
        let terms = [term("refund", 1.0), term("refunds", 1.0), term("card", 1.0)];
        assert_eq!(coverage(&Question::new("", Some(&terms), &[]), "card"), 0.5);
    }

    #[test]
    fn a_compound_counts_once_and_its_stop_words_do_not_count() {
        let terms = [term("state-of-the-art", 4.0), term("state", 1.0), term("refund", 3.0)];
        let question = Question::new("", Some(&terms), &[]);
        assert_eq!(coverage(&question, "of the"), 0.0);
        assert_eq!(coverage(&question, "state"), 1.0 / 6.0, "its own weight, not that of the compound");
        assert_eq!(coverage(&question, "refund"), 0.5);
    }

    #[test]
    fn a_typo_is_tolerated_only_if_no_passage_contains_the_word() {
        let row = chunk(1, 1, 0.5, "Warsaw is big. The mayors rule.");
        let passages = [Passage::new(&row)];
        let terms = [term("warzaw", 1.0)];
        assert_eq!(coverage(&Question::new("", Some(&terms), &passages), "Warsaw"), 1.0);
        let terms = [term("mayor", 1.0)];
        assert_eq!(coverage(&Question::new("", Some(&terms), &passages), "major"), 0.0);
    }

    #[test]
    fn another_number_does_not_cover_a_number_and_a_similar_name_is_missing() {
        let row = chunk(1, 1, 0.5, "The shop in Zambia is open on 23.12.2024, postcode 10115.");
        let passages = [Passage::new(&row)];
        let asked = |text: &str| {
            let question = Question::new(text, None, &passages);
            let has = |word: &str| passages[0].words().contains(word);
            (question.coverage(has), question.missing_names(has))
        };
        assert_eq!(asked("24.12.2024"), (0.0, 1));
        assert_eq!(asked("10117"), (0.0, 1));
        assert_eq!(asked("And in Gambia?"), (1.0, 1), "found, but perhaps another country");
        assert_eq!(asked("And in Zambia?"), (1.0, 0));
    }

    #[test]
    fn german_nouns_are_not_names() {
        let stems = |text| names(text).into_iter().collect::<Vec<_>>();
        assert_eq!(stems("Wie lange dauert die Lieferung nach Norwegen in 2024?"), ["2024"]);
        assert_eq!(stems("Which wars did Otto von Bismarck win?"), ["bismarck", "otto"]);
    }

    #[test]
    fn names_are_capitalized_words_inside_a_sentence_and_numbers() {
        let stems = |text| names(text).into_iter().collect::<Vec<_>>();
        assert_eq!(stems("Who built Chicago Library in 1892?"), ["1892", "chicago", "librari"]);
        assert_eq!(stems("Refunds for cards"), Vec::<String>::new());
        assert_eq!(stems("I moved. Change my 10,000 addresses"), ["10000"]);
        assert_eq!(stems("WHO BUILT CHICAGO IN 1892"), ["1892"]);
        let question = Question::new("Is Harvard in Chicago?", None, &[]);
        let there: BTreeSet<String> = words("Chicago is big").collect();
        assert_eq!(question.missing_names(|word| there.contains(word)), 1);
    }
}
