//! Refusals and their texts.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::chunk::MatchedChunk;
use crate::decision::Basis;
use crate::found::FoundPassage;

/// Shown when the evidence is missing or too weak.
pub const NOT_ENOUGH_EVIDENCE: &str = "I don't have enough information to answer that question. You might try \
    contacting support or rephrasing your question.";
/// Shown when the embedding model cannot read the question's script and its words find too little.
pub const UNREADABLE_LANGUAGE: &str = "I can search in this language only for the very words of a question, and they \
    do not find enough to answer it. You might try other words, another language, or contacting support.";
/// Shown when the user may see no document, and the knowledge base is not empty.
pub const NO_ACCESS: &str = "There is no document here that you may read. You might try signing in with another account, or \
    contacting support.";
/// Shown when there is no document at all.
pub const EMPTY_KNOWLEDGE_BASE: &str = "The knowledge base is empty. Please contact an admin.";
/// Suggestions without a setting.
const DEFAULT_SUGGESTIONS: &[&str] = &["contact", "rephrase"];
/// Passages that are listed as nearest.
const MAX_NEAREST: usize = 3;
/// How far below the threshold the similarity of a listed passage may be. Unrelated passages are not useful.
const NEAR_MARGIN: f64 = 0.1;

/// The reason why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No passage reaches the similarity threshold.
    NoMatch,
    /// The confidence is too low, or no sentence can be quoted.
    WeakEvidence,
    /// The embedding model cannot read the question's script, and its words alone find too little.
    UnreadableLanguage,
    /// There is no document that the user may see.
    NoAccess,
    /// There is no document at all.
    EmptyKb,
}

impl Reason {
    /// The reason in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoMatch => "no_match",
            Self::WeakEvidence => "weak_evidence",
            Self::UnreadableLanguage => "unreadable_language",
            Self::NoAccess => "no_access",
            Self::EmptyKb => "empty_kb",
        }
    }
}

/// A next step for the user. In the settings, an entry is `contact`, `rephrase` or a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Suggestion {
    /// Write to people.
    Contact {
        /// The text to show, in English.
        text: String,
        /// Where: an `https:` or `mailto:` address, if the owner has set one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// Ask in other words.
    Rephrase {
        /// The text to show, in English.
        text: String,
    },
    /// Ask another question.
    Ask {
        /// The question.
        text: String,
    },
}

impl Suggestion {
    /// Reads an entry of the settings.
    pub fn from_setting(entry: &str) -> Self {
        match entry {
            "contact" => Self::Contact { text: "Contact support".to_owned(), url: None },
            "rephrase" => Self::Rephrase { text: "Rephrase your question".to_owned() },
            question => Self::Ask { text: question.to_owned() },
        }
    }

    /// The text to show.
    pub fn text(&self) -> &str {
        match self {
            Self::Contact { text, .. } | Self::Rephrase { text } | Self::Ask { text } => text,
        }
    }
}

/// A refusal as the client gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The text to show.
    pub message: String,
    /// A next step for the user.
    pub suggestions: Vec<Suggestion>,
    /// The reason why there is no answer.
    pub reason: Reason,
    /// The nearest passages, one per section, nearest first; without excerpts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<FoundPassage>,
    /// The session of the refusal, if it is in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Whether question and refusal are in the history.
    #[serde(default)]
    pub persisted: bool,
    /// The decision that there is no answer.
    #[serde(flatten)]
    pub basis: Basis,
}

impl Refusal {
    /// A refusal that lists the nearest passages. `rows` may be in any order; `threshold` is the similarity threshold.
    pub fn new(reason: Reason, rows: &[MatchedChunk], threshold: f64) -> Self {
        let (message, suggestions) = match reason {
            Reason::EmptyKb => (EMPTY_KNOWLEDGE_BASE, &[][..]),
            Reason::NoAccess => (NO_ACCESS, &["contact"][..]),
            Reason::UnreadableLanguage => (UNREADABLE_LANGUAGE, DEFAULT_SUGGESTIONS),
            Reason::NoMatch | Reason::WeakEvidence => (NOT_ENOUGH_EVIDENCE, DEFAULT_SUGGESTIONS),
        };
        Self {
            message: message.to_owned(),
            suggestions: suggestions.iter().copied().map(Suggestion::from_setting).collect(),
            reason,
            nearest: nearest(rows, threshold),
            session_id: None,
            persisted: false,
            basis: Basis::default(),
        }
    }

    /// Replaces the default message, except for an empty knowledge base, whose message is for the owner, and where the message gives the
    /// reason.
    pub fn with_message(mut self, message: &str) -> Self {
        if matches!(self.reason, Reason::NoMatch | Reason::WeakEvidence) {
            self.message = message.to_owned();
        }
        self
    }

