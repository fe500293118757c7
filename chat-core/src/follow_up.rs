//! Questions that lean on the one before them, such as "And to Switzerland?".
//!
//! Such a question is searched twice: alone, and together with the question before it ([`joined`]). The result of both questions
//! together is used only if
//!
//! 1. the question has at most [`MAX_OWN_WORDS`] words of its own: informative ones, without those of [`asking`](crate::asking),
//! 2. it finds clearly more evidence together with the question before it ([`MIN_GAIN`]), and
//! 3. the passages show that it asks for something:
//!    - the best one has one of its own words ("And to Switzerland?"), or
//!    - it has no own word and asks with a question word ("Until when?"), or
//!    - another passage has an own word, or it asks with a question word ("What if I lose it?"), and the evidence is strong
//!      ([`MIN_EVIDENCE_WITHOUT_OWN_WORD`]).
//!
//! Without the third rule "Thanks!" and "Tell me a joke" would get the answer to the question before them once more: the evidence
//! of both together is that of the question before, however strong it is.
//!
//! The numbers were chosen with the dialogues of the sets in `bench/retrieval/fit`; `cargo xtask bench retrieval` measures.

use unicode_segmentation::UnicodeSegmentation;

use crate::asking::Asking;
use crate::chunk::MatchedChunk;
use crate::evidence::calibration::log_odds;
use crate::evidence::{EvidenceThresholds, query_terms, ranked};
use crate::limits::MAX_MESSAGE_CHARS;
use crate::passage::Passage;
use crate::question::Question;
use crate::reading::{MAX_READ_PASSAGES, PassageToRead, Reading, is_to_read};
use crate::respond::{Response, Search, Verdict, apply};

/// Informative words of a question that may lean on the one before it. Questions that stand alone mostly have three or more.
const MAX_OWN_WORDS: usize = 2;

/// Words of a question that may lean on the one before it, stop words included. A longer one is not searched for twice.
const MAX_WORDS: usize = 16;

/// By how much the evidence of both questions together must exceed that of the question alone, in log-odds. What follows up on
/// nothing usually gains less from the words of the question before it.
const MIN_GAIN: f64 = 1.25;

/// The evidence above the midpoint, in log-odds, that both questions together need if the best passage has no word of the second
/// one. At 2.0 the confidence is 0.88.
const MIN_EVIDENCE_WITHOUT_OWN_WORD: f64 = 2.0;

/// The rows of a search for a question and the one before it.
#[derive(Debug, Clone, Copy)]
pub struct JoinedSearch<'a> {
    /// The searched text, from [`joined`].
    pub text: &'a str,
    /// The rows.
    pub rows: &'a [MatchedChunk],
}

/// Whether a question is short enough to lean on the one before it, so that it is worth searching for both together.
pub fn may_lean(question: &str) -> bool {
    question.split_word_bounds().filter(|word| word.contains(char::is_alphanumeric)).nth(MAX_WORDS).is_none()
}

/// The text of a question and the one before it, for their vector and for the search by words. The question comes first, because
/// model and search read only the beginning of a long text. At most [`MAX_MESSAGE_CHARS`] characters.
pub fn joined(question: &str, previous: &str) -> String {
    let text = format!("{question} {previous}");
    let end = text.char_indices().nth(MAX_MESSAGE_CHARS).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default().trim_end().to_owned()
}

/// Answers a question that is not the first of its conversation, like [`respond`](crate::respond()). `true` means that the
/// response is to both questions together. The searches decide that; with a reading, an answer of one goes before a refusal of the
/// other.
pub fn respond_to_follow_up(
    question: &str,
    rows: &[MatchedChunk],
    joined: JoinedSearch<'_>,
    reading: Option<&Reading>,
    thresholds: &EvidenceThresholds,
    include_citations: bool,
) -> (Response, bool) {
    let mut alone = Search::new(question, rows, thresholds);
    let Some(mut both) = together(question, &alone, joined, thresholds) else {
        apply(reading, &mut [&mut alone]);
        return (alone.respond(include_citations), false);
    };
    let leans = both.is_answered();
    apply(reading, &mut [&mut alone, &mut both]);
    let (alone, both) = (alone.respond(include_citations), both.respond(include_citations));
    let is_answer = |response: &Response| matches!(response.verdict, Verdict::Answer(_));
    let is_used = if is_answer(&both) == is_answer(&alone) { leans } else { is_answer(&both) };
    (if is_used { both } else { alone }, is_used)
}

