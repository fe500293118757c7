//! The name of an assistant.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ApiError;

/// The longest name, in bytes.
const MAX_BYTES: usize = 63;

/// The name of an assistant: 1 to 63 lower-case letters of ASCII, digits and hyphens, with no hyphen at either end. The default is
/// the assistant that answers where a client names none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct AssistantName(String);

impl AssistantName {
    /// The name of the default assistant.
    pub const DEFAULT: &'static str = "default";

    /// Checks a name. Errors say what a name consists of.
    pub fn parse(name: &str) -> Result<Self, ApiError> {
        let is_inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_valid = (1..=MAX_BYTES).contains(&name.len())
            && name.bytes().all(is_inner)
            && !name.starts_with('-')
            && !name.ends_with('-');
        if is_valid {
            Ok(Self(name.to_owned()))
        } else {
            Err(ApiError::invalid_request(format!(
                "assistant must be a name of 1 to {MAX_BYTES} lower-case letters, digits and hyphens"
            )))
        }
    }

    pub(crate) fn from_json(value: &Value) -> Result<Self, ApiError> {
        // Anything but a text is as invalid as an empty one.
        Self::parse(value.as_str().unwrap_or_default())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the default assistant.
    pub fn is_default(&self) -> bool {
        self.0 == Self::DEFAULT
    }
}

impl Default for AssistantName {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl TryFrom<String> for AssistantName {
    type Error = ApiError;

    fn try_from(name: String) -> Result<Self, ApiError> {
        Self::parse(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_lower_case_letters_digits_and_inner_hyphens() {
        for name in ["a", "7", "default", "shop-2", "a--b", &"a".repeat(63)] {
            assert_eq!(AssistantName::parse(name).unwrap().as_str(), name);
        }
        for wrong in ["", "-", "-a", "a-", "Shop", "a b", "a/b", "ü", "a\n", "a\0", "eq.a", &"a".repeat(64)]
        {
            assert!(AssistantName::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_default_name_is_valid() {
        assert_eq!(AssistantName::parse(AssistantName::DEFAULT).unwrap(), AssistantName::default());
        assert!(AssistantName::default().is_default());
    }
}
