//! The figures: how often the right passage is found, the right sentence quoted, and the rest refused.

use anyhow::Result;
use chat_core::answer::Answer;
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::{Gates, Strength};
use chat_core::{Response, Verdict, respond};
use uuid::Uuid;

use crate::dataset::{Answerable, Dataset};
use crate::search::Found;

/// Name and value of one figure; a share from 0 to 1.
pub(crate) type Metric = (&'static str, f64);

/// What was found for each kind of question.
pub(crate) struct Results {
    pub(crate) answerable: Vec<Found>,
    pub(crate) off_topic: Vec<Found>,
    pub(crate) near: Vec<Found>,
}

/// All gates open: what would be quoted if everything were answered.
const OPEN: Gates = Gates { similarity: -1.0, confidence: 0.0 };
/// The floor of the plain gate.
const PLAIN_THRESHOLD: f64 = 0.35;

pub(crate) fn metrics(dataset: &Dataset, results: &Results) -> Result<Vec<Metric>> {
    let gold = dataset.answerable.iter().map(|question| dataset.document_name(question));
    let gold = gold.collect::<Result<Vec<_>>>()?;
    let verdicts =
        |gates| results.answerable.iter().map(|found| decide(found, gates).verdict).collect::<Vec<_>>();
    let (default, open) = (verdicts(&Gates::default()), verdicts(&OPEN));
    let answerable = || {
        dataset
            .answerable
            .iter()
            .zip(&gold)
            .zip(&results.answerable)
            .map(|((question, gold), found)| (question, gold, found))
    };
    let share = |hit: &dyn Fn(&Answerable, &str, &Found) -> bool| {
        share_of(answerable().map(|(question, gold, found)| hit(question, gold, found)))
    };
    let share_of_answered = |hit: &dyn Fn(&Answerable, &str, &Found, &Answer) -> bool| {
        let answers =
            answerable().zip(&default).filter_map(|(asked, verdict)| Some((asked, answer_of(verdict)?)));
        share_of(answers.map(|((question, gold, found), answer)| hit(question, gold, found, answer)))
    };
    let quoted_if_open = |first| {
        let quoted =
            |(question, verdict)| answer_of(verdict).is_some_and(|answer| is_quoted(answer, first, question));
        share_of(dataset.answerable.iter().zip(&open).map(quoted))
    };
    let plain_quoted = |first| {
        share(&|question, _, found| {
            let best = found.plain_rows.first();
            best.is_some_and(|row| first_sentences(row, first).any(|text| holds_answer(text, question)))
        })
    };
    let plain_cited = answerable().filter(|(_, _, found)| plain_answers(found)).map(|(_, gold, found)| {
        found.plain_rows.iter().any(|row| row.similarity >= PLAIN_THRESHOLD && is_document(row, gold))
    });
    let gold_of = |strength| {
        let answers =
            answerable().zip(&default).filter_map(|(asked, verdict)| Some((asked, answer_of(verdict)?)));
        share_of(answers.flat_map(|((_, gold, found), answer)| {
            let of_strength =
                answer.citations.iter().filter(move |citation| citation.strength == Some(strength));
            of_strength.map(|citation| is_chunk_of(&found.rows, citation.chunk_id, gold))
        }))
    };
    let answered = |found: &[Found]| share_of(found.iter().map(is_answered));
    let plain_answered = |found: &[Found]| share_of(found.iter().map(plain_answers));
    Ok(vec![
        ("recall_1", share(&|_, gold, found| is_among(&found.rows, 1, gold))),
        ("recall_5", share(&|_, gold, found| is_among(&found.rows, 5, gold))),
        ("answer_in_3", quoted_if_open(3)),
        ("answer_in_1", quoted_if_open(1)),
        (
            "citation_correct",
            share_of_answered(&|_, gold, found, answer| is_cited(answer, &found.rows, gold)),
        ),
        ("answered_answerable", share_of(default.iter().map(|verdict| answer_of(verdict).is_some()))),
        ("answered_offtopic", answered(&results.off_topic)),
        ("answered_near", answered(&results.near)),
        ("answered_answer_in_3", share_of_answered(&|question, _, _, answer| is_quoted(answer, 3, question))),
        ("answered_answer_in_1", share_of_answered(&|question, _, _, answer| is_quoted(answer, 1, question))),
        ("gold_of_strong", gold_of(Strength::Strong)),
        ("gold_of_good", gold_of(Strength::Good)),
        ("gold_of_partial", gold_of(Strength::Partial)),
        ("plain_recall_1", share(&|_, gold, found| is_among(&found.plain_rows, 1, gold))),
        ("plain_recall_5", share(&|_, gold, found| is_among(&found.plain_rows, 5, gold))),
        ("plain_answer_in_3", plain_quoted(3)),
        ("plain_answer_in_1", plain_quoted(1)),
        ("plain_citation_correct", share_of(plain_cited)),
        ("plain_answered_answerable", plain_answered(&results.answerable)),
        ("plain_answered_offtopic", plain_answered(&results.off_topic)),
        ("plain_answered_near", plain_answered(&results.near)),
    ])
}

fn answer_of(verdict: &Verdict) -> Option<&Answer> {
    match verdict {
        Verdict::Answer(answer) => Some(answer),
        Verdict::Refuse(_) => None,
    }
}

/// The decision at these gates.
pub(crate) fn decide(found: &Found, gates: &Gates) -> Response {
    respond(&found.question, &found.rows, gates, true)
}

fn is_answered(found: &Found) -> bool {
    matches!(decide(found, &Gates::default()).verdict, Verdict::Answer(_))
}

/// The share of true; 0 of nothing.
fn share_of(hits: impl Iterator<Item = bool>) -> f64 {
    let (mut yes, mut all) = (0_u32, 0_u32);
    for hit in hits {
        yes += u32::from(hit);
        all += 1;
    }
    f64::from(yes) / f64::from(all.max(1))
}

fn is_document(row: &MatchedChunk, name: &str) -> bool {
    row.document_name.as_deref() == Some(name)
}

fn is_among(rows: &[MatchedChunk], first: usize, gold: &str) -> bool {
    rows.iter().take(first).any(|row| is_document(row, gold))
}

fn is_cited(answer: &Answer, rows: &[MatchedChunk], gold: &str) -> bool {
    answer.citations.iter().any(|citation| is_chunk_of(rows, citation.chunk_id, gold))
}

fn is_chunk_of(rows: &[MatchedChunk], chunk_id: Uuid, document: &str) -> bool {
    rows.iter().any(|row| row.chunk_id == chunk_id && is_document(row, document))
}

/// Whether the floor alone would answer, on vectors alone.
fn plain_answers(found: &Found) -> bool {
    found.plain_rows.iter().any(|row| row.similarity >= PLAIN_THRESHOLD)
}

/// The sentences of an answer in its order, without their markers.
fn texts(answer: &Answer) -> impl Iterator<Item = String> {
    answer
        .deltas
        .iter()
        .map(|delta| delta.rsplit_once('[').map_or(delta.as_str(), |(text, _)| text).trim().to_owned())
}

/// Whether one of the first sentences holds an accepted answer.
fn is_quoted(answer: &Answer, first: usize, question: &Answerable) -> bool {
    texts(answer).take(first).any(|text| holds_answer(&text, question))
}

fn holds_answer(text: &str, question: &Answerable) -> bool {
    question.answers.iter().any(|answer| text.contains(answer.as_str()))
}

fn first_sentences(row: &MatchedChunk, count: usize) -> impl Iterator<Item = &str> {
    let units = chat_core::sentences::units(&row.content).into_iter().take(count);
    units.filter_map(|unit| row.content.get(unit.range))
}