/// The question and the passages that the reader should read, in the order of their rank. `joined` is the search for the question and
/// the one before it, if there was one before it; the passages are of the search that [`respond`](crate::respond()) or
/// [`respond_to_follow_up`] answers from.
pub fn passages_to_read(
    question: &str,
    rows: &[MatchedChunk],
    joined: Option<JoinedSearch<'_>>,
    thresholds: &EvidenceThresholds,
) -> (String, Vec<PassageToRead>) {
    let alone = Search::new(question, rows, thresholds);
    let both = joined.and_then(|joined| Some((joined, together(question, &alone, joined, thresholds)?)));
    match both.filter(|(_, both)| both.is_answered()) {
        Some((joined, both)) => (joined.text.to_owned(), to_read(&both)),
        None => (question.to_owned(), to_read(&alone)),
    }
}

fn to_read(search: &Search<'_>) -> Vec<PassageToRead> {
    if !search.question.is_for_reader() {
        return Vec::new();
    }
    let passages = search.passages.iter().filter(|passage| is_to_read(passage));
    passages.take(MAX_READ_PASSAGES).map(PassageToRead::new).collect()
}

/// The search for a question and the one before it, if the question leans on that one.
pub(crate) fn together<'r>(
    question: &str,
    alone: &Search<'_>,
    joined: JoinedSearch<'r>,
    thresholds: &EvidenceThresholds,
) -> Option<Search<'r>> {
    let Asking { is_question, stems } = Asking::new(question);
    let own = alone.question.without(&stems);
    if own.word_count() > MAX_OWN_WORDS || (own.word_count() == 0 && !is_question) {
        return None;
    }
    let passages = ranked(joined.rows);
    let both = Question::joined(joined.text, question, query_terms(joined.rows), &passages);
    let both = Search::assessed(both, passages, thresholds);
    let evidence = log_odds(both.assessment.confidence);
    let gain = evidence - log_odds(alone.assessment.confidence);
    let has_own_word = |passage: &Passage<'_>| own.coverage(|word| passage.words().contains(word)) > 0.0;
    let asks_for_something = own.word_count() == 0
        || both.passages.first().is_some_and(has_own_word)
        || (evidence >= MIN_EVIDENCE_WITHOUT_OWN_WORD
            && (is_question || both.passages.iter().any(has_own_word)));
    (gain >= MIN_GAIN && asks_for_something).then_some(both)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::QueryTerm;
    use crate::chunk::tests::chunk;
    use crate::respond;

    const PREVIOUS: &str = "How long does delivery to Italy take?";
    const ITALY: &str = "Delivery to Italy takes 4 days.";
    const NORWAY: &str = "Delivery to Norway takes 9 days.";

    fn row(id: u128, similarity: f64, content: &str, words: &[&str]) -> MatchedChunk {
        let mut row = chunk(id, id, similarity, content);
        let term = |word: &&str| QueryTerm { word: (*word).to_owned(), weight: 3.0 };
        row.query_terms = Some(words.iter().map(term).collect());
        row
    }

    fn respond_after(question: &str, alone: &[MatchedChunk], both: &[MatchedChunk]) -> (Response, bool) {
        let text = joined(question, PREVIOUS);
        let search = JoinedSearch { text: &text, rows: both };
        respond_to_follow_up(question, alone, search, None, &EvidenceThresholds::default(), true)
    }

    fn text(response: &Response) -> Option<String> {
        match &response.verdict {
            Verdict::Answer(answer) => Some(answer.deltas.concat()),
            Verdict::Refuse(_) => None,
        }
    }

    #[test]
    fn a_question_that_leans_on_the_one_before_it_is_answered_together_with_it() {
        let alone = [row(1, 0.3, "Norway is cold.", &["norway"])];
        let both = [row(2, 0.8, NORWAY, &["norway", "delivery", "italy"])];
        let (response, is_joined) = respond_after("And to Norway?", &alone, &both);
        assert!(is_joined);
        assert_eq!(text(&response).as_deref(), Some("Delivery to Norway takes 9 days. [1]"));
    }

    #[test]
    fn an_answer_quotes_what_the_question_asks_for_and_not_what_the_one_before_it_did() {
        let words = ["norway", "delivery", "italy", "take"];
        let both = [row(1, 0.8, &format!("{ITALY} {NORWAY}"), &words)];
        let (response, _) = respond_after("And to Norway?", &[row(2, 0.1, "Trees.", &["norway"])], &both);
        assert!(text(&response).is_some_and(|text| text.starts_with(NORWAY)), "{:?}", text(&response));
    }

    #[test]
    fn a_question_with_three_informative_words_stands_alone() {
        let words = ["norway", "delivery", "italy"];
        let alone = |words: &[&str]| [row(1, 0.3, "Trees.", words)];
        let both = [row(2, 0.9, NORWAY, &words)];
        assert!(respond_after("Norway delivery?", &alone(&words[..2]), &both).1);
        let (response, is_joined) = respond_after("Norway delivery, Italy?", &alone(&words), &both);
        assert_eq!((text(&response), is_joined), (None, false));
    }

    #[test]
    fn without_clearly_more_evidence_the_question_is_answered_alone() {
        let similarity = |similarity: f64| [row(1, similarity, NORWAY, &["norway"])];
        assert!(respond_after("And to Norway?", &similarity(0.3), &similarity(0.9)).1);
        assert!(!respond_after("And to Norway?", &similarity(0.9), &similarity(0.9)).1);
        assert!(!respond_after("And to Norway?", &similarity(0.9), &similarity(0.5)).1);
    }

    #[test]
    fn what_asks_for_nothing_in_the_passages_never_gets_the_answer_before_it_again() {
        for (question, own) in [
            ("Thanks!", &["thanks"][..]),
            ("ok", &["ok"]),
            ("Hello", &["hello"]),
            ("Tell me a joke", &["joke"]),
            ("Is it raining?", &["raining"]),
            ("And canoes?", &["canoes"]),
            ("No", &[]),
            ("That is all", &[]),
            ("Who are you?", &[]),
            ("How are you?", &[]),
            ("Danke!", &["danke"]),
            ("Merci beaucoup", &["merci", "beaucoup"]),
            ("¡Gracias!", &["gracias"]),
            ("ありがとう", &["ありがとう"]),
            ("شكرا", &["شكرا"]),
        ] {
            let alone = [row(1, 0.1, "Trees.", own)];
            let both = [row(2, 0.99, ITALY, &[own, &["delivery", "italy", "take"]].concat())];
            let together =
                respond(&joined(question, PREVIOUS), &both, None, &EvidenceThresholds::default(), true);
            assert!(matches!(together.verdict, Verdict::Answer(_)), "{question}");
            let (response, is_joined) = respond_after(question, &alone, &both);
            assert_eq!((text(&response), is_joined), (None, false), "{question}");
        }
    }

    #[test]
    fn without_a_word_of_the_question_in_the_best_passage_only_strong_evidence_counts() {
        let words = ["last", "delivery", "italy", "take"];
        let alone = [row(1, 0.1, "Trees.", &["last"])];
        let both = |similarity: f64| [row(2, similarity, ITALY, &words)];
        let weak = (0..100).map(|step| f64::from(step) / 100.0).find(|similarity| {
            let text = joined("What lasts?", PREVIOUS);
            let together = respond(&text, &both(*similarity), None, &EvidenceThresholds::default(), true);
            matches!(together.verdict, Verdict::Answer(_))
        });
        let weak = weak.unwrap();
        assert!(!respond_after("What lasts?", &alone, &both(weak)).1);
        assert!(respond_after("What lasts?", &alone, &both(0.95)).1);
        assert!(!respond_after("It lasts", &alone, &both(0.95)).1, "it does not ask");
        let other = |similarity| [both(similarity), [row(3, 0.1, "Snow lasts.", &words)]].concat();
        assert!(respond_after("Longer lasting?", &alone, &other(0.95)).1, "another passage has its word");
        assert!(!respond_after("Longer lasting?", &alone, &other(weak)).1);
        // "How long?" has no word of its own, so none can be missing.
        let alone = [row(1, 0.1, "Trees.", &[])];
        assert!(respond_after("And how long?", &alone, &both(weak)).1);
    }

    #[test]
    fn a_question_of_grammar_alone_is_answered_together_with_the_one_before_it() {
        for (question, own) in [
            ("And how long?", &[][..]),
            ("Until when?", &[]),
            ("Wie lange?", &["lange"]),
            ("Und warum?", &["warum"]),
            ("Combien de temps ?", &["combien", "temps"]),
            ("¿Cuánto tiempo?", &["cuánto", "tiempo"]),
            ("いつですか？", &["いつですか"]),
            ("متى؟", &["متى"]),
        ] {
            let alone = [row(1, 0.1, "Trees.", own)];
            let both = [row(2, 0.95, ITALY, &[own, &["delivery", "italy", "take"]].concat())];
            let (response, is_joined) = respond_after(question, &alone, &both);
            assert!(is_joined && text(&response).is_some(), "{question}");
        }
    }

    #[test]
    fn if_both_are_refused_the_refusal_is_that_of_the_question_alone() {
        let far = [row(1, 0.1, "Trees.", &["norway"])];
        let (response, is_joined) = respond_after("And to Norway?", &far, &[row(2, 0.2, ITALY, &["norway"])]);
        assert_eq!((text(&response), is_joined), (None, false));
        assert!(!respond_after("And to Norway?", &far, &[]).1);
        assert!(!respond_after("And to Norway?", &[], &[]).1);
    }

    #[test]
    fn only_a_name_of_the_question_itself_hedges_its_answer() {
        let words = ["norway", "delivery", "italy", "2024"];
        let hedged = |question: &str| {
            let alone = [row(1, 0.1, "Trees.", &["norway"])];
            let (response, is_joined) = respond_after(question, &alone, &[row(2, 0.99, NORWAY, &words)]);
            assert!(is_joined);
            matches!(response.verdict, Verdict::Answer(answer) if answer.hedged)
        };
        assert!(!hedged("And to Norway?"), "Italy, which only the question before it names, is missing");
        assert!(hedged("And to Norway in 2024?"));
    }

    #[test]
    fn a_long_question_stands_alone() {
        assert!(may_lean("And to Norway?") && may_lean("") && may_lean(&"a, ".repeat(16)));
        assert!(!may_lean(&"a ".repeat(17)) && !may_lean(&"字".repeat(17)));
    }

    #[test]
    fn the_question_comes_first_and_is_never_cut_off() {
        assert_eq!(joined("And to Norway?", PREVIOUS), format!("And to Norway? {PREVIOUS}"));
        let long = "é".repeat(MAX_MESSAGE_CHARS);
        assert_eq!(joined(&long, "x"), long);
        assert_eq!(joined("a", &long).chars().count(), MAX_MESSAGE_CHARS);
    }

    proptest! {
        #[test]
        fn the_response_is_that_of_one_of_the_searches(
            question in "[a-zA-Z0-9éß字 ?]{1,60}",
            previous in "[a-zA-Z0-9éß字 ?]{1,60}",
            contents in prop::collection::vec(("[a-zé字0-9. \n-]{0,60}", -1.0..1.0_f64), 0..6),
            split in 0..6_usize,
        ) {
            let rows: Vec<_> = contents.iter().enumerate()
                .map(|(id, (content, similarity))| chunk(id as u128, id as u128, *similarity, content)).collect();
            let (alone, both) = rows.split_at(split.min(rows.len()));
            let thresholds = EvidenceThresholds::default();
            let text = joined(&question, &previous);
            let search = JoinedSearch { text: &text, rows: both };
            let (response, is_joined) = respond_to_follow_up(&question, alone, search, None, &thresholds, true);
            if !is_joined {
                let expected = respond(&question, alone, None, &thresholds, true);
                prop_assert_eq!(&response.assessment, &expected.assessment);
                prop_assert_eq!(&response.verdict, &expected.verdict);
            }
            prop_assert!(!is_joined || matches!(response.verdict, Verdict::Answer(_)));
            if let Verdict::Answer(answer) = &response.verdict {
                let searched = if is_joined { both } else { alone };
                for citation in &answer.citations {
                    prop_assert!(searched.iter().any(|row| row.chunk_id == citation.passage.chunk_id));
                }
            }
        }
    }
}