    /// Replaces the default suggestions with `entries` of the settings. An empty knowledge base has none, because the user cannot do
    /// anything about it.
    pub fn with_suggestions(mut self, entries: &[String]) -> Self {
        if self.reason != Reason::EmptyKb {
            self.suggestions = entries.iter().map(|entry| Suggestion::from_setting(entry)).collect();
        }
        self
    }

    /// Says where to contact people, if that is suggested.
    pub fn with_support_url(mut self, support_url: &str) -> Self {
        for suggestion in &mut self.suggestions {
            if let Suggestion::Contact { url, .. } = suggestion {
                *url = Some(support_url.to_owned());
            }
        }
        self
    }
}

fn nearest(rows: &[MatchedChunk], threshold: f64) -> Vec<FoundPassage> {
    let mut nearest: Vec<FoundPassage> = Vec::new();
    let is_near = |row: &&MatchedChunk| row.is_within_limits() && row.similarity >= threshold - NEAR_MARGIN;
    let mut near: Vec<_> = rows.iter().filter(is_near).collect();
    near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    for passage in near.into_iter().map(|row| FoundPassage::new(row).without_text()) {
        if nearest.len() < MAX_NEAREST && !nearest.iter().any(|other| other.is_same_place(&passage)) {
            nearest.push(passage);
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::chunk;

    #[test]
    fn the_default_texts_are_as_specified() {
        let refusal = Refusal::new(Reason::NoMatch, &[], 0.35);
        assert_eq!(
            refusal.message,
            "I don't have enough information to answer that question. You might try contacting support or rephrasing your question."
        );
        assert_eq!(texts(&refusal), ["Contact support", "Rephrase your question"]);
        assert_eq!(
            Refusal::new(Reason::EmptyKb, &[], 0.35).message,
            "The knowledge base is empty. Please contact an admin."
        );
    }

    fn texts(refusal: &Refusal) -> Vec<&str> {
        refusal.suggestions.iter().map(Suggestion::text).collect()
    }

    #[test]
    fn suggestions_have_a_type() {
        let own = ["contact", "rephrase", "Contact"].map(str::to_owned);
        let refusal = Refusal::new(Reason::NoMatch, &[], 0.35)
            .with_suggestions(&own)
            .with_support_url("https://example.com/help");
        assert_eq!(
            serde_json::to_value(&refusal.suggestions).unwrap(),
            serde_json::json!([
                { "type": "contact", "text": "Contact support", "url": "https://example.com/help" },
                { "type": "rephrase", "text": "Rephrase your question" },
                { "type": "ask", "text": "Contact" },
            ])
        );
        let without_url = Refusal::new(Reason::NoMatch, &[], 0.35).suggestions;
        assert_eq!(
            serde_json::to_value(&without_url[0]).unwrap(),
            serde_json::json!({ "type": "contact", "text": "Contact support" })
        );
    }

    #[test]
    fn message_and_suggestions_can_be_replaced() {
        assert_eq!(Refusal::new(Reason::NoMatch, &[], 0.35).with_message("No idea.").message, "No idea.");
        assert_eq!(
            Refusal::new(Reason::EmptyKb, &[], 0.35).with_message("No.").message,
            EMPTY_KNOWLEDGE_BASE
        );
        let own = ["Where is the office?".to_owned()];
        assert_eq!(texts(&Refusal::new(Reason::WeakEvidence, &[], 0.35).with_suggestions(&own)), own);
        let unreadable = Refusal::new(Reason::NoAccess, &[], 0.35).with_message("No.");
        assert_eq!((unreadable.message.as_str(), texts(&unreadable)), (NO_ACCESS, vec!["Contact support"]));
        assert!(Refusal::new(Reason::WeakEvidence, &[], 0.35).with_suggestions(&[]).suggestions.is_empty());
        assert!(Refusal::new(Reason::EmptyKb, &[], 0.35).with_suggestions(&own).suggestions.is_empty());
    }

    fn names(rows: &[MatchedChunk]) -> Vec<String> {
        let refusal = Refusal::new(Reason::NoMatch, rows, 0.35);
        refusal.nearest.into_iter().map(|passage| passage.title).collect()
    }

    #[test]
    fn each_near_section_is_listed_once() {
        let rows: Vec<_> = [1, 1, 2, 3, 4].iter().map(|document| chunk(*document, 9, 0.3, "x")).collect();
        assert_eq!(names(&rows), ["doc-1.md", "doc-2.md", "doc-3.md"]);
    }

    #[test]
    fn two_sections_of_a_document_are_listed_separately() {
        let mut other = chunk(1, 2, 0.3, "x");
        other.meta = serde_json::json!({ "section": "Fees" });
        assert_eq!(names(&[chunk(1, 1, 0.3, "x"), other]), ["doc-1.md", "doc-1.md"]);
    }

    #[test]
    fn unrelated_passages_are_not_listed() {
        let rows = [chunk(1, 1, 0.3, "x"), chunk(2, 2, 0.2, "x"), chunk(3, 3, f64::NAN, "x")];
        assert_eq!(names(&rows), ["doc-1.md"]);
    }
}
