//! Chooses the sentences that answer a question best.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::has_marker_in_code;
use crate::chunk::MatchedChunk;
use crate::sentences::{Unit, UnitKind, units};
use crate::words::informative_words;

/// Most sentences in an answer.
const MAX_SENTENCES: usize = 3;
/// Weight of the passage's similarity: the same for all its sentences, it decides between passages.
const SIMILARITY_WEIGHT: f64 = 0.5;
/// Weight of the share of the question's informative words found in the sentence: it decides within a passage.
const COVERAGE_WEIGHT: f64 = 1.0;
/// Weight of the share found in the heading above it: a hint, since one heading stands above many sentences.
const CONTEXT_WEIGHT: f64 = 0.2;
/// A further sentence must score this share of the best, so that a good short answer stays short.
const KEEP_SHARE: f64 = 0.75;
/// Sentences whose words overlap by this share (Jaccard) say the same.
const DUPLICATE_SHARE: f64 = 0.8;

/// A sentence of the answer.
pub(super) struct Chosen<'a> {
    pub(super) chunk: &'a MatchedChunk,
    pub(super) range: Range<usize>,
    pub(super) text: &'a str,
    pub(super) kind: UnitKind,
}

struct Candidate<'a> {
    rank: usize,
    chunk: &'a MatchedChunk,
    unit: Unit,
    text: &'a str,
    words: BTreeSet<String>,
    context: BTreeSet<String>,
}

/// The best sentences in reading order: by the rank of their passage, then by their place in it.
pub(super) fn choose<'a>(question: &str, chunks: &[&'a MatchedChunk]) -> Vec<Chosen<'a>> {
    let candidates = candidates(chunks);
    let weights = weights(question, &candidates);
    let mut scored: Vec<_> =
        candidates.iter().map(|candidate| (score(candidate, &weights), candidate)).collect();
    // Stable: at the same score the nearer passage and the earlier sentence come first.
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));

    let least = scored.first().map_or(0.0, |(best, _)| best * KEEP_SHARE);
    let mut kept: Vec<&Candidate<'a>> = Vec::with_capacity(MAX_SENTENCES);
    for (score, candidate) in scored {
        if kept.len() == MAX_SENTENCES || score < least {
            break;
        }
        if !kept.iter().any(|other| say_the_same(other, candidate)) {
            kept.push(candidate);
        }
    }
    kept.sort_by_key(|candidate| (candidate.rank, candidate.unit.range.start));
    kept.into_iter()
        .map(|candidate| Chosen {
            chunk: candidate.chunk,
            range: candidate.unit.range.clone(),
            text: candidate.text,
            kind: candidate.unit.kind,
        })
        .collect()
}

fn candidates<'a>(chunks: &[&'a MatchedChunk]) -> Vec<Candidate<'a>> {
    let of_chunk = |(rank, chunk): (usize, &&'a MatchedChunk)| {
        let chunk: &'a MatchedChunk = chunk;
        let content = chunk.content.as_str();
        units(content).into_iter().filter_map(move |unit| {
            let text = content.get(unit.range.clone())?;
            let headings = unit.context.iter().filter_map(|range| content.get(range.clone()));
            let context = headings.chain(chunk.section()).flat_map(informative_words).collect();
            let words = informative_words(text).collect();
            let can_be_quoted = !has_marker_in_code(text, unit.kind);
            can_be_quoted.then_some(Candidate { rank, chunk, unit, text, words, context })
        })
    };
    chunks.iter().enumerate().flat_map(of_chunk).collect()
}

