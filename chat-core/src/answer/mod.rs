//! Composes an answer from verbatim sentences and cites the source of each.

mod choose;
pub(crate) mod cite;

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::evidence::Assessment;
use crate::found::FoundPassage;
use crate::generation_report::AnswerMode;
use crate::marker::escape_markers;
use crate::passage::{HEADING_SEPARATOR, Passage};
use crate::question::Question;
use crate::statement::{Role, StatementKind, joined};
use crate::words::words;
use choose::{Choice, Chosen, best_of_passage, choose};
pub use cite::{Citation, Piece, Quote, Support};

/// An answer composed only of the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The author of the words.
    pub mode: AnswerMode,
    /// The text in the pieces in which it is streamed; joined, they are the whole answer with its `[n]` markers.
    pub deltas: Vec<String>,
    /// Whether the passages are about the subject but may not answer the question.
    pub hedged: bool,
    /// One entry per cited passage, sorted by index, then by rank.
    pub citations: Vec<Citation>,
    /// The other qualifying passages, one per section, best first.
    pub also_found: Vec<FoundPassage>,
    /// The document numbers in the text, in order of first mention.
    pub referenced_indices: Vec<u32>,
    /// The sentences of the text, in order. Present with and without citations.
    pub sentences: Vec<QuotedSentence>,
}

/// A sentence of an answer and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotedSentence {
    /// The passage's id.
    pub chunk_id: Uuid,
    /// The document's id.
    pub document_id: Uuid,
    /// The headings above the passage.
    pub section: Option<String>,
    /// The words of the passage.
    pub source: String,
    /// The words as the answer shows them: with the parts of their chain that it has not just shown.
    pub text: String,
    /// The words with their whole chain.
    pub whole: String,
    /// The section or document that the answer names before the sentence, if it does.
    pub place: Option<String>,
    /// Comparable within one answer.
    pub score: f64,
}

impl Answer {
    /// The documents behind the text, even if it shows no citations. For the history, whose rows are hidden with their
    /// documents; clients never get it.
    pub fn sources(&self) -> BTreeSet<Uuid> {
        self.sentences.iter().map(|sentence| sentence.document_id).collect()
    }
}

/// Answers a question from the qualifying passages. `None` if they contain nothing to quote.
pub(crate) fn compose(
    question: &Question,
    passages: &[Passage<'_>],
    assessment: &Assessment,
    is_certain: bool,
    include_citations: bool,
) -> Option<Answer> {
    let Choice { sentences: chosen, is_hedged } =
        choose(question, passages, &assessment.passages, is_certain);
    if chosen.is_empty() {
        return None;
    }
    let assessed = passages.iter().zip(&assessment.passages);
    let evidence: Vec<_> = assessed
        .filter(|(_, assessment)| assessment.qualifies)
        .map(|(passage, assessment)| cite::Evidence { chunk: passage.chunk, assessment })
        .collect();
    let numbers = cite::number_documents(&chosen);
    let sentences = quoted_sentences(question, &chosen);
    let mut deltas = Vec::with_capacity(chosen.len());
    let mut referenced_indices = Vec::new();
    let mut before: Option<&Chosen<'_>> = None;
    for (chosen, sentence) in chosen.iter().zip(&sentences) {
        let mut delta = before.map_or("", |before| separator(before, chosen)).to_owned();
        before = Some(chosen);
        let is_code = chosen.sentence.kind == StatementKind::Code;
        let shown = |text: &str| if include_citations { escape_markers(text) } else { text.to_owned() };
        // A sentence that begins with its heading names its place itself.
        let place = sentence.place.as_ref().filter(|place| !sentence.text.starts_with(place.as_str()));
        if let Some(place) = place {
            delta.push_str(&shown(place));
            delta.push_str(if is_code { ":\n\n" } else { ": " });
        }
        delta.push_str(&shown(&sentence.text));
        if include_citations {
            let index = numbers.get(&sentence.document_id).copied()?;
            if !referenced_indices.contains(&index) {
                referenced_indices.push(index);
            }
            // A marker in a line of code would change the code.
            delta.push_str(if is_code { "\n" } else { " " });
            delta.push_str(&format!("[{index}]"));
        }
        deltas.push(delta);
    }
    let (citations, also_found) = if include_citations {
        (cite::citations(&evidence, &chosen, &numbers), cite::also_found(&evidence, &chosen))
    } else {
        Default::default()
    };
    Some(Answer {
        mode: AnswerMode::Extractive,
        deltas,
        hedged: is_hedged,
        citations,
        also_found,
        referenced_indices,
        sentences,
    })
}

/// The words of a passage that fit a question best. `None` if it has nothing to quote.
pub(crate) fn best_quote(question: &Question, passage: &Passage<'_>) -> Option<Quote> {
    best_of_passage(question, passage).map(|chosen| cite::quote(passage, chosen.sentence, 0))
}

/// The document and section of a sentence.
fn place<'p>(chosen: &Chosen<'p>) -> (Uuid, Option<&'p str>) {
    (chosen.passage.chunk.document_id, chosen.passage.chunk.section())
}

