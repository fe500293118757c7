//! What the site owner sets in the Supabase dashboard, in the table `chat_settings`.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use chat_core::evidence::{Background, Gates};
use serde::{Deserialize, Serialize};
use worker::{Date, Delay};

use super::Config;
use super::cache::{Cache, Step};
use crate::http::error::Failure;
use crate::supabase::Deadline;

/// How often a request looks whether the reading of another one has ended.
const POLL: Duration = Duration::from_millis(10);
/// Passages a search asks for, unless set otherwise.
const DEFAULT_MATCH_COUNT: u32 = 5;

/// How citations link to the original file of their document, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LinkMode {
    /// They do not.
    None,
    /// Through the Worker, with the user's token.
    Authenticated,
    /// With a signed address that anyone can use for a week.
    Public,
}

/// The settings in force.
pub(crate) struct Settings {
    /// What evidence has to reach.
    pub(crate) gates: Gates,
    /// How many passages a search asks for.
    pub(crate) match_count: u32,
    pub(crate) link_mode: LinkMode,
    /// Whether answers carry markers and sources at all.
    pub(crate) citations: bool,
    pub(crate) refusal_message: Option<String>,
    pub(crate) refusal_suggestions: Option<Vec<String>>,
    pub(crate) greeting: Option<String>,
    pub(crate) suggested_questions: Vec<String>,
    /// Whether the log may hold what was asked.
    pub(crate) log_questions: bool,
    /// The fingerprint of the stored vectors; `None` in an empty knowledge base.
    pub(crate) model: Option<String>,
}

/// What the environment sets; it wins over the table. Only a link mode cannot be looser than the table's, which the database
/// holds users to itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Overrides {
    pub(crate) evidence_threshold: Option<f64>,
    pub(crate) evidence_confidence: Option<f64>,
    pub(crate) match_count: Option<u32>,
    pub(crate) link_mode: Option<LinkMode>,
    pub(crate) citations: Option<bool>,
    pub(crate) refusal_message: Option<String>,
    pub(crate) refusal_suggestions: Option<Vec<String>>,
    pub(crate) greeting: Option<String>,
    pub(crate) suggested_questions: Option<Vec<String>>,
    pub(crate) log_questions: Option<bool>,
}

/// What the function `chat_config` returns.
#[derive(Deserialize)]
struct Stored {
    model: Option<String>,
    /// What `kb sync` measured with vectors of this model; the default if `None`.
    calibration: Option<Background>,
    settings: Row,
}

/// A row of `chat_settings`. `None` means the product's own default.
#[derive(Deserialize)]
struct Row {
    evidence_threshold: Option<f64>,
    evidence_confidence: Option<f64>,
    match_count: Option<u32>,
    link_mode: LinkMode,
    citations: bool,
    refusal_message: Option<String>,
    refusal_suggestions: Option<Vec<String>>,
    greeting: Option<String>,
    suggested_questions: Vec<String>,
    log_questions: bool,
}

thread_local! {
    static CACHE: RefCell<Cache<Stored>> = const { RefCell::new(Cache::EMPTY) };
}

impl Settings {
    /// The settings, read at most once a minute.
    pub(crate) async fn current(config: &Config, deadline: Deadline) -> Result<Self, Failure> {
        let stored = loop {
            let now_ms = Date::now().as_millis();
            match CACHE.with_borrow_mut(|cache| cache.next(now_ms)) {
                Step::Use(stored) => break stored,
                Step::GiveUp(failure) => return Err(failure),
                Step::Wait => deadline.limit("settings", pause()).await?,
                Step::Read => break read(config, deadline).await?,
            }
        };
        Ok(Self::merge(&config.overrides, &stored))
    }

    /// The settings as they stand in the database now.
    pub(crate) async fn fresh(config: &Config, deadline: Deadline) -> Result<Self, Failure> {
        let stored = read(config, deadline).await?;
        Ok(Self::merge(&config.overrides, &stored))
    }

    fn merge(overrides: &Overrides, stored: &Stored) -> Self {
        let row = &stored.settings;
        let share = |first: Option<f64>, second: Option<f64>, default| {
            first.or(second).filter(|share| (0.0..=1.0).contains(share)).unwrap_or(default)
        };
        let defaults = Gates::default();
        let match_count = overrides.match_count.or(row.match_count).unwrap_or(DEFAULT_MATCH_COUNT);
        Self {
            gates: Gates {
                similarity: share(overrides.evidence_threshold, row.evidence_threshold, defaults.similarity),
                confidence: share(
                    overrides.evidence_confidence,
                    row.evidence_confidence,
                    defaults.confidence,
                ),
                background: stored.calibration.unwrap_or(defaults.background),
            },
            match_count: match_count.clamp(1, 50),
            link_mode: overrides.link_mode.unwrap_or(row.link_mode).min(row.link_mode),
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

async fn pause() -> Result<(), Failure> {
    Delay::from(POLL).await;
    Ok(())
}

/// Reads the settings and keeps them.
async fn read(config: &Config, deadline: Deadline) -> Result<Rc<Stored>, Failure> {
    let asked_ms = Date::now().as_millis();
    let reading = Reading;
    let stored = config.project.chat_config(deadline).await.map(Rc::new);
    drop(reading);
    CACHE.with_borrow_mut(|cache| cache.finish(stored.clone(), asked_ms, Date::now().as_millis()));
    stored
}

/// A reading that goes on. Dropped with the future of its request, it lets another one read.
struct Reading;

impl Drop for Reading {
    fn drop(&mut self) {
        CACHE.with_borrow_mut(Cache::abandon);
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
    fn what_nobody_set_is_the_specified_default() {
        let settings = Settings::merge(&Overrides::default(), &stored(serde_json::json!({})));
        assert_eq!(settings.gates, Gates { similarity: 0.35, ..Gates::default() });
        assert_eq!((settings.match_count, settings.link_mode), (5, LinkMode::Authenticated));
        assert!(settings.citations && settings.greeting.is_none());
    }

    #[test]
    fn the_table_wins_over_defaults_and_the_environment_over_the_table() {
        let stored =
            stored(serde_json::json!({ "evidence_threshold": 0.5, "match_count": 9, "greeting": "Hi" }));
        let overrides = Overrides {
            match_count: Some(3),
            link_mode: Some(LinkMode::None),
            suggested_questions: Some(Vec::new()),
            ..Overrides::default()
        };
        let settings = Settings::merge(&overrides, &stored);
        assert_eq!((settings.gates.similarity, settings.match_count), (0.5, 3));
        assert_eq!((settings.link_mode, settings.greeting.as_deref()), (LinkMode::None, Some("Hi")));
        assert!(settings.suggested_questions.is_empty());
    }

    #[test]
    fn the_stricter_link_mode_of_environment_and_table_is_in_force() {
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
    fn evidence_is_held_against_what_was_measured_or_else_against_the_default() {
        let mut stored = stored(serde_json::json!({}));
        let gates = |stored: &Stored| Settings::merge(&Overrides::default(), stored).gates;
        assert_eq!(gates(&stored).background, Background::default());
        stored.calibration = Some(Background { mean: -6.9, deviation: 1.8 });
        assert_eq!(gates(&stored).background, Background { mean: -6.9, deviation: 1.8 });
    }

    #[test]
    fn numbers_out_of_range_do_not_open_the_gates() {
        let stored = stored(serde_json::json!({ "evidence_threshold": -3, "match_count": 4000 }));
        let settings = Settings::merge(&Overrides::default(), &stored);
        assert_eq!((settings.gates.similarity, settings.match_count), (0.35, 50));
    }
}
