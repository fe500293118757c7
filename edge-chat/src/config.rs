//! The Worker's settings, read from its environment and checked before use.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use chat_core::evidence::Gates;
use worker::{Env, Url};

/// RFC 7518 asks for a key at least as long as the hash.
const MIN_JWT_SECRET_BYTES: usize = 32;

/// The settings of a chat request.
pub(crate) struct Config {
    pub(crate) supabase_url: String,
    pub(crate) publishable_key: String,
    pub(crate) jwt_secret: String,
    /// What evidence has to reach.
    pub(crate) gates: Gates,
    /// What a refusal suggests instead of the usual.
    pub(crate) suggestions: Option<Vec<String>>,
    /// How many passages a search asks for.
    pub(crate) match_count: u32,
    /// Questions per user and minute.
    pub(crate) rate_limit: u32,
    /// How long one step with Supabase may take.
    pub(crate) upstream_timeout: Duration,
}

/// A setting that is missing or cannot be used. Names the setting, never its value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("{0} is not set")]
    Missing(&'static str),
    #[error("{0} must be {1}")]
    Invalid(&'static str, &'static str),
}

impl Config {
    pub(crate) fn from_env(env: &Env) -> Result<Self, ConfigError> {
        Self::from_lookup(|name| variable(env, name))
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let get = |name| lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let required = |name| get(name).ok_or(ConfigError::Missing(name));
        let whole = |name, default, range, rule| in_range::<u32>(name, get(name), default, range, rule);
        let share = |name, default| in_range(name, get(name), default, 0.0..=1.0, "a number from 0 to 1");
        let gates = Gates::default();
        let timeout = whole("CHAT_UPSTREAM_TIMEOUT_MS", 8000, 1..=20_000, "a whole number from 1 to 20000")?;
        Ok(Self {
            supabase_url: web_address(required("SUPABASE_URL")?)?,
            publishable_key: header_value(required("SUPABASE_PUBLISHABLE_KEY")?)?,
            jwt_secret: jwt_secret(required("SUPABASE_JWT_SECRET")?)?,
            gates: Gates {
                similarity: share("CHAT_EVIDENCE_THRESHOLD", gates.similarity)?,
                confidence: share("CHAT_EVIDENCE_CONFIDENCE", gates.confidence)?,
            },
            suggestions: get("CHAT_SUGGESTIONS").map(suggestions).transpose()?,
            match_count: whole("CHAT_MATCH_COUNT", 5, 1..=50, "a whole number from 1 to 50")?,
            rate_limit: whole("CHAT_RATE_LIMIT", 20, 1..=10_000, "a whole number from 1 to 10000")?,
            upstream_timeout: Duration::from_millis(timeout.into()),
        })
    }
}

/// A number, or the default where none is given.
fn in_range<T: FromStr + PartialOrd>(
    name: &'static str,
    text: Option<String>,
    default: T,
    range: RangeInclusive<T>,
    rule: &'static str,
) -> Result<T, ConfigError> {
    let Some(text) = text else { return Ok(default) };
    text.parse().ok().filter(|number| range.contains(number)).ok_or(ConfigError::Invalid(name, rule))
}

/// A variable or secret as text. Unquoted numbers in a wrangler file arrive as numbers.
pub(crate) fn variable(env: &Env, name: &str) -> Option<String> {
    let value = worker::js_sys::Reflect::get(env, &name.into()).ok()?;
    value.as_string().or_else(|| value.as_f64().map(|number| number.to_string()))
}

/// Most suggestions, and most characters of one: they become buttons.
const MAX_SUGGESTIONS: usize = 5;
const MAX_SUGGESTION_CHARS: usize = 80;

fn suggestions(text: String) -> Result<Vec<String>, ConfigError> {
    let suggestions: Vec<_> = text.split('|').map(|part| part.trim().to_owned()).collect();
    let fits = |part: &String| (1..=MAX_SUGGESTION_CHARS).contains(&part.chars().count());
    if suggestions.len() <= MAX_SUGGESTIONS && suggestions.iter().all(fits) {
        Ok(suggestions)
    } else {
        Err(ConfigError::Invalid("CHAT_SUGGESTIONS", "up to 5 texts of up to 80 characters, separated by |"))
    }
}

