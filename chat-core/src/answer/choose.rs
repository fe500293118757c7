//! Chooses the statements that answer a question best.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::evidence::calibration::READER_WEIGHT;
use crate::evidence::{PassageAssessment, relevance};
use crate::limits::{MAX_ANSWER_SENTENCES, MAX_ANSWER_STEPS, MAX_CHAIN_BYTES};
use crate::passage::{Passage, Sentence};
use crate::question::Question;
use crate::statement::{Part, Role};

/// Weight of the passage's rank score (-1 to 1). It is the same for all sentences of a passage, so it decides between
/// passages. Values from 1 to 3 choose equally well on the evaluation sets.
const PASSAGE_WEIGHT: f64 = 2.0;
/// How far below the best a further sentence may score, so that a good short answer stays short.
const MAX_SCORE_GAP: f64 = 0.1;
/// The largest gap if the best sentence may not answer the question, or if another passage says
/// nearly the same as it: the reader gets more to choose from.
const MAX_SCORE_GAP_IF_UNCERTAIN: f64 = 0.6;
/// How many times as far apart scores are, and so both gaps, if the statements were read: z adds to what separates them.
const GAP_FACTOR_IF_READ: f64 = 3.0;
/// The share of words from which two statements say nearly the same: "Refunds take 5 days" and "Refunds take 5 weeks".
const NEARLY_THE_SAME: f64 = 0.7;

/// How many words the first sentence of an answer in a document may have to be shown with the others: "No, not yet."
const MAX_REPLY_WORDS: usize = 5;

/// A sentence of the answer.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'p> {
    pub(super) passage: &'p Passage<'p>,
    pub(super) sentence: &'p Sentence<'p>,
    /// How many parts of its chain the answer has just shown.
    pub(super) shown_parts: usize,
    /// Comparable within one question.
    pub(super) score: f64,
    rank: usize,
}

impl<'p> Chosen<'p> {
    /// Whether it stands before the sentences that only add to the best one: it is the best one, or of the same list or the same
    /// answer in the document, which mean something else in another order.
    fn opens_with(&self, best: &Chosen<'_>) -> bool {
        self.rank == best.rank
            && (self.is(best)
                || self.has_same(Role::LeadIn, best)
                || self.has_same(Role::Question, best)
                || best.steps().iter().any(|step| self.is(step)))
    }

    /// Whether it stands before the best one.
    fn goes_before(&self, best: &Chosen<'_>) -> bool {
        self.opens_with(best) && self.sentence.range.start < best.sentence.range.start
    }

