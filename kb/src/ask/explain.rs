//! Explains as text why a question was answered or refused.

use chat_core::chunk::{MatchedChunk, SentenceMatch};
use chat_core::evidence::{Background, PassageAssessment};

use super::{Asked, Conclusion, place};
use crate::output::excerpt;

/// Maximum length of the place or sentence of a passage.
const MAX_TEXT_CHARS: usize = 90;

/// The words of the question, the passages with their scores, the thresholds, and the score of each sentence of the answer.
pub fn explanation(asked: &Asked) -> String {
    let mut lines = vec![format!("Question    {}", excerpt(&asked.question, MAX_TEXT_CHARS))];
    if let Some(text) = &asked.searched.searched {
        lines.push(format!("Searched    {}", excerpt(text, MAX_TEXT_CHARS)));
    }
    lines.push(format!("Words       {}", words(asked)));
    lines.push(String::new());
    lines.extend(candidates(asked));
    lines.push(String::new());
    lines.extend(thresholds(asked));
    lines.extend(answer_sentences(asked));
    lines.join("\n")
}

fn words(asked: &Asked) -> String {
    let terms = asked.rows.iter().find_map(|row| row.query_terms.as_deref()).unwrap_or_default();
    if terms.is_empty() {
        return "none that are informative".to_owned();
    }
    let words =
        terms.iter().map(|term| format!("{} {:.2}", excerpt(&term.word, MAX_TEXT_CHARS), term.weight));
    words.collect::<Vec<_>>().join(" · ")
}

fn candidates(asked: &Asked) -> Vec<String> {
    let passages: Vec<_> = asked.passages().collect();
    if passages.is_empty() {
        return vec!["No passage was found.".to_owned()];
    }
    let mut lines =
        vec!["rank  score  similarity  sentence  words  confidence  reader  quotable  passage".to_owned()];
    for (at, (passage, row)) in passages.into_iter().enumerate() {
        lines.push(candidate(at + 1, passage, row, asked.best_z(row.chunk_id)));
        lines.extend(
            best_sentence(row).map(|(_, text)| format!("{:6}“{}”", "", excerpt(text, MAX_TEXT_CHARS))),
        );
    }
    lines
}

fn candidate(rank: usize, passage: &PassageAssessment, row: &MatchedChunk, z: Option<f64>) -> String {
    let optional = |number: Option<f64>| number.map_or("–".to_owned(), |number| format!("{number:.3}"));
    format!(
        "{rank:>4}  {:>5.3}  {:>10.3}  {:>8}  {:>5}  {:>10.3}  {:>6}  {:<8}  {}",
        passage.score,
        passage.similarity,
        optional(passage.best_sentence),
        optional(passage.lexical),
        passage.confidence,
        z.map_or("–".to_owned(), |z| format!("{z:.2}")),
        if passage.qualifies { "yes" } else { "no" },
        excerpt(&place(&row.title(), row.section()), MAX_TEXT_CHARS),
    )
}

/// The stored sentence that is most similar to the question, with its text.
pub(super) fn best_sentence(row: &MatchedChunk) -> Option<(SentenceMatch, &str)> {
    let numbers = row.sentences.iter().filter(|sentence| !sentence.similarity.is_nan());
    let best = numbers.max_by(|a, b| a.similarity.total_cmp(&b.similarity))?;
    Some((best.clone(), row.text_of(best)?))
}

fn thresholds(asked: &Asked) -> Vec<String> {
    let check = |name: &str, value: Option<f64>, min: f64| {
        let passed = value.is_some_and(|value| value >= min);
        let value = value.map_or("none".to_owned(), |value| format!("{value:.3}"));
        format!("{name:<13}  {value:>6}, at least {min:.3}: {}", if passed { "passed" } else { "failed" })
    };
    let assessment = &asked.assessment;
    let (name, similarity) = match (assessment.best_similarity, asked.best_sentence()) {
        (passage, Some(sentence)) if passage.is_none_or(|passage| sentence > passage) => {
            ("best sentence", Some(sentence))
        }
        (passage, _) => ("best passage", passage),
    };
    let mut lines = vec![
        check(name, similarity, asked.thresholds.similarity),
        check("confidence", Some(assessment.confidence), asked.thresholds.confidence),
    ];
    lines.extend(assessment.signals.map(|signals| {
        format!(
            "  from sentence {:.3}, score {:.3}, mean similarity {:.3}",
            signals.sentence, signals.score, signals.mean_similarity
        )
    }));
    lines.extend(assessment.evidence.map(|evidence| {
        let background = asked.thresholds.background;
        let origin = if background == Background::default() { "by default" } else { "here" };
        format!(
            "  evidence {evidence:.1}; questions about something else reach {:.1} ± {:.1} {origin}",
            background.mean, background.deviation
        )
    }));
    lines
}

/// Each sentence of the answer with its score.
fn answer_sentences(asked: &Asked) -> Vec<String> {
    let Conclusion::Answer(answer) = &asked.conclusion else { return Vec::new() };
    let sentences = answer.deltas.iter().zip(&answer.sentences);
    let lines = sentences
        .map(|(text, sentence)| format!("{:>6.3}  {}", sentence.score, excerpt(text, MAX_TEXT_CHARS)));
    [String::new(), "score  sentence".to_owned()].into_iter().chain(lines).collect()
}