/// The question's informative words, the rarer among the candidates the heavier, adding up to 1.
fn weights(question: &str, candidates: &[Candidate<'_>]) -> BTreeMap<String, f64> {
    let mut weights: BTreeMap<String, f64> = informative_words(question)
        .map(|word| {
            let holding = candidates.iter().filter(|candidate| candidate.words.contains(&word)).count();
            let weight = (1.0 + candidates.len() as f64 / (1.0 + holding as f64)).ln();
            (word, weight)
        })
        .collect();
    let total: f64 = weights.values().sum();
    weights.values_mut().for_each(|weight| *weight /= total);
    weights
}

fn score(candidate: &Candidate<'_>, weights: &BTreeMap<String, f64>) -> f64 {
    let share = |words: &BTreeSet<String>| -> f64 {
        weights.iter().filter(|(word, _)| words.contains(*word)).map(|(_, weight)| weight).sum()
    };
    SIMILARITY_WEIGHT * candidate.chunk.similarity
        + COVERAGE_WEIGHT * share(&candidate.words)
        + CONTEXT_WEIGHT * share(&candidate.context)
}

fn say_the_same(a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
    let all = a.words.union(&b.words).count();
    if all == 0 {
        return a.text == b.text;
    }
    a.words.intersection(&b.words).count() as f64 >= DUPLICATE_SHARE * all as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::chunk;
    use serde_json::json;

    fn chosen(question: &str, chunks: &[MatchedChunk]) -> Vec<String> {
        choose(question, &chunks.iter().collect::<Vec<_>>()).iter().map(|c| c.text.to_owned()).collect()
    }

    #[test]
    fn the_sentence_that_holds_the_words_of_the_question_is_chosen() {
        let content = "Our shop opened in 1990. You can cancel an order within 24 hours. We love tea.";
        assert_eq!(
            chosen("How long do I have to cancel my order?", &[chunk(1, 1, 0.6, content)]),
            ["You can cancel an order within 24 hours."]
        );
    }

    #[test]
    fn a_rare_word_weighs_more_than_one_all_sentences_hold() {
        let content =
            "Refunds are easy. Refunds are fast. Refunds need a receipt. Refunds are fun. Refunds are nice.";
        assert_eq!(chosen("receipt refunds", &[chunk(1, 1, 0.4, content)])[0], "Refunds need a receipt.");
    }

    #[test]
    fn without_common_words_the_nearest_passage_opens_the_answer() {
        let chunks = [chunk(1, 1, 0.7, "Alpha beta. Gamma delta."), chunk(2, 2, 0.4, "Other text.")];
        assert_eq!(chosen("Whence cometh money?", &chunks), ["Alpha beta.", "Gamma delta."]);
    }

    #[test]
    fn the_same_sentence_in_two_passages_is_given_once() {
        let chunks = [
            chunk(1, 1, 0.7, "Refunds take 5 days."),
            chunk(2, 2, 0.6, "Refunds take 5 days!"),
            chunk(3, 3, 0.6, "**Refunds** take 5 days."),
        ];
        assert_eq!(chosen("refunds days", &chunks), ["Refunds take 5 days."]);
    }

    #[test]
    fn the_answer_reads_in_the_order_of_the_passages() {
        let chunks = [
            chunk(1, 1, 0.8, "Refunds exist for cards. Refunds for cards take 5 days."),
            chunk(2, 2, 0.7, "Refunds for cards take working days only."),
        ];
        assert_eq!(
            chosen("How many days do refunds for cards take?", &chunks),
            ["Refunds for cards take 5 days.", "Refunds for cards take working days only."]
        );
    }

    #[test]
    fn the_heading_above_breaks_a_tie() {
        let content = "# Shipping\n\nIt takes 5 days.\n\n# Refunds\n\nIt takes 9 days.";
        let rows = [chunk(1, 1, 0.5, content)];
        let candidates = candidates(&[&rows[0]]);
        let weights = weights("How many days for refunds?", &candidates);
        assert!(score(&candidates[1], &weights) > score(&candidates[0], &weights));
    }

    #[test]
    fn the_section_of_the_passage_counts_as_a_heading() {
        let mut refunds = chunk(2, 2, 0.5, "It takes 9 days.");
        refunds.meta = json!({ "section": "Refunds" });
        let shipping = chunk(1, 1, 0.5, "It takes 5 days.");
        let chunks = [shipping, refunds];
        let candidates = candidates(&chunks.iter().collect::<Vec<_>>());
        let weights = weights("How many days for refunds?", &candidates);
        assert!(score(&candidates[1], &weights) > score(&candidates[0], &weights));
    }

    #[test]
    fn code_that_holds_something_like_a_marker_is_not_quoted() {
        let content = "```\nrefund[0]\n```\n\nUse `refund[1]` here. Refund the first.";
        assert_eq!(chosen("refund", &[chunk(1, 1, 0.9, content)]), ["Refund the first."]);
    }
}