    /// Whether both have the same part with a role.
    fn has_same(&self, role: Role, other: &Chosen<'_>) -> bool {
        let part = |chosen: &Chosen<'_>| {
            chosen.sentence.chain.iter().find(|part| part.role == role).map(|part| part.start)
        };
        part(other).is_some() && part(self) == part(other)
    }

    /// The short sentence with which the document begins to answer the question that this one answers, too.
    fn reply(&self) -> Option<Chosen<'p>> {
        let answers = self.passage.sentences.iter().map(|sentence| Chosen { sentence, ..*self });
        let first = answers.into_iter().find(|other| other.has_same(Role::Question, self))?;
        (first.sentence.text.unicode_words().count() <= MAX_REPLY_WORDS).then_some(first)
    }

    /// Whether both are the same sentence of the same passage.
    fn is(&self, other: &Chosen<'_>) -> bool {
        self.rank == other.rank && self.sentence.range == other.sentence.range
    }

    /// The share of the question's words, 0 to 1, in it and its context.
    fn coverage(&self, question: &Question) -> f64 {
        question.coverage(|word| self.sentence.contains(word))
    }

    /// Its parts and its words, in the order in which they are shown.
    fn said(&self) -> Vec<&'p str> {
        let (after, before): (Vec<_>, Vec<_>) = self
            .sentence
            .chain
            .iter()
            .partition(|part| matches!(part.role, Role::Exception | Role::Condition));
        let text = |part: &&'p Part| part.text.as_str();
        before.iter().map(text).chain([self.sentence.text]).chain(after.iter().map(text)).collect()
    }

    /// Whether another sentence of the passage shows this one as a part of its chain.
    fn is_part_of(&self, other: &Chosen<'_>) -> bool {
        let is_sentence =
            |role| matches!(role, Role::LeadIn | Role::Antecedent | Role::Exception | Role::Condition);
        let is_it = |part: &&Part| is_sentence(part.role) && part.text == self.sentence.text;
        self.rank == other.rank && other.sentence.chain.iter().any(is_it)
    }

    /// Whether another sentence of the answer shows this one as a part of its chain.
    fn is_shown_in(&self, other: &Chosen<'_>) -> bool {
        let shown = other.sentence.chain.get(other.shown_parts..).unwrap_or_default();
        self.is_part_of(other) && shown.iter().any(|part| part.text == self.sentence.text)
    }

    /// The steps of the list that it is a step of, in order: statements with the same lines above them whose numbers follow each
    /// other. Empty if it is none.
    fn steps(&self) -> Vec<Chosen<'p>> {
        let numbered = self.passage.sentences.iter().filter(|other| lines(other).eq(lines(self.sentence)));
        let numbered =
            numbered.filter_map(|step| Some((number(step.text)?, Chosen { sentence: step, ..*self })));
        let numbered: Vec<_> = numbered.collect();
        let mut lists = numbered.chunk_by(|(number, _), (next, _)| number.checked_add(1) == Some(*next));
        let list = lists.find(|list| list.iter().any(|(_, step)| step.is(self))).unwrap_or_default();
        list.iter().map(|(_, step)| *step).collect()
    }
}

/// The parts of its chain that hold for its neighbours, too.
fn lines<'s>(sentence: &'s Sentence<'_>) -> impl Iterator<Item = &'s Part> {
    sentence.chain.iter().copied().filter(|part| is_shown_once(part.role))
}

/// The number of a step: "2. Remove the screws".
fn number(text: &str) -> Option<u32> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text.strip_suffix(rest)?.parse().ok()?;
    rest.strip_prefix(['.', ')'])?.starts_with(char::is_whitespace).then_some(number)
}

/// The sentences of an answer.
pub(super) struct Choice<'p> {
    /// In the order of the answer, at most [`MAX_ANSWER_SENTENCES`], or [`MAX_ANSWER_STEPS`] if some are steps.
    pub(super) sentences: Vec<Chosen<'p>>,
    /// Whether the best sentence may not answer the question, because it lacks one of its names or numbers.
    pub(super) is_hedged: bool,
}

