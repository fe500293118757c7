//! Chooses the sentences that answer a question best, with the context a reader needs to understand them.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::back_reference::refers_to_previous;
use crate::evidence::{PassageAssessment, relevance};
use crate::limits::MAX_ANSWER_SENTENCES;
use crate::passage::{Passage, Sentence};
use crate::question::Question;
use crate::sentences::{List, ends_with_colon};
use crate::statement::{Part, Role, Segment, shown};

/// Weight of the passage's rank score (-1 to 1). It is the same for all sentences of a passage, so it decides between
/// passages. Values from 1 to 3 choose equally well on the evaluation sets.
const PASSAGE_WEIGHT: f64 = 2.0;
/// How far below the best a further sentence may score, so that a good short answer stays short.
const MAX_SCORE_GAP: f64 = 0.1;
/// The same if the best sentence may not answer the question: then the reader gets more to choose from.
const MAX_SCORE_GAP_IF_UNCERTAIN: f64 = 0.6;

/// A sentence of the answer.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'p> {
    pub(super) passage: &'p Passage<'p>,
    pub(super) sentence: &'p Sentence<'p>,
    /// The line that introduces its list; the two are read as one sentence. `None` if the answer has just shown it.
    pub(super) introduction: Option<&'p Sentence<'p>>,
    /// How many parts of its chain the answer has just shown.
    pub(super) shown_parts: usize,
    /// Comparable within one question.
    pub(super) score: f64,
    /// Whether it was added only because the next sentence needs it.
    pub(super) is_context: bool,
    rank: usize,
}

impl Chosen<'_> {
    /// Whether it stands before the sentences that only add to the best one: it is the best one, the sentence that this refers to,
    /// or an item of the same list, which means something else in another order.
    fn opens_with(&self, best: &Chosen<'_>) -> bool {
        let list = |chosen: &Chosen<'_>| chosen.sentence.list.as_ref().map(|list| list.number);
        let lead_in = |chosen: &Chosen<'_>| {
            let (_, chain) = chosen.sentence.statement.as_ref()?;
            chain.iter().find(|part| part.role == Role::LeadIn).map(|part| part.start)
        };
        let is_in_its_list = (list(best).is_some() && list(self) == list(best))
            || (lead_in(best).is_some() && lead_in(self) == lead_in(best));
        let is_its_context =
            referenced_sentence(best).is_some_and(|context| context.range == self.sentence.range);
        self.rank == best.rank && (self.is(best.rank, best.sentence) || is_its_context || is_in_its_list)
    }

    /// The words as the answer shows them: after the parts of its chain that the answer has not just shown.
    pub(super) fn segments(&self) -> Option<Vec<Segment>> {
        let (kind, chain) = self.sentence.statement.as_ref()?;
        Some(shown(*kind, self.sentence.text, chain.get(self.shown_parts..).unwrap_or_default()))
    }

    /// The same as one text, without Markdown.
    pub(super) fn text(&self) -> String {
        match self.segments() {
            Some(segments) => segments.into_iter().map(|segment| segment.text).collect(),
            None => self.passage.plain_text(self.sentence),
        }
    }

    /// Whether it is this sentence of the passage of this rank.
    fn is(&self, rank: usize, sentence: &Sentence<'_>) -> bool {
        self.rank == rank && self.sentence.range == sentence.range
    }
}

/// The sentences of an answer.
pub(super) struct Choice<'p> {
    /// In the order of the answer, at most [`MAX_ANSWER_SENTENCES`].
    pub(super) sentences: Vec<Chosen<'p>>,
    /// Whether the best sentence may not answer the question, because it lacks one of its names or numbers.
    pub(super) is_hedged: bool,
}

