use super::*;
use crate::chunk::tests::{chunk, passage_of};
use crate::chunk::{QueryTerm, SentenceMatch};
use crate::statement::{Role, StatementKind};

/// The similarity threshold alone.
const FLOOR: EvidenceThresholds = EvidenceThresholds {
    similarity: 0.35,
    confidence: 0.0,
    background: Background { mean: -4.5, deviation: 2.3 },
};

fn failed(rows: &[MatchedChunk], thresholds: &EvidenceThresholds) -> Option<Reason> {
    assess("refunds", rows, thresholds).failed
}

fn term(word: &str) -> QueryTerm {
    QueryTerm { word: word.to_owned(), weight: 1.0 }
}

#[test]
fn the_similarity_threshold_is_inclusive() {
    let passes = |similarity| failed(&[chunk(1, 1, similarity, "Refunds.")], &FLOOR).is_none();
    assert!(passes(0.35) && passes(0.36) && passes(1.0));
    assert!(!passes(0.34) && !passes(0.35_f64.next_down()) && !passes(-1.0));
}

#[test]
fn the_confidence_threshold_is_inclusive_and_zero_turns_it_off() {
    let rows = [chunk(1, 1, 0.5, "Refunds take five days.")];
    let confidence = assess("refunds", &rows, &FLOOR).confidence;
    let thresholds = |confidence| EvidenceThresholds { confidence, ..FLOOR };
    assert!(confidence > 0.0 && confidence < 1.0, "{confidence}");
    assert_eq!(failed(&rows, &thresholds(confidence)), None);
    assert_eq!(failed(&rows, &thresholds(confidence.next_up())), Some(Reason::WeakEvidence));
    assert_eq!(failed(&[chunk(1, 1, 0.36, "Trees.")], &thresholds(0.0)), None);
}

#[test]
fn no_passages_and_only_distant_passages_are_no_match() {
    assert_eq!(failed(&[], &FLOOR), Some(Reason::NoMatch));
    assert_eq!(failed(&[chunk(1, 1, 0.2, "Refunds.")], &FLOOR), Some(Reason::NoMatch));
    let thresholds = EvidenceThresholds { similarity: 0.0, ..FLOOR };
    assert_eq!(failed(&[chunk(1, 1, f64::NAN, "Refunds.")], &thresholds), Some(Reason::NoMatch));
}

#[test]
fn a_row_with_nan_does_not_affect_the_others() {
    let mut broken = chunk(1, 1, f64::NAN, "Refunds take long.");
    broken.score = Some(f64::NAN);
    let rows = [broken, chunk(2, 2, 0.9, "Refunds take five days.")];
    let assessment = assess("How long do refunds take?", &rows, &EvidenceThresholds::default());
    assert_eq!(assessment.passages[0].chunk_id, rows[1].chunk_id);
    assert_eq!(assessment.best_similarity, Some(0.9));
    assert!(assessment.confidence.is_finite());
    assert!(!assessment.passages[1].qualifies);
}

#[test]
fn a_passage_qualifies_by_its_own_similarity_or_that_of_a_sentence() {
    let mut by_sentence = chunk(2, 2, 0.3, "Trees are green. Refunds take five days.");
    by_sentence.sentences[1].similarity = 0.35;
    let rows = [chunk(1, 1, 0.4, "Refunds are free."), by_sentence, chunk(3, 3, 0.34, "Refunds are rare.")];
    let qualifies: Vec<_> =
        assess("refunds", &rows, &FLOOR).passages.iter().map(|passage| passage.qualifies).collect();
    assert_eq!(qualifies, [true, false, true], "in order of rank");
}

#[test]
fn more_evidence_means_more_confidence() {
    let confidence = |similarity, content: &str| {
        let mut row = chunk(1, 1, similarity, content);
        row.query_terms = Some(vec![term("refunds"), term("card"), term("chicago")]);
        assess("Are refunds to a card possible in Chicago?", &[row], &FLOOR).confidence
    };
    assert!(confidence(0.6, "Refunds.") > confidence(0.5, "Refunds."));
    assert!(confidence(0.5, "Refunds by card.") > confidence(0.5, "Refunds by cheque."));
}

#[test]
fn the_default_confidence_refuses_what_the_similarity_threshold_accepts() {
    let mut row = chunk(1, 1, 0.4, "The university opened its library in 1816.");
    row.query_terms = Some(["city", "population", "3.3", "million"].map(term).to_vec());
    let question = "What city has a population of 3.3 million?";
    assert_eq!(assess(question, std::slice::from_ref(&row), &FLOOR).failed, None);
    assert_eq!(assess(question, &[row], &EvidenceThresholds::default()).failed, Some(Reason::WeakEvidence));
}

#[test]
fn only_the_first_five_passages_count() {
    let rows: Vec<_> = (0..9).map(|n| chunk(n, n, 0.9 - n as f64 / 10.0, "Refunds.")).collect();
    let signals = |rows| assess("refunds", rows, &FLOOR).signals.unwrap();
    assert_eq!(signals(&rows), signals(&rows[..5]));
    assert_ne!(signals(&rows), signals(&rows[..4]));
}

