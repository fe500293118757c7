//! Chooses the sentences that answer a question best.

use super::has_escaped_marker;
use crate::evidence::PassageAssessment;
use crate::passage::{Passage, Sentence};
use crate::question::Question;

/// Most sentences in an answer.
const MAX_SENTENCES: usize = 3;
/// Weight of the passage's rank score (-1 to 1): the same for all its sentences, it decides between passages. Anything
/// from 1.5 to 3 chooses as well on the evaluation set.
const PASSAGE_WEIGHT: f64 = 2.0;
/// Weight of the share of the question's vocabulary found in the heading above a sentence: a hint, since one heading stands
/// above many sentences.
const CONTEXT_WEIGHT: f64 = 0.2;
/// How far below the best a further sentence may score, so that a good short answer stays short.
const MARGIN: f64 = 0.6;
/// Sentences whose words overlap by this share (Jaccard) say the same.
const DUPLICATE_SHARE: f64 = 0.8;

/// A sentence of the answer.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'p> {
    pub(super) passage: &'p Passage<'p>,
    pub(super) sentence: &'p Sentence<'p>,
    /// What it was chosen by; comparable within one question.
    pub(super) score: f64,
    rank: usize,
}

/// The best sentences of the qualifying passages. The very best comes first, so that whoever reads no further has read it;
/// then the others as they stand in its passage, then those of the other passages in order of rank.
pub(super) fn choose<'p>(
    question: &Question,
    passages: &'p [Passage<'p>],
    assessments: &[PassageAssessment],
) -> Vec<Chosen<'p>> {
    let mut candidates: Vec<Chosen<'p>> = Vec::new();
    for (rank, (passage, assessment)) in passages.iter().zip(assessments).enumerate() {
        if !assessment.qualifies {
            continue;
        }
        candidates.extend(passage.sentences.iter().map(|sentence| Chosen {
            passage,
            sentence,
            score: score(question, passage, sentence),
            rank,
        }));
    }
    // Stable: at the same score the better passage and the earlier sentence come first.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));

    let mut kept: Vec<Chosen<'p>> = Vec::with_capacity(MAX_SENTENCES);
    for candidate in candidates {
        let is_close = kept.first().is_none_or(|best| candidate.score >= best.score - MARGIN);
        if kept.len() == MAX_SENTENCES || !is_close {
            break;
        }
        let is_new = !kept.iter().any(|other| say_the_same(other.sentence, candidate.sentence));
        // Asked last and only of those that would be quoted: it takes the sentence's Markdown apart.
        if is_new && !has_escaped_marker(&candidate.passage.plain_text(candidate.sentence)) {
            kept.push(candidate);
        }
    }
    if let Some((best, others)) = kept.split_first_mut() {
        others.sort_by_key(|other| (other.rank != best.rank, other.rank, other.sentence.range.start));
    }
    kept
}

fn score(question: &Question, passage: &Passage<'_>, sentence: &Sentence<'_>) -> f64 {
    let sum = sentence.similarity
        + question.coverage(|word| sentence.words.contains(word))
        + CONTEXT_WEIGHT * question.coverage(|word| sentence.context.contains(word))
        + PASSAGE_WEIGHT * passage.chunk.rank_score();
    // What cannot be compared comes last.
    if sum.is_nan() { f64::NEG_INFINITY } else { sum }
}

