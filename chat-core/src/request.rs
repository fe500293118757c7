//! Strict parsing of the body of `POST /api/chat`. Errors say what to change.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::assistant::AssistantName;
use crate::error::ApiError;
pub use crate::fields::parse_id;
use crate::fields::{Fields, model, uuid};
use crate::limits::MAX_MESSAGE_CHARS;
use crate::reading::Reading;

/// Length of a question vector.
pub const DIMENSIONS: usize = 384;
/// Bytes of a request body.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
/// How far the norm of the vector may be from 1.
pub const NORM_TOLERANCE: f64 = 1e-3;
/// Tokens of a text that the model reads, `[CLS]` and `[SEP]` included.
pub const MAX_MODEL_TOKENS: usize = 256;

/// A valid request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatRequest {
    /// The question's vector: [`DIMENSIONS`] numbers of unit length.
    pub embedding: Vec<f32>,
    /// The question, trimmed, never empty.
    pub message: String,
    /// The client's id of this message. Sending the same id again returns the same outcome.
    pub message_id: Uuid,
    /// The assistant that is asked.
    pub assistant: AssistantName,
    /// The session to continue, of the same assistant. Without it a new session begins.
    pub session_id: Option<Uuid>,
    /// The fingerprint of the model that made the vectors.
    pub model: String,
    /// The question before this one, which it may lean on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
    /// The reading of the passages, which are searched for again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// Whether the message is longer than the model reads, so that the vector is that of its beginning.
    pub truncated: bool,
    /// Whether the answer has markers and sources.
    pub include_citations: bool,
    /// Whether the answer must consist of quotes even where the site lets a language model write.
    pub is_extractive: bool,
}

/// The question before a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Previous {
    /// Its text, as [`ChatRequest::message`].
    pub message: String,
    /// The vector of both questions together, in the form of [`joined`](crate::follow_up::joined).
    pub embedding: Vec<f32>,
}

/// The fields of a body.
const FIELDS: &[&str] = &[
    "embedding",
    "message",
    "message_id",
    "assistant",
    "session_id",
    "model",
    "previous",
    "reading",
    "truncated",
    "include_citations",
    "mode",
];

impl ChatRequest {
    /// Parses and checks a request body.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let mut fields = Fields::parse(body, FIELDS)?;
        let message = text(&fields.required("message")?, "message")?;
        Ok(Self {
            embedding: embedding(&fields.required("embedding")?, "embedding")?,
            truncated: fields.flag("truncated", false)? || is_truncated(&message),
            message,
            message_id: uuid(&fields.required("message_id")?, "message_id")?,
            assistant: assistant(fields.take("assistant"))?,
            session_id: fields.take("session_id").map(|value| uuid(&value, "session_id")).transpose()?,
            model: model(fields.required("model")?, "model")?,
            previous: fields.take("previous").map(previous).transpose()?,
            reading: fields.take("reading").map(Reading::parse).transpose()?,
            include_citations: fields.flag("include_citations", true)?,
            is_extractive: fields.take("mode").map_or(Ok(false), is_extractive)?,
        })
    }
}

pub(crate) fn embedding(value: &Value, field: &str) -> Result<Vec<f32>, ApiError> {
    let Value::Array(numbers) = value else {
        return Err(ApiError::invalid_request(format!("{field} must be an array of {DIMENSIONS} numbers")));
    };
    if numbers.len() != DIMENSIONS {
        return Err(ApiError::invalid_request(format!(
            "{field} must have {DIMENSIONS} numbers, got {}",
            numbers.len()
        )));
    }
    let mut vector = Vec::with_capacity(DIMENSIONS);
    let mut squares = 0.0;
    for (position, number) in numbers.iter().enumerate() {
        let number = number.as_f64().filter(|number| number.is_finite()).ok_or_else(|| {
            ApiError::invalid_request(format!(
                "{field} must contain finite numbers only, entry {position} is not one"
            ))
        })?;
        squares += number * number;
        vector.push(number as f32);
    }
    let norm = squares.sqrt();
    // In this form the comparison rejects NaN too.
    if (norm - 1.0).abs() <= NORM_TOLERANCE {
        Ok(vector)
    } else {
        Err(ApiError::invalid_request(format!(
            "{field} must have length 1, got {norm:.4}: normalise it first"
        )))
    }
}

