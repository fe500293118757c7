//! Answers that a language model writes and of which only verified sentences are sent.
//!
//! The model proposes sentences; this module decides which of them are sent and what they cite. A sentence is sent only if
//! its numbers, names, quotes, links, polarity and word order agree with a passage and if that passage has enough of its
//! words ([`verify`]). The model's own markers only decide between passages that support a sentence equally.
//!
//! It is pure: the caller brings the model's output and the time. The usual path is [`Generation::new`] →
//! [`Generation::messages`] → [`Generation::push`] for each piece of output → [`Generation::finish`].

mod completion;
mod draft;
mod from_citations;
mod markers;
mod markup;
mod prompt;
mod quoted;
mod source;
mod verify;

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::answer::{Answer, Citation, QuotedSentence, Support};
use crate::chunk::MatchedChunk;
use crate::evidence::{Assessment, Strength};
use crate::found::FoundPassage;
pub use crate::generation_report::{AnswerMode, DropReason, Fallback, GenerationReport};
use crate::limits::{MAX_PROMPT_SOURCES, MAX_WRITTEN_ITEMS};
use crate::marker::escape_markers;
pub use completion::{CompletionRequest, Finish, Piece, PieceError};
use draft::{Draft, DraftSentence};
pub use prompt::Message;
use quoted::Quoted;
use source::{Source, sources};
pub use verify::{Check, check, signals};
use verify::{Supported, Verifier};

/// Sentences of a written answer.
const MAX_SENTENCES: usize = 3;
/// Characters of a tag; see [`Generation::messages`].
pub const TAG_CHARS: usize = 8;

/// How the model's output ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model ended its output.
    Whole,
    /// The output was cut off: a limit of tokens, a lost connection, a deadline. The unfinished sentence is left out.
    Cut,
}

/// An answer that is being written.
#[derive(Debug)]
pub struct Generation {
    question: String,
    sources: Vec<Source>,
    include_citations: bool,
    draft: Draft,
    verifier: Verifier,
    sent: Vec<Sent>,
    /// The extractive answer, whose quotes complete the written one.
    quotes: Vec<Quoted>,
    hedged: bool,
    has_ended: bool,
    /// The numbers of the documents mentioned so far.
    numbers: BTreeMap<Uuid, u32>,
    report: GenerationReport,
}

/// A sentence that was sent.
#[derive(Debug)]
struct Sent {
    text: String,
    is_item: bool,
    score: f64,
    /// The delta with markers.
    delta: String,
    supports: Vec<Supported>,
}

impl Generation {
    /// Prepares the qualifying passages of a search whose evidence is enough. `quotes` is the extractive answer from the same
    /// passages, which completes the written one; `model` is the name for the report.
    pub fn new(
        question: &str,
        rows: &[MatchedChunk],
        assessment: &Assessment,
        quotes: Option<&Answer>,
        include_citations: bool,
        model: &str,
    ) -> Self {
        let of = |id: Uuid| assessment.passages.iter().find(|passage| passage.chunk_id == id);
        let mut sources = sources(rows, |id| of(id).is_some_and(|passage| passage.qualifies));
        sources.truncate(MAX_PROMPT_SOURCES);
        for source in &mut sources {
            let confidence = of(source.citation.passage.chunk_id).map_or(0.0, |passage| passage.confidence);
            source.citation.strength = Some(Strength::from_confidence(confidence));
        }
        Self {
            question: question.to_owned(),
            verifier: Verifier::new(question, &sources),
            quotes: quotes
                .iter()
                .flat_map(|answer| &answer.sentences)
                .filter_map(|quote| Quoted::new(quote, &sources))
                .collect(),
            hedged: quotes.is_some_and(|answer| answer.hedged),
            has_ended: false,
            sources,
            include_citations,
            draft: Draft::default(),
            sent: Vec::new(),
            numbers: BTreeMap::new(),
            report: GenerationReport::new(model),
        }
    }

