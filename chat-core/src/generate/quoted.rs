//! The sentences of the extractive answer, which complete a written one.

use super::source::Source;
use super::verify::{Supported, Verifier};
use crate::answer::QuotedSentence;

/// A sentence of the extractive answer.
#[derive(Debug)]
pub(super) struct Quoted {
    /// The words as that answer shows them.
    pub(super) text: String,
    pub(super) support: Supported,
}

impl Quoted {
    /// `None` if the sentence is of a passage that the model does not get, or code, whose lines would lose their layout.
    pub(super) fn new(quote: &QuotedSentence, sources: &[Source]) -> Option<Self> {
        let source = sources.iter().position(|source| source.citation.chunk_id == quote.chunk_id)?;
        let sentences = &sources.get(source)?.sentences;
        let at = sentences.iter().position(|sentence| sentence.text == quote.source)?;
        let introduction = quote.introduction.as_ref().map(|line| format!("{line} ")).unwrap_or_default();
        let text = introduction + &quote.text;
        let is_code = text.contains('\n');
        (!is_code).then_some(Self { text, support: Supported { source, sentences: at..at + 1 } })
    }
}

/// The quotes that do not follow from the written sentences, by the check that those sentences passed against their sources.
pub(super) fn unsaid(question: &str, written: &[&str], quotes: Vec<Quoted>) -> Vec<Quoted> {
    let mut verifier = Verifier::new(question, &[Source::from_sentences(written)]);
    quotes.into_iter().filter(|quote| verifier.verify(&quote.text, &[]).is_err()).collect()
}
