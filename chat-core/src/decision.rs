//! How an answer or refusal came about.

use serde::{Deserialize, Serialize};

/// The judge of which statements are shown, and whether any are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// Search and reader together.
    Reader,
    /// The search alone: no passage of it was read.
    #[default]
    Search,
}

/// The decision behind an outcome, and what was searched for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// Search and reader together, or the search alone.
    #[serde(default)]
    pub decided_by: DecidedBy,
    /// The searched text, if it was not just the question.
    #[serde(flatten)]
    pub searched: Searched,
}

/// The searched text, if it was not just the question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Searched {
    /// The question together with the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<String>,
    /// Whether the model read only the beginning of the question.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
