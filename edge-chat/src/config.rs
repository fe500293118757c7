//! The configuration from variables and secrets, checked before use.

mod model;

use std::cell::OnceCell;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use worker::Env;

use crate::http::error::HttpError;
use crate::identity::{self, Secret, TokenRules};
pub(crate) use model::{Decline, ModelConfig, Provider};

/// The longest time from the end of a written answer to its place in the history and in the gate.
const AFTER_WRITING: Duration = Duration::from_secs(6);

/// The Supabase project.
pub(crate) struct Project {
    /// Without a trailing slash.
    pub(crate) url: String,
    pub(crate) publishable_key: String,
    /// Proves to the database that a call comes from the Worker. Sent to this project's functions only, never logged.
    pub(crate) worker_secret: Option<String>,
}

/// The Worker's configuration.
pub(crate) struct Config {
    pub(crate) project: Rc<Project>,
    pub(crate) identity: TokenRules,
    /// Questions per user and minute.
    pub(crate) rate_limit: u32,
    /// Whether visitors may search while they type, and readers before a question is sent.
    pub(crate) is_search_on: bool,
    /// How long a request may wait for Supabase before its response begins.
    pub(crate) upstream_timeout: Duration,
    /// The language model that may write answers, if one is configured.
    pub(crate) model: Option<Rc<ModelConfig>>,
    /// The request header with the client's IP address, set by a proxy in front of the Worker.
    pub(crate) client_address_header: Option<String>,
    pub(crate) anonymous: AnonymousSignIn,
}

/// Whether the widget may sign visitors in without an account.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AnonymousSignIn {
    pub(crate) is_enabled: bool,
    /// The public key of a Turnstile widget of Cloudflare, if Supabase Auth requires its tokens.
    pub(crate) turnstile_site_key: Option<String>,
}

/// A setting that is missing or invalid. Names the setting, never its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("{0} is not set")]
    Missing(&'static str),
    #[error("{0} must be {1}")]
    Invalid(&'static str, &'static str),
}

impl From<ConfigError> for HttpError {
    fn from(error: ConfigError) -> Self {
        Self::internal(format!("configuration: {error}"))
    }
}

thread_local! {
    static CONFIG: OnceCell<Rc<Config>> = const { OnceCell::new() };
}

impl Config {
    /// The longest time that a question can take until its outcome is known. Where a model writes, until it is stored: a
    /// second run of the question would write another text.
    pub(crate) fn run_timeout(&self) -> Duration {
        let writing = self.model.as_ref().map(|model| model.timeout + AFTER_WRITING);
        self.upstream_timeout + writing.unwrap_or_default()
    }

    /// The configuration, read once: the environment of an isolate never changes.
    pub(crate) fn of_isolate(env: &Env) -> Result<Rc<Self>, ConfigError> {
        if let Some(config) = CONFIG.with(|config| config.get().cloned()) {
            return Ok(config);
        }
        let config = Rc::new(Self::from_lookup(|name| variable(env, name))?);
        Ok(CONFIG.with(|known| Rc::clone(known.get_or_init(|| config))))
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let source = Source(lookup);
        let url = source.required("SUPABASE_URL").and_then(|text| base_url("SUPABASE_URL", text))?;
        let publishable_key = source.required("SUPABASE_PUBLISHABLE_KEY").and_then(publishable_key)?;
        let worker_secret =
            source.checked("CHAT_WORKER_SECRET", "32 to 200 visible ASCII characters", |secret| {
                (32..=200).contains(&secret.len()) && secret.bytes().all(|byte| byte.is_ascii_graphic())
            })?;
        let timeout_ms =
            source.number("CHAT_UPSTREAM_TIMEOUT_MS", 1..=20_000, "a whole number from 1 to 20000")?;
        let rate_limit = source.number("CHAT_RATE_LIMIT", 1..=10_000, "a whole number from 1 to 10000")?;
        let header_rule = "the name of a request header, such as X-Real-IP";
        let client_address_header = source.checked("CHAT_CLIENT_ADDRESS_HEADER", header_rule, |name| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })?;
        let site_key_rule = "a site key of Turnstile, such as 0x4AAAAAAA…";
        let turnstile_site_key = source.checked("CHAT_TURNSTILE_SITE_KEY", site_key_rule, |key| {
            key.len() <= 100 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        })?;
        Ok(Self {
            client_address_header,
            anonymous: AnonymousSignIn {
                is_enabled: source.switch("CHAT_ANONYMOUS")?.unwrap_or(false),
                turnstile_site_key,
            },
            identity: source.identity(&url)?,
            model: source.model()?.map(Rc::new),
            rate_limit: rate_limit.unwrap_or(20),
            is_search_on: source.switch("CHAT_SEARCH")?.unwrap_or(true),
            upstream_timeout: Duration::from_millis(timeout_ms.unwrap_or(8000)),
            project: Rc::new(Project { url, publishable_key, worker_secret }),
        })
    }
}

