//! How strict the thresholds may be for a question to be answered. The Worker stores these numbers, so that the database can count
//! what other thresholds would have done to earlier questions.

use std::cmp::Ordering;

use serde::Serialize;

use crate::evidence::calibration::confidence_with_reader;
use crate::evidence::{EvidenceThresholds, PassageAssessment};
use crate::passage::Passage;
use crate::question::Question;

/// The highest thresholds that the evidence reaches. They do not depend on the thresholds in force.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reach {
    /// The highest [`EvidenceThresholds::similarity`], of those up to 1.
    pub similarity: f64,
    /// The highest [`EvidenceThresholds::confidence`].
    pub confidence: f64,
}

impl Reach {
    /// One, and one more for each less similar passage in which the reader finds more than in those before. `confidence` is that of
    /// the search. Empty if the question is refused whatever the thresholds, because the passages contain nothing to quote.
    pub(crate) fn all(
        question: &Question,
        passages: &[Passage<'_>],
        assessed: &[PassageAssessment],
        confidence: f64,
    ) -> Vec<Self> {
        let quotable = passages.iter().zip(assessed).filter(|(passage, _)| !passage.sentences.is_empty());
        let quotable =
            quotable.map(|(passage, assessed)| (highest_threshold(question, assessed), passage.best_z()));
        let mut quotable: Vec<_> = quotable.filter(|(similarity, _)| !similarity.is_nan()).collect();
        // The most similar first, and of equal ones that with the largest z.
        quotable.sort_by(|a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        let mut reaches: Vec<Self> = Vec::new();
        for (similarity, z) in quotable {
            let confidence = z.map_or(confidence, |z| confidence_with_reader(confidence, z));
            if reaches.last().is_none_or(|last| confidence > last.confidence) {
                reaches.push(Self { similarity, confidence });
            }
        }
        reaches
    }

    /// Whether the question is answered with these thresholds.
    pub fn is_answered_with(&self, thresholds: &EvidenceThresholds) -> bool {
        self.similarity >= thresholds.similarity && self.confidence >= thresholds.confidence
    }
}

/// The highest similarity threshold with which a passage qualifies; NaN if it never does.
fn highest_threshold(question: &Question, passage: &PassageAssessment) -> f64 {
    if question.is_readable() {
        // The maximum of a number and NaN is the number.
        passage.best_sentence.map_or(passage.similarity, |best| best.max(passage.similarity))
    } else if passage.qualifies {
        1.0
    } else {
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::tests::chunk;
    use crate::chunk::{MatchedChunk, QueryTerm};
    use crate::follow_up::{JoinedSearch, joined, respond_to_follow_up};
    use crate::reading::tests::{any_reading, reading};
    use crate::{Response, Verdict, respond};

    /// Content, similarity, score and share of words of a passage.
    type Found = (String, f64, Option<f64>, Option<f64>);

    fn thresholds(similarity: f64, confidence: f64) -> EvidenceThresholds {
        EvidenceThresholds { similarity, confidence, ..EvidenceThresholds::default() }
    }

    fn is_answered(response: &Response) -> bool {
        matches!(response.verdict, Verdict::Answer(_))
    }

    /// Asserts that the numbers recorded with the default thresholds predict the verdict with others, also exactly at the limits.
    fn assert_predicts(
        respond: impl Fn(&EvidenceThresholds) -> Response,
        other: (f64, f64),
    ) -> Result<(), TestCaseError> {
        let reaches = respond(&EvidenceThresholds::default()).reaches;
        let limits = reaches.iter().map(|reach| (reach.similarity, reach.confidence));
        let above = limits.clone().flat_map(|(similarity, confidence)| {
            [
                (similarity.next_up(), confidence),
                (similarity, confidence.next_up()),
                (similarity, 0.0),
                (0.0, confidence),
            ]
        });
        let all = limits.clone().chain(above).chain([other, (0.0, 0.0), (1.0, 0.0)]);
        for (similarity, confidence) in all.filter(|(similarity, _)| *similarity <= 1.0) {
            let thresholds = thresholds(similarity, confidence);
            let response = respond(&thresholds);
            let predicted = reaches.iter().any(|reach| reach.is_answered_with(&thresholds));
            prop_assert_eq!(is_answered(&response), predicted, "{:?} {:?}", thresholds, reaches);
            prop_assert_eq!(&response.reaches, &reaches, "the numbers do not depend on the thresholds");
        }
        Ok(())
    }

    fn rows(found: &[Found], words: &[String]) -> Vec<MatchedChunk> {
        let row = |(id, (content, similarity, score, lexical)): (usize, &Found)| {
            let mut row = chunk(id as u128, id as u128, *similarity, content);
            (row.score, row.lexical) = (*score, *lexical);
            if let Some(sentence) = row.sentences.first_mut() {
                sentence.similarity = -similarity;
            }
            row.query_terms =
                Some(words.iter().map(|word| QueryTerm { word: word.clone(), weight: 2.0 }).collect());
            row
        };
        found.iter().enumerate().map(row).collect()
    }

    fn found() -> impl Strategy<Value = Vec<Found>> {
        let similarity = prop_oneof![9 => -1.0..1.0_f64, 1 => Just(f64::NAN)];
        let content = prop_oneof![
            4 => "[a-dé字. \n#:-]{0,60}",
            1 => Just("***".to_owned()),
            3 => "(A|B|Norway) (is|has) [a-d]{1,5}\\. [a-d ]{5,20}\\.",
        ];
        prop::collection::vec(
            (content, similarity, prop::option::of(-1.0..1.0_f64), prop::option::of(0.0..1.0_f64)),
            0..7,
        )
    }

    proptest! {
        #[test]
        fn the_numbers_of_a_question_predict_what_other_thresholds_do(
            question in prop_oneof!["[a-d ?]{1,30}", "[اأبت ]{3,20}", "(Norway|B) [a-d]{1,5}\\?"],
            found in found(),
            words in prop::collection::vec("[a-dé]{1,3}|norway", 0..4),
            other in (0.0..1.0_f64, 0.0..1.0_f64),
            read in any_reading(),
        ) {
            let rows = rows(&found, &words);
            for reading in [None, Some(&read.of(&rows))] {
                assert_predicts(|thresholds| respond(&question, &rows, reading, thresholds, true), other)?;
            }
        }

        #[test]
        fn the_numbers_of_a_follow_up_predict_what_other_thresholds_do(
            question in "[a-d ?]{1,12}|And [a-d]{1,3}\\?",
            previous in "[a-dé字0-9 ?]{1,60}",
            alone in found(),
            both in found(),
            words in prop::collection::vec("[a-dé]{1,3}|norway", 0..3),
            other in (0.0..1.0_f64, 0.0..1.0_f64),
            read in any_reading(),
        ) {
            let (alone, both) = (rows(&alone, &words), rows(&both, &words));
            let text = joined(&question, &previous);
            let search = JoinedSearch { text: &text, rows: &both };
            for reading in [None, Some(&read.of(&alone)), Some(&read.of(&both))] {
                let respond = |thresholds: &EvidenceThresholds| {
                    respond_to_follow_up(&question, &alone, search, reading, thresholds, true).0
                };
                assert_predicts(respond, other)?;
            }
        }
    }

    #[test]
    fn a_passage_with_nothing_to_quote_reaches_no_threshold() {
        let heading = chunk(1, 1, 0.9, "***");
        let reaches =
            |rows: &[MatchedChunk]| respond("refunds", rows, None, &thresholds(0.0, 0.0), true).reaches;
        assert_eq!(reaches(std::slice::from_ref(&heading)), []);
        assert_eq!(reaches(&[]), []);
        let similarities: Vec<_> = reaches(&[heading, chunk(2, 2, 0.4, "Refunds take five days.")])
            .iter()
            .map(|reach| reach.similarity)
            .collect();
        assert_eq!(similarities, [0.4]);
    }

    #[test]
    fn a_less_similar_passage_in_which_the_reader_finds_more_has_numbers_of_its_own() {
        let text = "Refunds take five days.";
        let rows = [chunk(1, 1, 0.9, text), chunk(2, 2, 0.8, text), chunk(3, 3, 0.7, text)];
        let reading = reading(&rows, |passage, _| Some([-6.0, -7.0, 0.0][passage]));
        let reaches = respond("refunds", &rows, Some(&reading), &thresholds(0.0, 0.0), true).reaches;
        let similarities: Vec<_> = reaches.iter().map(|reach| reach.similarity).collect();
        assert_eq!(similarities, [0.9, 0.7]);
        assert!(reaches[0].confidence < 0.2 && reaches[1].confidence > 0.5);
    }

    #[test]
    fn a_question_that_leans_on_the_one_before_it_has_the_numbers_of_both_searches() {
        let row = |similarity: f64, content: &str| {
            let mut row = chunk(1, 1, similarity, content);
            row.query_terms = Some(vec![QueryTerm { word: "norway".to_owned(), weight: 3.0 }]);
            row
        };
        let alone = [row(0.3, "Norway is cold.")];
        let both = [row(0.8, "Delivery to Norway takes 9 days.")];
        let text = joined("And to Norway?", "How long does delivery to Italy take?");
        let search = JoinedSearch { text: &text, rows: &both };
        let similarities = |thresholds| {
            let (response, is_joined) =
                respond_to_follow_up("And to Norway?", &alone, search, None, &thresholds, true);
            (response.reaches.iter().map(|reach| reach.similarity).collect::<Vec<_>>(), is_joined)
        };
        assert_eq!(similarities(EvidenceThresholds::default()), (vec![0.3, 0.8], true));
        assert_eq!(similarities(thresholds(0.9, 0.5)), (vec![0.3, 0.8], false));
    }
}