/// Whether a part is a sentence of its own, and no name or line above others.
fn is_sentence(role: Role) -> bool {
    matches!(role, Role::Notice | Role::Antecedent | Role::Exception | Role::Condition)
}

/// Words of a heading that may be the subject of what is below it: "Children", "Second homes".
const MAX_SUBJECT_WORDS: usize = 3;

/// The sentences. If they come from several places, the first sentence of each place names it. Otherwise the first one names the
/// headings from that on which has a word of the question that the sentence lacks.
fn quoted_sentences(question: &Question, chosen: &[Chosen<'_>]) -> Vec<QuotedSentence> {
    let is_one_place = chosen.iter().zip(chosen.iter().skip(1)).all(|(a, b)| place(a) == place(b));
    let mut before = None;
    let mut sentences = Vec::with_capacity(chosen.len());
    for each in chosen {
        let mut sentence = QuotedSentence::new(each);
        let is_new_place = before.replace(place(each)) != Some(place(each));
        if is_new_place {
            sentence.place =
                if is_one_place { asked_headings(question, each) } else { Some(place_name(each, chosen)) };
        }
        sentences.push(sentence);
    }
    sentences
}

/// The headings above a sentence that are not parts of it, from the outermost on that has a word of the question that it lacks; if there
/// is none, the innermost one if it is short and the sentence has nothing else above it and none of its words: then it says who or what
/// the sentence is about. The title, which the citation names, does not count.
fn asked_headings(question: &Question, chosen: &Chosen<'_>) -> Option<String> {
    let own: BTreeSet<_> = words(&chosen.sentence.whole()).collect();
    let title = chosen.passage.chunk.title().to_lowercase();
    let stems = |heading: &str| words(heading).collect::<BTreeSet<_>>();
    let is_asked = |heading: &&str| {
        let heading = stems(heading);
        question.coverage(|word| heading.contains(word) && !own.contains(word)) > 0.0
    };
    let headings = other_headings(chosen);
    let is_outermost = place(chosen).1.is_some_and(|section| section.contains(HEADING_SEPARATOR));
    // The outermost of several, or one with the words of the title.
    let is_title = |heading: &str| {
        let heading = heading.to_lowercase();
        is_outermost || title.contains(&heading) || heading.contains(&title)
    };
    let skipped = usize::from(headings.first().is_some_and(|heading| is_title(heading)));
    let headings = headings.get(skipped..)?;
    let is_subject = |heading: &&str| {
        chosen.sentence.chain.iter().all(|part| is_sentence(part.role))
            && heading.split_whitespace().count() <= MAX_SUBJECT_WORDS
            && stems(heading).is_disjoint(&own)
    };
    let innermost =
        || headings.len().checked_sub(1).filter(|last| headings.get(*last).is_some_and(is_subject));
    let at = headings.iter().position(is_asked).or_else(innermost)?;
    Some(headings.get(at..)?.join(HEADING_SEPARATOR))
}

/// The headings above a sentence, without the innermost ones that it begins with, and without those that belong to other sentences of
/// its passage only: below "Not included" and its list, "All rooms have a balcony." is not about what is not included.
fn other_headings<'p>(chosen: &Chosen<'p>) -> Vec<&'p str> {
    let (_, section) = place(chosen);
    let mut headings: Vec<_> =
        section.into_iter().flat_map(|section| section.split(HEADING_SEPARATOR)).collect();
    let is_own = |heading: &str| chosen.sentence.chain.iter().any(|part| part.text == heading);
    let parts = &chosen.passage.chunk.parts;
    let limits = |heading: &str| parts.iter().any(|part| part.role == Role::Heading && part.text == heading);
    while headings.last().is_some_and(|heading| is_own(heading) || limits(heading)) {
        headings.pop();
    }
    headings
}

