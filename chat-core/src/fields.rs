//! The fields of a JSON object that a client sends.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

use serde::Deserializer;
use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use uuid::Uuid;

use crate::error::ApiError;

/// Bytes of a model fingerprint.
const MAX_MODEL_BYTES: usize = 128;

/// The known fields of an object, not yet checked. null is the same as a missing field.
pub(crate) struct Fields(BTreeMap<&'static str, Value>);

impl Fields {
    /// Parses an object. Unknown fields are ignored after parsing, so that their depth, texts and numbers are checked. A
    /// duplicate of a known field is an error, because it is unclear which value is meant.
    pub(crate) fn parse(body: &[u8], known: &'static [&'static str]) -> Result<Self, ApiError> {
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(ApiError::invalid_request("the body must be a JSON object"));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        let fields = Known(known).deserialize(&mut deserializer);
        fields.and_then(|fields| deserializer.end().map(|()| fields)).map_err(|error| {
            // Only the position: the parser's message may quote the user's text.
            let place = format!("line {}, column {}", error.line(), error.column());
            ApiError::invalid_request(match error.classify() {
                Category::Data => format!("the body names one of its fields twice ({place})"),
                Category::Eof => format!("the body ends before its JSON does ({place})"),
                Category::Syntax | Category::Io => format!("the body is not valid JSON ({place})"),
            })
        })
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    pub(crate) fn flag(&mut self, name: &str, default: bool) -> Result<bool, ApiError> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(ApiError::invalid_request(format!("{name} must be true or false"))),
        }
    }

    pub(crate) fn required(&mut self, name: &str) -> Result<Value, ApiError> {
        self.take(name).ok_or_else(|| ApiError::invalid_request(format!("{name} is missing")))
    }
}

/// Parses a UUID in the hyphenated form only, so that each id has one spelling apart from case.
pub fn parse_id(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == uuid::fmt::Hyphenated::LENGTH)
}

pub(crate) fn uuid(value: &Value, field: &str) -> Result<Uuid, ApiError> {
    value
        .as_str()
        .and_then(parse_id)
        .ok_or_else(|| ApiError::invalid_request(format!("{field} must be a UUID")))
}

pub(crate) fn model(value: Value, field: &str) -> Result<String, ApiError> {
    match value {
        Value::String(text) if (1..=MAX_MODEL_BYTES).contains(&text.len()) => Ok(text),
        _ => Err(ApiError::invalid_request(format!(
            "{field} must be a string of 1 to {MAX_MODEL_BYTES} bytes"
        ))),
    }
}

/// The names of the known fields.
struct Known(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Known {
    type Value = Fields;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Known {
    type Value = Fields;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let value = map.next_value::<Value>()?;
            let Some(known) = self.0.iter().find(|known| **known == name) else { continue };
            if fields.insert(*known, value).is_some() {
                return Err(de::Error::custom("a field is given twice"));
            }
        }
        Ok(Fields(fields))
    }
}
