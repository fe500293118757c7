//! Chooses the sentences that answer a question best, with the context a reader needs to understand them.

use super::back_reference::refers_to_previous;
use crate::evidence::{PassageAssessment, relevance};
use crate::limits::MAX_ANSWER_SENTENCES;
use crate::passage::{Passage, Sentence};
use crate::question::Question;
use crate::sentences::{List, ends_with_colon};

/// Weight of the passage's rank score (-1 to 1). It is the same for all sentences of a passage, so it decides between
/// passages. Values from 1 to 3 choose equally well on the evaluation sets.
const PASSAGE_WEIGHT: f64 = 2.0;
/// How far below the best a further sentence may score, so that a good short answer stays short.
const MAX_SCORE_GAP: f64 = 0.1;
/// The same if the best sentence may not answer the question: then the reader gets more to choose from.
const MAX_SCORE_GAP_IF_UNCERTAIN: f64 = 0.6;
/// Sentences are duplicates if their words overlap by this share (Jaccard index).
const MIN_DUPLICATE_OVERLAP: f64 = 0.8;

/// English words, stemmed, that reverse the meaning of a sentence; "don" is what remains of "don't".
const NEGATIONS: &[&str] = &[
    "aren", "cannot", "doesn", "don", "except", "isn", "never", "no", "none", "nor", "not", "unless", "wasn",
    "without", "won",
];

/// A sentence of the answer.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'p> {
    pub(super) passage: &'p Passage<'p>,
    pub(super) sentence: &'p Sentence<'p>,
    /// The line that introduces its list; the two are read as one sentence. `None` if the answer has just shown it.
    pub(super) introduction: Option<&'p Sentence<'p>>,
    /// Comparable within one question.
    pub(super) score: f64,
    /// Whether it was added only because the next sentence needs it.
    pub(super) is_context: bool,
    rank: usize,
}

/// The sentences of an answer.
pub(super) struct Choice<'p> {
    /// In the order of the answer, at most [`MAX_ANSWER_SENTENCES`].
    pub(super) sentences: Vec<Chosen<'p>>,
    /// Whether the best sentence may not answer the question, because it lacks one of its names or numbers.
    pub(super) is_hedged: bool,
}

/// Chooses the best sentences of the qualifying passages and adds their context. The best sentence comes first, then the
/// others of its passage in their order, then those of other passages in order of rank. `is_certain`: the confidence reaches
/// its default threshold.
pub(super) fn choose<'p>(
    question: &Question,
    passages: &'p [Passage<'p>],
    assessments: &[PassageAssessment],
    is_certain: bool,
) -> Choice<'p> {
    let mut candidates = candidates(question, passages, assessments);
    // The sort is stable: at equal scores the better passage and the earlier sentence come first.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    // Lazy, because the check parses the sentence's Markdown.
    let mut candidates =
        candidates.into_iter().filter(|candidate| candidate.passage.is_quotable(candidate.sentence));
    let Some(best) = candidates.next() else { return Choice { sentences: Vec::new(), is_hedged: false } };
    let is_hedged = lacks_name_or_number(question, &best);

    let margin = if is_certain && !is_hedged { MAX_SCORE_GAP } else { MAX_SCORE_GAP_IF_UNCERTAIN };
    let mut kept = vec![best];
    for candidate in candidates.take_while(|candidate| candidate.score >= best.score - margin) {
        if kept.len() == MAX_ANSWER_SENTENCES {
            break;
        }
        if !kept.iter().any(|other| is_duplicate(other, &candidate)) {
            kept.push(candidate);
        }
    }
    if let Some((best, others)) = kept.split_first_mut() {
        others.sort_by_key(|other| (other.rank != best.rank, other.rank, other.sentence.range.start));
    }
    if let Some(steps) = consecutive_steps(&kept) {
        kept = steps;
    }
    Choice { sentences: with_context(&kept), is_hedged }
}

/// The sentence of a passage that fits a question best, with the line that introduces its list. `None` if the passage has nothing
/// to quote.
pub(super) fn best_of_passage<'p>(question: &Question, passage: &'p Passage<'p>) -> Option<Chosen<'p>> {
    let mut candidates: Vec<_> = quotable(question, 0, passage).collect();
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = candidates.into_iter().find(|candidate| passage.is_quotable(candidate.sentence))?;
    Some(Chosen { introduction: introduction(&best), ..best })
}

