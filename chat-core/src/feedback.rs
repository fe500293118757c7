//! Feedback of a user on an answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ApiError;
use crate::fields::Fields;
use crate::request::embedding;

/// Characters of a comment, as in the constraint `chat_messages_feedback_comment_length`.
pub const MAX_COMMENT_CHARS: usize = 1000;

/// The fields of a body.
const FIELDS: &[&str] = &["rating", "reason", "comment", "embedding"];

/// Whether an answer helped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rating {
    /// It did.
    Up,
    /// It did not.
    Down,
}

/// The reason why an answer did not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackReason {
    /// It says something that is not true.
    Wrong,
    /// Something is missing.
    Incomplete,
    /// It answers another question.
    OffTopic,
    /// It was true once.
    Outdated,
    /// Something else.
    Other,
}

/// Feedback on an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// Whether it helped.
    pub rating: Rating,
    /// The reason; only for [`Rating::Down`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<FeedbackReason>,
    /// The user's own words, trimmed, never empty: at most [`MAX_COMMENT_CHARS`] characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// The body of `PUT /api/sessions/{id}/messages/{id}/feedback`.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedbackRequest {
    /// The feedback.
    pub feedback: Feedback,
    /// The vector of the question: 384 numbers of unit length. With it, a disliked answer counts among the gaps.
    pub embedding: Option<Vec<f32>>,
}

impl FeedbackRequest {
    /// Parses and checks a body.
    ///
    /// # Errors
    /// `invalid_request` with a message that names the field.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let mut fields = Fields::parse(body, FIELDS)?;
        let rating = choice(fields.required("rating")?, "rating must be \"up\" or \"down\"")?;
        let reason = fields.take("reason").map(|value| {
            choice(
                value,
                "reason must be \"wrong\", \"incomplete\", \"off_topic\", \"outdated\" or \"other\"",
            )
        });
        let reason = reason.transpose()?;
        if rating == Rating::Up && reason.is_some() {
            return Err(ApiError::invalid_request("reason is only for rating \"down\""));
        }
        let comment = fields.take("comment").map(|value| comment(&value)).transpose()?.flatten();
        let embedding = fields.take("embedding").map(|value| embedding(&value, "embedding")).transpose()?;
        Ok(Self { feedback: Feedback { rating, reason, comment }, embedding })
    }
}

fn choice<T: for<'de> Deserialize<'de>>(value: Value, message: &str) -> Result<T, ApiError> {
    serde_json::from_value(value).map_err(|_| ApiError::invalid_request(message))
}

/// `None` if there is only white space.
fn comment(value: &Value) -> Result<Option<String>, ApiError> {
    let text = value.as_str().ok_or_else(|| ApiError::invalid_request("comment must be a string"))?.trim();
    let length = text.chars().count();
    if length > MAX_COMMENT_CHARS {
        return Err(ApiError::invalid_request(format!(
            "comment must have at most {MAX_COMMENT_CHARS} characters, got {length}"
        )));
    }
    // Postgres cannot store it.
    if text.contains('\0') {
        return Err(ApiError::invalid_request("comment must not contain the character U+0000"));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(body: &Value) -> Result<FeedbackRequest, ApiError> {
        FeedbackRequest::parse(body.to_string().as_bytes())
    }

    #[test]
    fn only_the_rating_is_required() {
        let request =
            parse(&json!({ "rating": "up", "reason": null, "comment": " \n", "unknown": 1 })).unwrap();
        let feedback = Feedback { rating: Rating::Up, reason: None, comment: None };
        assert_eq!(request, FeedbackRequest { feedback, embedding: None });
    }

    #[test]
    fn every_reason_has_the_name_that_the_database_knows() {
        for (name, reason) in [
            ("wrong", FeedbackReason::Wrong),
            ("incomplete", FeedbackReason::Incomplete),
            ("off_topic", FeedbackReason::OffTopic),
            ("outdated", FeedbackReason::Outdated),
            ("other", FeedbackReason::Other),
        ] {
            let request = parse(&json!({ "rating": "down", "reason": name })).unwrap();
            assert_eq!(request.feedback.reason, Some(reason));
            assert_eq!(
                serde_json::to_value(&request.feedback).unwrap(),
                json!({ "rating": "down", "reason": name })
            );
        }
    }

    #[test]
    fn a_comment_is_trimmed_and_has_at_most_1000_characters() {
        let comment =
            |text: &str| parse(&json!({ "rating": "down", "comment": text })).map(|it| it.feedback.comment);
        assert_eq!(comment("  Which kinds? ").unwrap().as_deref(), Some("Which kinds?"));
        assert!(comment(&"é".repeat(MAX_COMMENT_CHARS)).unwrap().is_some());
        assert!(comment(&"é".repeat(MAX_COMMENT_CHARS + 1)).is_err());
        assert!(comment("a\0b").is_err());
    }

    #[test]
    fn wrong_bodies_are_rejected_with_the_name_of_the_field() {
        for (body, field) in [
            (json!({}), "rating"),
            (json!([]), "object"),
            (json!({ "rating": "maybe" }), "rating"),
            (json!({ "rating": 1 }), "rating"),
            (json!({ "rating": "down", "reason": "boring" }), "reason"),
            (json!({ "rating": "up", "reason": "wrong" }), "reason"),
            (json!({ "rating": "down", "comment": 5 }), "comment"),
            (json!({ "rating": "down", "embedding": [1.0] }), "embedding"),
        ] {
            let error = parse(&body).unwrap_err();
            assert!(error.message.contains(field), "{body}: {}", error.message);
        }
    }
}
