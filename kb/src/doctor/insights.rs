//! Checks whether questions are counted for the insights, and whether alerts reach anybody.

use std::time::{Duration, SystemTime};

use super::Facts;
use super::report::Check;
use crate::knowledge_base::{HealthOfAlerts, HealthOfCounts, SentAlert};
use crate::output::moment;
use crate::timestamp::is_longer_ago;

/// Without pg_cron, shares are compared once a day; one comparison may fail.
const MAX_CHECK_AGE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

const INSTALL_PG_NET: &str = "turn on pg_net (dashboard, Database, Extensions)";
const RUN_CHECKS: &str = "turn on pg_cron (dashboard, Integrations, Cron) and save the settings of the alerts again, or run \
                          `kb retain` every day";

pub(super) fn checks(facts: &Facts) -> Vec<Check> {
    vec![counts(&facts.health.counts), alerts(&facts.health.alerts, facts.now)]
}

fn counts(counts: &HealthOfCounts) -> Check {
    let HealthOfCounts { counted_day, recorded_day } = counts;
    match (counted_day, recorded_day) {
        // Days are written so that they sort as text.
        (counted, Some(recorded)) if counted.as_ref() < Some(recorded) => {
            let last = counted
                .as_ref()
                .map_or_else(|| "none was".to_owned(), |day| format!("the last one is of {day}"));
            Check::warning("insights", format!("a question of {recorded} is not counted: {last}"))
                .fix("enable the triggers of the table chat_messages again (`alter table chat_messages enable trigger user`)")
        }
        (Some(day), _) => {
            Check::ok("insights", format!("questions are counted; the last one is of {day} (UTC)"))
        }
        (None, _) => Check::ok("insights", "no question has been counted yet"),
    }
}

fn alerts(alerts: &HealthOfAlerts, now: SystemTime) -> Check {
    if alerts.measures.is_empty() {
        let message = if alerts.url_set { "alert_url is set, but no share" } else { "none is set" };
        return Check::ok("alerts", message);
    }
    let set =
        format!("{} {}", alerts.measures.join(" and "), if alerts.measures.len() > 1 { "are" } else { "is" });
    let warning = |message: String, fix: &str| Check::warning("alerts", message).fix(fix);
    if !alerts.url_set {
        return warning(
            format!("{set} watched, but alert_url is empty: nothing is sent"),
            "set alert_url in chat_settings",
        );
    }
    if !alerts.pg_net {
        return warning(format!("{set} watched, but pg_net is missing: nothing is sent"), INSTALL_PG_NET);
    }
    if let Some(failed) = alerts.sent.iter().find(|sent| sent.is_delivered == Some(false)) {
        let answer =
            failed.status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
        return warning(
            format!(
                "the alert of {} about {} was not delivered: {answer}",
                moment(&failed.sent_at),
                failed.measure
            ),
            "correct alert_url in chat_settings: the alert is sent again with the next check",
        );
    }
    let Some(checked_at) = &alerts.checked_at else {
        return warning(format!("{set} watched, but never compared"), RUN_CHECKS);
    };
    let last = format!("last compared {} UTC", moment(checked_at));
    if is_longer_ago(checked_at, MAX_CHECK_AGE, now) {
        return warning(format!("{set} watched, but {last}, more than 2 days ago"), RUN_CHECKS);
    }
    Check::ok("alerts", format!("{set} watched, {last}")).details(alerts.sent.iter().map(described))
}