/// The text of a question or of a search, trimmed.
pub(crate) fn text(value: &Value, field: &str) -> Result<String, ApiError> {
    let Some(text) = value.as_str() else {
        return Err(ApiError::invalid_request(format!("{field} must be a string")));
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(ApiError::invalid_request(format!("{field} is empty: type a question")));
    }
    let length = text.chars().count();
    if length > MAX_MESSAGE_CHARS {
        return Err(ApiError::invalid_request(format!(
            "{field} must have at most {MAX_MESSAGE_CHARS} characters, got {length}"
        )));
    }
    // Postgres cannot store U+0000, so the question would be missing from the history.
    if text.contains('\0') {
        return Err(ApiError::invalid_request(format!("{field} must not contain the character U+0000")));
    }
    Ok(text.to_owned())
}

/// The question before this one. Its fields have the rules of the request's own.
pub(crate) fn previous(mut value: Value) -> Result<Previous, ApiError> {
    let mut take = |name: &str| {
        let field = value.get_mut(name).map(Value::take).filter(|field| !field.is_null());
        field.ok_or_else(|| {
            ApiError::invalid_request(
                "previous must be an object with message, the question before this one, and embedding, the vector of both",
            )
        })
    };
    Ok(Previous {
        message: text(&take("message")?, "previous.message")?,
        embedding: embedding(&take("embedding")?, "previous.embedding")?,
    })
}

/// Whether the model certainly reads only the beginning of a message, although the client did not say so. The tokenizer makes at
/// least one token of a word with a letter or a digit; [CLS] and [SEP] take two of the tokens that the model reads.
fn is_truncated(message: &str) -> bool {
    let words = message.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    words.count() > MAX_MODEL_TOKENS - 2
}

pub(crate) fn assistant(value: Option<Value>) -> Result<AssistantName, ApiError> {
    value.map_or_else(|| Ok(AssistantName::default()), |value| AssistantName::from_json(&value))
}

