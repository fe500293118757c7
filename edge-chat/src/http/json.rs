//! Writes JSON.

use serde::Serialize;

use super::error::HttpError;

/// The value as JSON. Fails only if the type cannot be written as JSON, which is a bug.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, HttpError> {
    serde_json::to_string(value).map_err(|error| HttpError::internal(error.to_string()))
}