/// The section, preceded by the document's title if another document of the answer has a section of that name. Without a
/// section, the title.
fn place_name(named: &Chosen<'_>, chosen: &[Chosen<'_>]) -> String {
    let (document, section) = place(named);
    let title = named.passage.chunk.title();
    let has_twin = chosen.iter().map(place).any(|other| other.0 != document && other.1 == section);
    let outer = |section: &str| match other_headings(named).as_slice() {
        // A sentence of a section with one heading names it itself.
        [] if named.sentence.chain.iter().any(|part| part.text == section) => section.to_owned(),
        [] => title.clone(),
        headings => headings.join(HEADING_SEPARATOR),
    };
    match section.map(outer) {
        Some(section) if has_twin && section != title => format!("{title} – {section}"),
        Some(section) => section,
        None => title,
    }
}

impl QuotedSentence {
    fn new(chosen: &Chosen<'_>) -> Self {
        let chunk = chosen.passage.chunk;
        Self {
            chunk_id: chunk.chunk_id,
            document_id: chunk.document_id,
            section: chunk.section().map(str::to_owned),
            source: chosen.sentence.text.to_owned(),
            text: joined(&chosen.sentence.shown(chosen.shown_parts)),
            whole: chosen.sentence.whole(),
            place: None,
            score: chosen.score,
        }
    }
}

