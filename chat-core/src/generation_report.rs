//! How an answer was written, for clients and the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The author of the words of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMode {
    /// The documents: the sentences are verbatim quotes.
    #[default]
    Extractive,
    /// A language model: each sentence was checked against the passages that it cites.
    Generated,
}

impl AnswerMode {
    /// For JSON, where an absent mode means extractive.
    pub fn is_extractive(&self) -> bool {
        *self == Self::Extractive
    }
}

/// The reason why a sentence of the model was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// A number, date or amount is not in the source.
    Number,
    /// A name is neither in the source nor in the question.
    Name,
    /// Words in quotation marks are not in the source to the letter.
    Quote,
    /// A link, e-mail address or piece of code is not in the source.
    Link,
    /// The source says the opposite, or says it with another "not", "all", "only" or "must".
    Polarity,
    /// Its words are in the source in another order, and say something else.
    Order,
    /// Too few of its words are in any source.
    Unsupported,
}

/// The reason why an answer that was to be written is made of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// The model took too long.
    Timeout,
    /// The model could not be reached, or its answer could not be read.
    Error,
    /// No sentence of the model follows from the sources.
    Unsupported,
    /// The tokens of the day are used up.
    Budget,
    /// The model says that the sources do not answer the question.
    Declined,
}

/// How an answer was written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GenerationReport {
    /// The name of the model.
    pub model: String,
    /// Sentences that were sent.
    pub sentences: u32,
    /// Quotes that follow the written sentences, because those do not say them.
    #[serde(default)]
    pub quotes: u32,
    /// Sentences that were left out, by reason.
    pub dropped: BTreeMap<DropReason, u32>,
    /// Markers that named no source.
    pub invalid_markers: u32,
    /// Sentences whose marker named a source that does not support them, and that cite another one.
    pub repaired_citations: u32,
    /// The reason why the answer is made of quotes after all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Whether the answer ends before the model had finished it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Tokens of the prompt, if the model's server counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the output, if the model's server counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
}

impl GenerationReport {
    /// A report before anything was written.
    pub fn new(model: &str) -> Self {
        Self { model: model.to_owned(), ..Self::default() }
    }
}