/// Chooses the best sentences of the qualifying passages. The best sentence decides what is shown: its passage comes first, then the
/// others in order of rank. Within its passage, it comes first with the items of its list, which mean something else in another order;
/// otherwise sentences keep their order. `is_certain`: the confidence reaches its default threshold.
pub(super) fn choose<'p>(
    question: &Question,
    passages: &'p [Passage<'p>],
    assessments: &[PassageAssessment],
    is_certain: bool,
) -> Choice<'p> {
    let qualifying = passages.iter().zip(assessments).enumerate();
    let qualifying = qualifying.filter(|(_, (_, assessment))| assessment.qualifies);
    let mut candidates: Vec<_> =
        qualifying.flat_map(|(rank, (passage, _))| candidates(question, rank, passage)).collect();
    // The sort is stable: at equal scores the better passage and the earlier sentence come first.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut candidates = candidates.into_iter();
    let Some(best) = candidates.next() else { return Choice { sentences: Vec::new(), is_hedged: false } };
    // Its neighbours may be about something else.
    let is_hedged = question.missing_names(|word| best.sentence.contains(word)) > 0;

    let is_uncertain = !is_certain || is_hedged;
    let is_read = best.sentence.z.is_some();
    let gap_factor = if is_read { GAP_FACTOR_IF_READ } else { 1.0 };
    let asked = best.coverage(question);
    let mut kept = vec![best];
    kept.extend(best.reply().filter(|reply| !reply.is(&best) && !reply.is_part_of(&best)));
    let mut said: Vec<_> = kept.iter().map(statement).collect();
    for candidate in
        candidates.take_while(|other| other.score >= best.score - gap_factor * MAX_SCORE_GAP_IF_UNCERTAIN)
    {
        if kept.len() == MAX_ANSWER_SENTENCES {
            break;
        }
        // What the reader found must not be pushed down by a sentence that is worse.
        if is_read && candidate.goes_before(&best) && candidate.score < best.score - MAX_SCORE_GAP {
            continue;
        }
        let is_near = is_uncertain || candidate.score >= best.score - gap_factor * MAX_SCORE_GAP;
        let may_vary = || candidate.rank != best.rank && candidate.coverage(question) >= asked;
        if !is_near && !may_vary() {
            continue;
        }
        let statement = statement(&candidate);
        if !is_near && !said.first().is_some_and(|said| say_nearly_the_same(said, &statement)) {
            continue;
        }
        if !said.contains(&statement) && !kept.iter().any(|other| candidate.is_part_of(other)) {
            said.push(statement);
            kept.push(candidate);
        }
    }
    let mut sentences = without_gaps(kept);
    let opens = |each: &Chosen<'_>| each.opens_with(&best);
    sentences
        .sort_by_key(|each| (each.rank != best.rank, each.rank, !opens(each), each.sentence.range.start));
    leave_out_shown_parts(&mut sentences);
    // Of two that show each other, one stays.
    let mut at = 0;
    while let Some(each) = sentences.get(at) {
        if sentences.iter().any(|other| each.is_shown_in(other)) {
            sentences.remove(at);
        } else {
            at += 1;
        }
    }
    leave_out_shown_parts(&mut sentences);
    Choice { sentences, is_hedged }
}

/// The sentence of a passage that fits a question best. `None` if the passage has nothing to quote.
pub(super) fn best_of_passage<'p>(question: &Question, passage: &'p Passage<'p>) -> Option<Chosen<'p>> {
    // The first of equal ones.
    candidates(question, 0, passage).reduce(|best, next| if next.score > best.score { next } else { best })
}

fn candidates<'p>(
    question: &Question,
    rank: usize,
    passage: &'p Passage<'p>,
) -> impl Iterator<Item = Chosen<'p>> {
    passage.sentences.iter().map(move |sentence| Chosen {
        passage,
        sentence,
        shown_parts: 0,
        score: score(question, passage, sentence),
        rank,
    })
}

fn score(question: &Question, passage: &Passage<'_>, sentence: &Sentence<'_>) -> f64 {
    let sum = relevance(question, sentence) + PASSAGE_WEIGHT * passage.chunk.rank_score();
    let sum = sentence.z.map_or(sum, |z| sum + READER_WEIGHT * z);
    // NaN sorts last.
    if sum.is_nan() { f64::NEG_INFINITY } else { sum }
}

/// The words of a sentence and its chain, in lower case. Sentences that say the same are
/// duplicates. Every word and sign counts, because one is enough to contradict: "before", "can't",
/// "five", "€".
fn statement(chosen: &Chosen<'_>) -> Vec<String> {
    let text = chosen.sentence.whole();
    #[cfg(test)]
    crate::work::add(text.len());
    let counts = |word: &&str| !word.chars().all(|c| c.is_whitespace() || PUNCTUATION.contains(c));
    text.split_word_bounds().filter(counts).map(str::to_lowercase).collect()
}

/// Whether the words of two statements are so much alike that one contradicts or varies the other.
fn say_nearly_the_same(a: &[String], b: &[String]) -> bool {
    let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
    a.intersection(&b).count() as f64 >= NEARLY_THE_SAME * a.len().max(b.len()) as f64
}

/// Marks that may differ between two sentences that say the same. Signs such as "-" and "%" may not.
const PUNCTUATION: &str = ".,;:!?…\"'“”„‘’«»()[]、。，：；！？「」（）،؛؟";

