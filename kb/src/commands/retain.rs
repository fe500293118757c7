//! `kb retain`.

use std::process::ExitCode;

use serde_json::json;

use super::connect;
use crate::cli::CommonArgs;
use crate::knowledge_base::{ChatSettings, Retained};
use crate::output::{counted, print, print_json};

/// After the number of users.
const UNDELETABLE: &str = " without activity could not be deleted, only what they asked. Tables of your own that refer to auth.users \
    need `on delete cascade`.";

pub(super) async fn run(args: CommonArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.server)?;
    let settings = knowledge_base.chat_settings().await?.unwrap_or_default();
    let retained = knowledge_base.retain().await?;
    if args.json {
        let mut report = json!(retained);
        report["retention_days"] = json!(settings.retention_days);
        report["anonymous_retention_days"] = json!(settings.anonymous_retention_days);
        report["keep_refusals"] = json!(settings.keep_refusals);
        print_json(&report)?;
    } else {
        print(&lines(&settings, &retained).join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(settings: &ChatSettings, retained: &Retained) -> Vec<String> {
    let mut lines = done(retained);
    let time = |days: Option<u32>, column, since| match days {
        Some(days) => format!("for {} after {since}", counted(days.into(), "day")),
        None => {
            format!("without limit: `{column}` in the table chat_settings (dashboard, Table Editor) is empty")
        }
    };
    let all = time(settings.retention_days, "retention_days", "their last message");
    lines.push(format!("Conversations are kept {all}."));
    lines.push(match settings.keep_refusals.as_str() {
        "off" => "Unanswered questions are not kept.".to_owned(),
        "anonymous" => "Unanswered questions are kept as long, without their user.".to_owned(),
        _ => "Unanswered questions are kept as long.".to_owned(),
    });
    let days = settings.anonymous_retention_days;
    let anonymous = time(days, "anonymous_retention_days", "their last question or sign-in");
    lines.push(format!("Anonymous users, with what they asked, are kept {anonymous}."));
    lines.push(schedule(retained.scheduled));
    lines
}

fn done(retained: &Retained) -> Vec<String> {
    let Retained { sessions, refusals, anonymous, anonymous_users, undeletable_users, .. } = *retained;
    let mut lines = Vec::new();
    if sessions > 0 || refusals > 0 {
        let (sessions, refusals) =
            (counted(sessions, "conversation"), counted(refusals, "unanswered question"));
        lines.push(format!("Deleted {sessions} and {refusals}."));
    }
    if anonymous > 0 {
        lines.push(format!("Removed the user of {}.", counted(anonymous, "unanswered question")));
    }
    if anonymous_users > 0 {
        lines.push(format!("Deleted {} without activity.", counted(anonymous_users, "anonymous user")));
    }
    if undeletable_users > 0 {
        lines.push(format!("{}{UNDELETABLE}", counted(undeletable_users, "anonymous user")));
    }
    if lines.is_empty() {
        lines.push("There was nothing to delete.".to_owned());
    }
    lines
}

fn schedule(scheduled: bool) -> String {
    if scheduled {
        return "The database does this every night (pg_cron).".to_owned();
    }
    "This does not run automatically: run `kb retain` every day, or turn on pg_cron (dashboard, Integrations, Cron) and run \
     it once more."
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(days: Option<u32>, keep: &str, counts: [u64; 3], scheduled: bool) -> String {
        let settings =
            ChatSettings { retention_days: days, keep_refusals: keep.to_owned(), ..ChatSettings::default() };
        let [sessions, refusals, anonymous] = counts;
        let retained = Retained { sessions, refusals, anonymous, scheduled, ..Retained::default() };
        lines(&settings, &retained).join("\n")
    }

    #[test]
    fn deletions_are_reported_as_numbers() {
        let text = text(Some(1), "anonymous", [1, 2, 3], true);
        assert!(
            text.starts_with("Deleted 1 conversation and 2 unanswered questions.\nRemoved the user of 3 "),
            "{text}"
        );
        assert!(text.contains("kept for 1 day after") && text.contains("without their user"), "{text}");
    }

    #[test]
    fn without_a_schedule_the_output_says_to_run_it_every_day() {
        for (days, keep) in [(Some(90), "full"), (None, "anonymous"), (None, "off"), (None, "full")] {
            let [with, without] = [true, false].map(|scheduled| text(days, keep, [0; 3], scheduled));
            assert!(
                with.starts_with("There was nothing to delete.") && with.contains("every night"),
                "{with}"
            );
            assert!(
                without.contains("run `kb retain` every day") && without.contains("pg_cron"),
                "{without}"
            );
        }
    }

    #[test]
    fn every_setting_that_deletes_is_named() {
        let settings =
            |anonymous_retention_days| ChatSettings { anonymous_retention_days, ..ChatSettings::default() };
        let text = |days| lines(&settings(days), &Retained::default()).join("\n");
        assert!(text(Some(1)).contains("what they asked, are kept for 1 day after"), "{}", text(Some(1)));
        assert!(
            text(None).contains("what they asked, are kept without limit: `anonymous_retention_days` in"),
            "{}",
            text(None)
        );
        for text in [text(Some(30)), text(None)] {
            assert!(text.contains("Conversations are kept without limit: `retention_days` in"), "{text}");
            assert!(text.contains("run `kb retain` every day"), "{text}");
        }
    }
}