/// A client may only ask for less than the site offers.
fn is_extractive(value: Value) -> Result<bool, ApiError> {
    match value.as_str() {
        Some("extractive") => Ok(true),
        _ => Err(ApiError::invalid_request("mode must be \"extractive\", or missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";

    fn unit_vector() -> Vec<f64> {
        let mut vector = vec![0.0; DIMENSIONS];
        vector[7] = 1.0;
        vector
    }

    fn body() -> Value {
        json!({ "embedding": unit_vector(), "message": "  How do refunds work? ", "message_id": ID, "model": "m" })
    }

    fn parse(body: &Value) -> Result<ChatRequest, ApiError> {
        ChatRequest::parse(body.to_string().as_bytes())
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body = body();
        body[field] = value;
        body
    }

    fn rejection(body: &Value) -> String {
        let error = parse(body).unwrap_err();
        assert_eq!(error.code.http_status(), 400);
        assert!(!error.retryable);
        error.message
    }

    #[test]
    fn a_minimal_request_is_accepted_and_trimmed() {
        let request = parse(&body()).unwrap();
        assert_eq!(request.message, "How do refunds work?");
        assert_eq!(request.embedding.len(), DIMENSIONS);
        assert_eq!(
            (request.session_id, request.model.as_str(), request.include_citations),
            (None, "m", true)
        );
        assert!(request.assistant.is_default());
    }

    #[test]
    fn all_fields_are_read_and_unknown_ones_ignored() {
        let mut body = body();
        body["session_id"] = json!(ID.to_uppercase());
        body["model"] = json!("minilm-1");
        body["assistant"] = json!("shop");
        body["include_citations"] = json!(false);
        body["mode"] = json!("extractive");
        body["surprise"] = json!({ "deep": [1, 2, 3] });
        let request = parse(&body).unwrap();
        assert_eq!(request.session_id.unwrap().to_string(), ID);
        assert_eq!((request.model.as_str(), request.assistant.as_str()), ("minilm-1", "shop"));
        assert!(!request.include_citations && request.is_extractive);
    }

    #[test]
    fn null_means_absent() {
        for field in ["assistant", "session_id", "previous", "truncated", "include_citations", "mode"] {
            assert!(parse(&with(field, Value::Null)).is_ok(), "{field}");
        }
        for field in ["embedding", "message", "message_id", "model"] {
            assert_eq!(rejection(&with(field, Value::Null)), format!("{field} is missing"));
        }
    }

    #[test]
    fn a_wrong_number_of_dimensions_is_rejected_with_both_numbers() {
        for length in [0, 1, 383, 385, 1536] {
            let message = rejection(&with("embedding", json!(vec![0.1; length])));
            assert_eq!(message, format!("embedding must have 384 numbers, got {length}"));
        }
    }

    #[test]
    fn entries_that_are_not_numbers_are_rejected() {
        for wrong in [json!("0.1"), json!(null), json!(true), json!([0.1]), json!({ "a": 1 }), json!("NaN")] {
            let mut vector: Vec<Value> = unit_vector().into_iter().map(Value::from).collect();
            vector[3] = wrong;
            assert!(rejection(&with("embedding", json!(vector))).contains("entry 3"));
        }
    }

    #[test]
    fn numbers_that_json_does_not_allow_are_rejected() {
        for wrong in ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x1", "1.", ".5", "+1", "01"] {
            let text = body().to_string().replacen("1.0", wrong, 1);
            let error = ChatRequest::parse(text.as_bytes()).unwrap_err();
            assert!(error.message.contains("not valid JSON"), "{wrong}: {}", error.message);
        }
    }

    #[test]
    fn the_norm_must_be_one_within_the_tolerance() {
        let scaled = |scale: f64| {
            with("embedding", json!(unit_vector().iter().map(|x| x * scale).collect::<Vec<_>>()))
        };
        assert!(parse(&scaled(1.0 + 0.9e-3)).is_ok());
        assert!(parse(&scaled(1.0 - 0.9e-3)).is_ok());
        assert!(parse(&scaled(-1.0)).is_ok());
        for scale in [0.0, 0.998, 1.002, 1e200, 1e-200] {
            assert!(rejection(&scaled(scale)).starts_with("embedding must have length 1"), "{scale}");
        }
    }

    #[test]
    fn integers_are_accepted_as_numbers() {
        let mut vector = vec![0; DIMENSIONS];
        vector[0] = -1;
        assert!(parse(&with("embedding", json!(vector))).is_ok());
    }

    #[test]
    fn the_message_has_a_length_limit_in_characters() {
        assert!(parse(&with("message", json!("é".repeat(4000)))).is_ok());
        assert!(parse(&with("message", json!(format!("  {}  ", "x".repeat(4000))))).is_ok());
        assert_eq!(
            rejection(&with("message", json!("é".repeat(4001)))),
            "message must have at most 4000 characters, got 4001"
        );
        for empty in ["", "   ", "\n\t", "\u{a0}\u{3000}"] {
            assert_eq!(rejection(&with("message", json!(empty))), "message is empty: type a question");
        }
    }

    #[test]
    fn a_message_must_be_a_string_that_can_be_stored() {
        for wrong in [json!(1), json!(["hi"]), json!({ "text": "hi" }), json!(true)] {
            assert_eq!(rejection(&with("message", wrong)), "message must be a string");
        }
        assert!(rejection(&with("message", json!("a\0b"))).contains("U+0000"));
    }

    #[test]
    fn the_question_before_has_the_rules_of_the_question() {
        let previous = |message: Value, embedding: Value| {
            with("previous", json!({ "message": message, "embedding": embedding, "surprise": 1 }))
        };
        let request = parse(&previous(json!(" And to Norway? "), json!(unit_vector()))).unwrap();
        let before = request.previous.unwrap();
        assert_eq!((before.message.as_str(), before.embedding), ("And to Norway?", request.embedding));
        assert_eq!(parse(&body()).unwrap().previous, None);
        for (message, wrong) in [
            (json!("x".repeat(4001)), "previous.message must have at most 4000 characters, got 4001"),
            (json!(" "), "previous.message is empty: type a question"),
            (json!(7), "previous.message must be a string"),
            (json!("a\0"), "previous.message must not contain the character U+0000"),
        ] {
            assert_eq!(rejection(&previous(message, json!(unit_vector()))), wrong);
        }
        let question = || json!("How long?");
        assert_eq!(
            rejection(&previous(question(), json!([1.0]))),
            "previous.embedding must have 384 numbers, got 1"
        );
        let zero = json!(vec![0; DIMENSIONS]);
        assert!(rejection(&previous(question(), zero)).starts_with("previous.embedding must have length 1"));
        for incomplete in [
            previous(Value::Null, json!(unit_vector())),
            previous(question(), Value::Null),
            with("previous", json!({})),
            with("previous", json!("How long?")),
            with("previous", json!([question(), unit_vector()])),
            with("previous", json!(true)),
        ] {
            assert!(rejection(&incomplete).starts_with("previous must be an object with message"));
        }
    }

    #[test]
    fn a_message_is_truncated_if_the_client_says_so_or_it_has_more_words_than_the_model_reads() {
        let truncated = |body: &Value| parse(body).unwrap().truncated;
        let words = |count: usize| with("message", json!("a ".repeat(count)));
        assert!(!truncated(&body()) && !truncated(&words(254)));
        assert!(truncated(&words(255)) && truncated(&with("truncated", json!(true))));
        assert!(
            !truncated(&with("message", json!("\u{200b} \u{fe0f} ".repeat(300)))),
            "words without a token"
        );
        assert!(truncated(&{
            let mut body = words(255);
            body["truncated"] = json!(false);
            body
        }));
        assert_eq!(rejection(&with("truncated", json!("true"))), "truncated must be true or false");
    }

    #[test]
    fn ids_are_accepted_in_hyphenated_form_only() {
        for wrong in [
            json!(""),
            json!("1"),
            json!(ID.replace('-', "")),
            json!(format!("{{{ID}}}")),
            json!(format!("urn:uuid:{ID}")),
            json!(format!("{ID} ")),
            json!(ID.replace('f', "g")),
            json!(7),
            json!([ID]),
        ] {
            assert_eq!(rejection(&with("message_id", wrong.clone())), "message_id must be a UUID");
            assert_eq!(rejection(&with("session_id", wrong)), "session_id must be a UUID");
        }
    }

    #[test]
    fn options_of_a_wrong_type_are_rejected() {
        assert!(rejection(&with("include_citations", json!("true"))).contains("true or false"));
        for wrong in [json!("generated"), json!("endpoint"), json!(true), json!("")] {
            assert!(rejection(&with("mode", wrong)).starts_with("mode must be"));
        }
        for wrong in [json!(""), json!("Shop"), json!(7), json!(["shop"]), json!("a".repeat(64))] {
            assert!(rejection(&with("assistant", wrong)).starts_with("assistant must be"));
        }
        assert!(rejection(&with("model", json!(""))).starts_with("model must be"));
        assert!(rejection(&with("model", json!("m".repeat(129)))).starts_with("model must be"));
    }

    #[test]
    fn anything_but_one_object_is_rejected_without_quoting_it() {
        let deep = "[".repeat(60_000);
        let deep_field = format!("{{\"x\":{}", "[".repeat(60_000));
        let twice = body().to_string().replacen('{', r#"{"message":"secret","#, 1);
        let trailing = format!("{}secret", body());
        for text in [
            "",
            " ",
            "null",
            "[]",
            "\"secret\"",
            "{",
            "{secret}",
            "{'a':1}",
            &deep,
            &deep_field,
            &twice,
            &trailing,
        ] {
            let error = ChatRequest::parse(text.as_bytes()).unwrap_err();
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
        assert!(ChatRequest::parse(b"\xef\xbb\xbf{}").is_err(), "byte order mark");
        assert!(ChatRequest::parse(b"{\"message\":\"\xff\"}").is_err(), "not UTF-8");
        assert!(ChatRequest::parse(br#"{"message":"\ud800"}"#).is_err(), "half a surrogate pair");
        let with_unknown = |value: &str| body().to_string().replacen('{', &format!("{{\"x\":{value},"), 1);
        assert!(ChatRequest::parse(with_unknown("[1, {}]").as_bytes()).is_ok());
        for wrong in [r#""\ud800""#, &format!("{}1{}", "[".repeat(200), "]".repeat(200)), "1e999"] {
            assert!(ChatRequest::parse(with_unknown(wrong).as_bytes()).is_err(), "{wrong}");
        }
        let list = json!([unit_vector(), "hi", ID, null, null, true]);
        assert_eq!(rejection(&list), "the body must be a JSON object");
    }
}