/// If several steps of one list were chosen, shows all of them, because a procedure without one of its steps is another one. Of a
/// longer list, they begin with the first chosen step from which the best one is reached.
fn without_gaps(kept: Vec<Chosen<'_>>) -> Vec<Chosen<'_>> {
    let is_kept = |step: &Chosen<'_>| kept.iter().any(|chosen| chosen.is(step));
    let lists = kept.iter().map(|chosen| (chosen, chosen.steps()));
    let is_one_of_several =
        |(_, steps): &(&Chosen<'_>, Vec<_>)| steps.iter().filter(|step| is_kept(step)).count() > 1;
    let Some((best, steps)) = lists.into_iter().find(is_one_of_several) else { return kept };
    let others: Vec<_> =
        kept.iter().filter(|chosen| !steps.iter().any(|step| step.is(chosen))).copied().collect();
    let chains =
        steps.iter().flat_map(|step| &step.sentence.chain).map(|part| part.text.len()).sum::<usize>();
    let most = if chains <= MAX_CHAIN_BYTES { MAX_ANSWER_STEPS } else { MAX_ANSWER_SENTENCES };
    let room = most - others.len();
    let at = steps.iter().position(|step| step.is(best)).unwrap_or_default();
    let first = steps.iter().position(is_kept).unwrap_or_default();
    let begin = if at < room { 0 } else { first.max(at + 1 - room) };
    steps.into_iter().skip(begin).take(room).chain(others).collect()
}

/// Leaves out the parts of chains that the answer has just shown.
fn leave_out_shown_parts(sentences: &mut [Chosen<'_>]) {
    let mut before: Option<Chosen<'_>> = None;
    for chosen in sentences {
        chosen.shown_parts = 0;
        let last = before.replace(*chosen).filter(|last| last.rank == chosen.rank);
        let Some(last) = last else { continue };
        let (chain, shown) = (&chosen.sentence.chain, &last.sentence.chain);
        let same =
            chain.iter().zip(shown).take_while(|(part, other)| part == other && is_shown_once(part.role));
        chosen.shown_parts = same.count();
        // What it refers to stands right before it, as a whole.
        let said = last.said();
        let referred = chain.get(..said.len()).unwrap_or_default().iter().map(|part| part.text.as_str());
        if referred.eq(said.iter().copied()) {
            chosen.shown_parts = said.len();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::MatchedChunk;
    use crate::chunk::tests::{chunk, list, passage_of};
    use crate::evidence::{EvidenceThresholds, assess_all, ranked};
    use crate::statement::StatementKind::Sentence;
    use crate::statement::joined;
    use serde_json::json;

    fn thresholds() -> EvidenceThresholds {
        EvidenceThresholds { similarity: 0.35, confidence: 0.0, ..EvidenceThresholds::default() }
    }

    /// The chosen sentences as the answer shows them.
    fn chosen(question: &str, rows: &[MatchedChunk]) -> Vec<String> {
        let passages = ranked(rows);
        let question = Question::new(question, None, &passages);
        let assessment = assess_all(&question, &passages, &thresholds());
        let choice = choose(&question, &passages, &assessment.passages, true);
        let text = |chosen: &Chosen<'_>| joined(&chosen.sentence.shown(chosen.shown_parts));
        choice.sentences.iter().map(text).collect()
    }

    fn with_similarities(mut row: MatchedChunk, similarities: &[f64]) -> MatchedChunk {
        assert_eq!(row.sentences.len(), similarities.len());
        for (sentence, similarity) in row.sentences.iter_mut().zip(similarities) {
            sentence.similarity = *similarity;
        }
        row
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
        let items = ["choose a profile", "press Open", "select the copy"];
        let row = with_similarities(list(1, 0.6, "To restore a copy:", &items), &[0.6, 0.6, 0.65]);
        assert_eq!(
            chosen("What now?", &[row]),
            ["To restore a copy: choose a profile", "press Open", "select the copy"]
        );
    }

    #[test]
    fn the_context_of_another_sentence_never_crowds_out_the_best() {
        let row = passage_of(
            1,
            0.6,
            "One is red. It is old.\nTwo is tall. It is new.\nThree is best.",
            &[
                (Sentence, "One is red.", &[]),
                (Sentence, "It is old.", &[(Role::Antecedent, "One is red.", None)]),
                (Sentence, "Two is tall.", &[]),
                (Sentence, "It is new.", &[(Role::Antecedent, "Two is tall.", None)]),
                (Sentence, "Three is best.", &[]),
            ],
        );
        let row = with_similarities(row, &[0.1, 0.68, 0.1, 0.69, 0.7]);
        assert_eq!(
            chosen("Which?", &[row]),
            ["Three is best.", "One is red. It is old.", "Two is tall. It is new."]
        );
    }

    #[test]
    fn without_common_words_the_nearest_passage_comes_first() {
        let rows = [chunk(2, 2, 0.4, "Other text."), chunk(1, 1, 0.7, "Alpha beta. Gamma delta.")];
        assert_eq!(chosen("Whence cometh money?", &rows), ["Alpha beta.", "Gamma delta."]);
    }

    #[test]
    fn list_items_are_preceded_by_the_line_that_introduces_the_list() {
        let row = list(1, 0.6, "You may return:", &["shoes", "tea", "hats"]);
        let nearest = with_similarities(row.clone(), &[0.3, 0.7, 0.3]);
        assert_eq!(chosen("Can I bring back a beverage?", &[nearest]), ["You may return: tea"]);
        let all = with_similarities(row, &[0.7, 0.7, 0.7]);
        assert_eq!(chosen("Which goods?", &[all]), ["You may return: shoes", "tea", "hats"], "shown once");
    }

    /// "It is wide." refers to "A lift goes up.".
    fn lift(similarities: &[f64; 3]) -> MatchedChunk {
        let row = passage_of(
            1,
            0.6,
            "We like trees.\nA lift goes up. It is wide.",
            &[
                (Sentence, "We like trees.", &[]),
                (Sentence, "A lift goes up.", &[]),
                (Sentence, "It is wide.", &[(Role::Antecedent, "A lift goes up.", None)]),
            ],
        );
        with_similarities(row, similarities)
    }

    #[test]
    fn a_sentence_with_a_pronoun_is_preceded_by_the_sentence_it_refers_to() {
        assert_eq!(chosen("Which width?", &[lift(&[0.6, 0.6, 0.8])]), ["A lift goes up. It is wide."]);
        assert_eq!(
            chosen("Which width?", &[lift(&[0.75, 0.6, 0.8])]),
            ["A lift goes up. It is wide.", "We like trees."]
        );
    }

    #[test]
    fn a_sentence_is_not_shown_again_as_what_the_next_one_refers_to() {
        assert_eq!(chosen("What width?", &[lift(&[0.1, 0.8, 0.8])]), ["A lift goes up.", "It is wide."]);
        assert_eq!(chosen("What width?", &[lift(&[0.1, 0.75, 0.8])]), ["A lift goes up. It is wide."]);
    }

    #[test]
    fn an_exception_that_was_just_shown_is_not_shown_again() {
        let (all, sale) = ("All items can be returned.", "Except for sale items.");
        let row = passage_of(
            1,
            0.6,
            &format!("{all} {sale} However, gift cards cannot."),
            &[
                (Sentence, all, &[(Role::Exception, sale, None)]),
                (
                    Sentence,
                    "However, gift cards cannot.",
                    &[(Role::Antecedent, all, None), (Role::Antecedent, sale, None)],
                ),
            ],
        );
        assert_eq!(
            chosen("What?", &[with_similarities(row, &[0.8, 0.8])]),
            ["All items can be returned. Except for sale items.", "However, gift cards cannot."]
        );
    }

    #[test]
    fn what_another_passage_says_otherwise_is_shown_even_if_its_score_is_lower() {
        let (days, weeks) = ("Refunds take 5 days.", "Refunds take 5 weeks.");
        let shown = |other: &str, similarity: f64| {
            let rows = [chunk(1, 1, 0.7, weeks), chunk(2, 2, 0.7, other)];
            let [first, second] = rows;
            chosen("How long do refunds take?", &[first, with_similarities(second, &[similarity])])
        };
        assert_eq!(shown(days, 0.5), [weeks, days]);
        assert_eq!(shown(days, 0.0), [weeks], "too far away");
        assert_eq!(shown("Payments take 5 weeks.", 0.5), [weeks], "lacks a word of the question");
        assert_eq!(shown("Refunds take long.", 0.5), [weeks], "says something else");
    }

    #[test]
    fn items_never_follow_the_introduction_of_another_list() {
        let (may, may_not) =
            ([(Role::LeadIn, "You may return:", None)], [(Role::LeadIn, "You may not return:", None)]);
        let row = passage_of(
            1,
            0.6,
            "tea\nhats\nfood\nunderwear",
            &[
                (Sentence, "tea", &may),
                (Sentence, "hats", &may),
                (Sentence, "food", &may_not),
                (Sentence, "underwear", &may_not),
            ],
        );
        let answer = chosen("Which goods?", &[with_similarities(row, &[0.6, 0.1, 0.62, 0.6])]);
        assert_eq!(answer, ["You may not return: food", "underwear", "You may return: tea"]);
    }

    #[test]
    fn an_item_of_a_nested_list_follows_its_parent_item() {
        let lead_in = (Role::LeadIn, "You may return:", None);
        let row = passage_of(
            1,
            0.6,
            "shoes. They must be new.\nhats, but not:\nworn hats",
            &[
                (Sentence, "shoes.", &[lead_in]),
                (Sentence, "They must be new.", &[lead_in, (Role::Antecedent, "shoes.", None)]),
                (Sentence, "worn hats", &[lead_in, (Role::Parent, "hats, but not:", None)]),
            ],
        );
        let worn = with_similarities(row.clone(), &[0.6, 0.6, 0.8]);
        assert_eq!(chosen("Which?", &[worn]), ["You may return: hats, but not: worn hats"]);
        let new = with_similarities(row, &[0.6, 0.8, 0.1]);
        assert_eq!(chosen("Which?", &[new]), ["You may return: shoes. They must be new."]);
    }

    #[test]
    fn a_sentence_without_words_is_not_quoted() {
        let row = with_similarities(chunk(1, 1, 0.6, "* * *\nRefunds are free."), &[0.9, 0.6]);
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
        let rows = [list(1, 0.7, "Allowed:", &["dogs"]), list(2, 0.7, "Forbidden:", &["dogs"])];
        assert_eq!(chosen("What about dogs?", &rows), ["Allowed: dogs", "Forbidden: dogs"]);
    }

    #[test]
    fn steps_are_quoted_in_order_and_without_gaps() {
        let row = list(1, 0.6, "Do this:", &["1. Open it", "2. Print it", "3. Send it", "4. Wait"]);
        let row = with_similarities(row, &[0.7, 0.4, 0.72, 0.4]);
        assert_eq!(chosen("How?", &[row]), ["Do this: 1. Open it", "2. Print it", "3. Send it", "4. Wait"]);
    }

    #[test]
    fn steps_of_other_lists_are_not_between_those_of_one() {
        let (first, second) = ([(Role::LeadIn, "Open it:", None)], [(Role::LeadIn, "Close it:", None)]);
        let row = passage_of(
            1,
            0.6,
            "1. Push\n2. Turn\n1. Pull\n2. Lift\n3. Lock",
            &[
                (Sentence, "1. Push", &first),
                (Sentence, "2. Turn", &first),
                (Sentence, "1. Pull", &second),
                (Sentence, "2. Lift", &second),
                (Sentence, "3. Lock", &second),
            ],
        );
        let row = with_similarities(row, &[0.1, 0.1, 0.7, 0.4, 0.72]);
        assert_eq!(chosen("How?", &[row]), ["Close it: 1. Pull", "2. Lift", "3. Lock"]);
        let mut row = chunk(1, 1, 0.6, "1. Push\n2. Turn\n1. Pull\n2. Lift\n3. Lock");
        row = with_similarities(row, &[0.1, 0.1, 0.7, 0.4, 0.72]);
        assert_eq!(chosen("How?", &[row]), ["1. Pull", "2. Lift", "3. Lock"], "the numbers begin again");
    }

    #[test]
    fn the_answer_to_a_question_of_the_document_keeps_its_order_and_its_reply() {
        let question = [(Role::Question, "Can I apply online?", None)];
        let answer = |sentences: [&str; 3], similarities: [f64; 3]| {
            let statements: Vec<_> = sentences.iter().map(|text| (Sentence, *text, &question[..])).collect();
            let row = passage_of(1, 0.6, &sentences.join(" "), &statements);
            chosen("Online?", &[with_similarities(row, &similarities)])
        };
        let [no, book, late] = ["Not yet.", "You can only book online.", "Call us if it is late."];
        let both = ["Can I apply online? Not yet.", book];
        assert_eq!(answer([no, book, late], [0.1, 0.7, 0.1]), both, "the reply is shown with it");
        assert_eq!(answer([no, book, late], [0.68, 0.7, 0.1]), both, "and in order");
        let long = "We are a small family business.";
        assert_eq!(answer([long, book, late], [0.1, 0.7, 0.1]), [format!("Can I apply online? {book}")]);
    }

    #[test]
    fn a_sentence_that_another_one_shows_is_not_shown_alone() {
        let lead_in = [(Role::LeadIn, "Switch it off.", None), (Role::LeadIn, "It can burn you.", None)];
        let row = passage_of(
            1,
            0.6,
            "Switch it off. It can burn you.\n1. Open it.",
            &[
                (Sentence, "Switch it off.", &[]),
                (Sentence, "It can burn you.", &[]),
                (Sentence, "1. Open it.", &lead_in),
            ],
        );
        assert_eq!(
            chosen("How?", &[with_similarities(row, &[0.1, 0.7, 0.69])]),
            ["Switch it off. It can burn you. 1. Open it."]
        );
    }

    #[test]
    fn of_two_steps_that_show_each_other_one_stays() {
        let (open, not, close) = ("1. Open it.", "2. But not on Sunday.", "3. Close it.");
        let row = passage_of(
            1,
            0.6,
            &[open, not, close].join("\n"),
            &[
                (Sentence, open, &[(Role::Exception, not, None)]),
                (Sentence, not, &[(Role::Antecedent, open, None)]),
                (Sentence, close, &[]),
            ],
        );
        let row = with_similarities(row, &[0.7, 0.1, 0.7]);
        assert_eq!(chosen("How?", &[row]), ["1. Open it. 2. But not on Sunday.", "3. Close it."]);
    }

    #[test]
    fn a_procedure_is_shown_with_all_its_steps() {
        let steps =
            ["1. Switch it off", "2. Remove the screws", "3. Unplug it", "4. Insert it", "5. Close it"];
        let content = format!("Stay dry.\n{}", steps.join("\n"));
        let answer = |similarities: [f64; 6]| {
            chosen("How?", &[with_similarities(chunk(1, 1, 0.6, &content), &similarities)])
        };
        assert_eq!(answer([0.1, 0.1, 0.7, 0.68, 0.69, 0.1]), steps);
        assert_eq!(answer([0.1, 0.1, 0.1, 0.1, 0.68, 0.7]), steps);
        let mut with_another = answer([0.7, 0.1, 0.69, 0.68, 0.1, 0.1]);
        assert_eq!(with_another.remove(0), "Stay dry.", "the best is no step");
        assert_eq!(with_another, steps);
        assert_eq!(answer([0.1, 0.1, 0.1, 0.7, 0.1, 0.1]), ["3. Unplug it"], "one step was asked for");
    }

    #[test]
    fn of_a_long_procedure_the_best_step_is_shown() {
        let steps: Vec<_> = (1..=12).map(|number| format!("{number}. Turn screw {number}")).collect();
        let row = chunk(1, 1, 0.6, &steps.join("\n"));
        let answer = |high: [usize; 2]| {
            let mut row = row.clone();
            for (at, sentence) in row.sentences.iter_mut().enumerate() {
                sentence.similarity = if high.contains(&at) { 0.7 } else { 0.1 };
            }
            chosen("How?", &[row])
        };
        assert_eq!(answer([0, 1]), steps[..8]);
        assert_eq!(answer([9, 10]), steps[9..], "the first is too far away");
    }

    #[test]
    fn a_single_step_does_not_pull_in_others() {
        let mut row = chunk(1, 1, 0.6, "1. Open it\n2. Print it\n3. Send it");
        row.sentences[1].similarity = 0.8;
        assert_eq!(chosen("Which paper?", &[row]), ["2. Print it"]);
    }

    #[test]
    fn an_answer_without_a_name_or_number_of_the_question_is_hedged() {
        let is_hedged_by = |text: &str, row: MatchedChunk| {
            let rows = [row];
            let passages = ranked(&rows);
            let question = Question::new(text, None, &passages);
            let assessment = assess_all(&question, &passages, &thresholds());
            choose(&question, &passages, &assessment.passages, true).is_hedged
        };
        let they = [(Role::Antecedent, "Ships sail to Norway.", None)];
        let statements =
            [(Sentence, "Ships sail to Norway.", &[][..]), (Sentence, "They take 5 days.", &they)];
        let row = passage_of(1, 0.6, "Ships sail to Norway. They take 5 days.", &statements);
        let is_hedged = |text: &str| is_hedged_by(text, row.clone());
        assert!(is_hedged("Do ships sail to Iceland?"));
        assert!(is_hedged("Do ships take 7 days?"));
        assert!(!is_hedged("How do ships sail for 5 days?"), "the sentence before is part of it");
        assert!(!is_hedged("Do ships to Norway take 5 days?"));
        assert!(
            !is_hedged("I live in Rome and need a boat. Do ships sail?"),
            "only the sentence that asks counts"
        );
        let row = chunk(1, 1, 0.6, "Ships sail to Norway. Repairs take 5 days.");
        assert!(is_hedged_by("How do ships sail for 5 days?", row), "the next sentence is not part of it");
    }

    #[test]
    fn the_same_sentence_in_two_passages_is_quoted_once() {
        let rows = [
            chunk(1, 1, 0.7, "Refunds take 5 days."),
            chunk(2, 2, 0.6, "Refunds take 5 days!"),
            chunk(3, 3, 0.6, "“Refunds” take 5 days"),
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
        let row = passage_of(
            1,
            0.5,
            "It takes 5 days.\nIt takes 9 days.",
            &[
                (Sentence, "It takes 5 days.", &[(Role::Heading, "Shipping", None)]),
                (Sentence, "It takes 9 days.", &[(Role::Heading, "Refunds", None)]),
            ],
        );
        assert_eq!(chosen("How many days for refunds?", &[row])[0], "Refunds: It takes 9 days.");
        let mut refunds = chunk(2, 2, 0.5, "It takes 9 days.");
        refunds.meta = json!({ "section": "Refunds" });
        let rows = [chunk(1, 1, 0.5, "It takes 5 days."), refunds];
        assert_eq!(chosen("How many days for refunds?", &rows)[0], "It takes 9 days.");
    }

    #[test]
    fn a_passage_without_whole_statements_is_not_quoted() {
        let mut row = chunk(1, 1, 0.6, "Refunds are easy.");
        row.sentences[0].chain = vec![7];
        assert!(chosen("refunds", &[row.clone()]).is_empty(), "a part of the chain is not there");
        row.sentences.clear();
        assert!(chosen("refunds", &[row]).is_empty());
    }

    #[test]
    fn source_text_that_looks_like_an_escaped_marker_is_not_quoted() {
        let content = "refund\\[0\\]\nUse refund[1] here. Refund the first.";
        assert_eq!(
            chosen("refund", &[chunk(1, 1, 0.9, content)]),
            ["Use refund[1] here.", "Refund the first."],
            "a bracketed number that we escape ourselves is fine"
        );
        assert!(chosen("refund", &[list(1, 0.9, "See \\[1\\]:", &["refund the first"])]).is_empty());
    }
}