#[test]
fn the_score_signal_is_the_score_of_the_first_passage() {
    let mut rows = [chunk(1, 1, 0.6, "Refunds."), chunk(2, 2, 0.5, "Refunds.")];
    rows[0].score = Some(0.4);
    rows[1].score = Some(0.7);
    let score = |rows: &[MatchedChunk]| assess("refunds", rows, &FLOOR).signals.unwrap().score;
    assert_eq!(score(&rows), 0.7);
    rows[1].score = Some(f64::NAN);
    assert_eq!(score(&rows), 0.4);
    rows[0].score = Some(f64::NAN);
    assert!(score(&rows).is_finite());
}

#[test]
fn words_of_a_heading_count_for_the_sentences_below() {
    let sentence = |heading: &str| {
        let chain = [(Role::Heading, heading, None)];
        let statements = [(StatementKind::Sentence, "It takes 5 days.", &chain[..])];
        let mut row = passage_of(1, 0.5, "It takes 5 days.", &statements);
        row.query_terms = Some(vec![term("refunds"), term("days")]);
        assess("How many days for refunds?", &[row], &FLOOR).signals.unwrap().sentence
    };
    assert!(sentence("Refunds") > sentence("Shipping"));
}

#[test]
fn the_confidence_depends_on_the_calibration_of_the_knowledge_base() {
    let rows = [chunk(1, 1, 0.5, "Refunds take five days.")];
    let confidence = |mean, deviation| {
        assess("refunds", &rows, &EvidenceThresholds { background: Background { mean, deviation }, ..FLOOR })
            .confidence
    };
    assert!(confidence(-6.0, 2.0) > confidence(-4.0, 2.0) && confidence(-4.0, 2.0) > confidence(-4.0, 2.4));
    assert_eq!(confidence(-100.0, 1.0), confidence(-50.0, 1.0), "bounded");
    let Background { mean, deviation } = Background::default();
    assert_eq!(confidence(f64::NAN, 1.0), confidence(mean, deviation));
}

#[test]
fn only_words_count_in_a_script_that_the_model_cannot_read() {
    let mut row = chunk(1, 1, 0.95, "تستغرق المبالغ المستردة خمسة أيام.");
    row.lexical = Some(0.3);
    row.query_terms = Some(["كم", "يوما", "تستغرق", "المبالغ", "المستردة"].map(term).to_vec());
    let asked = |question: &str, row: &MatchedChunk| {
        assess(question, std::slice::from_ref(row), &EvidenceThresholds::default())
    };
    let found = asked("كم يوما تستغرق المبالغ المستردة؟", &row);
    assert_eq!((found.failed, found.evidence), (None, None));
    row.query_terms = Some(["أين", "يقع", "البرج"].map(term).to_vec());
    assert_eq!(
        asked("أين يقع البرج؟", &row).failed,
        Some(Reason::UnreadableLanguage),
        "however near the vectors"
    );
    row.lexical = Some(0.0);
    assert_eq!(asked("أين يقع البرج؟", &row).failed, Some(Reason::NoMatch));
    assert_eq!(asked("Why?", &chunk(1, 1, 0.2, "Refunds.")).failed, Some(Reason::NoMatch));
}

#[test]
fn stored_sentences_with_invalid_offsets_are_ignored() {
    let kind = StatementKind::Sentence;
    let sentence = |start, end| SentenceMatch { start, end, similarity: 0.9, kind, chain: Vec::new() };
    let best = |sentences: Vec<SentenceMatch>| {
        let mut row = chunk(1, 1, 0.5, "Größe zählt. Ja.");
        row.sentences = sentences;
        assess("x", &[row], &FLOOR).passages[0].best_sentence
    };
    assert_eq!(best(vec![sentence(0, 12)]), Some(0.9));
    for hostile in [
        vec![],
        vec![sentence(0, 17)],
        vec![sentence(9, 3)],
        vec![sentence(5, 6)],
        vec![sentence(usize::MAX, usize::MAX)],
    ] {
        assert_eq!(best(hostile.clone()), None, "{hostile:?}");
    }
    assert_eq!(best(vec![sentence(0, 99), sentence(13, 16)]), Some(0.9));
}

#[test]
fn strengths_are_ranges_of_the_confidence() {
    assert_eq!(Strength::from_confidence(1.0), Strength::Strong);
    assert_eq!(Strength::from_confidence(calibration::MIN_STRONG_CONFIDENCE), Strength::Strong);
    assert_eq!(Strength::from_confidence(calibration::MIN_STRONG_CONFIDENCE.next_down()), Strength::Good);
    assert_eq!(Strength::from_confidence(calibration::MIN_GOOD_CONFIDENCE), Strength::Good);
    assert_eq!(Strength::from_confidence(calibration::MIN_GOOD_CONFIDENCE.next_down()), Strength::Partial);
    assert_eq!(Strength::from_confidence(f64::NAN), Strength::Partial);
}

#[test]
fn a_question_of_another_model_is_an_error() {
    let rows = [chunk(1, 1, 0.9, "x")];
    assert!(check_model("minilm-1", &rows).is_ok());
    assert_eq!(check_model("minilm-2", &rows).unwrap_err().code, ErrorCode::ModelMismatch);
    assert!(check_model("minilm-2", &[]).is_ok());
}
