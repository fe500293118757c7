//! The settings in force: the environment overrides the table `chat_settings`, which overrides the defaults.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use chat_core::evidence::{Background, EvidenceThresholds};
use serde::Deserialize;
use worker::{Date, Delay};

use crate::config::{AnswerModeSetting, Config, LinkMode, Overrides};
use crate::http::error::HttpError;
use crate::single_flight::{SingleFlight, Step};
use crate::supabase::Deadline;

/// How often a request checks whether the read of another request has ended.
const POLL: Duration = Duration::from_millis(10);
/// How long the settings are used before they are read again.
const MAX_AGE: Duration = Duration::from_secs(60);
/// The pause after a failed read, so that many requests do not become many calls.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// A read that takes longer counts as lost: the runtime has cancelled its request.
const READ_LIMIT: Duration = Duration::from_secs(10);
/// Passages that a search asks for by default.
const DEFAULT_MATCH_COUNT: u32 = 5;

/// The settings in force.
pub(crate) struct Settings {
    pub(crate) thresholds: EvidenceThresholds,
    /// How many passages a search asks for.
    pub(crate) match_count: u32,
    pub(crate) link_mode: LinkMode,
    pub(crate) answer_mode: AnswerModeSetting,
    /// Whether answers have markers and sources at all.
    pub(crate) citations: bool,
    pub(crate) refusal_message: Option<String>,
    pub(crate) refusal_suggestions: Option<Vec<String>>,
    pub(crate) greeting: Option<String>,
    pub(crate) suggested_questions: Vec<String>,
    /// Whether questions are logged.
    pub(crate) log_questions: bool,
    /// The fingerprint of the stored vectors; `None` in an empty knowledge base.
    pub(crate) model: Option<String>,
}

/// The result of the function `chat_config`.
#[derive(Deserialize)]
struct Stored {
    model: Option<String>,
    /// What `kb sync` measured with vectors of this model. `None` stands for the default.
    calibration: Option<Background>,
    settings: Row,
}

/// A row of `chat_settings`. `None` stands for the default.
#[derive(Deserialize)]
struct Row {
    evidence_threshold: Option<f64>,
    evidence_confidence: Option<f64>,
    match_count: Option<u32>,
    link_mode: LinkMode,
    citations: bool,
    #[serde(default)]
    answer_mode: AnswerModeSetting,
    refusal_message: Option<String>,
    refusal_suggestions: Option<Vec<String>>,
    greeting: Option<String>,
    suggested_questions: Vec<String>,
    log_questions: bool,
}

thread_local! {
    static CACHE: RefCell<SingleFlight<Stored, HttpError>> =
        const { RefCell::new(SingleFlight::new(READ_LIMIT)) };
}

impl Settings {
    /// The settings, at most a minute old.
    pub(crate) async fn current(config: &Config, deadline: Deadline) -> Result<Self, HttpError> {
        let stored = loop {
            let now_ms = Date::now().as_millis();
            match CACHE.with_borrow_mut(|cache| cache.next(MAX_AGE, RETRY_PAUSE, now_ms)) {
                Step::Use(stored) => break stored,
                Step::GiveUp(error) => return Err(error),
                Step::Wait => deadline.limit("settings", pause()).await?,
                Step::Fetch => break read(config, deadline).await?,
            }
        };
        Ok(Self::merge(&config.overrides, &stored))
    }

    /// The settings that the database has now.
    pub(crate) async fn fresh(config: &Config, deadline: Deadline) -> Result<Self, HttpError> {
        let stored = read(config, deadline).await?;
        Ok(Self::merge(&config.overrides, &stored))
    }