/// Joins running text of one place with a space. Another place, a table row or code begins a new paragraph.
fn separator(before: &Chosen<'_>, after: &Chosen<'_>) -> &'static str {
    let is_running = [before, after].iter().all(|chosen| chosen.sentence.kind == StatementKind::Sentence);
    if is_running && place(before) == place(after) { " " } else { "\n\n" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::MatchedChunk;
    use crate::chunk::tests::{TestStatement, chunk, passage_of};
    use crate::marker::find_marker;
    use crate::statement::Role;
    use proptest::prelude::*;
    use serde_json::json;

    /// With open thresholds: these tests are about which sentences are chosen, not whether there is an answer.
    fn try_compose(question: &str, chunks: &[MatchedChunk], include_citations: bool) -> Option<Answer> {
        let thresholds =
            crate::evidence::EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..Default::default() };
        match crate::respond::respond(question, chunks, None, &thresholds, include_citations).verdict {
            crate::respond::Verdict::Answer(answer) => Some(answer),
            crate::respond::Verdict::Refuse(_) => None,
        }
    }

    fn answer(question: &str, chunks: &[MatchedChunk]) -> Answer {
        try_compose(question, chunks, true).expect("an answer")
    }

    #[test]
    fn each_sentence_is_verbatim_and_followed_by_its_marker() {
        let chunks = [
            chunk(7, 1, 0.8, "We like trees. Refunds are paid within 5 days. Lunch is at noon."),
            chunk(8, 2, 0.79, "Paid refunds go to your card within 5 days of approval."),
        ];
        let answer = answer("When are refunds paid?", &chunks);
        assert_eq!(
            answer.deltas,
            [
                "doc-7.md: Refunds are paid within 5 days. [1]",
                "\n\ndoc-8.md: Paid refunds go to your card within 5 days of approval. [2]"
            ]
        );
        assert_eq!(answer.referenced_indices, [1, 2]);
        let quote = &answer.citations[0].quotes[0];
        assert_eq!((quote.text.as_str(), &quote.plain), ("Refunds are paid within 5 days.", &None));
    }

    #[test]
    fn passages_of_a_document_share_its_number_and_only_quoted_ones_are_cited() {
        let chunks = [
            chunk(7, 1, 0.8, "Refunds take 5 days."),
            chunk(9, 2, 0.7, "Trees are green."),
            chunk(7, 3, 0.79, "Refunds take longer for 5 days in May."),
        ];
        let answer = answer("How many days do refunds take?", &chunks);
        let cited: Vec<_> =
            answer.citations.iter().map(|c| (c.index, c.passage.chunk_id.as_u128())).collect();
        assert_eq!(cited, [(1, 1), (1, 3)]);
        assert_eq!(answer.referenced_indices, [1]);
        let found: Vec<_> = answer.also_found.iter().map(|passage| passage.chunk_id.as_u128()).collect();
        assert_eq!(found, [2], "found, not quoted");
    }

    #[test]
    fn quotes_are_utf16_offsets_into_the_excerpt() {
        let content = "👩‍👧 Größe zählt. Refunds take 5 days.";
        let answer = answer("refunds", &[chunk(1, 1, 0.5, content)]);
        let quote = &answer.citations[0].quotes[0];
        let units: Vec<u16> = content.encode_utf16().collect();
        assert_eq!(String::from_utf16(&units[quote.start..quote.end]).unwrap(), quote.text);
        assert_eq!(quote.text, "Refunds take 5 days.");
        assert_eq!(answer.citations[0].passage.excerpt, content);
    }

    #[test]
    fn without_citations_there_are_no_markers_and_no_sources() {
        let rows = [chunk(1, 1, 0.5, "Refunds take 5 days [3].")];
        let answer = try_compose("refunds", &rows, false).unwrap();
        assert_eq!(answer.deltas, ["Refunds take 5 days [3]."]);
        assert!(answer.citations.is_empty() && answer.referenced_indices.is_empty());
    }

    #[test]
    fn sources_are_the_documents_of_the_text_with_and_without_citations() {
        let rows = [
            chunk(7, 1, 0.8, "Refunds cost 5 euros."),
            chunk(8, 2, 0.79, "Refunds need 5 days."),
            chunk(9, 3, 0.7, "Trees are green."),
        ];
        let expected = BTreeSet::from([7, 8].map(Uuid::from_u128));
        let with = answer("refunds", &rows);
        assert_eq!(with.sources(), expected);
        assert_eq!(
            with.sources(),
            with.citations.iter().map(|citation| citation.passage.document_id).collect()
        );
        assert_eq!(try_compose("refunds", &rows, false).unwrap().sources(), expected);
    }

    #[test]
    fn an_answer_has_at_most_three_sentences() {
        let content =
            "Refund one is here. Refund two is there. Refund three came. Refund four went. Refund five ran.";
        assert_eq!(answer("refund", &[chunk(1, 1, 0.9, content)]).deltas.len(), 3);
    }

    #[test]
    fn source_text_that_looks_like_a_marker_is_escaped() {
        let answer =
            answer("refund days", &[chunk(1, 1, 0.9, "Refunds take 5 days.[7][12] See [x] and [a1].")]);
        assert_eq!(answer.deltas.concat(), r"Refunds take 5 days.\[7\]\[12\] See [x] and [a1]. [1]");
        assert_eq!(answer.citations[0].quotes[0].text, "Refunds take 5 days.[7][12] See [x] and [a1].");
    }

    #[test]
    fn code_and_table_rows_begin_on_their_own_lines() {
        let row = passage_of(
            1,
            0.9,
            "Install the tool with npm.\nnpm install tool\nnpm\tinstall the tool",
            &[
                (StatementKind::Sentence, "Install the tool with npm.", &[]),
                (StatementKind::Code, "npm install tool", &[]),
                (StatementKind::Row, "npm\tinstall the tool", &[]),
            ],
        );
        let text = answer("install tool npm", &[row]).deltas.concat();
        assert_eq!(
            text,
            "Install the tool with npm. [1]\n\nnpm install tool\n[1]\n\nnpm: install the tool [1]"
        );
    }

    #[test]
    fn a_table_row_is_shown_with_its_column_names_and_quoted_verbatim() {
        let columns = [(Role::Column, "Hours", Some(1)), (Role::Column, "Note", Some(2))];
        let cells = "Sunday\tclosed\tall year";
        let row = passage_of(1, 0.9, cells, &[(StatementKind::Row, cells, &columns)]);
        let answer = answer("sunday hours", &[row]);
        assert_eq!(answer.deltas, ["Sunday – Hours: closed; Note: all year [1]"]);
        let quote = &answer.citations[0].quotes[0];
        assert_eq!(quote.text, cells);
        assert_eq!(quote.plain.as_deref(), Some("Sunday – Hours: closed; Note: all year"));
    }

    #[test]
    fn a_statement_is_shown_with_its_whole_chain() {
        let lead_in = (Role::LeadIn, "Not covered by the insurance:", None);
        let row = passage_of(
            1,
            0.8,
            "- Theft of bicycles\n- Theft of bags",
            &[
                (StatementKind::Sentence, "Theft of bicycles", &[lead_in]),
                (StatementKind::Sentence, "Theft of bags", &[lead_in]),
            ],
        );
        let answer = answer("Is theft covered?", &[row]);
        // The second item is read below the line that was shown before the first.
        assert_eq!(
            answer.deltas.concat(),
            "Not covered by the insurance: Theft of bicycles [1] Theft of bags [1]"
        );
        let quotes = serde_json::to_value(&answer.citations[0].quotes).unwrap();
        assert_eq!(
            quotes,
            json!([
                { "start": 2, "end": 19, "text": "Theft of bicycles", "kind": "sentence",
                  "plain": "Not covered by the insurance: Theft of bicycles",
                  "pieces": [
                      { "text": "Not covered by the insurance:", "role": "lead_in" }, { "text": "Theft of bicycles" }
                  ] },
                { "start": 22, "end": 35, "text": "Theft of bags", "kind": "sentence",
                  "pieces": [{ "text": "Theft of bags" }], "whole": "Not covered by the insurance: Theft of bags" }
            ])
        );
        assert!(answer.citations[0].is_valid());
    }

    #[test]
    fn a_row_has_the_names_of_its_columns_from_outside_the_passage() {
        let columns = [(Role::Column, "Excluded", Some(1)), (Role::Column, "Since", Some(2))];
        let row =
            passage_of(1, 0.8, "Theft\tyes\t2020", &[(StatementKind::Row, "Theft\tyes\t2020", &columns)]);
        assert_eq!(answer("Is theft covered?", &[row]).deltas, ["Theft – Excluded: yes; Since: 2020 [1]"]);
    }

    #[test]
    fn a_statement_whose_chain_is_unknown_is_never_quoted() {
        let lead_in = (Role::LeadIn, "Not covered:", None);
        let statements: &[TestStatement<'_>] = &[(StatementKind::Sentence, "Theft", &[lead_in])];
        let mut row = passage_of(1, 0.8, "- Theft", statements);
        row.parts.clear();
        assert_eq!(try_compose("theft", &[row], true), None);
        let mut row = passage_of(1, 0.8, "- Theft", statements);
        row.sentences[0].chain = vec![7];
        assert_eq!(try_compose("theft", &[row], true), None);
    }

    #[test]
    fn code_of_a_statement_begins_its_own_paragraph_below_its_warning() {
        let chain = [(Role::LeadIn, "Never do this:", None)];
        let row =
            passage_of(1, 0.8, "db reset --force", &[(StatementKind::Code, "db reset --force", &chain)]);
        assert_eq!(answer("reset db", &[row]).deltas, ["Never do this:\n\ndb reset --force\n[1]"]);
    }

    #[test]
    fn sentences_of_several_places_name_their_place() {
        let section = |id, similarity, section: &str, content: &str| {
            let mut row = chunk(7, id, similarity, content);
            row.meta = json!({ "section": section });
            row
        };
        let rows = [
            section(1, 0.8, "Fees", "Refunds cost 5 euros."),
            section(2, 0.79, "Time › Refunds", "Refunds need 5 days."),
        ];
        let answer = answer("refunds", &rows);
        assert_eq!(
            answer.deltas,
            ["Fees: Refunds cost 5 euros. [1]", "\n\nTime › Refunds: Refunds need 5 days. [1]"]
        );
        assert_eq!(answer.sentences[1].place.as_deref(), Some("Time › Refunds"));
    }

    #[test]
    fn a_heading_that_a_sentence_begins_with_is_not_named_before_it() {
        let row = |id, section: &str, heading: &str, text: &str| {
            let heading = [(Role::Heading, heading, None)];
            let mut row = passage_of(id, 0.8, text, &[(StatementKind::Sentence, text, &heading)]);
            row.meta = json!({ "section": section });
            row
        };
        let rows = [
            row(1, "Refunds › Fees", "Fees", "Refunds cost 5 euros."),
            row(2, "Time", "Time", "Refunds need 5 days."),
        ];
        assert_eq!(
            answer("How much do refunds cost and how many days do refunds need?", &rows).deltas.concat(),
            "Time: Refunds need 5 days. [1]\n\nRefunds: Fees: Refunds cost 5 euros. [2]"
        );
    }

    #[test]
    fn headings_with_a_word_of_the_question_are_named() {
        let answer = |question: &str, text: &str| {
            let mut row = chunk(1, 1, 0.8, text);
            row.meta = json!({ "section": "doc-1.md › Buyers in Norway › Customs" });
            answer(question, &[row]).deltas.concat()
        };
        let paid = "The recipient pays them.";
        assert_eq!(
            answer("Who pays?", paid),
            "Customs: The recipient pays them. [1]",
            "it says what it is about"
        );
        assert_eq!(answer("Who pays customs?", paid), "Customs: The recipient pays them. [1]");
        assert_eq!(
            answer("Who pays customs in Norway?", paid),
            "Buyers in Norway › Customs: The recipient pays them. [1]"
        );
        let customs = "The recipient pays customs.";
        assert_eq!(answer("Who pays?", customs), "The recipient pays customs. [1]", "it says so itself");
        assert_eq!(
            answer("Who pays customs?", customs),
            "The recipient pays customs. [1]",
            "has the word itself"
        );
        assert_eq!(
            answer("Who pays for doc-1.md?", paid),
            "Customs: The recipient pays them. [1]",
            "the title"
        );
    }

    #[test]
    fn a_heading_of_other_sentences_is_not_named_before_one() {
        let heading = [(Role::Heading, "Not enough to sign out", None)];
        let mut row = passage_of(
            1,
            0.8,
            "a call\nAdd a proof.",
            &[(StatementKind::Sentence, "a call", &heading), (StatementKind::Sentence, "Add a proof.", &[])],
        );
        row.meta = json!({ "section": "Taxes › Not enough to sign out" });
        row.sentences[1].similarity = 0.9;
        let answer = answer("What do I add to sign out?", &[row]).deltas.concat();
        assert!(answer.starts_with("Add a proof. [1]"), "{answer}");
    }

    #[test]
    fn a_question_that_a_sentence_answers_is_not_named_before_it() {
        let question = [(Role::Question, "How long do refunds take?", None)];
        let mut row = passage_of(
            1,
            0.8,
            "Refunds: 5 days.",
            &[(StatementKind::Sentence, "Refunds: 5 days.", &question)],
        );
        row.meta = json!({ "section": "FAQ › How long do refunds take?" });
        let rows = [row, chunk(2, 2, 0.8, "Refunds take 5 working days.")];
        let answer = answer("refunds", &rows).deltas.concat();
        assert!(answer.contains("FAQ: How long do refunds take? Refunds: 5 days."), "{answer}");
    }

    #[test]
    fn sections_of_the_same_name_are_distinguished_by_document() {
        let fees = |document, id, content: &str| {
            let mut row = chunk(document, id, 0.8, content);
            row.meta = json!({ "section": "Fees" });
            row
        };
        let answer =
            answer("refunds", &[fees(7, 1, "Refunds cost 5 euros."), fees(8, 2, "Refunds are free.")]);
        assert_eq!(
            answer.deltas,
            ["doc-7.md – Fees: Refunds cost 5 euros. [1]", "\n\ndoc-8.md – Fees: Refunds are free. [2]"]
        );
    }

    #[test]
    fn a_place_cannot_forge_a_marker() {
        let mut row = chunk(8, 2, 0.79, "Refunds need 5 days.");
        row.meta = json!({ "section": "Official policy [1]" });
        let answer = answer("refunds", &[chunk(7, 1, 0.8, "Refunds cost 5 euros."), row]);
        assert_eq!(answer.deltas[1], "\n\nOfficial policy \\[1\\]: Refunds need 5 days. [2]");
    }

    #[test]
    fn signs_that_look_like_markup_are_words_of_the_document() {
        let answer = answer("refund", &[chunk(1, 1, 0.9, "Refunds use the *asterisk* and <b> of our form.")]);
        assert_eq!(answer.deltas, ["Refunds use the *asterisk* and <b> of our form. [1]"]);
        assert_eq!(answer.citations[0].quotes[0].plain, None);
    }

    #[test]
    fn a_passage_without_statements_gives_no_answer() {
        let row = passage_of(1, 0.9, "Refunds", &[]);
        assert_eq!(try_compose("refunds", &[row], true), None);
    }

    #[test]
    fn the_json_of_a_citation_omits_unknown_fields() {
        let mut row = chunk(1, 2, 0.5, "Yes.");
        let citation = answer("Why?", std::slice::from_ref(&row)).citations.remove(0);
        let wire = serde_json::to_value(&citation).unwrap();
        assert_eq!(
            wire,
            json!({ "index": 1, "chunk_id": row.chunk_id, "document_id": row.document_id, "title": "doc-1.md",
                "score": 0.5, "strength": citation.strength, "excerpt": "Yes.", "quotes": [{ "start": 0, "end": 4, "text": "Yes.", "kind": "sentence", "pieces": [{ "text": "Yes." }] }] })
        );
        row.meta = json!({ "page": 3, "section": "Fees" });
        row.document_meta = json!({ "url": "https://example.com", "content_type": "application/pdf" });
        let wire = serde_json::to_value(&answer("?", &[row]).citations[0]).unwrap();
        assert_eq!(
            (&wire["page"], &wire["section"], &wire["url"], &wire["content_type"]),
            (&json!(3), &json!("Fees"), &json!("https://example.com"), &json!("application/pdf"))
        );
    }

    #[test]
    fn an_inconsistent_citation_is_invalid() {
        let citation = answer("Why?", &[chunk(1, 2, 0.5, "Because é😀 works.")]).citations.remove(0);
        assert!(citation.is_valid());
        let changed = |change: fn(&mut Citation)| {
            let mut citation = citation.clone();
            change(&mut citation);
            citation.is_valid()
        };
        assert!(changed(|citation| citation.quotes.clear()));
        assert!(!changed(|citation| citation.index = 0));
        assert!(!changed(|citation| citation.passage.page = Some(0)));
        assert!(!changed(|citation| citation.passage.score = 7.0));
        assert!(!changed(|citation| citation.passage.score = f64::NAN));
        assert!(!changed(|citation| citation.passage.title.clear()));
        assert!(!changed(|citation| citation.passage.section = Some(String::new())));
        assert!(!changed(|citation| citation.passage.excerpt.insert(0, 'x')));
        assert!(!changed(|citation| citation.quotes[0].end += 1));
        assert!(!changed(|citation| citation.quotes[0].start = citation.quotes[0].end));
        assert!(!changed(|citation| citation.quotes[0].start = usize::MAX));
        assert!(!changed(|citation| citation.quotes[0].text.push('!')));
    }

    proptest! {
        #[test]
        fn markers_only_refer_to_existing_citations(
            contents in prop::collection::vec("(?s)([#\\-*|`>\\[\\]0-9 \n.!?a-zé字]{0,20}){0,5}", 1..5),
            question in "[a-z0-9 ?]{0,40}",
        ) {
            let chunks: Vec<_> = contents.iter().enumerate()
                .map(|(n, content)| chunk(n as u128 % 2, n as u128, 0.9 - n as f64 * 0.1, content)).collect();
            if let Some(answer) = try_compose(&question, &chunks, true) {
                prop_assert!(answer.citations.iter().all(|citation| !citation.quotes.is_empty()));
                let text = answer.deltas.concat();
                let mut rest = text.as_str();
                while let Some((start, end)) = find_marker(rest) {
                    let number: u32 = rest[start + 1..end - 1].parse().unwrap();
                    prop_assert!(answer.citations.iter().any(|citation| citation.index == number));
                    rest = &rest[end..];
                }
                for citation in &answer.citations {
                    // The database has no empty passages.
                    prop_assert!(citation.is_valid() || citation.passage.excerpt.is_empty());
                    let units: Vec<u16> = citation.passage.excerpt.encode_utf16().collect();
                    for quote in &citation.quotes {
                        prop_assert_eq!(&String::from_utf16(&units[quote.start..quote.end]).unwrap(), &quote.text);
                    }
                }
            }
        }
    }
}
