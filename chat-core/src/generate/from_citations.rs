//! Answers that are written from the citations of an extractive answer, where its search is not known: in the browser.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::{Draft, Generation, Verifier};
use crate::answer::Citation;
use crate::generation_report::GenerationReport;
use crate::limits::MAX_PROMPT_SOURCES;

impl Generation {
    /// Prepares the quotes of an extractive answer: what else its passages say is not known with what gives it its meaning. The
    /// written answer has the same numbers for the same documents, and no quotes follow it: it is shown with the extractive answer.
    /// Citations that are not valid are left out.
    pub fn from_citations(question: &str, citations: &[Citation], hedged: bool, model: &str) -> Self {
        let mut known = BTreeSet::new();
        let sources: Vec<_> = citations
            .iter()
            .filter(|citation| citation.is_valid() && known.insert(citation.passage.chunk_id))
            .map(Source::from_citation)
            .take(MAX_PROMPT_SOURCES)
            .collect();
        let numbers: BTreeMap<_, _> = sources
            .iter()
            .map(|source| (source.citation.passage.document_id, source.citation.index))
            .collect();
        Self {
            question: question.to_owned(),
            verifier: Verifier::new(question, &sources),
            quotes: Vec::new(),
            hedged,
            has_ended: false,
            sources,
            include_citations: true,
            draft: Draft::default(),
            sent: Vec::new(),
            numbers,
            report: GenerationReport::new(model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ending;
    use super::*;
    use crate::chunk::tests::{chunk, list};
    use crate::evidence::EvidenceThresholds;
    use crate::{Response, Verdict, respond};

    const QUESTION: &str = "When are refunds paid and are orders above 40 euros shipped free of charge?";

    fn citations() -> Vec<Citation> {
        let rows = [
            chunk(7, 1, 0.8, "Refunds are paid to your card within 5 days. Gift cards cannot be refunded."),
            chunk(8, 2, 0.7, "Orders above 40 euros are shipped free of charge. Über 40 Länder – ja!"),
        ];
        let thresholds = EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..Default::default() };
        let Response { verdict, .. } = respond(QUESTION, &rows, None, &thresholds, true);
        let Verdict::Answer(answer) = verdict else { panic!("refused") };
        assert_eq!(answer.citations.len(), 2);
        answer.citations
    }

    fn write(citations: &[Citation], output: &str) -> (Vec<String>, Option<crate::answer::Answer>) {
        let mut generation = Generation::from_citations(QUESTION, citations, true, "test-model");
        let mut deltas = generation.push(output);
        deltas.extend(generation.end(Ending::Whole));
        (deltas, generation.finish(None).0)
    }

    #[test]
    fn a_written_answer_has_the_numbers_of_the_extractive_one() {
        let mut citations = citations();
        for citation in &mut citations {
            citation.index += 2;
        }
        let shipping =
            citations.iter().find(|citation| citation.passage.excerpt.starts_with("Orders")).unwrap().index;
        let (deltas, answer) = write(&citations, "Orders above 40 euros are shipped free of charge [1].");
        assert_eq!(deltas, [format!("Orders above 40 euros are shipped free of charge. [{shipping}]")]);
        let answer = answer.unwrap();
        assert!(answer.hedged);
        assert_eq!(answer.referenced_indices, [shipping]);
        assert_eq!(answer.citations.len(), 1);
        assert!(answer.citations[0].is_valid() && answer.citations[0].quotes.is_empty());
        assert_eq!(answer.citations[0].supports[0].text, "Orders above 40 euros are shipped free of charge.");
    }

    #[test]
    fn each_quote_of_a_citation_is_a_source_sentence() {
        let (_, answer) = write(&citations(), "Gift cards cannot be refunded [1].");
        assert_eq!(answer.unwrap().citations[0].supports[0].text, "Gift cards cannot be refunded.");
    }

    #[test]
    fn a_quote_is_a_source_with_the_line_that_the_answer_shows_before_another() {
        let row = list(7, 0.8, "Never refunded are:", &["gift cards", "worn shoes"]);
        let thresholds = EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..Default::default() };
        let Response { verdict, .. } = respond("Are worn shoes refunded?", &[row], None, &thresholds, true);
        let Verdict::Answer(answer) = verdict else { panic!("refused") };
        let plain: Vec<_> = answer.citations[0].quotes.iter().map(|quote| quote.whole().to_owned()).collect();
        assert!(plain.contains(&"Never refunded are: worn shoes".to_owned()));
        let source = Source::from_citation(&answer.citations[0]);
        assert_eq!(source.plain, plain.join("\n"));
        assert!(write(&answer.citations, "Worn shoes are refunded.").0.is_empty());
    }

    #[test]
    fn a_changed_number_is_left_out() {
        let (deltas, answer) = write(&citations(), "Refunds are paid to your card within 9 days [1].");
        assert!(deltas.is_empty() && answer.is_none());
    }

    #[test]
    fn invalid_and_repeated_citations_are_no_sources() {
        let mut citations = citations();
        let mut invalid = Citation { index: 0, ..citations[0].clone() };
        invalid.passage.chunk_id = uuid::Uuid::from_u128(99);
        let repeated = citations[1].clone();
        citations.extend([invalid, repeated]);
        let generation = Generation::from_citations(QUESTION, &citations, false, "test-model");
        assert_eq!(generation.sources.len(), 2);
    }
}
