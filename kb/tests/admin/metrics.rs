//! `kb stats · gaps`.

use super::*;

#[test]
fn stats_total_the_collections_and_show_days() {
    let fake = server(|line| match line {
        OVERVIEW => Some(value!([
            document(1, "kb/a.md", "ready"),
            document(2, "kb/b.md", "failed"),
            document(3, "site\u{1b}/c.md", "ready"),
        ])),
        "GET /rest/v1/kb_syncs" => Some(value!([{
            "collection": "kb", "started_at": "2026-11-22T09:00:00+00:00", "renewed_at": "2026-11-22T09:01:00+00:00",
            "finished_at": "2026-11-22T09:02:00+00:00", "host": "h", "summary": {},
        }])),
        "GET /rest/v1/chat_metrics" => Some(value!([
            { "day": "2026-11-22", "assistant": "default", "questions": 8, "answers": 6, "refusals": 2, "answer_rate": 0.75, "users": 3,
              "latency_p50_ms": 120, "latency_p95_ms": null, "cited_documents": 2, "liked": 3, "disliked": 1 },
            { "day": "2026-11-21", "assistant": "default", "questions": 4, "answers": 0, "refusals": 0, "answer_rate": null, "users": 1,
              "latency_p50_ms": null, "latency_p95_ms": null, "cited_documents": 0, "liked": 0, "disliked": 0 },
        ])),
        _ => None,
    });
    let output = kb(&fake.url, &["stats"]).out;
    assert_eq!(fake.count(HEALTH), 0, "days that are there were counted");
    assert!(
        output.contains("2026-11-22 09:02") && output.contains("never") && output.contains("site\\u{1b}"),
        "{output}"
    );
    let total = output.lines().find(|line| line.starts_with("total")).unwrap();
    assert_eq!(total.split_whitespace().collect::<Vec<_>>(), ["total", "2", "0", "1", "0", "36", "0"]);
    let days: Vec<_> = output.lines().filter(|line| line.starts_with("2026-11-2")).collect();
    assert!(days[0].contains(" 3/4 "), "{output}");
    assert!(days[0].contains("75 %") && days[0].ends_with(&"█".repeat(10)), "{output}");
    assert!(days[1].contains('–') && days[1].ends_with(&format!("  {}", "█".repeat(5))), "{output}");
}

#[test]
fn gaps_are_listed_with_their_questions() {
    let rows = value!([{
        "assistant": "default", "question": "How?\u{1b}[2J", "questions": 5, "users": 2, "best_score": 0.312, "reasons": ["no_match"],
        "first_asked": "2026-11-20T09:00:00+00:00", "last_asked": "2026-11-22T09:02:00+00:00",
    }]);
    let fake = table("GET /rest/v1/content_gaps", rows.clone());
    let output = kb(&fake.url, &["gaps"]).out;
    assert!(
        output.contains("    5      2        0.31  2026-11-22 09:02  default    How?\\u{1b}[2J"),
        "{output}"
    );
    // Shown gaps were counted, so the secret exists and need not be checked.
    assert_eq!(fake.count(HEALTH), 0);
    assert_eq!(kb(&table("GET /rest/v1/content_gaps", rows.clone()).url, &["gaps", "--json"]).json(), rows);
}

#[test]
fn gaps_print_the_minimum_number_of_users() {
    let gaps = |settings: Value| {
        let fake = table(SETTINGS, settings);
        kb(&fake.url, &["gaps"]).out
    };
    let text = gaps(value!([]));
    assert!(
        text.starts_with("There is no unanswered question to show.\nOnly questions that at least 2 users"),
        "{text}"
    );
    assert!(text.contains("`gap_users` in the table chat_settings changes that"), "{text}");
    assert!(gaps(settings(value!({ "gap_users": 7 }))).contains("at least 7 users asked"));
    assert!(gaps(settings(value!({ "gap_users": 1 }))).contains("of a single user are shown, too"));
}

#[test]
fn gaps_and_stats_hint_at_a_missing_worker_secret_only_if_they_are_empty() {
    for command in ["gaps", "stats"] {
        let run = |is_known, arguments: &[&str]| {
            let fake = server(move |line| (line == HEALTH).then(|| privacy(is_known)));
            let output = kb(&fake.url, &[&[command], arguments].concat());
            assert_eq!(output.code, 0, "{}", output.err);
            output.out
        };
        let text = run(false, &[]);
        let hint = "\nNothing is counted until the database knows the secret of the Worker: see `kb worker-secret --help`.\n";
        assert!(text.ends_with(hint), "{command}: {text}");
        assert!(!run(true, &[]).contains("worker-secret"), "{command}");
        let json = run(false, &["--json"]);
        serde_json::from_str::<Value>(&json).unwrap();
    }
}

#[test]
fn assistants_are_listed_with_what_they_search_and_how_often_they_are_asked() {
    let rows = value!([
        { "name": "default", "enabled": true, "title": null, "collections": null, "audience": null, "documents": 7,
          "questions": 12 },
        { "name": "staff", "enabled": false, "title": "Staff\u{1b}[2J", "collections": ["handbook", "faq"],
          "audience": ["team:staff"], "documents": 0, "questions": 0 },
    ]);
    let list =
        |arguments: &[&str]| kb(&table("GET /rest/v1/assistant_overview", rows.clone()).url, arguments);
    let output = list(&["assistants"]).out;
    let lines: Vec<Vec<_>> = output.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["default", "enabled", "7", "12", "signed-in", "users", "all"], "{output}");
    assert_eq!(lines[2], ["staff", "disabled", "0", "0", "team:staff", "handbook,", "faq"], "{output}");
    assert_eq!(list(&["assistants", "--json"]).json(), rows);
}