/// Whether a passage has a sentence to quote.
pub(crate) fn has_quote(passage: &Passage<'_>) -> bool {
    passage.sentences.iter().any(|sentence| !is_lead_in(passage, sentence) && passage.is_quotable(sentence))
}

fn candidates<'p>(
    question: &Question,
    passages: &'p [Passage<'p>],
    assessments: &[PassageAssessment],
) -> Vec<Chosen<'p>> {
    let qualifying = passages.iter().zip(assessments).enumerate();
    let qualifying = qualifying.filter(|(_, (_, assessment))| assessment.qualifies);
    qualifying.flat_map(|(rank, (passage, _))| quotable(question, rank, passage)).collect()
}

/// The sentences of a passage that mean something alone.
fn quotable<'p>(
    question: &Question,
    rank: usize,
    passage: &'p Passage<'p>,
) -> impl Iterator<Item = Chosen<'p>> {
    let quotable = passage.sentences.iter().filter(|sentence| !is_lead_in(passage, sentence));
    quotable.map(move |sentence| Chosen {
        passage,
        sentence,
        introduction: None,
        score: score(question, passage, sentence),
        is_context: false,
        rank,
    })
}

/// Whether a sentence means nothing without what follows: it introduces a list of the passage, or ends the passage with a
/// colon.
fn is_lead_in(passage: &Passage<'_>, sentence: &Sentence<'_>) -> bool {
    let introduces = |list: &List| list.introduction.as_ref() == Some(&sentence.range);
    let is_last = || passage.sentences.last().is_some_and(|last| last.range == sentence.range);
    passage.sentences.iter().filter_map(|item| item.list.as_ref()).any(introduces)
        || (passage.sentences.len() > 1 && is_last() && ends_with_colon(sentence.text))
}

fn score(question: &Question, passage: &Passage<'_>, sentence: &Sentence<'_>) -> f64 {
    let sum = relevance(question, sentence) + PASSAGE_WEIGHT * passage.chunk.rank_score();
    // NaN sorts last.
    if sum.is_nan() { f64::NEG_INFINITY } else { sum }
}

/// Whether a name or number of the question is missing from a sentence, its neighbours, and the headings above them.
fn lacks_name_or_number(question: &Question, best: &Chosen<'_>) -> bool {
    let sentences = &best.passage.sentences;
    let at = sentences.iter().position(|sentence| sentence.range == best.sentence.range).unwrap_or_default();
    let window = sentences.get(at.saturating_sub(1)..(at + 2).min(sentences.len())).unwrap_or_default();
    question.missing_names(|word| window.iter().any(|sentence| sentence.contains(word))) > 0
}

/// Whether a reader needs only one of two sentences. Sentences that differ in a number, a negation or the line above them
/// are not duplicates.
fn is_duplicate(a: &Chosen<'_>, b: &Chosen<'_>) -> bool {
    let (line_above_a, line_above_b) =
        (introduction(a).map(|line| line.text), introduction(b).map(|line| line.text));
    if line_above_a != line_above_b || a.sentence.header != b.sentence.header {
        return false;
    }
    let (a, b) = (a.sentence, b.sentence);
    let all = a.words.union(&b.words).count();
    if all == 0 {
        return a.text == b.text;
    }
    let changes_meaning =
        |word: &String| word.contains(char::is_numeric) || NEGATIONS.contains(&word.as_str());
    a.words.intersection(&b.words).count() as f64 >= MIN_DUPLICATE_OVERLAP * all as f64
        && !a.words.symmetric_difference(&b.words).any(changes_meaning)
}

