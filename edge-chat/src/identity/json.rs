//! A JSON object with strict access: no duplicate members, no type conversions.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

/// The members of a JSON object. Other JSON does not deserialize; serde_json limits the depth.
pub(super) struct Object(BTreeMap<String, Value>);

/// A member has a value of a wrong type, `null` included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrongType(pub(super) &'static str);

impl Object {
    pub(super) fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, WrongType> {
        self.get(name, Value::as_str)
    }

    pub(super) fn number(&self, name: &'static str) -> Result<Option<f64>, WrongType> {
        self.get(name, Value::as_f64)
    }

    pub(super) fn texts(&self, name: &'static str) -> Result<Option<Vec<&str>>, WrongType> {
        self.get(name, |value| value.as_array()?.iter().map(Value::as_str).collect())
    }

    /// A list of texts, or a single text.
    pub(super) fn text_or_texts(&self, name: &'static str) -> Result<Option<Vec<&str>>, WrongType> {
        match self.text(name) {
            Ok(text) => Ok(text.map(|text| vec![text])),
            Err(_) => self.texts(name),
        }
    }

    /// Whether a member is anything but missing, `null` or `false`.
    pub(super) fn is_set(&self, name: &str) -> bool {
        !matches!(self.0.get(name), None | Some(Value::Null | Value::Bool(false)))
    }

    fn get<'a, T>(
        &'a self,
        name: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, WrongType> {
        self.0.get(name).map(|value| read(value).ok_or(WrongType(name))).transpose()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a duplicate member"));
            }
        }
        Ok(Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_without_duplicates_is_parsed() {
        for wrong in [
            "",
            "null",
            "1",
            "\"a\"",
            "[]",
            "[{}]",
            "{",
            "{}{}",
            "{},",
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
        ] {
            assert!(Object::parse(wrong.as_bytes()).is_none(), "{wrong}");
        }
        assert!(Object::parse(b"{\"a\":\"\xff\"}").is_none());
        assert!(Object::parse(br#" {"a":{"b":1,"c":[1]}, "b":null} "#).is_some());
    }

    #[test]
    fn deep_nesting_is_rejected() {
        let nested = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(Object::parse(nested(100).as_bytes()).is_some());
        for depth in [128, 4000, 1_000_000] {
            assert!(Object::parse(nested(depth).as_bytes()).is_none(), "{depth}");
        }
    }

    #[test]
    fn a_member_of_a_wrong_type_is_an_error() {
        let object = Object::parse(br#"{"t":"x","n":1.5,"l":["x","y"],"m":["x",1],"z":null}"#).unwrap();
        assert_eq!(object.text("t"), Ok(Some("x")));
        assert_eq!(object.text("absent"), Ok(None));
        assert_eq!(object.number("n"), Ok(Some(1.5)));
        assert_eq!(object.texts("l"), Ok(Some(vec!["x", "y"])));
        assert_eq!(object.text_or_texts("t"), Ok(Some(vec!["x"])));
        assert_eq!(object.text_or_texts("l"), Ok(Some(vec!["x", "y"])));
        assert!(object.has("z") && !object.has("absent"));
        for name in ["n", "l", "m", "z"] {
            assert_eq!(object.text(name), Err(WrongType(name)));
        }
        for name in ["t", "l", "z"] {
            assert_eq!(object.number(name), Err(WrongType(name)));
        }
        for name in ["n", "m", "z"] {
            assert_eq!(object.text_or_texts(name), Err(WrongType(name)));
        }
    }
}