fn say_the_same(a: &Sentence<'_>, b: &Sentence<'_>) -> bool {
    let all = a.words.union(&b.words).count();
    if all == 0 {
        return a.text == b.text;
    }
    a.words.intersection(&b.words).count() as f64 >= DUPLICATE_SHARE * all as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::MatchedChunk;
    use crate::chunk::tests::chunk;
    use crate::evidence::{Gates, ranked, weigh};
    use serde_json::json;

    const GATES: Gates = Gates { similarity: 0.35, confidence: 0.0 };

    fn chosen(question: &str, rows: &[MatchedChunk]) -> Vec<String> {
        let passages = ranked(rows);
        let question = Question::new(question, None, &passages);
        let assessment = weigh(&question, &passages, &GATES);
        let chosen = choose(&question, &passages, &assessment.passages);
        chosen.iter().map(|chosen| chosen.sentence.text.to_owned()).collect()
    }

    #[test]
    fn the_sentence_that_holds_the_words_of_the_question_comes_first() {
        let content = "Our shop opened in 1990. We love tea. You can cancel an order within 24 hours.";
        let chosen = chosen("How long do I have to cancel my order?", &[chunk(1, 1, 0.6, content)]);
        assert_eq!(chosen, ["You can cancel an order within 24 hours."]);
    }

    #[test]
    fn of_sentences_with_the_same_words_the_nearest_comes_first() {
        let mut row = chunk(1, 1, 0.6, "Refunds are easy. Refunds are fast.");
        row.sentences[1].similarity = 0.7;
        assert_eq!(chosen("refunds", &[row]), ["Refunds are fast.", "Refunds are easy."]);
    }

    #[test]
    fn without_common_words_the_nearest_passage_opens_the_answer() {
        let rows = [chunk(2, 2, 0.4, "Other text."), chunk(1, 1, 0.7, "Alpha beta. Gamma delta.")];
        assert_eq!(chosen("Whence cometh money?", &rows), ["Alpha beta.", "Gamma delta."]);
    }

    #[test]
    fn the_same_sentence_in_two_passages_is_given_once() {
        let rows = [
            chunk(1, 1, 0.7, "Refunds take 5 days."),
            chunk(2, 2, 0.6, "Refunds take 5 days!"),
            chunk(3, 3, 0.6, "**Refunds** take 5 days."),
        ];
        assert_eq!(chosen("refunds days", &rows), ["Refunds take 5 days."]);
    }

    #[test]
    fn after_the_best_its_passage_goes_on_and_then_the_others() {
        let mut rows = [
            chunk(1, 1, 0.72, "For refunds to cards, wait."),
            chunk(2, 2, 0.7, "Cards have refunds. Refunds to cards take long."),
        ];
        rows[0].sentences[0].similarity = 0.6;
        rows[1].sentences[0].similarity = 0.6;
        assert_eq!(
            chosen("refunds cards", &rows),
            ["Refunds to cards take long.", "Cards have refunds.", "For refunds to cards, wait."]
        );
    }

    #[test]
    fn passages_below_the_floor_are_not_quoted() {
        let rows = [chunk(1, 1, 0.6, "Refunds are easy."), chunk(2, 2, 0.34, "Refunds are fast.")];
        assert_eq!(chosen("refunds", &rows), ["Refunds are easy."]);
    }

    #[test]
    fn the_heading_above_breaks_a_tie() {
        let content = "# Shipping\n\nIt takes 5 days.\n\n# Refunds\n\nIt takes 9 days.";
        assert_eq!(chosen("How many days for refunds?", &[chunk(1, 1, 0.5, content)])[0], "It takes 9 days.");
        let mut refunds = chunk(2, 2, 0.5, "It takes 9 days.");
        refunds.meta = json!({ "section": "Refunds" });
        let rows = [chunk(1, 1, 0.5, "It takes 5 days."), refunds];
        assert_eq!(chosen("How many days for refunds?", &rows)[0], "It takes 9 days.");
    }

    #[test]
    fn a_passage_whose_sentences_are_not_known_is_quoted_whole() {
        let mut row = chunk(1, 1, 0.6, "\n- Refunds are easy.\n- Refunds are fast.\n");
        row.sentences.clear();
        assert_eq!(chosen("refunds", &[row]), ["- Refunds are easy.\n- Refunds are fast."]);
    }

    #[test]
    fn what_clients_would_take_for_our_escapes_is_not_quoted() {
        let content = "```\nrefund\\[0\\]\n```\n\nUse `refund[1]` here. Refund the first.";
        assert_eq!(
            chosen("refund", &[chunk(1, 1, 0.9, content)]),
            ["Use `refund[1]` here.", "Refund the first."],
            "a bracketed number that we escape ourselves is fine"
        );
    }
}
