//! Decides whether a sentence follows from the sources.
//!
//! No model reads the two texts. The rules compare facts and words:
//! - quotes, links and identifiers are in a cited passage to the letter (`facts.rs`);
//! - numbers, by value, and names are in the passages that are cited, their headings or title; a name may also be in the question
//!   (`numbers.rs`);
//! - a few consecutive sentences of a passage have enough of the sentence's words (`support.rs`, `calibration.rs`);
//! - a number of a table is in the row that the sentence names (`rows.rs`);
//! - where the sentence follows its source closely (`align.rs`), no name, number or other word was exchanged (`order.rs`,
//!   `synonyms.rs`), and no "not", "all", "only", "must" or opposite turns it around (`polarity.rs`);
//! - text that speaks to a model supports nothing (`instructions.rs`).
//!
//! A sentence that passes may still be false in a way that only a reader notices: a loose
//! paraphrase, a false statement of a document. So each sentence is shown with its source.

mod align;
mod calibration;
mod claim;
mod corpus;
mod facts;
mod instructions;
mod numbers;
mod opposites;
mod order;
mod places;
mod polarity;
mod qualified;
mod read;
mod rows;
mod support;
mod synonyms;
#[cfg(test)]
mod tests;
mod tokens;
mod units;
mod vocabulary;

use std::ops::Range;

use super::source::Source;
use crate::generation_report::DropReason;
use calibration::Signals;
use claim::Claim;
use corpus::Corpus;

/// Words of a passage that support a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Supported {
    /// The position of the source.
    pub(crate) source: usize,
    /// The positions of its sentences.
    pub(crate) sentences: Range<usize>,
}

/// A sentence may be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// The probability that the sources support it, 0 to 1.
    pub(crate) score: f64,
    /// The best source first, at most two.
    pub(crate) supports: Vec<Supported>,
    /// Whether these sources have all of its content words.
    pub(crate) is_complete: bool,
}

/// Checks the sentences of an answer.
#[derive(Debug)]
pub(crate) struct Verifier(Corpus);

impl Verifier {
    pub(crate) fn new(question: &str, sources: &[Source]) -> Self {
        Self(Corpus::new(question, sources))
    }

    /// `named` are the sources that the model named for the sentence; they only decide between equally good ones.
    pub(crate) fn verify(&mut self, sentence: &str, named: &[usize]) -> Result<Verdict, DropReason> {
        let sentence = without_opening(sentence);
        let tokens = self.0.read_claim(sentence);
        let claim = Claim::new(&self.0, sentence, tokens, named).ok_or(DropReason::Unsupported)?;
        claim.verdict(&self.0)
    }
}

/// The sentence without what models put before an answer: "According to the source, …".
fn without_opening(sentence: &str) -> &str {
    const OPENINGS: &[&str] = &["according to the ", "based on the ", "as stated in the ", "as per the "];
    const NOUNS: &[&str] = &[
        "source",
        "sources",
        "text",
        "passage",
        "passages",
        "document",
        "documents",
        "context",
        "information",
    ];
    let Some((opening, rest)) = sentence.split_once(", ") else { return sentence };
    let opening = opening.to_lowercase();
    let noun = OPENINGS.iter().find_map(|phrase| opening.strip_prefix(phrase));
    let noun = noun.map(|noun| noun.trim_start_matches("provided ").trim_start_matches("given "));
    if noun.is_some_and(|noun| NOUNS.contains(&noun)) { rest } else { sentence }
}

/// The verdict on a claim, for evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// The probability that the evidence supports the claim, 0 to 1; 0 if a rule rejects it.
    pub score: f64,
    /// The reason why the claim would be left out; `None` if it would be sent.
    pub dropped: Option<DropReason>,
}

/// Checks one claim against the sentences of one source, as if a model had written it.
pub fn check(claim: &str, evidence: &[&str]) -> Check {
    let sources = [Source::from_sentences(evidence)];
    match Verifier::new("", &sources).verify(claim, &[]) {
        Ok(verdict) => Check { score: verdict.score, dropped: None },
        Err(reason) => Check { score: 0.0, dropped: Some(reason) },
    }
}

/// The inputs of the score of a claim, whatever the rules say: cover, passage cover, share. For
/// fitting.
pub fn signals(claim: &str, evidence: &[&str]) -> [f64; 3] {
    let sources = [Source::from_sentences(evidence)];
    let mut corpus = Corpus::new("", &sources);
    let tokens = corpus.read_claim(claim);
    let signals = Claim::new(&corpus, claim, tokens, &[]).and_then(|claim| claim.best_signals(&corpus));
    signals.map_or([0.0; 3], |Signals { cover, passage_cover, share }| [cover, passage_cover, share])
}
