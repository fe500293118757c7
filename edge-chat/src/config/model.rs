//! The language model that may write answers.

use std::time::Duration;

use serde::Deserialize;

use super::{ConfigError, Source, base_url};

/// How to reach the model, and what it may cost.
pub(crate) struct ModelConfig {
    pub(crate) provider: Provider,
    /// The name of the model, as the provider knows it.
    pub(crate) model: String,
    /// Time for a whole answer.
    pub(crate) timeout: Duration,
    /// Time until the first word.
    pub(crate) first_token_timeout: Duration,
    /// Tokens of one answer.
    pub(crate) max_tokens: u32,
    /// Tokens that the questions of one user may use in a day (UTC), prompts included.
    pub(crate) daily_tokens_per_user: u64,
    /// Tokens that all questions may use in a day (UTC), prompts included.
    pub(crate) daily_tokens_per_site: u64,
    pub(crate) decline: Decline,
}

/// The service that runs the model.
pub(crate) enum Provider {
    /// A server with the OpenAI API for chat completions.
    OpenAi {
        /// Without a trailing slash; `/chat/completions` is appended.
        url: String,
        /// Sent to this server only, never logged.
        key: Option<String>,
    },
    /// Cloudflare Workers AI, through the binding `AI`.
    WorkersAi,
}

/// The outcome for visitors if the model says that the passages do not answer the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decline {
    /// The extractive answer.
    Answer,
    /// The refusal.
    Refuse,
}

impl ModelConfig {
    /// The receiver of questions and passages, for the visitor.
    pub(crate) fn sends_to(&self) -> &str {
        match &self.provider {
            Provider::OpenAi { url, .. } => {
                let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                rest.split('/').next().unwrap_or(rest)
            }
            Provider::WorkersAi => "Cloudflare Workers AI",
        }
    }
}

impl<F: Fn(&str) -> Option<String>> Source<F> {
    /// `None` if no model is configured.
    pub(super) fn model(&self) -> Result<Option<ModelConfig>, ConfigError> {
        let provider = match self.get("CHAT_LLM_PROVIDER").as_deref() {
            None | Some("openai") => match self.get("CHAT_LLM_URL") {
                None => return Ok(None),
                Some(url) => Provider::OpenAi {
                    url: base_url("CHAT_LLM_URL", url)?,
                    key: self.checked("CHAT_LLM_KEY", "up to 1000 visible ASCII characters", |key| {
                        key.len() <= 1000 && key.bytes().all(|byte| byte.is_ascii_graphic())
                    })?,
                },
            },
            Some("workers_ai") => Provider::WorkersAi,
            Some(_) => return Err(ConfigError::Invalid("CHAT_LLM_PROVIDER", "openai or workers_ai")),
        };
        let model = self.required("CHAT_LLM_MODEL")?;
        if model.len() > 200 || model.chars().any(char::is_control) {
            return Err(ConfigError::Invalid("CHAT_LLM_MODEL", "the name of a model, up to 200 bytes"));
        }
        let ms = |name, default| {
            let ms = self.number(name, 100..=60_000, "a whole number from 100 to 60000")?;
            Ok(Duration::from_millis(ms.unwrap_or(default)))
        };
        let tokens = |name, default| {
            let tokens = self.number(name, 0..=10_000_000_000, "a whole number from 0 to 10000000000")?;
            Ok(tokens.unwrap_or(default))
        };
        let max_tokens = self.number("CHAT_LLM_MAX_TOKENS", 16..=1000, "a whole number from 16 to 1000")?;
        let decline = self.choice("CHAT_LLM_DECLINE", "answer or refuse")?;
        Ok(Some(ModelConfig {
            provider,
            model,
            timeout: ms("CHAT_LLM_TIMEOUT_MS", 12_000)?,
            first_token_timeout: ms("CHAT_LLM_FIRST_TOKEN_MS", 4_000)?,
            max_tokens: max_tokens.unwrap_or(200),
            daily_tokens_per_user: tokens("CHAT_LLM_DAILY_TOKENS_USER", 50_000)?,
            daily_tokens_per_site: tokens("CHAT_LLM_DAILY_TOKENS_SITE", 2_000_000)?,
            decline: decline.unwrap_or(Decline::Answer),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(values: &[(&str, &str)]) -> Result<Option<ModelConfig>, ConfigError> {
        let lookup = |name: &str| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Source(lookup).model()
    }

    #[test]
    fn without_an_address_there_is_no_model() {
        assert!(model(&[]).is_ok_and(|model| model.is_none()));
        assert!(model(&[("CHAT_LLM_MODEL", "m"), ("CHAT_LLM_KEY", "k")]).is_ok_and(|model| model.is_none()));
    }

    #[test]
    fn an_address_needs_https_and_a_model() {
        let url = ("CHAT_LLM_URL", "https://llm.example.com:8443/v1/");
        let config = model(&[url, ("CHAT_LLM_MODEL", "m")]).ok().flatten().expect("a model");
        assert_eq!(config.sends_to(), "llm.example.com:8443");
        assert!(matches!(&config.provider, Provider::OpenAi { url, key: None } if url.ends_with("/v1")));
        assert_eq!((config.max_tokens, config.daily_tokens_per_user), (200, 50_000));
        assert!(matches!(model(&[url]), Err(ConfigError::Missing("CHAT_LLM_MODEL"))));
        for wrong in ["http://llm.example.com", "llm.example.com", "https://user@llm.example.com", "https://"]
        {
            assert!(model(&[("CHAT_LLM_URL", wrong), ("CHAT_LLM_MODEL", "m")]).is_err(), "{wrong}");
        }
        assert!(model(&[("CHAT_LLM_URL", "http://127.0.0.1:8080/v1"), ("CHAT_LLM_MODEL", "m")]).is_ok());
    }

    #[test]
    fn values_outside_their_range_are_rejected() {
        for (name, wrong) in [
            ("CHAT_LLM_PROVIDER", "azure"),
            ("CHAT_LLM_KEY", "a b"),
            ("CHAT_LLM_TIMEOUT_MS", "60001"),
            ("CHAT_LLM_FIRST_TOKEN_MS", "99"),
            ("CHAT_LLM_MAX_TOKENS", "15"),
            ("CHAT_LLM_DAILY_TOKENS_USER", "-1"),
            ("CHAT_LLM_DAILY_TOKENS_SITE", "lots"),
            ("CHAT_LLM_DECLINE", "maybe"),
            ("CHAT_LLM_MODEL", "a\nb"),
        ] {
            let values = [("CHAT_LLM_URL", "https://x.example"), ("CHAT_LLM_MODEL", "m"), (name, wrong)];
            // The last value wins, as in an environment.
            let values: Vec<_> = values.into_iter().rev().collect();
            assert!(model(&values).is_err(), "{name}");
        }
    }

    #[test]
    fn workers_ai_needs_no_address() {
        let values =
            [("CHAT_LLM_PROVIDER", "workers_ai"), ("CHAT_LLM_MODEL", "@cf/meta/llama-3.1-8b-instruct")];
        let config = model(&values).ok().flatten().expect("a model");
        assert_eq!(config.sends_to(), "Cloudflare Workers AI");
    }
}
