//! The figures: how often the right passage is found, the right sentence quoted, and an unanswerable question refused.

use anyhow::{Result, anyhow};
use chat_core::answer::Answer;
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::{EvidenceThresholds, Strength};
use chat_core::{Response, Verdict, respond};
use rayon::prelude::*;
use uuid::Uuid;

use crate::dialogue;
use crate::quoted::{contains_any, is_coherent, is_quoted, noise, shows_its_sentences};
use crate::results::{Found, Results};

/// Name and value of one figure: a share from 0 to 1, or a mean. A figure without questions or answers is left out.
pub(crate) type Figure = (&'static str, f64);

/// The threshold of the plain vector search.
const PLAIN_THRESHOLD: f64 = 0.35;

/// Figures that are also given for the search alone.
const OF_SEARCH: [&str; 9] = [
    "answer_in_1",
    "answer_in_3",
    "first_is_answer",
    "citation_correct",
    "answered_answerable",
    "answered_near",
    "answered_offtopic",
    "follow_up_right",
    "aside_answered",
];

/// All figures of a set; `cargo xtask bench retrieval --help` describes them. Takes the readings away, to measure the search alone.
pub(crate) fn all_figures(results: &mut Results) -> Result<Vec<(String, f64)>> {
    let with_reader = figures(results)?;
    results.take_readings();
    let alone = figures(results)?.into_iter().filter(|(name, _)| OF_SEARCH.contains(name));
    let alone = alone.map(|(name, value)| (format!("search_{name}"), value));
    Ok(with_reader.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(alone).collect())
}

fn figures(results: &Results) -> Result<Vec<Figure>> {
    let questions = &results.answerable;
    let (answered, open) =
        (answers_at(questions, Found::thresholds)?, answers_at(questions, Found::open_thresholds)?);
    let share = |hit: &dyn Fn(&Found) -> bool| share(questions.iter().map(hit));
    let of_answers = |hit: &dyn Fn(&Found, &Answer) -> bool| {
        self::share(answered.iter().map(|(found, answer)| hit(found, answer)))
    };
    let of_all = |answers: &[(&Found, Answer)], hit: &dyn Fn(&Found, &Answer) -> bool| {
        let hits = answers.iter().filter(|(found, answer)| hit(found, answer)).count();
        (!questions.is_empty()).then(|| hits as f64 / questions.len() as f64)
    };
    let mean = |count: &dyn Fn(&Found, &Answer) -> usize| {
        let total: usize = answered.iter().map(|(found, answer)| count(found, answer)).sum();
        (!answered.is_empty()).then(|| total as f64 / answered.len() as f64)
    };
    let gold_of = |strength| {
        self::share(answered.iter().flat_map(|(found, answer)| {
            let of_strength =
                answer.citations.iter().filter(move |citation| citation.strength == Some(strength));
            of_strength.map(|citation| is_chunk_of_gold(found, citation.passage.chunk_id))
        }))
    };
    let plain_quoted = |first| {
        share(&|found| {
            let best = found.plain_rows.first();
            best.is_some_and(|row| first_sentences(row, first).any(|text| contains_any(text, &found.answers)))
        })
    };
    let near = answers_at(&results.near, Found::thresholds)?;
    let off_topic = answers_at(&results.off_topic, Found::thresholds)?;
    let plain_answered = |found: &[Found]| self::share(found.iter().map(plain_answers));
    let figures = [
        ("recall_1", share(&|found| is_among(&found.rows, 1, found))),
        ("recall_5", share(&|found| is_among(&found.rows, 5, found))),
        ("answer_in_1", of_all(&open, &|found, answer| is_quoted(answer, 1, &found.answers))),
        ("answer_in_3", of_all(&open, &|found, answer| is_quoted(answer, 3, &found.answers))),
        ("first_is_answer", of_all(&answered, &|found, answer| is_quoted(answer, 1, &found.answers))),
        ("noise", mean(&|found, answer| noise(answer, &found.answers))),
        ("sentences", mean(&|_, answer| answer.sentences.len())),
        ("coherent", of_answers(&|_, answer| is_coherent(answer))),
        ("citation_correct", of_answers(&is_gold_cited)),
        ("answered_answerable", share_answered(&answered, questions)),
        ("answered_near", share_answered(&near, &results.near)),
        ("answered_offtopic", share_answered(&off_topic, &results.off_topic)),
        ("hedged_answerable", share_hedged(&answered)),
        ("hedged_near", share_hedged(&near)),
        ("answered_answer_in_1", of_answers(&|found, answer| is_quoted(answer, 1, &found.answers))),
        ("answered_answer_in_3", of_answers(&|found, answer| is_quoted(answer, 3, &found.answers))),
        ("gold_of_strong", gold_of(Strength::Strong)),
        ("gold_of_good", gold_of(Strength::Good)),
        ("gold_of_partial", gold_of(Strength::Partial)),
        ("plain_recall_1", share(&|found| is_among(&found.plain_rows, 1, found))),
        ("plain_recall_5", share(&|found| is_among(&found.plain_rows, 5, found))),
        ("plain_answer_in_1", plain_quoted(1)),
        ("plain_answer_in_3", plain_quoted(3)),
        ("plain_citation_correct", self::share(questions.iter().filter_map(is_gold_plainly_cited))),
        ("plain_answered_answerable", plain_answered(questions)),
        ("plain_answered_near", plain_answered(&results.near)),
        ("plain_answered_offtopic", plain_answered(&results.off_topic)),
    ];
    let figures = figures.into_iter().chain(dialogue::figures(results));
    Ok(figures.filter_map(|(name, value)| Some((name, value?))).collect())
}

/// The decision with these thresholds.
pub(crate) fn decide(found: &Found, thresholds: &EvidenceThresholds) -> Response {
    respond(&found.question, &found.rows, found.reading.as_ref(), thresholds, true)
}

/// The questions that are answered with these thresholds, and their answers.
fn answers_at(
    found: &[Found],
    thresholds: impl Fn(&Found) -> EvidenceThresholds + Sync,
) -> Result<Vec<(&Found, Answer)>> {
    let answer = |found| match decide(found, &thresholds(found)).verdict {
        Verdict::Answer(answer) if shows_its_sentences(&answer) => Some(Ok((found, answer))),
        Verdict::Answer(_) => Some(Err(anyhow!(
            "the answer to “{}” does not show each sentence that it says it quotes",
            found.question
        ))),
        Verdict::Refuse(_) => None,
    };
    found.par_iter().filter_map(answer).collect()
}

/// The share of `true`; `None` without values.
pub(crate) fn share(hits: impl Iterator<Item = bool>) -> Option<f64> {
    let (mut yes, mut all) = (0_u32, 0_u32);
    for hit in hits {
        yes += u32::from(hit);
        all += 1;
    }
    (all > 0).then(|| f64::from(yes) / f64::from(all))
}

fn share_answered(answers: &[(&Found, Answer)], questions: &[Found]) -> Option<f64> {
    (!questions.is_empty()).then(|| answers.len() as f64 / questions.len() as f64)
}

fn share_hedged(answers: &[(&Found, Answer)]) -> Option<f64> {
    share(answers.iter().map(|(_, answer)| answer.hedged))
}

fn is_among(rows: &[MatchedChunk], first: usize, found: &Found) -> bool {
    rows.iter().take(first).any(|row| found.is_gold(row))
}

fn is_gold_cited(found: &Found, answer: &Answer) -> bool {
    answer.citations.iter().any(|citation| is_chunk_of_gold(found, citation.passage.chunk_id))
}

fn is_chunk_of_gold(found: &Found, chunk_id: Uuid) -> bool {
    found.rows.iter().any(|row| row.chunk_id == chunk_id && found.is_gold(row))
}

/// Whether the plain vector search would answer.
fn plain_answers(found: &Found) -> bool {
    found.plain_rows.iter().any(|row| row.similarity >= PLAIN_THRESHOLD)
}

/// Whether a document that answers is above the threshold; `None` if no row is.
fn is_gold_plainly_cited(found: &Found) -> Option<bool> {
    let mut cited = found.plain_rows.iter().filter(|row| row.similarity >= PLAIN_THRESHOLD).peekable();
    cited.peek()?;
    Some(cited.any(|row| found.is_gold(row)))
}

fn first_sentences(row: &MatchedChunk, count: usize) -> impl Iterator<Item = &str> {
    row.sentences.iter().take(count).filter_map(|sentence| row.text_of(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_core::evidence::Background;
    use serde_json::json;

    fn row(document: &str, similarity: f64, content: &str) -> MatchedChunk {
        let id = Uuid::from_u128(document.bytes().map(u128::from).sum());
        let end = content.chars().count();
        serde_json::from_value(json!({
            "chunk_id": id, "document_id": id, "document_name": document, "content": content, "similarity": similarity,
            "sentences": [{"start": 0, "end": end, "similarity": similarity, "kind": "sentence"}],
        }))
        .unwrap()
    }

    fn found(question: &str, documents: &[&str], answers: &[&str], rows: &[MatchedChunk]) -> Found {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Found {
            question: question.to_owned(),
            documents: owned(documents),
            answers: owned(answers),
            rows: rows.to_vec(),
            plain_rows: rows.to_vec(),
            background: Background::default(),
            reading: None,
            turn: None,
        }
    }

    fn figure(results: &Results, name: &str) -> Option<f64> {
        figures(results).unwrap().into_iter().find(|figure| figure.0 == name).map(|figure| figure.1)
    }

    fn set(answerable: Vec<Found>) -> Results {
        Results {
            set: "shop".to_owned(),
            answerable,
            near: Vec::new(),
            off_topic: Vec::new(),
            dialogues: Vec::new(),
        }
    }

    #[test]
    fn any_document_that_answers_is_a_hit() {
        let rows = [row("a.md", 0.9, "Refunds take 5 days."), row("b.md", 0.8, "Refunds take a week.")];
        let results = set(vec![
            found("How long do refunds take?", &["c.md", "a.md"], &["5 days"], &rows),
            found("How long do refunds take?", &["b.md"], &["a week"], &rows),
        ]);
        assert_eq!(figure(&results, "recall_1"), Some(0.5));
        assert_eq!(figure(&results, "recall_5"), Some(1.0));
    }

    #[test]
    fn a_refused_question_counts_against_first_is_answer_and_not_in_noise() {
        let near = row("a.md", 0.95, "Refunds take 5 days.");
        let far = row("a.md", 0.1, "Refunds take 5 days.");
        let results = set(vec![
            found("Refunds take how many days?", &["a.md"], &["5 days"], &[near]),
            found("Refunds take how many days?", &["a.md"], &["5 days"], &[far]),
        ]);
        assert_eq!(figure(&results, "answered_answerable"), Some(0.5));
        assert_eq!(figure(&results, "first_is_answer"), Some(0.5));
        assert_eq!(figure(&results, "answered_answer_in_1"), Some(1.0));
        assert_eq!(figure(&results, "answer_in_1"), Some(1.0), "with thresholds that refuse nothing");
        assert_eq!(figure(&results, "noise"), Some(0.0));
        assert_eq!(figure(&results, "sentences"), Some(1.0));
    }

    #[test]
    fn figures_of_an_empty_list_are_left_out() {
        let results = set(vec![found("Why?", &["a.md"], &["so"], &[])]);
        assert_eq!(figure(&results, "answered_near"), None);
        assert_eq!(figure(&results, "plain_answered_offtopic"), None);
        assert_eq!(figure(&results, "hedged_near"), None);
        assert_eq!(figure(&results, "answered_answerable"), Some(0.0));
        assert_eq!(figure(&results, "noise"), None, "nothing was answered");
    }
}