fn web_address(text: String) -> Result<String, ConfigError> {
    let rule =
        ConfigError::Invalid("SUPABASE_URL", "an http or https address, such as https://abc.supabase.co");
    match Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err(rule),
    }
}

fn header_value(key: String) -> Result<String, ConfigError> {
    if key.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(key)
    } else {
        Err(ConfigError::Invalid("SUPABASE_PUBLISHABLE_KEY", "plain ASCII without spaces"))
    }
}

fn jwt_secret(secret: String) -> Result<String, ConfigError> {
    if secret.len() >= MIN_JWT_SECRET_BYTES {
        Ok(secret)
    } else {
        Err(ConfigError::Invalid("SUPABASE_JWT_SECRET", "at least 32 bytes long"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn with(changes: &[(&'static str, &'static str)]) -> Result<Config, ConfigError> {
        let mut values = HashMap::from([
            ("SUPABASE_URL", "http://127.0.0.1:54321/"),
            ("SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x"),
            ("SUPABASE_JWT_SECRET", "super-secret-jwt-token-with-at-least-32-characters"),
        ]);
        values.extend(changes.iter().copied());
        Config::from_lookup(|name| values.get(name).map(|text| (*text).to_owned()))
    }

    #[test]
    fn the_defaults_are_the_specified_ones() {
        let config = with(&[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(config.supabase_url, "http://127.0.0.1:54321");
        assert_eq!(config.gates, Gates { similarity: 0.35, ..Gates::default() });
        assert_eq!((config.match_count, config.rate_limit), (5, 20));
        assert_eq!(config.upstream_timeout, Duration::from_secs(8));
    }

    #[test]
    fn suggestions_are_separated_by_bars() {
        let suggestions = |text| with(&[("CHAT_SUGGESTIONS", text)]).map(|config| config.suggestions);
        assert_eq!(suggestions(" "), Ok(None));
        assert_eq!(suggestions("Call us | Write"), Ok(Some(vec!["Call us".to_owned(), "Write".to_owned()])));
        for wrong in ["a||b", "a|b|c|d|e|f"] {
            assert!(suggestions(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_gate_has_its_setting() {
        let gates = |changes| with(changes).unwrap_or_else(|error| panic!("{error}")).gates;
        let both = [("CHAT_EVIDENCE_THRESHOLD", "0.4"), ("CHAT_EVIDENCE_CONFIDENCE", "1")];
        assert_eq!(gates(&both), Gates { similarity: 0.4, confidence: 1.0 });
        assert_eq!(gates(&[("CHAT_EVIDENCE_CONFIDENCE", "0")]).confidence, 0.0);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named_without_its_value() {
        for name in ["SUPABASE_URL", "SUPABASE_PUBLISHABLE_KEY", "SUPABASE_JWT_SECRET"] {
            assert_eq!(with(&[(name, " ")]).err(), Some(ConfigError::Missing(name)));
        }
        for (name, value) in [
            ("SUPABASE_URL", "ftp://secretvalue"),
            ("SUPABASE_URL", "secretvalue"),
            ("SUPABASE_PUBLISHABLE_KEY", "secretvalue\nx"),
            ("SUPABASE_JWT_SECRET", "secretvalue"),
            ("CHAT_EVIDENCE_THRESHOLD", "NaN"),
            ("CHAT_EVIDENCE_THRESHOLD", "1.1"),
            ("CHAT_EVIDENCE_THRESHOLD", "-0.1"),
            ("CHAT_EVIDENCE_CONFIDENCE", "NaN"),
            ("CHAT_EVIDENCE_CONFIDENCE", "1.1"),
            ("CHAT_EVIDENCE_CONFIDENCE", "-0.1"),
            ("CHAT_EVIDENCE_CONFIDENCE", "high"),
            ("CHAT_MATCH_COUNT", "0"),
            ("CHAT_RATE_LIMIT", "-1"),
            ("CHAT_UPSTREAM_TIMEOUT_MS", "soon"),
        ] {
            let message = with(&[(name, value)]).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(message.starts_with(&format!("{name} must be ")), "{name}: {message}");
            assert!(!message.contains("secretvalue"));
        }
    }
}