fn described(sent: &SentAlert) -> String {
    let SentAlert { measure, is_below, sent_at, is_delivered, .. } = sent;
    let delivery = if is_delivered.is_some() { "delivered" } else { "delivery not known" };
    let state = if *is_below { "still below its line" } else { "recovered since" };
    format!("{measure}: last alert {} UTC, {delivery}, {state}", moment(sent_at))
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::timestamp::parse_timestamp;

    const CHECKED_AT: &str = "2026-11-22T10:07:00.5+00:00";

    fn sent(is_delivered: Option<bool>, status: Option<u16>) -> SentAlert {
        SentAlert {
            measure: "cited_share".to_owned(),
            is_below: true,
            sent_at: "2026-11-20T10:07:00+00:00".to_owned(),
            is_delivered,
            status,
        }
    }

    fn watched() -> HealthOfAlerts {
        HealthOfAlerts {
            url_set: true,
            measures: vec!["answered_share".to_owned(), "cited_share".to_owned()],
            pg_net: true,
            checked_at: Some(CHECKED_AT.to_owned()),
            sent: Vec::new(),
        }
    }

    fn check(state: &HealthOfAlerts) -> Check {
        let check = alerts(state, parse_timestamp(CHECKED_AT).unwrap());
        assert_eq!(check.fix.is_some(), check.level == Level::Warning);
        check
    }

    #[test]
    fn alerts_that_nobody_set_need_nothing() {
        let nothing = HealthOfAlerts {
            url_set: false,
            measures: Vec::new(),
            pg_net: false,
            checked_at: None,
            sent: vec![sent(Some(false), None)],
        };
        assert_eq!(check(&nothing).level, Level::Ok);
        assert_eq!(check(&HealthOfAlerts { url_set: true, ..nothing }).level, Level::Ok);
    }

    #[test]
    fn each_reason_why_an_alert_would_not_arrive_is_named() {
        assert_eq!(check(&watched()).level, Level::Ok);
        for (state, word) in [
            (HealthOfAlerts { url_set: false, ..watched() }, "alert_url"),
            (HealthOfAlerts { pg_net: false, ..watched() }, "pg_net"),
            (HealthOfAlerts { checked_at: None, ..watched() }, "never compared"),
            (HealthOfAlerts { checked_at: Some("soon".to_owned()), ..watched() }, "soon"),
            (
                HealthOfAlerts { sent: vec![sent(Some(false), Some(404))], ..watched() },
                "cited_share was not delivered: status 404",
            ),
            (HealthOfAlerts { sent: vec![sent(Some(false), None)], ..watched() }, "no answer"),
        ] {
            let check = check(&state);
            assert!(check.level == Level::Warning && check.message.contains(word), "{check}");
        }
    }

    #[test]
    fn comparisons_are_overdue_after_exactly_two_days() {
        let level = |now| alerts(&watched(), now).level;
        let checked_at = parse_timestamp(CHECKED_AT).unwrap();
        assert_eq!(level(checked_at + MAX_CHECK_AGE), Level::Ok);
        assert_eq!(level(checked_at + MAX_CHECK_AGE + Duration::from_nanos(1)), Level::Warning);
        assert_eq!(level(SystemTime::UNIX_EPOCH), Level::Ok, "the clock of the database is ahead");
    }

    #[test]
    fn sent_alerts_are_listed_with_their_state() {
        let state = HealthOfAlerts { sent: vec![sent(Some(true), Some(200)), sent(None, None)], ..watched() };
        assert_eq!(
            check(&state).details,
            [
                "cited_share: last alert 2026-11-20 10:07 UTC, delivered, still below its line",
                "cited_share: last alert 2026-11-20 10:07 UTC, delivery not known, still below its line",
            ]
        );
    }

    #[test]
    fn a_recorded_question_that_is_not_counted_is_a_warning() {
        let level = |counted: Option<&str>, recorded: Option<&str>| {
            let counts = HealthOfCounts {
                counted_day: counted.map(str::to_owned),
                recorded_day: recorded.map(str::to_owned),
            };
            super::counts(&counts).level
        };
        assert_eq!(level(None, None), Level::Ok);
        assert_eq!(level(Some("2026-11-22"), None), Level::Ok, "the conversations were deleted");
        assert_eq!(level(Some("2026-11-22"), Some("2026-11-22")), Level::Ok);
        assert_eq!(level(Some("2026-11-22"), Some("2026-11-21")), Level::Ok);
        assert_eq!(level(Some("2026-11-22"), Some("2026-11-23")), Level::Warning);
        assert_eq!(level(None, Some("2026-11-22")), Level::Warning);
    }
}