/// Chooses the best sentences of the qualifying passages and adds their context. The best sentence decides what is shown: its
/// passage comes first, then the others in order of rank. Within its passage, it comes first with the items of its list, which mean
/// something else in another order; otherwise sentences keep their order. `is_certain`: the confidence reaches its default threshold.
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
    let mut statements = vec![Statement::new(&best)];
    for candidate in candidates.take_while(|candidate| candidate.score >= best.score - margin) {
        if kept.len() == MAX_ANSWER_SENTENCES {
            break;
        }
        let statement = Statement::new(&candidate);
        if !statements.contains(&statement) {
            statements.push(statement);
            kept.push(candidate);
        }
    }
    let mut kept = without_gaps(kept);
    kept.sort_by_key(|each| !each.is(best.rank, best.sentence));
    let mut sentences = with_context(&kept);
    let opens = |each: &Chosen<'_>| each.opens_with(&best);
    sentences
        .sort_by_key(|each| (each.rank != best.rank, each.rank, !opens(each), each.sentence.range.start));
    introduce(&mut sentences);
    leave_out_shown_parts(&mut sentences);
    Choice { sentences, is_hedged }
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
        shown_parts: 0,
        score: score(question, passage, sentence),
        is_context: false,
        rank,
    })
}

/// Whether a sentence means nothing without what follows: it introduces a list of the passage, or ends the passage with a
/// colon.
fn is_lead_in(passage: &Passage<'_>, sentence: &Sentence<'_>) -> bool {
    if sentence.statement.is_some() {
        return false;
    }
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

/// Whether a name or number of the question is missing from what is shown of a sentence: it, the sentence that it refers to, and
/// the lines and headings above them. Its other neighbours may be about something else.
fn lacks_name_or_number(question: &Question, best: &Chosen<'_>) -> bool {
    let context = referenced_sentence(best);
    let is_shown =
        |word: &str| best.sentence.contains(word) || context.is_some_and(|shown| shown.contains(word));
    question.missing_names(is_shown) > 0
}

/// What a sentence says, with the line and the header row above it. Sentences that say the same are duplicates. Every word and sign
/// counts, because one is enough to contradict: "before", "can't", "five", "€".
#[derive(PartialEq)]
struct Statement<'p> {
    above: [Option<&'p str>; 2],
    /// In lower case, with signs.
    words: Vec<String>,
}

impl<'p> Statement<'p> {
    fn new(chosen: &Chosen<'p>) -> Self {
        let Sentence { header, .. } = chosen.sentence;
        let text = match &chosen.sentence.statement {
            Some(_) => Cow::Owned(chosen.passage.plain_text(chosen.sentence)),
            None => Cow::Borrowed(chosen.sentence.text),
        };
        #[cfg(test)]
        crate::work::add(text.len());
        // The source, because a link or code in it may be the difference.
        let words = text.split_word_bounds().map(|word| word.trim_matches('_').to_lowercase());
        let counts = |word: &String| !word.chars().all(|c| c.is_whitespace() || PUNCTUATION.contains(c));
        Self {
            above: [introduction(chosen).map(|line| line.text), *header],
            words: words.filter(counts).collect(),
        }
    }
}

/// Marks that may differ between two sentences that say the same: punctuation and emphasis. Signs such as "-" and "%" may not.
const PUNCTUATION: &str = ".,;:!?…\"'“”„‘’«»()[]、。，：；！？「」（）،؛؟*`";

/// If several steps of one numbered list were chosen, fills the gaps between them. They begin with the first step of the list. If
/// the best of them is too far from it, they begin with the first chosen step from which the best is reached.
fn without_gaps(kept: Vec<Chosen<'_>>) -> Vec<Chosen<'_>> {
    let list = |chosen: &Chosen<'_>| {
        let list = chosen.sentence.list.as_ref().filter(|list| list.is_ordered)?;
        Some((chosen.rank, list.number))
    };
    let is_one_of_several = |chosen: &&Chosen<'_>| {
        list(chosen).is_some() && kept.iter().filter(|other| list(other) == list(chosen)).count() > 1
    };
    let Some(best) = kept.iter().find(is_one_of_several).copied() else { return kept };
    let is_step = |chosen: &Chosen<'_>| list(chosen) == list(&best);
    let all = best.passage.sentences.iter().map(|sentence| Chosen { sentence, ..best });
    let steps: Vec<_> =
        all.filter(|chosen| is_step(chosen) && best.passage.is_quotable(chosen.sentence)).collect();
    let position_of = |chosen: &Chosen<'_>| {
        steps.iter().position(|step| step.is(chosen.rank, chosen.sentence)).unwrap_or_default()
    };
    // The best sentence of the answer is kept even if it is not one of the steps.
    let room = MAX_ANSWER_SENTENCES - usize::from(kept.first().is_some_and(|first| !is_step(first)));
    let at = position_of(&best);
    let first = kept.iter().filter(|chosen| is_step(chosen)).map(position_of).min().unwrap_or_default();
    let begin = if at < room { 0 } else { first.max(at + 1 - room) };
    let others = kept.iter().filter(|chosen| !is_step(chosen)).copied();
    steps.into_iter().skip(begin).take(room).chain(others).collect()
}

