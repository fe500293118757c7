//! Checks documents, passages, vectors and the settings of the chat.

use std::time::{Duration, SystemTime};

use super::Facts;
use super::facts::Model;
use super::report::Check;
use crate::calibration::{describe, has_questions};
use crate::knowledge_base::{AssistantThresholds, Calibration, ChatSettings, Health, Trouble, Watch};
use crate::output::{counted, moment};
use crate::timestamp::is_longer_ago;
use crate::watch::REPORT_INTERVAL;

/// A threshold outside is more likely a typing error than intended: unrelated texts reach the lower bound, and a question and
/// its answer rarely reach the upper one.
const SENSIBLE_THRESHOLDS: std::ops::RangeInclusive<f64> = 0.2..=0.7;

/// Highest sensible minimum confidence: hardly any question reaches more.
const MAX_SENSIBLE_CONFIDENCE: f64 = 0.95;

/// A watch that has not reported for so long was killed, or its computer is off.
const MAX_SILENCE_OF_WATCH: Duration = Duration::from_secs(5 * REPORT_INTERVAL.as_secs());

pub(super) fn checks(facts: &Facts) -> Vec<Check> {
    let health = &facts.health;
    let mut checks = vec![
        documents(health),
        troubles(&facts.troubles),
        left_over(&facts.left_over, health.pending_older_than_day),
        duplicates(&facts.duplicates),
        model_check(&facts.model),
        fingerprints(health, &facts.model.fingerprint),
        edited(health.stale_chunks),
        vectors(health.chunks_without_embedding),
        sentences(health),
        scripts(&facts.non_latin),
        calibration(facts),
        settings(facts.settings.as_ref(), &facts.assistants),
        assistants(health),
    ];
    checks.extend(watches(&facts.watches, facts.now));
    checks
}

fn documents(health: &Health) -> Check {
    let ready = health.documents.get("ready").copied().unwrap_or_default();
    if ready == 0 {
        return Check::warning("documents", "none, so every question is refused").fix("kb sync DIR");
    }
    let size = format!("{} ready, {}", counted(ready, "document"), counted(health.chunks, "passage"));
    match health.documents_without_chunks {
        0 => Check::ok("documents", size),
        empty => {
            Check::warning("documents", format!("{size}; {} without a passage", counted(empty, "document")))
                .fix("`kb list` shows them; `kb remove` them, and `kb sync` their source again")
        }
    }
}

/// Until somebody reads it again, each is served as it was before.
fn troubles(troubles: &[Trouble]) -> Check {
    let outdated = counted(troubles.len() as u64, "document or collection");
    Check::warning("syncs", format!("{outdated} not up to date"))
        .details(troubles.iter().map(Trouble::to_string))
        .fix("fix the files or the source and run `kb sync` again")
        .unless(troubles.is_empty(), "every document and every collection is as new as its source")
}

fn left_over(sources: &[String], count: u64) -> Check {
    Check::warning("pending", format!("{} incomplete for more than a day", counted(count, "document")))
        .details(sources.to_vec())
        .fix("`kb sync` their source again, or `kb doctor --fix` to delete them")
        .unless(count == 0, "none is left over")
}

fn duplicates(groups: &[Vec<String>]) -> Check {
    let documents = counted(groups.len() as u64, "document");
    Check::warning("duplicates", format!("{documents} in the knowledge base more than once"))
        .details(groups.iter().map(|sources| sources.join(" = ")))
        .fix("remove all but one from the sources and run `kb sync`, or `kb disable` them")
        .unless(groups.is_empty(), "none")
}

pub(super) fn model_check(model: &Model) -> Check {
    match &model.failure {
        None => Check::ok("model", format!("loads, fingerprint {}", model.fingerprint)),
        Some(failure) => Check::problem("model", failure.clone())
            .fix("set EVIDENCE_MODEL_DIR to the folder with the model"),
    }
}

fn fingerprints(health: &Health, fingerprint: &str) -> Check {
    let others = || health.embeddings_by_model.iter().filter(|(model, _)| *model != fingerprint);
    let count: u64 = others().map(|(_, count)| count).sum();
    let message = format!(
        "{} from another model than that of this kb, which questions cannot be compared with",
        counted(count, "vector")
    );
    Check::problem("vectors", message)
        .details(others().map(|(model, count)| format!("{model}: {count}")))
        .fix("kb reembed")
        .unless(count == 0, "all are from the model of this kb")
}

fn edited(stale: u64) -> Check {
    let passages = counted(stale, "passage");
    Check::warning("stale", format!("{passages} edited, which no search finds until they are embedded again"))
        .fix("kb reembed")
        .unless(stale == 0, "no passage was edited since it was embedded")
}