/// If several steps of one numbered list were chosen, the steps from the first of them on, without gaps.
fn consecutive_steps<'p>(kept: &[Chosen<'p>]) -> Option<Vec<Chosen<'p>>> {
    let best = kept.first()?;
    let list_number = best.sentence.list.as_ref().filter(|list| list.is_ordered)?.number;
    let is_step =
        |sentence: &Sentence<'_>| sentence.list.as_ref().is_some_and(|list| list.number == list_number);
    let chosen = kept.iter().filter(|other| other.rank == best.rank && is_step(other.sentence));
    let starts: Vec<_> = chosen.map(|other| other.sentence.range.start).collect();
    let first = starts.iter().min().filter(|_| starts.len() > 1)?;
    let is_shown = |sentence: &&Sentence<'_>| is_step(sentence) && best.passage.is_quotable(sentence);
    let steps = best.passage.sentences.iter().filter(is_shown);
    // Keeps the best step even if it is far from the first.
    let mut steps: Vec<_> = steps.skip_while(|sentence| sentence.range.start < *first).collect();
    let at = steps.iter().position(|sentence| sentence.range == best.sentence.range)?;
    steps.drain(..(at + 1).saturating_sub(MAX_ANSWER_SENTENCES));
    Some(steps.into_iter().take(MAX_ANSWER_SENTENCES).map(|sentence| Chosen { sentence, ..*best }).collect())
}

/// Adds the context of each sentence: the line that introduces its list, and the sentence that its pronoun refers to. Neither
/// is repeated directly.
fn with_context<'p>(kept: &[Chosen<'p>]) -> Vec<Chosen<'p>> {
    let mut all: Vec<Chosen<'p>> = Vec::with_capacity(MAX_ANSWER_SENTENCES);
    let mut last_introduction: Option<(usize, &Sentence<'_>)> = None;
    for (position, chosen) in kept.iter().enumerate() {
        let is_same = |rank: usize, sentence: &Sentence<'_>, other: &Sentence<'_>| {
            rank == chosen.rank && sentence.range == other.range
        };
        if all.iter().any(|added| is_same(added.rank, added.sentence, chosen.sentence)) {
            continue;
        }
        let follows = |previous: &&Sentence<'_>| {
            all.last().is_some_and(|last| is_same(last.rank, last.sentence, previous))
        };
        let context = referenced_sentence(chosen).filter(|previous| !follows(previous));
        let room = MAX_ANSWER_SENTENCES - all.len();
        // Without its context the sentence would not be understood.
        if room == 0 || (context.is_some() && room == 1 && position > 0) {
            continue;
        }
        let context =
            context.filter(|_| room > 1).map(|sentence| Chosen { sentence, is_context: true, ..*chosen });
        for mut added in context.into_iter().chain([*chosen]) {
            let line = introduction(&added);
            let is_under_it = line
                .is_some_and(|line| last_introduction.is_some_and(|(rank, last)| is_same(rank, last, line)));
            added.introduction = line.filter(|_| !is_under_it);
            last_introduction = line.map(|line| (chosen.rank, line));
            all.push(added);
        }
    }
    all
}

fn introduction<'p>(chosen: &Chosen<'p>) -> Option<&'p Sentence<'p>> {
    let range = chosen.sentence.list.as_ref()?.introduction.as_ref()?;
    chosen.passage.sentence_at(range).filter(|sentence| chosen.passage.is_quotable(sentence))
}

