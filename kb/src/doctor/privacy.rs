//! Checks whether questions are counted, how long they are kept, and what anonymous visitors see.

use std::time::{Duration, SystemTime};

use super::Facts;
use super::report::Check;
use crate::knowledge_base::HealthOfPrivacy;
use crate::output::{counted, moment};
use crate::timestamp::is_longer_ago;

/// Deletions run every night; one may fail.
const MAX_RETENTION_AGE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

const RUN_RETAIN: &str =
    "run `kb retain` every day, or turn on pg_cron (dashboard, Integrations, Cron) and run `kb retain` once";

pub(super) fn checks(facts: &Facts) -> Vec<Check> {
    let privacy = &facts.health.privacy;
    vec![
        worker_secret(privacy.worker_secret_set),
        retention(privacy, facts.now),
        visitors(
            facts.allows_anonymous_sign_ins,
            facts.health.anonymous_documents,
            facts.health.visible_documents,
        ),
    ]
}

fn visitors(is_allowed: Option<bool>, anonymous: u64, visible: u64) -> Check {
    let seen = match anonymous {
        0 => "none of the documents".to_owned(),
        _ => format!("{anonymous} of {}", counted(visible, "document")),
    };
    match is_allowed {
        Some(true) if anonymous > 0 && anonymous == visible => Check::warning(
            "visitors",
            format!("anonymous sign-ins are on, and all documents ({visible}) are open to everybody"),
        )
        .fix(
            "if you do not want that, set default_audience in chat_settings to [\"is_anonymous:false\"], or give single \
             documents an audience",
        ),
        Some(true) if anonymous == 0 && visible > 0 => Check::warning(
            "visitors",
            format!("anonymous sign-ins are on, and anonymous visitors see none of the documents ({visible})"),
        )
        .fix(
            "to let them ask, set default_audience in chat_settings to [\"role:authenticated\"], or give documents that \
             audience",
        ),
        Some(true) => Check::ok("visitors", format!("anonymous sign-ins are on; anonymous visitors see {seen}")),
        Some(false) => Check::ok("visitors", format!("anonymous sign-ins are off; anonymous visitors would see {seen}")),
        None => Check::ok("visitors", format!("anonymous visitors, if the project allows them, see {seen}")),
    }
}

fn worker_secret(is_set: bool) -> Check {
    let message = "the database does not know its secret: the insights count nothing, and the Worker is limited like any user";
    Check::warning("worker", message)
        .fix("kb worker-secret | npx wrangler secret put CHAT_WORKER_SECRET")
        .unless(is_set, "the database knows its secret")
}

fn retention(privacy: &HealthOfPrivacy, now: SystemTime) -> Check {
    let kept = match (privacy.retention_days, privacy.has_inactive_anonymous_users) {
        (Some(days), _) => format!("conversations are kept for {}", counted(days.into(), "day")),
        (None, true) => "anonymous users are kept for a time that is over".to_owned(),
        (None, false) => return Check::ok("retention", "conversations are kept without limit"),
    };
    let Some(ran_at) = &privacy.retention_ran_at else {
        return Check::warning("retention", format!("{kept}, but deletion never finished")).fix(RUN_RETAIN);
    };
    let last = format!("deletion last finished {} UTC", moment(ran_at));
    if is_longer_ago(ran_at, MAX_RETENTION_AGE, now) {
        Check::warning("retention", format!("{kept}, but {last}, more than 2 days ago")).fix(RUN_RETAIN)
    } else {
        Check::ok("retention", format!("{kept}; {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::timestamp::parse_timestamp;

    const RAN_AT: &str = "2026-11-22T10:04:05.5+00:00";

    fn level(days: Option<u32>, ran_at: Option<&str>, now: SystemTime) -> Level {
        let privacy = HealthOfPrivacy {
            worker_secret_set: true,
            internal_exposed: false,
            retention_days: days,
            retention_ran_at: ran_at.map(str::to_owned),
            has_inactive_anonymous_users: false,
        };
        let check = retention(&privacy, now);
        assert_eq!(check.fix.is_some(), check.level == Level::Warning);
        check.level
    }

    #[test]
    fn documents_that_anonymous_visitors_all_see_or_none_of_are_a_warning_only_if_they_can_sign_in() {
        let level = |is_allowed, anonymous, visible| visitors(is_allowed, anonymous, visible).level;
        assert_eq!(level(Some(true), 5, 5), Level::Warning);
        assert_eq!(level(Some(true), 1, 1), Level::Warning);
        assert_eq!(level(Some(true), 0, 5), Level::Warning);
        for (is_allowed, anonymous, visible) in [
            (Some(true), 4, 5),
            (Some(true), 0, 0),
            (Some(false), 5, 5),
            (Some(false), 0, 5),
            (None, 5, 5),
            (None, 0, 5),
        ] {
            assert_eq!(level(is_allowed, anonymous, visible), Level::Ok, "{is_allowed:?} {anonymous}");
        }
    }

    #[test]
    fn inactive_anonymous_users_are_a_warning_until_deletion_ran() {
        let now = parse_timestamp(RAN_AT).unwrap();
        let privacy = |ran_at: Option<&str>| HealthOfPrivacy {
            worker_secret_set: true,
            internal_exposed: false,
            retention_days: None,
            retention_ran_at: ran_at.map(str::to_owned),
            has_inactive_anonymous_users: true,
        };
        assert_eq!(retention(&privacy(None), now).level, Level::Warning);
        assert_eq!(retention(&privacy(Some(RAN_AT)), now).level, Level::Ok);
    }

    #[test]
    fn deletions_are_overdue_after_exactly_two_days() {
        let ran_at = parse_timestamp(RAN_AT).unwrap();
        let after = |age: Duration| level(Some(90), Some(RAN_AT), ran_at + age);
        assert_eq!(after(Duration::ZERO), Level::Ok);
        assert_eq!(after(MAX_RETENTION_AGE), Level::Ok);
        assert_eq!(after(MAX_RETENTION_AGE + Duration::from_nanos(1)), Level::Warning);
    }

    #[test]
    fn a_database_clock_that_is_ahead_is_ok() {
        let ran_at = parse_timestamp(RAN_AT).unwrap();
        assert_eq!(level(Some(90), Some(RAN_AT), ran_at - Duration::from_nanos(1)), Level::Ok);
        assert_eq!(level(Some(90), Some(RAN_AT), SystemTime::UNIX_EPOCH), Level::Ok);
    }

    #[test]
    fn a_retention_period_whose_deletion_never_ran_is_a_warning() {
        let now = parse_timestamp(RAN_AT).unwrap();
        assert_eq!(level(Some(1), None, now), Level::Warning);
        assert_eq!(level(Some(1), Some("yesterday"), now), Level::Warning);
    }

    #[test]
    fn without_a_retention_period_nothing_is_overdue() {
        let years_later = parse_timestamp("2036-11-22T10:04:05Z").unwrap();
        assert_eq!(level(None, None, years_later), Level::Ok);
        assert_eq!(level(None, Some(RAN_AT), years_later), Level::Ok);
    }
}