/// Reads and checks variables.
struct Source<F>(F);

impl<F: Fn(&str) -> Option<String>> Source<F> {
    fn get(&self, name: &str) -> Option<String> {
        self.0(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn required(&self, name: &'static str) -> Result<String, ConfigError> {
        self.get(name).ok_or(ConfigError::Missing(name))
    }

    fn number<T: FromStr + PartialOrd>(
        &self,
        name: &'static str,
        range: RangeInclusive<T>,
        rule: &'static str,
    ) -> Result<Option<T>, ConfigError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.map(Some).ok_or(ConfigError::Invalid(name, rule))
    }

    fn switch(&self, name: &'static str) -> Result<Option<bool>, ConfigError> {
        self.number(name, false..=true, "true or false")
    }

    /// A variant by its name in JSON.
    fn choice<T: DeserializeOwned>(
        &self,
        name: &'static str,
        rule: &'static str,
    ) -> Result<Option<T>, ConfigError> {
        let choice = self.get(name).map(|text| serde_json::from_value(Value::String(text)));
        choice.transpose().map_err(|_| ConfigError::Invalid(name, rule))
    }

    fn checked(
        &self,
        name: &'static str,
        rule: &'static str,
        is_valid: impl FnOnce(&str) -> bool,
    ) -> Result<Option<String>, ConfigError> {
        match self.get(name) {
            Some(text) if !is_valid(&text) => Err(ConfigError::Invalid(name, rule)),
            text => Ok(text),
        }
    }

    fn identity(&self, project_url: &str) -> Result<TokenRules, ConfigError> {
        let secret = self.get("SUPABASE_JWT_SECRET").map(jwt_secret).transpose()?;
        let jwks_url = match self.get("SUPABASE_JWKS_URL") {
            Some(text) => base_url("SUPABASE_JWKS_URL", text)?,
            None => format!("{project_url}/auth/v1/.well-known/jwks.json"),
        };
        let issuer = self.get("SUPABASE_JWT_ISSUER").unwrap_or_else(|| format!("{project_url}/auth/v1"));
        Ok(TokenRules { secret, jwks_url, issuer })
    }
}

/// A variable or secret as text. Unquoted numbers and booleans of a wrangler file are not strings.
pub(crate) fn variable(env: &Env, name: &str) -> Option<String> {
    let value = worker::js_sys::Reflect::get(env, &name.into()).ok()?;
    value
        .as_string()
        .or_else(|| value.as_f64().map(|number| number.to_string()))
        .or_else(|| value.as_bool().map(|switch| switch.to_string()))
}

/// An https URL with a host and without query or fragment, because paths are appended. With http anyone on the network
/// could read tokens and replace keys, so it is allowed for localhost only.
fn base_url(name: &'static str, text: String) -> Result<String, ConfigError> {
    const RULE: &str =
        "an https address, such as https://abc.supabase.co (http only for localhost, 127.0.0.1 and [::1])";
    let (rest, is_https) = match text.strip_prefix("https://") {
        Some(rest) => (rest, true),
        None => (text.strip_prefix("http://").unwrap_or_default(), false),
    };
    let host = rest.split('/').next().unwrap_or_default();
    let is_host = !host.is_empty() && !host.starts_with(':') && !host.contains('@');
    let is_safe_from_eavesdropping = is_https || is_loopback(host);
    if is_host
        && is_safe_from_eavesdropping
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !br#"?#\"<>"#.contains(&byte))
    {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err(ConfigError::Invalid(name, RULE))
    }
}

/// Whether a host, with or without a port, is this computer.
fn is_loopback(host: &str) -> bool {
    // An IPv6 address has colons too, inside brackets.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost")
        || name == "[::1]"
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// A key that may be public: `/api/config` shows it where visitors are signed in anonymously.
fn publishable_key(key: String) -> Result<String, ConfigError> {
    const NAME: &str = "SUPABASE_PUBLISHABLE_KEY";
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ConfigError::Invalid(NAME, "plain ASCII without spaces"));
    }
    if key.starts_with("sb_secret_") || legacy_role(&key).is_some_and(|role| role != "anon") {
        return Err(ConfigError::Invalid(
            NAME,
            "the publishable key of the project; a secret key does not belong here",
        ));
    }
    Ok(key)
}