fn vectors(missing: u64) -> Check {
    let passages = counted(missing, "passage");
    Check::warning("unembedded", format!("{passages} without a vector, which no search finds"))
        .fix("kb reembed")
        .unless(missing == 0, "every passage has a vector")
}

/// A heading alone has no sentence, but most passages have some.
fn sentences(health: &Health) -> Check {
    let passages = counted(health.sentences_missing, "passage");
    Check::warning("sentences", format!("{passages} without sentences, so answers are chosen less well"))
        .fix("`kb remove` the documents and `kb sync` their source again")
        .unless(health.sentences_missing * 2 <= health.chunks, "most passages have them")
}

/// Vectors of text in other scripts say nothing about its meaning.
fn scripts(non_latin: &[String]) -> Check {
    let documents = counted(non_latin.len() as u64, "document");
    let message = format!("{documents} in a script that the model cannot read: searched by words alone");
    Check::warning("scripts", message)
        .details(non_latin.to_vec())
        .fix("see “Languages” in the README")
        .unless(non_latin.is_empty(), "the model reads all documents")
}

fn calibration(facts: &Facts) -> Check {
    let Some(calibration) = &facts.calibration else {
        return match facts.language.as_deref() {
            None => Check::ok("calibration", "nothing to measure"),
            Some(language) if !has_questions(language) => {
                Check::ok("calibration", format!("the default, because kb has no calibration questions in {language}"))
            }
            Some(_) => Check::warning(
                "calibration",
                "none: the default decides what is enough evidence, instead of a measurement in this knowledge base",
            )
            .fix("`kb sync` any source"),
        };
    };
    let Calibration { model, language, questions, updated_at, .. } = calibration;
    let measured = format!(
        "questions about something else reach {} ({} in {language}, {} UTC)",
        describe(&calibration.background()),
        counted(*questions, "question"),
        moment(updated_at)
    );
    if *model != facts.model.fingerprint {
        Check::warning(
            "calibration",
            format!("{measured}; not used, because it was measured with another model"),
        )
        .fix("kb reembed")
    } else if facts.is_calibration_stale {
        Check::warning("calibration", format!("{measured}; documents have changed since"))
            .fix("`kb sync` any source")
    } else {
        Check::ok("calibration", measured)
    }
}

fn settings(settings: Option<&ChatSettings>, assistants: &[AssistantThresholds]) -> Check {
    let mut remarks: Vec<_> = assistants.iter().flat_map(unusual_thresholds).collect();
    if settings.is_some_and(|settings| settings.log_questions) {
        remarks.push("log_questions writes questions into the server's log".to_owned());
    }
    if remarks.is_empty() {
        return Check::ok("settings", "sensible");
    }
    Check::warning("settings", "some are unusual")
        .details(remarks)
        .fix("dashboard, Table Editor, assistants and chat_settings: empty (NULL) is the default")
}

fn unusual_thresholds(assistant: &AssistantThresholds) -> Vec<String> {
    let name = &assistant.name;
    let mut remarks = Vec::new();
    if let Some(threshold) = assistant.evidence_threshold
        && !SENSIBLE_THRESHOLDS.contains(&threshold)
    {
        let effect = if threshold < *SENSIBLE_THRESHOLDS.start() { "anything" } else { "next to nothing" };
        remarks
            .push(format!("{name}: evidence_threshold {threshold} lets {effect} pass; the default is 0.35"));
    }
    match assistant.evidence_confidence {
        Some(0.0) => remarks
            .push(format!("{name}: evidence_confidence 0 answers questions that the passages do not answer")),
        Some(confidence) if confidence > MAX_SENSIBLE_CONFIDENCE => {
            remarks.push(format!("{name}: evidence_confidence {confidence} refuses nearly everything"));
        }
        _ => {}
    }
    remarks
}

/// An assistant without documents refuses every question. Usually the name of a collection is misspelt.
fn assistants(health: &Health) -> Check {
    let empty = &health.assistants_without_documents;
    if empty.is_empty() {
        return Check::ok("assistants", "the collections of each have documents");
    }
    let message =
        format!("{} with collections that have no document", counted(empty.len() as u64, "assistant"));
    Check::warning("assistants", message)
        .details(empty.clone())
        .fix("compare `kb assistants` with the collections of `kb list`, or disable the assistant")
}

fn watches(watches: &[Watch], now: SystemTime) -> Vec<Check> {
    if watches.is_empty() {
        let message = "does not run: what is edited in the dashboard is served after the next `kb sync` or `kb reembed`";
        return vec![Check::ok("watch", message)];
    }
    watches.iter().map(|one| watch(one, now)).collect()
}

