//! The sentences of the extractive answer, which complete a written one.

use super::source::{Source, SourceSentence};
use super::verify::{Supported, Verifier};
use crate::answer::QuotedSentence;

/// A sentence of the extractive answer.
#[derive(Debug)]
pub(super) struct Quoted {
    /// The words with their whole chain: what the answer shows before them there may be missing here.
    pub(super) text: String,
    pub(super) support: Supported,
}

impl Quoted {
    /// `None` if the sentence is of a passage that the model does not get, or code, whose lines would lose their layout.
    pub(super) fn new(quote: &QuotedSentence, sources: &[Source]) -> Option<Self> {
        let source = sources.iter().position(|source| source.citation.passage.chunk_id == quote.chunk_id)?;
        let sentences = &sources.get(source)?.sentences;
        let is_it =
            |sentence: &SourceSentence| sentence.text == quote.source && sentence.plain == quote.whole;
        let at = sentences.iter().position(is_it)?;
        let text = quote.whole.clone();
        let is_code = text.contains('\n');
        (!is_code).then_some(Self { text, support: Supported { source, sentences: at..at + 1 } })
    }
}

/// The quotes that the written sentences do not say. A quote is said if it passes the check with those sentences as its source, and
/// they have all of its content words: what is missing may be the answer.
pub(super) fn unsaid(question: &str, written: &[&str], quotes: Vec<Quoted>) -> Vec<Quoted> {
    let mut verifier = Verifier::new(question, &[Source::from_sentences(written)]);
    let mut is_said =
        |quote: &Quoted| verifier.verify(&quote.text, &[]).is_ok_and(|verdict| verdict.is_complete);
    quotes.into_iter().filter(|quote| !is_said(quote)).collect()
}
