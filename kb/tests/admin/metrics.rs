//! `kb stats · gaps`.

use super::*;

#[test]
fn stats_add_up_collections_and_draw_days() {
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
            { "day": "2026-11-22", "questions": 8, "answers": 6, "refusals": 2, "answer_rate": 0.75, "users": 3,
              "latency_p50_ms": 120, "latency_p95_ms": null, "cited_documents": 2 },
            { "day": "2026-11-21", "questions": 4, "answers": 0, "refusals": 0, "answer_rate": null, "users": 1,
              "latency_p50_ms": null, "latency_p95_ms": null, "cited_documents": 0 },
        ])),
        _ => None,
    });
    let output = kb(&fake.url, &["stats"]).out;
    assert!(
        output.contains("2026-11-22 09:02") && output.contains("never") && output.contains("site\\u{1b}"),
        "{output}"
    );
    let total = output.lines().find(|line| line.starts_with("in all")).unwrap();
    assert_eq!(total.split_whitespace().collect::<Vec<_>>(), ["in", "all", "2", "0", "1", "0", "36", "0"]);
    let days: Vec<_> = output.lines().filter(|line| line.starts_with("2026-11-2")).collect();
    assert!(days[0].contains("75 %") && days[0].ends_with(&"█".repeat(10)), "{output}");
    assert!(days[1].contains('–') && days[1].ends_with(&format!("  {}", "█".repeat(5))), "{output}");
}

#[test]
fn gaps_are_listed_with_what_was_asked() {
    let rows = value!([{
        "question": "How?\u{1b}[2J", "questions": 5, "users": 2, "best_score": 0.312, "reasons": ["no_match"],
        "first_asked": "2026-11-20T09:00:00+00:00", "last_asked": "2026-11-22T09:02:00+00:00",
    }]);
    let output = kb(&table("GET /rest/v1/content_gaps", rows).url, &["gaps"]).out;
    assert!(output.contains("    5      2        0.31  2026-11-22 09:02  How?\\u{1b}[2J"), "{output}");
    assert!(kb(&server(|_| None).url, &["gaps"]).out.contains("No question was refused"));
}