fn watch(watch: &Watch, now: SystemTime) -> Check {
    let host = watch.host.as_deref().unwrap_or("another computer");
    let ran = match &watch.finished_at {
        Some(finished_at) => format!("last ran {} UTC", moment(finished_at)),
        None => "is in its first round".to_owned(),
    };
    let message = format!("{} on {host}: {ran}", watch.sources);
    if let Some(stopped_at) = &watch.stopped_at
        && watch.interval_seconds.is_some()
    {
        return Check::ok("watch", format!("{message}, stopped {} UTC", moment(stopped_at)));
    }
    if watch.stopped_at.is_none() && is_longer_ago(&watch.seen_at, MAX_SILENCE_OF_WATCH, now) {
        let message = format!("{message}; it has not reported since {} UTC", moment(&watch.seen_at));
        return Check::warning("watch", message)
            .fix("start `kb watch` again, or delete its row in the table kb_watches");
    }
    match &watch.failure {
        Some(failure) => Check::warning("watch", format!("{message}, and failed"))
            .details([failure.clone()])
            .fix("it repeats the work in the next round"),
        None => Check::ok("watch", message),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::timestamp::parse_timestamp;

    fn set(threshold: Option<f64>, confidence: Option<f64>, log_questions: bool) -> Check {
        let assistant = AssistantThresholds {
            name: "default".to_owned(),
            evidence_threshold: threshold,
            evidence_confidence: confidence,
        };
        settings(Some(&ChatSettings { log_questions, ..ChatSettings::default() }), &[assistant])
    }

    #[test]
    fn settings_that_answer_or_refuse_everything_are_reported() {
        assert_eq!(set(None, None, false).level, Level::Ok);
        assert_eq!(set(Some(0.35), Some(0.5), false).level, Level::Ok);
        assert!(set(Some(0.0), None, false).details[0].contains("anything"));
        assert!(set(Some(0.9), None, false).details[0].contains("next to nothing"));
        assert_eq!(set(None, Some(0.0), true).details.len(), 2);
    }

    fn watched(change: impl FnOnce(&mut Watch)) -> Watch {
        let mut watch = Watch {
            sources: "bucket".to_owned(),
            host: Some("server".to_owned()),
            interval_seconds: Some(60),
            seen_at: SEEN_AT.to_owned(),
            finished_at: Some("2026-11-22T10:03:00+00:00".to_owned()),
            failure: None,
            stopped_at: None,
        };
        change(&mut watch);
        watch
    }

    const SEEN_AT: &str = "2026-11-22T10:04:05+00:00";

    #[test]
    fn a_watch_that_was_killed_is_a_warning_after_five_minutes_of_silence() {
        let seen_at = parse_timestamp(SEEN_AT).unwrap();
        let at = |age: Duration| watch(&watched(|_| {}), seen_at + age);
        assert_eq!(at(Duration::ZERO).level, Level::Ok);
        assert_eq!(at(Duration::ZERO).message, "bucket on server: last ran 2026-11-22 10:03 UTC");
        assert_eq!(at(MAX_SILENCE_OF_WATCH).level, Level::Ok);
        let silent = at(MAX_SILENCE_OF_WATCH + Duration::from_nanos(1));
        assert_eq!(silent.level, Level::Warning);
        assert!(silent.message.contains("has not reported since 2026-11-22 10:04 UTC"), "{}", silent.message);
        let before = watch(&watched(|_| {}), seen_at - Duration::from_secs(60));
        assert_eq!(before.level, Level::Ok, "the clock of the database is ahead");
    }

    #[test]
    fn a_stopped_watch_is_no_problem_and_a_failed_round_is_one() {
        let later = parse_timestamp(SEEN_AT).unwrap() + 2 * MAX_SILENCE_OF_WATCH;
        let stopped_at = || Some("2026-11-22T10:05:00+00:00".to_owned());
        let stopped = watch(&watched(|watch| watch.stopped_at = stopped_at()), later);
        assert!(stopped.level == Level::Ok && stopped.message.ends_with("stopped 2026-11-22 10:05 UTC"));
        // A single round always ends with a stop: a schedule started it, and will again.
        let once = |failure: Option<&str>| {
            let failure = failure.map(str::to_owned);
            let set = |watch: &mut Watch| {
                (watch.interval_seconds, watch.stopped_at, watch.failure) = (None, stopped_at(), failure);
            };
            watch(&watched(set), later)
        };
        assert_eq!(once(None).level, Level::Ok);
        let failed = once(Some("bucket: away"));
        assert_eq!((failed.level, failed.details), (Level::Warning, vec!["bucket: away".to_owned()]));
    }

    #[test]
    fn without_a_watch_the_report_says_what_follows() {
        let checks = watches(&[], SystemTime::UNIX_EPOCH);
        assert!(checks.len() == 1 && checks[0].level == Level::Ok && checks[0].message.contains("kb sync"));
    }
}