    /// The messages for the model. `tag` is a random word of about [`TAG_CHARS`] letters and digits, which fences the
    /// sources. `share`, from 0 to 1, shortens the sources for a model whose context is too small for all of them.
    pub fn messages(&self, tag: &str, share: f64) -> Vec<Message> {
        prompt::messages(&self.question, &self.sources, tag, share)
    }

    /// Takes a piece of the model's output. Returns the pieces of the answer that it completes, with markers: what is sent
    /// to the client.
    pub fn push(&mut self, output: &str) -> Vec<String> {
        let sentences = self.draft.push(output);
        self.add(sentences)
    }

    /// Whether further output would be ignored.
    pub fn is_done(&self) -> bool {
        self.draft.is_done() || self.is_full()
    }

    /// Records what the model's server counted.
    pub fn set_usage(&mut self, prompt_tokens: Option<u64>, completion_tokens: Option<u64>) {
        self.report.prompt_tokens = prompt_tokens.or(self.report.prompt_tokens);
        self.report.completion_tokens = completion_tokens.or(self.report.completion_tokens);
    }

    /// Ends the output. Returns the last pieces of the answer: after written sentences, the sentences of the extractive answer
    /// that they do not say. A true sentence is not always the one that answers, and may leave out a condition.
    pub fn end(&mut self, ending: Ending) -> Vec<String> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Vec::new();
        }
        let is_cut = ending == Ending::Cut && !self.is_done();
        let sentences = self.draft.finish(ending == Ending::Whole);
        let mut deltas = self.add(sentences);
        if !self.sent.is_empty() {
            self.report.cut = is_cut;
            deltas.extend(self.add_quotes());
        }
        deltas
    }

    /// The quotes that the written sentences do not say.
    fn add_quotes(&mut self) -> Vec<String> {
        let written: Vec<&str> = self.sent.iter().map(|sent| sent.text.as_str()).collect();
        let missing = quoted::unsaid(&self.question, &written, std::mem::take(&mut self.quotes));
        let mut deltas = Vec::with_capacity(missing.len());
        for Quoted { text, support } in missing {
            let separator = if deltas.is_empty() { "\n\n" } else { " " };
            let delta = separator.to_owned() + &self.with_markers(&text, std::slice::from_ref(&support));
            deltas.push(delta.clone());
            self.report.quotes += 1;
            self.sent.push(Sent { text, is_item: false, score: 1.0, delta, supports: vec![support] });
        }
        deltas
    }

    /// The written answer, or `None` if no sentence of it can be sent; then the report says why. `fault` is what went wrong
    /// with the model, if anything did. What [`Self::end`] would still return is not part of it.
    pub fn finish(mut self, fault: Option<Fallback>) -> (Option<Answer>, GenerationReport) {
        if self.sent.is_empty() {
            let declined = self.draft.has_declined().then_some(Fallback::Declined);
            self.report.fallback = fault.or(declined).or(Some(Fallback::Unsupported));
            return (None, self.report);
        }
        let report = self.report.clone();
        (Some(self.into_answer()), report)
    }

    fn is_full(&self) -> bool {
        let all_items = self.sent.iter().all(|sent| sent.is_item);
        self.sent.len() >= if all_items { MAX_WRITTEN_ITEMS } else { MAX_SENTENCES }
    }

    fn add(&mut self, sentences: Vec<DraftSentence>) -> Vec<String> {
        let mut deltas = Vec::new();
        for sentence in sentences {
            if self.is_full() {
                break;
            }
            deltas.extend(self.verify(sentence));
        }
        deltas
    }

    fn verify(&mut self, sentence: DraftSentence) -> Option<String> {
        let named = self.named_sources(&sentence.references);
        match self.verifier.verify(&sentence.text, &named) {
            Ok(verdict) => {
                let is_repaired = !named.is_empty()
                    && !verdict.supports.iter().any(|support| named.contains(&support.source));
                self.report.repaired_citations += u32::from(is_repaired);
                self.report.sentences += 1;
                let delta = self.delta(&sentence, &verdict.supports);
                self.sent.push(Sent {
                    text: sentence.text,
                    is_item: sentence.is_item,
                    score: verdict.score,
                    delta: delta.clone(),
                    supports: verdict.supports,
                });
                Some(delta)
            }
            Err(reason) => {
                *self.report.dropped.entry(reason).or_default() += 1;
                None
            }
        }
    }

    /// The positions of the sources that a sentence names by their numbers. Other numbers are
    /// counted as invalid.
    fn named_sources(&mut self, numbers: &[u32]) -> Vec<usize> {
        let position = |number: &u32| (*number as usize).checked_sub(1).filter(|at| *at < self.sources.len());
        let named: Vec<_> = numbers.iter().filter_map(position).collect();
        self.report.invalid_markers += (numbers.len() - named.len()) as u32;
        named
    }

    fn delta(&mut self, sentence: &DraftSentence, supports: &[Supported]) -> String {
        let mut delta = match self.sent.last() {
            None => "",
            Some(before) if before.is_item || sentence.is_item => "\n",
            Some(_) => " ",
        }
        .to_owned();
        if sentence.is_item {
            delta.push_str("- ");
        }
        delta + &self.with_markers(&sentence.text, supports)
    }

    /// A sentence with the numbers of the documents that support it.
    fn with_markers(&mut self, text: &str, supports: &[Supported]) -> String {
        if !self.include_citations {
            return text.to_owned();
        }
        let mut delta = escape_markers(text);
        let mut mentioned = Vec::new();
        for document in supports.iter().filter_map(|support| self.sources.get(support.source)) {
            let next = self.numbers.len() as u32 + 1;
            let number = *self.numbers.entry(document.citation.passage.document_id).or_insert(next);
            if !mentioned.contains(&number) {
                mentioned.push(number);
                delta.push_str(&format!(" [{number}]"));
            }
        }
        delta
    }

    fn into_answer(self) -> Answer {
        let Self { sources, sent, mut numbers, include_citations, hedged, .. } = self;
        let mut citations: Vec<Citation> = Vec::new();
        let mut sentences = Vec::with_capacity(sent.len());
        for (at, sent) in sent.iter().enumerate() {
            for support in &sent.supports {
                let Some(source) = sources.get(support.source) else { continue };
                let FoundPassage { chunk_id, document_id, section, .. } = &source.citation.passage;
                if !citations.iter().any(|citation| citation.passage.chunk_id == *chunk_id) {
                    let index = numbers.get(document_id).copied().unwrap_or_default();
                    citations.push(Citation { index, ..source.citation.clone() });
                }
                let Some(citation) =
                    citations.iter_mut().find(|citation| citation.passage.chunk_id == *chunk_id)
                else {
                    continue;
                };
                let words = source.sentences.get(support.sentences.clone()).unwrap_or_default();
                citation.supports.extend(words.iter().map(|words| Support {
                    start: words.start,
                    end: words.end,
                    text: words.text.clone(),
                    sentence: at as u32,
                }));
                sentences.push(QuotedSentence {
                    chunk_id: *chunk_id,
                    document_id: *document_id,
                    section: section.clone(),
                    source: words.iter().map(|words| words.text.as_str()).collect::<Vec<_>>().join(" "),
                    text: sent.text.clone(),
                    whole: sent.text.clone(),
                    place: None,
                    score: sent.score,
                });
            }
        }
        citations.sort_by_key(|citation| citation.index);
        let mut also_found: Vec<FoundPassage> = Vec::new();
        for source in &sources {
            let found = &source.citation.passage;
            let mut known = citations.iter().map(|citation| &citation.passage).chain(&also_found);
            if !known.any(|other| other.is_same_place(found)) {
                also_found.push(FoundPassage { download_url: None, ..found.clone() });
            }
        }
        // Numbers of an earlier answer are known before they are mentioned.
        numbers
            .retain(|document, _| citations.iter().any(|citation| citation.passage.document_id == *document));
        let mut referenced_indices: Vec<_> = numbers.into_values().collect();
        referenced_indices.sort_unstable();
        referenced_indices.dedup();
        if !include_citations {
            (citations, also_found, referenced_indices) = Default::default();
        }
        Answer {
            mode: AnswerMode::Generated,
            deltas: sent.into_iter().map(|sent| sent.delta).collect(),
            hedged,
            citations,
            also_found,
            referenced_indices,
            sentences,
        }
    }
}

