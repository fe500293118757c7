//! The settings of an assistant, from the tables `assistants` and `chat_settings`.

mod cache;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use chat_core::assistant::AssistantName;
use chat_core::error::ErrorCode;
use chat_core::evidence::{Background, EvidenceThresholds};
use serde::{Deserialize, Serialize};
use worker::Delay;

use crate::clock::now_ms;
use crate::config::Config;
use crate::http::cors::Cors;
use crate::http::error::HttpError;
use crate::single_flight::Step;
use crate::supabase::{Deadline, Supabase, unknown_assistant};
use cache::SettingsCache;

/// How often a request checks whether the read of another request has ended.
const POLL: Duration = Duration::from_millis(10);
/// How long the settings are used before they are read again.
const MAX_AGE: Duration = Duration::from_secs(60);
/// The pause after a failed read, so that many requests do not become many calls.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Passages that a search asks for by default.
const DEFAULT_MATCH_COUNT: u32 = 5;

/// The author of answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerModeSetting {
    /// The documents: answers consist of quotes.
    #[default]
    Extractive,
    /// The model of [`Config::model`]; each sentence is checked before it is sent.
    Endpoint,
    /// A model in the visitor's browser. The Worker answers with quotes.
    OnDevice,
}

/// How citations link to the original file of their document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LinkMode {
    /// No links.
    #[default]
    None,
    /// Through the Worker, which requires the user's token.
    Authenticated,
    /// Through a signed URL that anyone can use for a week.
    Public,
}

/// The settings in force.
pub(crate) struct Settings {
    /// Whether they are the same for everybody, without a token too.
    pub(crate) is_public: bool,
    pub(crate) title: Option<String>,
    /// The sites that may show the assistant; `None` for all that the Worker allows.
    allowed_origins: Option<Vec<String>>,
    pub(crate) thresholds: EvidenceThresholds,
    /// How many passages a search asks for.
    pub(crate) match_count: u32,
    pub(crate) link_mode: LinkMode,
    pub(crate) answer_mode: AnswerModeSetting,
    /// Whether answers have markers and sources at all.
    pub(crate) citations: bool,
    pub(crate) refusal_message: Option<String>,
    pub(crate) refusal_suggestions: Option<Vec<String>>,
    /// The address at which visitors reach people: an `https:` or `mailto:` address.
    pub(crate) support_url: Option<String>,
    pub(crate) greeting: Option<String>,
    pub(crate) suggested_questions: Vec<String>,
    /// Whether questions are logged.
    pub(crate) log_questions: bool,
    /// The fingerprint of the stored vectors; `None` in an empty knowledge base.
    pub(crate) model: Option<String>,
    /// Whether there are documents, of which anonymous visitors see none. Only in [`Settings::fresh`] ones.
    pub(crate) hides_documents: bool,
    /// Documents and collections that are not as new as their source. Only in [`Settings::fresh`] ones.
    pub(crate) outdated: Option<Outdated>,
}

/// How many there are, and the day of the oldest, if that is known.
#[derive(Clone, Deserialize)]
pub(crate) struct Outdated {
    count: u64,
    since: Option<String>,
}

impl Outdated {
    /// Without names, because everybody can read it.
    pub(crate) fn warning(&self) -> String {
        let since = self.since.as_ref().map(|day| format!(", the first since {day}")).unwrap_or_default();
        let count = self.count;
        format!(
            "documents or collections that are not as new as their source: {count}{since}; `kb doctor` says which and why"
        )
    }
}

/// The result of the function `chat_config`.
#[derive(Deserialize)]
struct Stored {
    model: Option<String>,
    /// The calibration that `kb sync` measured with vectors of this model. `None` stands for the
    /// default.
    calibration: Option<Background>,
    hides_documents: Option<bool>,
    outdated: Option<Outdated>,
    settings: Row,
}

/// A row of `assistants` with what applies of `chat_settings`. `None` stands for the default.
#[derive(Clone, Deserialize)]
struct Row {
    title: Option<String>,
    allowed_origins: Option<Vec<String>>,
    evidence_threshold: Option<f64>,
    evidence_confidence: Option<f64>,
    match_count: Option<u32>,
    link_mode: Option<LinkMode>,
    citations: Option<bool>,
    answer_mode: Option<AnswerModeSetting>,
    refusal_message: Option<String>,
    refusal_suggestions: Option<Vec<String>>,
    support_url: Option<String>,
    greeting: Option<String>,
    suggested_questions: Option<Vec<String>>,
    log_questions: Option<bool>,
}

