//! Reads and writes JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::HttpError;

/// Reads an object. Derived structs also accept a JSON array of their fields; this does not.
pub(crate) fn parse_object<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    let is_object = json.trim_ascii_start().starts_with(b"{");
    is_object.then(|| serde_json::from_slice(json).ok()).flatten()
}

/// The value as JSON. Fails only if the type cannot be written as JSON, which is a bug.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, HttpError> {
    serde_json::to_string(value).map_err(|error| HttpError::internal(error.to_string()))
}