/// The role of a legacy API key, which is a token.
fn legacy_role(key: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Claims {
        role: String,
    }
    let payload = identity::base64url::decode(key.split('.').nth(1)?)?;
    serde_json::from_slice(&payload).ok().map(|Claims { role }| role)
}

fn jwt_secret(secret: String) -> Result<Secret, ConfigError> {
    Secret::new(secret).ok_or(ConfigError::Invalid("SUPABASE_JWT_SECRET", "at least 32 bytes long"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn with(changes: &[(&'static str, &str)]) -> Result<Config, ConfigError> {
        let mut values = HashMap::from([
            ("SUPABASE_URL", "http://127.0.0.1:54321/"),
            ("SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x"),
        ]);
        values.extend(changes.iter().copied());
        Config::from_lookup(|name| values.get(name).map(|text| (*text).to_owned()))
    }

    #[track_caller]
    fn valid(changes: &[(&'static str, &str)]) -> Config {
        with(changes).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn only_the_project_is_required() {
        let config = valid(&[]);
        assert_eq!(config.project.url, "http://127.0.0.1:54321");
        assert_eq!(config.rate_limit, 20);
        assert_eq!(config.upstream_timeout, Duration::from_secs(8));
        assert_eq!(config.identity.issuer, "http://127.0.0.1:54321/auth/v1");
        assert_eq!(config.identity.jwks_url, "http://127.0.0.1:54321/auth/v1/.well-known/jwks.json");
        assert!(config.identity.secret.is_none());
        assert_eq!(config.client_address_header, None);
        assert_eq!(config.project.worker_secret, None);
    }

    #[test]
    fn anonymous_sign_in_is_off_unless_it_is_turned_on() {
        assert_eq!(valid(&[]).anonymous, AnonymousSignIn::default());
        let on =
            valid(&[("CHAT_ANONYMOUS", "true"), ("CHAT_TURNSTILE_SITE_KEY", "0x4AAAAAAADnPIDROrmt1Wwj")])
                .anonymous;
        assert!(on.is_enabled);
        assert_eq!(on.turnstile_site_key.as_deref(), Some("0x4AAAAAAADnPIDROrmt1Wwj"));
        assert!(!valid(&[("CHAT_ANONYMOUS", "false")]).anonymous.is_enabled);
    }

    #[test]
    fn a_secret_key_is_not_accepted_as_the_publishable_key() {
        // {"role":"anon"} and {"role":"service_role"}
        const ANON: &str = "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2ln";
        const SERVICE: &str = "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.c2ln";
        assert!(with(&[("SUPABASE_PUBLISHABLE_KEY", ANON)]).is_ok());
        assert!(with(&[("SUPABASE_PUBLISHABLE_KEY", "a.b.c")]).is_ok());
        for secret in [SERVICE, "sb_secret_x"] {
            let error = with(&[("SUPABASE_PUBLISHABLE_KEY", secret)]).err();
            assert!(matches!(error, Some(ConfigError::Invalid("SUPABASE_PUBLISHABLE_KEY", _))), "{secret}");
        }
    }

    #[test]
    fn the_worker_secret_has_32_to_200_visible_characters() {
        let secret = |text: String| {
            let lookup = |name: &str| match name {
                "SUPABASE_URL" => Some("https://abc.supabase.co".to_owned()),
                "SUPABASE_PUBLISHABLE_KEY" => Some("sb_publishable_x".to_owned()),
                "CHAT_WORKER_SECRET" => Some(text.clone()),
                _ => None,
            };
            Config::from_lookup(lookup).map(|config| config.project.worker_secret.clone())
        };
        for length in [32, 200] {
            let text = "~".repeat(length);
            assert_eq!(secret(text.clone()), Ok(Some(text)));
        }
        let wrong = ConfigError::Invalid("CHAT_WORKER_SECRET", "32 to 200 visible ASCII characters");
        for text in [
            "x".repeat(31),
            "x".repeat(201),
            "é".repeat(32),
            format!("{}\n{}", "x".repeat(20), "y".repeat(20)),
        ] {
            assert_eq!(secret(text), Err(wrong));
        }
    }

    #[test]
    fn issuer_and_key_set_can_have_their_own_urls() {
        let config = valid(&[
            ("SUPABASE_JWT_ISSUER", "https://auth.example.com/auth/v1"),
            ("SUPABASE_JWKS_URL", "https://auth.example.com/keys"),
            ("SUPABASE_JWT_SECRET", "super-secret-jwt-token-with-at-least-32-characters"),
        ]);
        assert_eq!(config.identity.issuer, "https://auth.example.com/auth/v1");
        assert_eq!(config.identity.jwks_url, "https://auth.example.com/keys");
        assert!(config.identity.secret.is_some());
    }

    #[test]
    fn http_is_accepted_for_localhost_only() {
        for local in [
            "http://localhost:54321",
            "http://LOCALHOST",
            "http://127.0.0.1/x",
            "http://127.8.0.1:1",
            "http://[::1]:80",
        ] {
            assert_eq!(valid(&[("SUPABASE_URL", local)]).project.url, local);
        }
        for open in [
            "http://abc.supabase.co",
            "http://localhost.evil.test",
            "http://127.0.0.1.evil.test:54321",
            "http://10.0.0.1",
            "http://[::ffff:10.0.0.1]",
            "http://0.0.0.0",
            "http://[::1].evil.test",
        ] {
            for name in ["SUPABASE_URL", "SUPABASE_JWKS_URL"] {
                let message = with(&[(name, open)]).err().map(|error| error.to_string()).unwrap_or_default();
                assert!(
                    message.starts_with(&format!("{name} must be an https address")),
                    "{open}: {message}"
                );
                assert!(!message.contains(open));
            }
        }
        assert!(with(&[("SUPABASE_URL", "https://10.0.0.1")]).is_ok());
    }

    #[test]
    fn errors_name_the_variable_but_never_its_value() {
        for name in ["SUPABASE_URL", "SUPABASE_PUBLISHABLE_KEY"] {
            assert_eq!(with(&[(name, " ")]).err(), Some(ConfigError::Missing(name)));
        }
        for (name, value) in [
            ("SUPABASE_URL", "ftp://secretvalue"),
            ("SUPABASE_URL", "secretvalue"),
            ("SUPABASE_URL", "https://"),
            ("SUPABASE_URL", "https://:80"),
            ("SUPABASE_URL", "https://secretvalue@host"),
            ("SUPABASE_URL", "https://host/?secretvalue"),
            ("SUPABASE_JWKS_URL", "secretvalue"),
            ("SUPABASE_PUBLISHABLE_KEY", "secretvalue\nx"),
            ("SUPABASE_JWT_SECRET", "secretvalue"),
            ("CHAT_WORKER_SECRET", "secretvalue"),
            ("CHAT_CLIENT_ADDRESS_HEADER", "secretvalue: x"),
            ("CHAT_RATE_LIMIT", "-1"),
            ("CHAT_UPSTREAM_TIMEOUT_MS", "soon"),
            ("CHAT_ANONYMOUS", "yes"),
            ("CHAT_TURNSTILE_SITE_KEY", "secretvalue key"),
            ("SUPABASE_PUBLISHABLE_KEY", "sb_secret_secretvalue"),
        ] {
            let message = with(&[(name, value)]).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(message.starts_with(&format!("{name} must be ")), "{name}: {message}");
            assert!(!message.contains("secretvalue"));
        }
    }

    #[test]
    fn the_client_does_not_see_configuration_errors_but_the_operator_does() {
        let error = HttpError::from(ConfigError::Missing("SUPABASE_URL"));
        assert!(!error.body.message.contains("SUPABASE"));
        assert_eq!(error.detail.as_deref(), Some("configuration: SUPABASE_URL is not set"));
    }
}