/// The sentences for which there is room, the first ones first, with those that they refer to.
fn with_context<'p>(kept: &[Chosen<'p>]) -> Vec<Chosen<'p>> {
    let mut all: Vec<Chosen<'p>> = Vec::with_capacity(MAX_ANSWER_SENTENCES);
    for chosen in kept {
        let is_shown = |all: &[Chosen<'_>], sentence| all.iter().any(|other| other.is(chosen.rank, sentence));
        if is_shown(&all, chosen.sentence) {
            continue;
        }
        let context = referenced_sentence(chosen).filter(|sentence| !is_shown(&all, sentence));
        // Without its context the sentence would not be understood.
        if all.len() + usize::from(context.is_some()) < MAX_ANSWER_SENTENCES {
            let of_answer = |sentence| kept.iter().find(|other| other.is(chosen.rank, sentence)).copied();
            all.extend(context.map(|sentence| {
                of_answer(sentence).unwrap_or(Chosen { sentence, is_context: true, ..*chosen })
            }));
            all.push(*chosen);
        }
    }
    all
}

/// Adds to each sentence the line that introduces its list, unless it has just been shown.
fn introduce(sentences: &mut [Chosen<'_>]) {
    let mut last: Option<(usize, &Sentence<'_>)> = None;
    for chosen in sentences {
        let line = introduction(chosen);
        let is_under_it = |line: &&Sentence<'_>| {
            last.is_some_and(|(rank, last)| rank == chosen.rank && last.range == line.range)
        };
        chosen.introduction = line.filter(|line| !is_under_it(line));
        last = line.map(|line| (chosen.rank, line));
    }
}

/// Leaves out the parts of chains that the answer has just shown.
fn leave_out_shown_parts(sentences: &mut [Chosen<'_>]) {
    let mut before: Option<(usize, &[&Part])> = None;
    for chosen in sentences {
        let chain = chosen.sentence.statement.as_ref().map_or(&[][..], |(_, chain)| chain.as_slice());
        let last = before.replace((chosen.rank, chain)).filter(|(rank, _)| *rank == chosen.rank);
        let same = chain.iter().zip(last.map_or(&[][..], |(_, chain)| chain));
        chosen.shown_parts =
            same.take_while(|(part, other)| is_shown_once(part.role) && part == other).count();
    }
}

/// Whether a part holds for the statements after it, until another one is shown. A sentence that refers to another needs that one
/// right before it.
fn is_shown_once(role: Role) -> bool {
    matches!(
        role,
        Role::Notice
            | Role::Heading
            | Role::Question
            | Role::Label
            | Role::LeadIn
            | Role::Parent
            | Role::Group
    )
}

fn introduction<'p>(chosen: &Chosen<'p>) -> Option<&'p Sentence<'p>> {
    let range = chosen.sentence.list.as_ref()?.introduction.as_ref()?;
    chosen.passage.sentence_at(range).filter(|sentence| chosen.passage.is_quotable(sentence))
}

/// The sentence that the first word of another one refers to.
fn referenced_sentence<'p>(chosen: &Chosen<'p>) -> Option<&'p Sentence<'p>> {
    let passage = chosen.passage;
    if chosen.sentence.statement.is_some() || !refers_to_previous(chosen.sentence.text) {
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
    fn among_sentences_with_the_same_words_the_nearest_is_chosen() {
        let mut row = chunk(1, 1, 0.6, "Refunds are easy. Refunds are fast.");
        row.sentences[1].similarity = 0.71;
        assert_eq!(chosen("refunds", &[row]), ["Refunds are fast."]);
    }

    #[test]
    fn the_best_sentence_comes_first_and_the_others_keep_their_order() {
        let content = "Open the box. Take the key. Turn it left. Close the box.";
        let mut row = chunk(1, 1, 0.6, content);
        for (sentence, similarity) in row.sentences.iter_mut().zip([0.1, 0.69, 0.1, 0.7]) {
            sentence.similarity = similarity;
        }
        assert_eq!(chosen("What now?", &[row]), ["Close the box.", "Take the key."]);
    }

    #[test]
    fn items_of_a_list_keep_their_order() {
        let mut row =
            chunk(1, 1, 0.6, "To restore a copy:\n\n- choose a profile\n- press Open\n- select the copy");
        row.sentences[3].similarity = 0.65;
        assert_eq!(
            chosen("What now?", &[row]),
            ["To restore a copy: choose a profile", "press Open", "select the copy"]
        );
    }

    #[test]
    fn the_context_of_another_sentence_never_crowds_out_the_best() {
        let mut row = chunk(1, 1, 0.6, "One is red. It is old.\n\nTwo is tall. It is new.\n\nThree is best.");
        for (sentence, similarity) in row.sentences.iter_mut().zip([0.1, 0.68, 0.1, 0.69, 0.7]) {
            sentence.similarity = similarity;
        }
        assert_eq!(chosen("Which?", &[row]), ["Three is best.", "Two is tall.", "It is new."]);
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
        assert_eq!(chosen("What may I return?", &[row]), ["You may return: shoes", "tea"]);
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
        assert_eq!(answer, ["You may not return: food", "underwear", "You may return: tea"]);
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
    fn sentences_that_differ_in_one_word_or_sign_are_both_shown() {
        let sentence =
            "You can return opened items from Rome for 5 € within five working days of the delivery to you";
        for (word, other) in [
            ("can", "can't"),
            ("can", "can only"),
            ("five", "ten"),
            ("opened", "unopened"),
            ("within", "not within"),
            ("Rome", "Bonn"),
            ("€", "$"),
            ("5", "-5"),
            ("5", "0.5"),
            ("for 5 € within five", "within five € for 5"),
        ] {
            let other = sentence.replace(word, other);
            let rows = [chunk(1, 1, 0.7, sentence), chunk(2, 2, 0.7, &other)];
            let mut shown = chosen("items", &rows);
            shown.sort_by_key(|text| text != sentence);
            assert_eq!(shown, [sentence, &other]);
        }
    }

    #[test]
    fn the_same_item_under_another_line_is_not_a_duplicate() {
        let mut rows = [chunk(1, 1, 0.7, "Allowed:\n\n- dogs"), chunk(2, 2, 0.7, "Forbidden:\n\n- dogs")];
        for row in &mut rows {
            row.sentences[0].similarity = 0.1;
        }
        assert_eq!(chosen("What about dogs?", &rows), ["Allowed: dogs", "Forbidden: dogs"]);
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
    fn steps_begin_with_the_first_if_the_best_is_near_it() {
        let content =
            "Stay dry.\n\n1. Switch it off\n2. Remove the screws\n3. Unplug it\n4. Insert it\n5. Close it";
        let answer = |similarities: [f64; 6]| {
            let mut row = chunk(1, 1, 0.6, content);
            for (sentence, similarity) in row.sentences.iter_mut().zip(similarities) {
                sentence.similarity = similarity;
            }
            chosen("How?", &[row])
        };
        let from_the_first = ["Switch it off", "Remove the screws", "Unplug it"];
        assert_eq!(answer([0.1, 0.1, 0.7, 0.68, 0.69, 0.1]), from_the_first);
        assert_eq!(answer([0.1, 0.1, 0.68, 0.7, 0.1, 0.1]), from_the_first);
        assert_eq!(
            answer([0.7, 0.1, 0.69, 0.68, 0.1, 0.1]),
            ["Stay dry.", "Switch it off", "Remove the screws"],
            "the best is no step"
        );
        assert_eq!(
            answer([0.1, 0.1, 0.1, 0.1, 0.68, 0.7]),
            ["Insert it", "Close it"],
            "the best is far from it"
        );
        assert_eq!(
            answer([0.1, 0.1, 0.68, 0.1, 0.1, 0.7]),
            ["Unplug it", "Insert it", "Close it"],
            "the best is shown"
        );
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
        assert!(is_hedged("How do ships sail for 5 days?"), "the next sentence is not part of it");
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
