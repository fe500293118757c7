//! Checks documents, passages, vectors and the settings of the chat.

use super::Facts;
use super::facts::Model;
use super::report::Check;
use crate::calibration::{describe, has_questions};
use crate::knowledge_base::{Calibration, ChatSettings, Health, LastSync};
use crate::output::{counted, moment};

/// A threshold outside is more likely a typing error than intended: unrelated texts reach the lower bound, and a question and
/// its answer rarely reach the upper one.
const SENSIBLE_THRESHOLDS: std::ops::RangeInclusive<f64> = 0.2..=0.7;

/// The same for the minimum confidence: hardly any question reaches a higher one.
const MAX_SENSIBLE_CONFIDENCE: f64 = 0.95;

pub(super) fn checks(facts: &Facts) -> Vec<Check> {
    let health = &facts.health;
    let mut checks = vec![
        documents(health),
        failed(facts),
        left_over(&facts.left_over, health.pending_older_than_day),
        duplicates(&facts.duplicates),
        model_check(&facts.model),
        fingerprints(health, &facts.model.fingerprint),
        edited(health.stale_chunks),
        vectors(health.chunks_without_embedding),
        sentences(health),
        scripts(&facts.non_latin),
        calibration(facts),
        settings(facts.settings.as_ref()),
    ];
    checks.extend(facts.syncs.iter().filter_map(interrupted));
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

fn failed(facts: &Facts) -> Check {
    if facts.failed.is_empty() {
        return Check::ok("failed", "no document");
    }
    // If there are very many, only a part of them was read.
    let count =
        facts.health.documents.get("failed").copied().unwrap_or_default().max(facts.failed.len() as u64);
    let details = facts.failed.iter().map(|document| match &document.failure {
        Some(failure) => format!("{}: {failure}", document.source),
        None => document.source.clone(),
    });
    Check::warning("failed", format!("{} could not be read", counted(count, "document")))
        .details(details)
        .fix("fix the files and run `kb sync` again")
}

fn left_over(sources: &[String], count: u64) -> Check {
    match count {
        0 => Check::ok("pending", "none is left over"),
        _ => Check::warning(
            "pending",
            format!("{} incomplete for more than a day", counted(count, "document")),
        )
        .details(sources.to_vec())
        .fix("`kb sync` their source again, or `kb doctor --fix` to delete them"),
    }
}

fn duplicates(groups: &[Vec<String>]) -> Check {
    match groups.len() as u64 {
        0 => Check::ok("duplicates", "none"),
        count => {
            let message = format!("{} in the knowledge base more than once", counted(count, "document"));
            Check::warning("duplicates", message)
                .details(groups.iter().map(|sources| sources.join(" = ")))
                .fix("remove all but one from the sources and run `kb sync`, or `kb disable` them")
        }
    }
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
    if count == 0 {
        return Check::ok("vectors", "all are from the model of this kb");
    }
    let message = format!(
        "{} from another model than that of this kb, which questions cannot be compared with",
        counted(count, "vector")
    );
    Check::problem("vectors", message)
        .details(others().map(|(model, count)| format!("{model}: {count}")))
        .fix("kb reembed")
}

fn edited(stale: u64) -> Check {
    match stale {
        0 => Check::ok("stale", "no passage was edited since it was embedded"),
        _ => Check::warning(
            "stale",
            format!(
                "{} edited, which no search finds until they are embedded again",
                counted(stale, "passage")
            ),
        )
        .fix("kb reembed"),
    }
}

fn vectors(missing: u64) -> Check {
    match missing {
        0 => Check::ok("unembedded", "every passage has a vector"),
        _ => Check::warning(
            "unembedded",
            format!("{} without a vector, which no search finds", counted(missing, "passage")),
        )
        .fix("kb reembed"),
    }
}

/// A heading alone has no sentence, but most passages have some.
fn sentences(health: &Health) -> Check {
    let Health { sentences_missing, chunks, .. } = health;
    if sentences_missing * 2 <= *chunks {
        return Check::ok("sentences", "most passages have them");
    }
    Check::warning(
        "sentences",
        format!(
            "{} without sentences, so answers are chosen less well",
            counted(*sentences_missing, "passage")
        ),
    )
    .fix("`kb remove` the documents and `kb sync` their source again")
}

/// Vectors of text in other scripts say nothing about its meaning.
fn scripts(non_latin: &[String]) -> Check {
    match non_latin.len() as u64 {
        0 => Check::ok("scripts", "the model reads all documents"),
        count => Check::warning(
            "scripts",
            format!(
                "{} in a script that the model cannot read: searched by words alone",
                counted(count, "document")
            ),
        )
        .details(non_latin.to_vec())
        .fix("see “Languages” in the README"),
    }
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

fn settings(settings: Option<&ChatSettings>) -> Check {
    let Some(settings) = settings else {
        return Check::ok("settings", "all have their defaults");
    };
    let mut remarks = Vec::new();
    if let Some(threshold) = settings.evidence_threshold
        && !SENSIBLE_THRESHOLDS.contains(&threshold)
    {
        let effect = if threshold < *SENSIBLE_THRESHOLDS.start() { "anything" } else { "next to nothing" };
        remarks.push(format!("evidence_threshold {threshold} lets {effect} pass; the default is 0.35"));
    }
    match settings.evidence_confidence {
        Some(0.0) => {
            remarks.push("evidence_confidence 0 answers questions that the passages do not answer".to_owned())
        }
        Some(confidence) if confidence > MAX_SENSIBLE_CONFIDENCE => {
            remarks.push(format!("evidence_confidence {confidence} refuses nearly everything"));
        }
        _ => {}
    }
    if settings.log_questions {
        remarks.push("log_questions writes questions into the server's log".to_owned());
    }
    if remarks.is_empty() {
        return Check::ok("settings", "sensible");
    }
    Check::warning("settings", "some are unusual")
        .details(remarks)
        .fix("dashboard, Table Editor, chat_settings: empty (NULL) is the default")
}

fn interrupted(sync: &LastSync) -> Option<Check> {
    if sync.finished_at.is_some() {
        return None;
    }
    let host = sync.host.as_deref().unwrap_or("another computer");
    let message = format!(
        "{} on {host}: started {} UTC, last renewed {} UTC; it is running or was interrupted",
        sync.collection,
        moment(&sync.started_at),
        moment(&sync.renewed_at)
    );
    Some(Check::warning("sync", message).fix("if it was interrupted, run it again"))
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn set(threshold: Option<f64>, confidence: Option<f64>, log_questions: bool) -> Check {
        let evidence = ChatSettings {
            evidence_threshold: threshold,
            evidence_confidence: confidence,
            log_questions,
            ..ChatSettings::default()
        };
        settings(Some(&evidence))
    }

    #[test]
    fn settings_that_answer_or_refuse_everything_are_reported() {
        assert_eq!(set(None, None, false).level, Level::Ok);
        assert_eq!(set(Some(0.35), Some(0.5), false).level, Level::Ok);
        assert!(set(Some(0.0), None, false).details[0].contains("anything"));
        assert!(set(Some(0.9), None, false).details[0].contains("next to nothing"));
        assert_eq!(set(None, Some(0.0), true).details.len(), 2);
    }
}