    fn merge(overrides: &Overrides, stored: &Stored) -> Self {
        let row = &stored.settings;
        let fraction = |first: Option<f64>, second: Option<f64>, default| {
            first.or(second).filter(|fraction| (0.0..=1.0).contains(fraction)).unwrap_or(default)
        };
        let defaults = EvidenceThresholds::default();
        let match_count = overrides.match_count.or(row.match_count).unwrap_or(DEFAULT_MATCH_COUNT);
        Self {
            thresholds: EvidenceThresholds {
                similarity: fraction(
                    overrides.evidence_threshold,
                    row.evidence_threshold,
                    defaults.similarity,
                ),
                confidence: fraction(
                    overrides.evidence_confidence,
                    row.evidence_confidence,
                    defaults.confidence,
                ),
                background: stored.calibration.unwrap_or(defaults.background),
            },
            match_count: match_count.clamp(1, 50),
            link_mode: overrides.link_mode.unwrap_or(row.link_mode).min(row.link_mode),
            answer_mode: overrides.answer_mode.unwrap_or(row.answer_mode),
            citations: overrides.citations.unwrap_or(row.citations),
            refusal_message: overrides.refusal_message.clone().or_else(|| row.refusal_message.clone()),
            refusal_suggestions: overrides
                .refusal_suggestions
                .clone()
                .or_else(|| row.refusal_suggestions.clone()),
            greeting: overrides.greeting.clone().or_else(|| row.greeting.clone()),
            suggested_questions: overrides
                .suggested_questions
                .clone()
                .unwrap_or_else(|| row.suggested_questions.clone()),
            log_questions: overrides.log_questions.unwrap_or(row.log_questions),
            model: stored.model.clone(),
        }
    }
}

async fn pause() -> Result<(), HttpError> {
    Delay::from(POLL).await;
    Ok(())
}

/// Reads the settings and caches them. Their age counts from before the read.
async fn read(config: &Config, deadline: Deadline) -> Result<Rc<Stored>, HttpError> {
    let started_ms = Date::now().as_millis();
    let reading = Reading;
    let stored = config.project.chat_config(deadline).await.map(Rc::new);
    drop(reading);
    CACHE.with_borrow_mut(|cache| cache.finish(stored.clone(), started_ms, Date::now().as_millis()));
    stored
}

/// A read in progress. If its request is cancelled, dropping it lets another request read.
struct Reading;

impl Drop for Reading {
    fn drop(&mut self) {
        CACHE.with_borrow_mut(SingleFlight::abandon);
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
    fn settings_without_a_value_have_their_default() {
        let settings = Settings::merge(&Overrides::default(), &stored(serde_json::json!({})));
        assert_eq!(
            settings.thresholds,
            EvidenceThresholds { similarity: 0.35, ..EvidenceThresholds::default() }
        );
        assert_eq!((settings.match_count, settings.link_mode), (5, LinkMode::Authenticated));
        assert!(settings.citations && settings.greeting.is_none());
    }

    #[test]
    fn the_environment_overrides_the_table_and_the_table_overrides_defaults() {
        let stored =
            stored(serde_json::json!({ "evidence_threshold": 0.5, "match_count": 9, "greeting": "Hi" }));
        let overrides = Overrides {
            match_count: Some(3),
            link_mode: Some(LinkMode::None),
            suggested_questions: Some(Vec::new()),
            ..Overrides::default()
        };
        let settings = Settings::merge(&overrides, &stored);
        assert_eq!((settings.thresholds.similarity, settings.match_count), (0.5, 3));
        assert_eq!((settings.link_mode, settings.greeting.as_deref()), (LinkMode::None, Some("Hi")));
        assert!(settings.suggested_questions.is_empty());
    }

    #[test]
    fn the_stricter_link_mode_of_environment_and_table_applies() {
        const MODES: [LinkMode; 3] = [LinkMode::None, LinkMode::Authenticated, LinkMode::Public];
        let mode = |environment, table| {
            let overrides = Overrides { link_mode: environment, ..Overrides::default() };
            Settings::merge(&overrides, &stored(serde_json::json!({ "link_mode": table }))).link_mode
        };
        for (at, table) in MODES.into_iter().enumerate() {
            assert_eq!(mode(None, table), table);
            for (other, environment) in MODES.into_iter().enumerate() {
                assert_eq!(mode(Some(environment), table), MODES[at.min(other)]);
            }
        }
    }

    #[test]
    fn evidence_is_compared_to_the_calibration_or_else_to_the_default() {
        let mut stored = stored(serde_json::json!({}));
        let thresholds = |stored: &Stored| Settings::merge(&Overrides::default(), stored).thresholds;
        assert_eq!(thresholds(&stored).background, Background::default());
        stored.calibration = Some(Background { mean: -6.9, deviation: 1.8 });
        assert_eq!(thresholds(&stored).background, Background { mean: -6.9, deviation: 1.8 });
    }

    #[test]
    fn values_out_of_range_are_ignored_or_clamped() {
        let stored = stored(serde_json::json!({ "evidence_threshold": -3, "match_count": 4000 }));
        let settings = Settings::merge(&Overrides::default(), &stored);
        assert_eq!((settings.thresholds.similarity, settings.match_count), (0.35, 50));
    }
}