thread_local! {
    static CACHE: RefCell<SettingsCache<Stored>> = const { RefCell::new(SettingsCache::new()) };
}

impl Settings {
    /// The settings of an assistant for everybody, at most a minute old. Those of an assistant for some users are read with the
    /// user's token for each request, because the database decides who may use it.
    pub(crate) async fn current(
        config: &Config,
        assistant: &AssistantName,
        user: Option<&Supabase>,
        deadline: Deadline,
    ) -> Result<Self, HttpError> {
        let public = loop {
            let now_ms = now_ms();
            let step = CACHE
                .with_borrow_mut(|cache| cache.flight(assistant, now_ms).next(MAX_AGE, RETRY_PAUSE, now_ms));
            match step {
                Step::Use(public) => break public,
                Step::GiveUp(error) => return Err(error),
                Step::Wait => deadline.limit("settings", pause()).await?,
                Step::Fetch => break read(config, assistant, false, deadline).await?,
            }
        };
        match (&*public, user) {
            (Some(stored), _) => Ok(Self::new(stored, true)),
            (None, Some(user)) => Ok(Self::new(&user.chat_config(assistant).await?, false)),
            (None, None) => Err(unknown_assistant()),
        }
    }

    /// Whether the next request for the settings reads them from the database.
    pub(crate) fn are_cached(assistant: &AssistantName) -> bool {
        let now_ms = now_ms();
        CACHE.with_borrow_mut(|cache| {
            cache.existing(assistant).is_some_and(|flight| flight.value(MAX_AGE, now_ms).is_some())
        })
    }

    /// The settings of the default assistant that the database has now, with checks; `None` if it is not for everybody.
    pub(crate) async fn fresh(config: &Config, deadline: Deadline) -> Result<Option<Self>, HttpError> {
        let public = read(config, &AssistantName::default(), true, deadline).await?;
        Ok(public.as_ref().as_ref().map(|stored| Self::new(stored, true)))
    }

    /// Checks that the page may show the assistant. `origin` is its scheme and host; `None` is allowed, because it is not a browser
    /// on another site that asks.
    pub(crate) fn check_origin(&self, origin: Option<&str>) -> Result<(), HttpError> {
        let (Some(allowed), Some(origin)) = (&self.allowed_origins, origin) else { return Ok(()) };
        if Cors::new(&allowed.join(","), Some(origin)).is_allowed() {
            return Ok(());
        }
        let message =
            "This site may not show this assistant. Add the site to allowed_origins of the assistant.";
        Err(HttpError::new(ErrorCode::Forbidden, message))
    }

    fn new(stored: &Stored, is_public: bool) -> Self {
        let row = stored.settings.clone();
        let defaults = EvidenceThresholds::default();
        let fraction = |stored: Option<f64>, default| {
            stored.filter(|fraction| (0.0..=1.0).contains(fraction)).unwrap_or(default)
        };
        Self {
            is_public,
            title: row.title,
            allowed_origins: row.allowed_origins,
            thresholds: EvidenceThresholds {
                similarity: fraction(row.evidence_threshold, defaults.similarity),
                confidence: fraction(row.evidence_confidence, defaults.confidence),
                background: stored.calibration.unwrap_or(defaults.background),
            },
            match_count: row.match_count.unwrap_or(DEFAULT_MATCH_COUNT).clamp(1, 50),
            link_mode: row.link_mode.unwrap_or_default(),
            answer_mode: row.answer_mode.unwrap_or_default(),
            citations: row.citations.unwrap_or(true),
            refusal_message: row.refusal_message,
            refusal_suggestions: row.refusal_suggestions,
            support_url: row.support_url,
            greeting: row.greeting,
            suggested_questions: row.suggested_questions.unwrap_or_default(),
            log_questions: row.log_questions.unwrap_or_default(),
            model: stored.model.clone(),
            hides_documents: stored.hides_documents == Some(true),
            outdated: stored.outdated.clone(),
        }
    }
}

async fn pause() -> Result<(), HttpError> {
    Delay::from(POLL).await;
    Ok(())
}