/// The sentence that the first word of another one refers to.
fn referenced_sentence<'p>(chosen: &Chosen<'p>) -> Option<&'p Sentence<'p>> {
    let passage = chosen.passage;
    if !refers_to_previous(chosen.sentence.text) {
        return None;
    }
    let at = passage.sentences.iter().position(|sentence| sentence.range == chosen.sentence.range)?;
    let previous = passage.sentences.get(at.checked_sub(1)?)?;
    let between = passage.chunk.content.get(previous.range.end..chosen.sentence.range.start)?;
    // Only within the same paragraph.
    let is_near = between.trim().is_empty() && between.matches('\n').count() < 2;
    (is_near && passage.is_quotable(previous)).then_some(previous)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::MatchedChunk;
    use crate::chunk::tests::chunk;
    use crate::evidence::{EvidenceThresholds, assess_all, ranked};
    use serde_json::json;

    fn thresholds() -> EvidenceThresholds {
        EvidenceThresholds { similarity: 0.35, confidence: 0.0, ..EvidenceThresholds::default() }
    }

    /// The chosen sentences, each after the line that introduces its list.
    fn chosen(question: &str, rows: &[MatchedChunk]) -> Vec<String> {
        let passages = ranked(rows);
        let question = Question::new(question, None, &passages);
        let assessment = assess_all(&question, &passages, &thresholds());
        let choice = choose(&question, &passages, &assessment.passages, true);
        let text = |chosen: &Chosen<'_>| {
            let introduction = chosen.introduction.map(|sentence| format!("{} ", sentence.text));
            introduction.unwrap_or_default() + chosen.sentence.text
        };
        choice.sentences.iter().map(text).collect()
    }

    #[test]
    fn the_sentence_with_the_words_of_the_question_comes_first() {
        let content = "Our shop opened in 1990. We love tea. You can cancel an order within 24 hours.";
        let chosen = chosen("How long do I have to cancel my order?", &[chunk(1, 1, 0.6, content)]);
        assert_eq!(chosen, ["You can cancel an order within 24 hours."]);
    }

    #[test]
    fn among_sentences_with_the_same_words_the_nearest_comes_first() {
        let mut row = chunk(1, 1, 0.6, "Refunds are easy. Refunds are fast.");
        row.sentences[1].similarity = 0.7;
        assert_eq!(chosen("refunds", &[row]), ["Refunds are fast.", "Refunds are easy."]);
    }

    #[test]
    fn without_common_words_the_nearest_passage_comes_first() {
        let rows = [chunk(2, 2, 0.4, "Other text."), chunk(1, 1, 0.7, "Alpha beta. Gamma delta.")];
        assert_eq!(chosen("Whence cometh money?", &rows), ["Alpha beta.", "Gamma delta."]);
    }

    #[test]
    fn list_items_are_preceded_by_the_line_that_introduces_the_list() {
        let mut row = chunk(1, 1, 0.3, "We care.\n\nYou may return:\n\n- shoes\n- tea\n- hats");
        row.similarity = 0.6;
        row.sentences[3].similarity = 0.7;
        assert_eq!(chosen("Can I bring back a beverage?", &[row.clone()]), ["You may return: tea"]);
        row.sentences[2].similarity = 0.7;
        row.sentences[4].similarity = 0.7;
        assert_eq!(chosen("Which goods?", &[row]), ["You may return: shoes", "tea", "hats"], "shown once");
    }

    #[test]
    fn the_line_that_introduces_a_list_is_never_quoted_alone() {
        let mut row = chunk(1, 1, 0.6, "You may return:\n\n- shoes\n- tea");
        row.sentences[0].similarity = 0.9;
        row.sentences[2].similarity = 0.61;
        assert_eq!(chosen("What may I return?", &[row]), ["You may return: tea", "shoes"]);
    }

    #[test]
    fn a_sentence_with_a_pronoun_is_preceded_by_the_sentence_it_refers_to() {
        let mut row = chunk(1, 1, 0.6, "We like trees.\n\nA lift goes up. It is wide.");
        row.sentences[2].similarity = 0.8;
        assert_eq!(chosen("Which width?", std::slice::from_ref(&row)), ["A lift goes up.", "It is wide."]);
    }

    #[test]
    fn a_pronoun_does_not_refer_to_another_paragraph() {
        let mut row = chunk(1, 1, 0.6, "We like trees.\n\nIt is wide.");
        row.sentences[1].similarity = 0.8;
        assert_eq!(chosen("Which width?", &[row]), ["It is wide."]);
    }

    #[test]
    fn items_never_follow_the_introduction_of_another_list() {
        let content = "You may return:\n\n- tea\n- hats\n\nYou may not return:\n\n- food\n- underwear";
        let mut row = chunk(1, 1, 0.6, content);
        for sentence in &mut row.sentences {
            sentence.similarity = 0.6;
        }
        row.sentences[2].similarity = 0.1;
        row.sentences[4].similarity = 0.62;
        let answer = chosen("Which goods?", &[row]);
        assert_eq!(
            answer,
            ["You may not return: food", "You may return: tea", "You may not return: underwear"]
        );
    }

    #[test]
    fn an_item_of_a_nested_list_follows_its_parent_item() {
        let content = "You may return:\n\n- shoes. They must be new.\n- hats, but not:\n  - worn hats";
        let mut row = chunk(1, 1, 0.6, content);
        row.sentences[4].similarity = 0.8;
        assert_eq!(chosen("Which?", &[row.clone()]), ["hats, but not: worn hats"]);
        row.sentences[4].similarity = 0.1;
        row.sentences[2].similarity = 0.8;
        assert_eq!(chosen("Which?", &[row]), ["You may return: shoes.", "They must be new."]);
    }

    #[test]
    fn a_trailing_line_that_ends_with_a_colon_is_not_quoted() {
        let mut row = chunk(1, 1, 0.6, "We care. **You may not return:**");
        row.sentences[1].similarity = 0.9;
        assert_eq!(chosen("What may I not return?", &[row]), ["We care."]);
    }

    #[test]
    fn a_sentence_without_visible_words_is_not_quoted() {
        let mut row = chunk(1, 1, 0.6, "![](refunds-take-5-days.png)\n\nRefunds are free.");
        row.sentences[0].similarity = 0.9;
        assert_eq!(chosen("How many days do refunds take?", &[row]), ["Refunds are free."]);
    }

    #[test]
    fn sentences_that_differ_in_a_number_or_a_negation_are_not_duplicates() {
        let possible = "Refunds to your card are always possible here within thirty days of the purchase";
        let others = [possible.replace("possible", "not possible"), format!("{possible} 5")];
        for other in others {
            let rows = [chunk(1, 1, 0.7, possible), chunk(2, 2, 0.7, &other)];
            assert_eq!(chosen("refunds", &rows).len(), 2, "{other}");
        }
    }

    #[test]
    fn steps_are_quoted_in_order_and_without_gaps() {
        let mut row = chunk(1, 1, 0.6, "Do this:\n\n1. Open it\n2. Print it\n3. Send it\n4. Wait");
        for sentence in &mut row.sentences {
            sentence.similarity = 0.4;
        }
        row.sentences[3].similarity = 0.72;
        row.sentences[1].similarity = 0.7;
        assert_eq!(chosen("How?", &[row]), ["Do this: Open it", "Print it", "Send it"]);
    }

    #[test]
    fn a_single_step_does_not_pull_in_others() {
        let mut row = chunk(1, 1, 0.6, "1. Open it\n2. Print it\n3. Send it");
        row.sentences[1].similarity = 0.8;
        assert_eq!(chosen("Which paper?", &[row]), ["Print it"]);
    }

    #[test]
    fn an_answer_without_a_name_or_number_of_the_question_is_hedged() {
        let is_hedged = |text: &str| {
            let rows = [chunk(1, 1, 0.6, "Ships sail to Norway. They take 5 days.")];
            let passages = ranked(&rows);
            let question = Question::new(text, None, &passages);
            let assessment = assess_all(&question, &passages, &thresholds());
            choose(&question, &passages, &assessment.passages, true).is_hedged
        };
        assert!(is_hedged("Do ships sail to Iceland?"));
        assert!(is_hedged("Do ships take 7 days?"));
        assert!(!is_hedged("Do ships to Norway take 5 days?"));
        assert!(
            !is_hedged("I live in Rome and need a boat. Do ships sail?"),
            "only the sentence that asks counts"
        );
    }

    #[test]
    fn the_same_sentence_in_two_passages_is_quoted_once() {
        let rows = [
            chunk(1, 1, 0.7, "Refunds take 5 days."),
            chunk(2, 2, 0.6, "Refunds take 5 days!"),
            chunk(3, 3, 0.6, "**Refunds** take 5 days."),
        ];
        assert_eq!(chosen("refunds days", &rows), ["Refunds take 5 days."]);
    }

    #[test]
    fn sentences_of_the_best_passage_come_before_those_of_others() {
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
    fn passages_below_the_similarity_threshold_are_not_quoted() {
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
    fn a_passage_without_stored_sentences_is_quoted_whole() {
        let mut row = chunk(1, 1, 0.6, "\n- Refunds are easy.\n- Refunds are fast.\n");
        row.sentences.clear();
        assert_eq!(chosen("refunds", &[row]), ["- Refunds are easy.\n- Refunds are fast."]);
    }

    #[test]
    fn source_text_that_looks_like_an_escaped_marker_is_not_quoted() {
        let content = "```\nrefund\\[0\\]\n```\n\nUse `refund[1]` here. Refund the first.";
        assert_eq!(
            chosen("refund", &[chunk(1, 1, 0.9, content)]),
            ["Use `refund[1]` here.", "Refund the first."],
            "a bracketed number that we escape ourselves is fine"
        );
        let content = "See `\\[1\\]`:\n\n- refund the first";
        assert_eq!(chosen("refund", &[chunk(1, 1, 0.9, content)]), ["refund the first"]);
    }
}