/// Whether a character is invisible and changes how others are shown or read: zero-width characters, directions, tags.
pub(crate) fn is_format_character(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::{chunk, list};
    use crate::{Response, respond};

    fn generation(question: &str, rows: &[MatchedChunk]) -> Generation {
        let thresholds =
            crate::evidence::EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..Default::default() };
        let Response { assessment, .. } = respond(question, rows, None, &thresholds, true);
        Generation::new(question, rows, &assessment, None, true, "test-model")
    }

    fn rows() -> Vec<MatchedChunk> {
        vec![
            chunk(7, 1, 0.8, "Refunds are paid to your card within 5 days. Gift cards cannot be refunded."),
            chunk(8, 2, 0.7, "Orders above 40 euros are shipped free of charge."),
        ]
    }

    fn write(output: &str) -> (Vec<String>, Option<Answer>, GenerationReport) {
        let mut generation = generation("When are refunds paid?", &rows());
        let mut deltas = generation.push(output);
        deltas.extend(generation.end(Ending::Whole));
        let (answer, report) = generation.finish(None);
        (deltas, answer, report)
    }

    #[test]
    fn supported_sentences_are_sent_with_our_numbers_and_their_support() {
        let (deltas, answer, report) = write(
            "Orders above 40 euros are shipped free of charge [2]. Refunds are paid to your card within 5 days [1].",
        );
        assert_eq!(
            deltas,
            [
                "Orders above 40 euros are shipped free of charge. [1]",
                " Refunds are paid to your card within 5 days. [2]"
            ]
        );
        let answer = answer.unwrap();
        assert_eq!(answer.deltas, deltas, "the stored answer is what was sent");
        assert_eq!((answer.mode, answer.referenced_indices.as_slice()), (AnswerMode::Generated, &[1, 2][..]));
        let support = &answer.citations[1].supports[0];
        assert_eq!(
            (support.text.as_str(), support.sentence),
            ("Refunds are paid to your card within 5 days.", 1)
        );
        assert!(answer.citations.iter().all(|citation| citation.is_valid() && citation.quotes.is_empty()));
        assert_eq!((report.sentences, report.dropped.len(), report.fallback), (2, 0, None));
    }

    #[test]
    fn unsupported_sentences_and_unknown_markers_never_leave() {
        let (deltas, answer, report) = write(
            "Refunds are paid to your card within 9 days [1]. Our founder lives on the moon [99]. Refunds are paid to your card within 5 days [7].",
        );
        assert_eq!(deltas, ["Refunds are paid to your card within 5 days. [1]"]);
        assert_eq!(answer.unwrap().referenced_indices, [1]);
        assert_eq!(report.dropped.values().sum::<u32>(), 2);
        assert_eq!(report.invalid_markers, 2);
    }

    /// Writes an answer to a question whose extractive answer is quoted from the content.
    fn write_before_quotes(
        content: &str,
        output: &str,
        ending: Ending,
    ) -> (Vec<String>, Answer, GenerationReport) {
        let rows = [chunk(7, 1, 0.8, content), rows().swap_remove(1)];
        let question = "When are refunds paid?";
        let thresholds =
            crate::evidence::EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..Default::default() };
        let Response { assessment, verdict, .. } = respond(question, &rows, None, &thresholds, true);
        let crate::Verdict::Answer(quotes) = verdict else { panic!("refused") };
        let mut generation = Generation::new(question, &rows, &assessment, Some(&quotes), true, "test-model");
        let mut deltas = generation.push(output);
        deltas.extend(generation.end(ending));
        assert!(generation.end(ending).is_empty(), "once");
        let (answer, report) = generation.finish(None);
        let answer = answer.unwrap();
        assert_eq!(answer.deltas, deltas, "the stored answer is what was sent");
        assert!(answer.citations.iter().all(Citation::is_valid));
        (deltas, answer, report)
    }

    #[test]
    fn quotes_follow_that_the_written_sentences_do_not_say() {
        let content = "Refunds are paid to your card within 5 days.";
        for ending in [Ending::Whole, Ending::Cut] {
            let (deltas, answer, report) = write_before_quotes(
                content,
                "Orders above 40 euros are shipped free of charge. And the",
                ending,
            );
            assert_eq!(
                deltas,
                [
                    "Orders above 40 euros are shipped free of charge. [1]",
                    "\n\nRefunds are paid to your card within 5 days. [2]"
                ]
            );
            assert_eq!((report.sentences, report.quotes), (1, 1));
            assert_eq!(answer.citations[1].supports[0].sentence, 1);
        }
        for said in [content, "Within five days refunds are paid to your card."] {
            let (deltas, _, report) = write_before_quotes(content, said, Ending::Whole);
            assert_eq!((deltas.len(), report.quotes), (1, 0), "{said}");
        }
    }

    #[test]
    fn a_quote_follows_a_sentence_that_leaves_a_fact_of_it_out() {
        let content = "Refunds are paid to your card within 5 days, and to your bank account within 14 days.";
        let written = "Refunds are paid to your card within 5 days.";
        let (deltas, _, report) = write_before_quotes(content, written, Ending::Whole);
        assert_eq!(deltas, [format!("{written} [1]"), format!("\n\n{content} [1]")]);
        assert_eq!((report.sentences, report.quotes), (1, 1));
    }

    #[test]
    fn a_quote_that_follows_has_its_whole_chain() {
        let row = list(7, 0.8, "Refunds are never paid for:", &["gift cards", "worn shoes"]);
        let rows = [row, rows().swap_remove(1)];
        let question = "Are refunds paid for worn shoes or gift cards?";
        let thresholds =
            crate::evidence::EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..Default::default() };
        let Response { assessment, verdict, .. } = respond(question, &rows, None, &thresholds, true);
        let crate::Verdict::Answer(quotes) = verdict else { panic!("refused") };
        assert_eq!(quotes.sentences[1].text, "worn shoes", "below the line that was just shown");
        let mut generation = Generation::new(question, &rows, &assessment, Some(&quotes), true, "test-model");
        generation.push("Refunds are never paid for gift cards. ");
        let deltas = generation.end(Ending::Whole);
        assert_eq!(deltas.last().unwrap(), "\n\nRefunds are never paid for: worn shoes [1]", "{deltas:?}");
    }

    #[test]
    fn a_wrong_marker_is_repaired() {
        let (deltas, answer, report) = write("Refunds are paid to your card within 5 days [2].");
        assert_eq!(deltas, ["Refunds are paid to your card within 5 days. [1]"]);
        assert_eq!(answer.unwrap().citations[0].passage.chunk_id, Uuid::from_u128(1));
        assert_eq!(report.repaired_citations, 1);
    }

    #[test]
    fn without_a_sentence_to_send_there_is_no_answer_and_the_report_says_why() {
        for (output, fault, fallback) in [
            ("NO_ANSWER", None, Fallback::Declined),
            ("The moon is made of cheese [1].", None, Fallback::Unsupported),
            ("", Some(Fallback::Timeout), Fallback::Timeout),
            ("Refunds", Some(Fallback::Error), Fallback::Error),
        ] {
            let mut generation = generation("When are refunds paid?", &rows());
            assert!(generation.push(output).is_empty());
            let ending = if fault.is_some() { Ending::Cut } else { Ending::Whole };
            assert!(generation.end(ending).is_empty());
            let (answer, report) = generation.finish(fault);
            assert!(answer.is_none());
            assert_eq!(report.fallback, Some(fallback), "{output}");
        }
    }

    #[test]
    fn a_written_answer_is_short() {
        let sentence = |number: u32| format!("Refunds number {number} are paid to your card within 5 days.");
        let content: Vec<String> = (0..9).map(sentence).collect();
        let rows = [chunk(1, 1, 0.8, &content.join(" "))];
        let mut generation = generation("When?", &rows);
        let deltas = generation.push(&content.join(" "));
        assert_eq!(deltas.len(), MAX_SENTENCES);
        assert!(generation.is_done());
    }
}