/// Reads the settings for everybody and caches them. Their age counts from before the read.
async fn read(
    config: &Config,
    assistant: &AssistantName,
    checks: bool,
    deadline: Deadline,
) -> Result<Rc<Option<Stored>>, HttpError> {
    let started_ms = now_ms();
    let reading = PendingRead(assistant);
    let public = match config.project.chat_config(assistant, checks, deadline).await {
        Ok(stored) => Ok(Rc::new(Some(stored))),
        Err(error) if error.body.code == ErrorCode::UnknownAssistant => Ok(Rc::new(None)),
        Err(error) => Err(error),
    };
    drop(reading);
    let now_ms = now_ms();
    CACHE.with_borrow_mut(|cache| {
        cache.flight(assistant, now_ms).finish(public.clone(), started_ms, now_ms);
    });
    public
}

/// A read in progress. If its request is cancelled, dropping it lets another request read.
struct PendingRead<'a>(&'a AssistantName);

impl Drop for PendingRead<'_> {
    fn drop(&mut self) {
        CACHE.with_borrow_mut(|cache| {
            if let Some(flight) = cache.existing(self.0) {
                flight.abandon();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(settings: serde_json::Value) -> Stored {
        let mut row = serde_json::json!({ "link_mode": "authenticated", "citations": true,
            "suggested_questions": ["Where?"], "log_questions": false });
        if let (Some(row), Some(changes)) = (row.as_object_mut(), settings.as_object()) {
            row.extend(changes.clone());
        }
        serde_json::from_value(serde_json::json!({ "model": "m", "settings": row })).expect("settings")
    }

    #[test]
    fn what_is_not_as_new_as_its_source_is_counted_with_its_age() {
        let read = |outdated| Stored {
            outdated: serde_json::from_value(outdated).expect("outdated"),
            ..stored(serde_json::json!({}))
        };
        let warning =
            |outdated| Settings::new(&read(outdated), true).outdated.map(|outdated| outdated.warning());
        assert_eq!(warning(serde_json::Value::Null), None);
        let two = warning(serde_json::json!({ "count": 2, "since": "2026-11-20" })).expect("a warning");
        assert!(two.contains("source: 2, the first since 2026-11-20;"), "{two}");
    }

    #[test]
    fn settings_without_a_value_have_their_default() {
        let settings = Settings::new(&stored(serde_json::json!({})), true);
        assert_eq!(
            settings.thresholds,
            EvidenceThresholds { similarity: 0.35, ..EvidenceThresholds::default() }
        );
        assert_eq!((settings.match_count, settings.link_mode), (5, LinkMode::Authenticated));
        assert!(settings.citations && settings.greeting.is_none());
    }

    #[test]
    fn evidence_is_compared_to_the_calibration_or_else_to_the_default() {
        let mut stored = stored(serde_json::json!({}));
        let thresholds = |stored: &Stored| Settings::new(stored, true).thresholds;
        assert_eq!(thresholds(&stored).background, Background::default());
        stored.calibration = Some(Background { mean: -6.9, deviation: 1.8 });
        assert_eq!(thresholds(&stored).background, Background { mean: -6.9, deviation: 1.8 });
    }

    #[test]
    fn values_out_of_range_are_ignored_or_clamped() {
        let stored = stored(serde_json::json!({ "evidence_threshold": -3, "match_count": 4000 }));
        let settings = Settings::new(&stored, true);
        assert_eq!((settings.thresholds.similarity, settings.match_count), (0.35, 50));
    }

    #[test]
    fn an_assistant_with_origins_of_its_own_answers_there_only() {
        let check = |origins: serde_json::Value, origin| {
            let settings = Settings::new(&stored(serde_json::json!({ "allowed_origins": origins })), true);
            settings.check_origin(origin).map_err(|error| error.status)
        };
        let own = || serde_json::json!(["https://shop.example.com", "https://*.example.org"]);
        for origin in [None, Some("https://shop.example.com"), Some("https://a.example.org")] {
            assert_eq!(check(own(), origin), Ok(()), "{origin:?}");
        }
        for origin in ["https://example.com", "http://shop.example.com", "https://example.org", "null", ""] {
            assert_eq!(check(own(), Some(origin)), Err(403), "{origin}");
        }
        assert_eq!(check(serde_json::Value::Null, Some("https://anywhere.test")), Ok(()));
    }
}
