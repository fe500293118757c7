//! `kb retain`.

use std::process::ExitCode;

use serde_json::json;

use super::connect;
use crate::cli::RetainArgs;
use crate::knowledge_base::{ChatSettings, Retained};
use crate::output::{counted, print, print_json};

/// Printed if no retention setting is set.
const NOTHING_CONFIGURED: &str = "\
Nothing is set. In the table chat_settings (dashboard, Table Editor), `retention_days` deletes conversations and unanswered
questions after that number of days, and `keep_refusals` keeps unanswered questions without their user (anonymous) or not at
all (off).";

/// After the number of users.
const UNDELETABLE: &str = " without activity could not be deleted, only what they asked. Tables of your own that refer to auth.users \
    need `on delete cascade`.";

pub(super) async fn run(args: RetainArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.server)?;
    let settings = knowledge_base.effective_chat_settings().await?;
    let retained = knowledge_base.retain().await?;
    if args.json {
        let mut report = json!(retained);
        report["retention_days"] = json!(settings.retention_days);
        report["keep_refusals"] = json!(settings.keep_refusals);
        print_json(&report)?;
    } else {
        print(&lines(&settings, &retained).join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(settings: &ChatSettings, retained: &Retained) -> Vec<String> {
    let mut lines = done(retained);
    if !is_anything_set(settings) {
        lines.push(NOTHING_CONFIGURED.to_owned());
        return lines;
    }
    lines.push(match settings.retention_days {
        Some(days) => format!(
            "Conversations are kept for {} after their last message, unanswered questions as long after they were asked.",
            counted(days.into(), "day")
        ),
        None => "Conversations are kept without limit.".to_owned(),
    });
    match settings.keep_refusals.as_str() {
        "anonymous" => lines.push("Unanswered questions are kept without their user.".to_owned()),
        "off" => lines.push("Unanswered questions are not kept.".to_owned()),
        _ => {}
    }
    lines.push(schedule(retained.scheduled));
    lines
}

fn is_anything_set(settings: &ChatSettings) -> bool {
    settings.retention_days.is_some() || settings.keep_refusals != "full"
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
        for (days, keep) in [(Some(90), "full"), (None, "anonymous"), (None, "off")] {
            let [with, without] = [true, false].map(|scheduled| text(days, keep, [0; 3], scheduled));
            assert!(
                with.starts_with("There was nothing to delete.") && with.contains("every night"),
                "{with}"
            );
            assert!(
                without.contains("run `kb retain` every day") && without.contains("pg_cron"),
                "{without}"
            );
            assert!(!with.contains("Nothing is set") && !without.contains("Nothing is set"), "{with}");
        }
    }

    #[test]
    fn without_settings_the_output_lists_them() {
        let text = text(None, "full", [0; 3], false);
        assert!(
            text.contains("Nothing is set")
                && text.contains("retention_days")
                && text.contains("keep_refusals"),
            "{text}"
        );
        assert!(!text.contains("every day") && !text.contains("are kept"), "{text}");
    }
}
