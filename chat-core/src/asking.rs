//! The words with which questions ask, such as "when" and "wie lange". They name nothing that a document could be about.
//!
//! The lists are closed classes of grammar, in the languages of the widget and those that are calibrated: English, German, French,
//! Spanish, Italian, Portuguese, Dutch, Arabic, Japanese. Words are compared in the form of [`normalized_word`].

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::words::{is_listed, normalized_word, words};

const QUESTION_WORDS: &str = "\
    how what when where which who whom whose why \
    wann warum was wem wen wer weshalb wie wieso wieviel wo woher wohin \
    welche welchem welchen welcher welches \
    combien comment ou pourquoi quand que quel quelle quels quelles qui quoi \
    como cual cuales cuando cuanta cuantas cuanto cuantos donde quien quienes \
    che chi dove perche quale quali quando quanta quante quanti quanto \
    onde porque quais qual quantas quantos quem \
    hoe hoeveel waar waarom wanneer wat welk welke wie \
    أي أين كم كيف لماذا ما ماذا متى من \
    何 誰";

/// Japanese question words in Hiragana, which has no spaces.
const HIRAGANA_QUESTION_WORDS: &str = "いつ いくつ いくら だれ どうして どうすれば どうですか どうやって どこ どちら どの どれ どんな なぜ なに なん";

/// Words of measure that may follow a question word: "how far", "wie lange". Other English ones are stop words.
const MEASURES: &str = "\
    far time times \
    lang lange oft viel viele weit \
    longtemps souvent temps \
    tempo tiempo veces vezes volte \
    vaak veel ver \
    الوقت مرة وقت";

/// Words that mean the reader of the question: "who are you?" asks about the assistant.
const ADDRESSES: &str = "\
    you your yours \
    dein deine dich dir du euch Ihnen Sie \
    te toi tu vous votre \
    eres estas ustedes usted \
    sei ti voce jij jou \
    أنت أنتم";

/// "And the": what follows is a part of what the dialogue is about ("And the price?"), not another subject ("And bicycles?").
const AND_THE: &[(&str, &[&str])] = &[
    ("and", &["the"]),
    ("und", &["das", "der", "die"]),
    ("et", &["l", "la", "le", "les"]),
    ("y", &["el", "la", "las", "los"]),
    ("e", &["a", "as", "gli", "i", "il", "l", "la", "le", "lo", "o", "os"]),
    ("en", &["de", "het"]),
];

/// How a text asks.
pub(crate) struct Asking {
    /// Whether it has a question word, or names a part of what the dialogue is about, and does not ask about the assistant.
    pub(crate) is_question: bool,
    /// The stems of its question words and words of measure, and its letters in Hiragana, in which Japanese writes its grammar.
    pub(crate) stems: BTreeSet<String>,
}

impl Asking {
    pub(crate) fn new(text: &str) -> Self {
        let asks = text.unicode_words().any(is_question_word)
            || HIRAGANA_QUESTION_WORDS.split(' ').any(|word| text.contains(word))
            || names_a_part(text);
        let is_address =
            |word: &str| is_listed(word, ADDRESSES) || is_listed(&normalized_word(word).base, ADDRESSES);
        let is_of_grammar = |word: &&str| {
            is_question_word(word)
                || (asks && is_listed(&normalized_word(word).base, MEASURES))
                || word.chars().all(|c| ('\u{3041}'..='\u{309f}').contains(&c))
        };
        Self {
            is_question: asks && !text.unicode_words().any(is_address),
            stems: text.unicode_words().filter(is_of_grammar).flat_map(words).collect(),
        }
    }
}

fn names_a_part(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    AND_THE.iter().any(|(and, articles)| *and == first && articles.contains(&second))
}

/// Arabic writes "and", "so", "for" and "with" together with the word that follows.
fn is_question_word(word: &str) -> bool {
    let base = normalized_word(word).base;
    is_listed(&base, QUESTION_WORDS)
        || base.strip_prefix(['و', 'ف', 'ل', 'ب']).is_some_and(|rest| is_listed(rest, QUESTION_WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_word_asks_in_each_language() {
        for text in [
            "And why?",
            "And the price?",
            "Et l’adresse ?",
            "¿Y el precio?",
            "how much",
            "Wie lange?",
            "Und warum?",
            "Bis wann?",
            "Combien de temps ?",
            "Où ?",
            "Pourquoi ?",
            "¿Cuánto tiempo?",
            "¿por qué?",
            "Perché?",
            "Hoe lang?",
            "Onde?",
            "ولماذا؟",
            "متى؟",
            "بكم؟",
            "いつですか？",
            "なぜ？",
            "いくら？",
            "何時まで？",
        ] {
            assert!(Asking::new(text).is_question, "{text}");
        }
    }

    #[test]
    fn thanks_assent_and_questions_about_the_assistant_do_not_ask() {
        for text in [
            "Thanks!",
            "ok",
            "Yes please",
            "No",
            "That is all",
            "And you?",
            "And bicycles?",
            "Who are you?",
            "How are you?",
            "Danke schön",
            "Ja",
            "Wer bist du?",
            "Wer sind Sie?",
            "Merci beaucoup",
            "D'accord",
            "Qui es-tu ?",
            "Gracias",
            "¿Quién eres?",
            "ありがとう",
            "どうも",
            "はい",
            "شكرا",
            "نعم",
            "من أنت؟",
            "",
        ] {
            assert!(!Asking::new(text).is_question, "{text}");
        }
    }

    #[test]
    fn words_of_grammar_are_not_own_words() {
        let stems = |text| Asking::new(text).stems.into_iter().collect::<Vec<_>>();
        assert_eq!(stems("Wie lange dauert das?"), ["lang", "wie"]);
        assert_eq!(stems("Lange Unterhosen"), Vec::<String>::new(), "no question word");
        assert_eq!(stems("ノルウェーはいつ"), ["い", "つ", "は"]);
    }
}
