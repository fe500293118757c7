//! Decides whether a sentence follows from the sources.

use std::collections::BTreeSet;
use std::ops::Range;

use super::source::Source;
use crate::generation_report::DropReason;
use crate::words::{informative_words, words};

/// The share of a sentence's words that its source must have.
const MIN_COVER: f64 = 0.6;

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
}

/// What is the same for all sentences of an answer.
#[derive(Debug)]
pub(crate) struct Verifier {
    question: BTreeSet<String>,
}

impl Verifier {
    pub(crate) fn new(question: &str, _sources: &[Source]) -> Self {
        Self { question: words(question).collect() }
    }

    /// `named` are the sources that the model named for the sentence; they only decide between equally good ones.
    pub(crate) fn verify(
        &self,
        sentence: &str,
        sources: &[Source],
        named: &[usize],
    ) -> Result<Verdict, DropReason> {
        let stems: BTreeSet<String> = informative_words(sentence).collect();
        let mut best: Option<(f64, bool, Supported)> = None;
        for (at, source) in sources.iter().enumerate() {
            for (place, words) in source.sentences.iter().enumerate() {
                let has = |stem: &String| words.words.contains(stem) || words.context_words.contains(stem);
                let cover = stems.iter().filter(|stem| has(stem)).count() as f64 / stems.len().max(1) as f64;
                let key = (cover, named.contains(&at));
                if best.as_ref().is_none_or(|(cover, is_named, _)| key > (*cover, *is_named)) {
                    best = Some((key.0, key.1, Supported { source: at, sentences: place..place + 1 }));
                }
            }
        }
        let Some((cover, _, support)) = best.filter(|(cover, ..)| *cover >= MIN_COVER) else {
            return Err(DropReason::Unsupported);
        };
        let known = |stem: &String| {
            let sentence =
                sources.get(support.source).and_then(|source| source.sentences.get(support.sentences.start));
            sentence.is_some_and(|sentence| sentence.words.contains(stem)) || self.question.contains(stem)
        };
        if stems.iter().filter(|stem| stem.contains(char::is_numeric)).any(|stem| !known(stem)) {
            return Err(DropReason::Number);
        }
        Ok(Verdict { score: cover, supports: vec![support] })
    }
}

/// The verdict on a claim, for evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// The probability that the evidence supports the claim, 0 to 1; 0 if a rule rejects it.
    pub score: f64,
    /// Why the claim would be left out; `None` if it would be sent.
    pub dropped: Option<DropReason>,
}

/// Checks one claim against the sentences of one source, as if a model had written it.
pub fn check(claim: &str, evidence: &[&str]) -> Check {
    let sources = [Source::from_sentences(evidence)];
    match Verifier::new("", &sources).verify(claim, &sources, &[]) {
        Ok(verdict) => Check { score: verdict.score, dropped: None },
        Err(reason) => Check { score: 0.0, dropped: Some(reason) },
    }
}
