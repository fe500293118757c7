//! `kb doctor`.

use super::*;

fn healthy() -> Value {
    let mut models = value!({});
    models[embedder::fingerprint()] = 24.into();
    value!({
        "schema_version": kb::doctor::NEWEST_MIGRATION,
        "vector_version": "0.8.1",
        "tables": [{ "name": "kb_documents", "rls": true }],
        "indexes": [{ "name": "kb_chunks_pkey", "table": "kb_chunks", "exists": true, "valid": true }],
        "access_changes": [],
        "documents": { "ready": 2, "pending": 0, "failed": 0 },
        "failed": 0,
        "pending_older_than_day": 0,
        "documents_without_chunks": 0,
        "chunks": 24,
        "stale_chunks": 0,
        "chunks_without_embedding": 0,
        "embeddings_by_model": models,
        "visibility_mismatches": 0,
        "sentences_missing": 0,
        "lexeme_mismatch": false,
        "audience_claims": [], "assistants_without_documents": [],
        "missing_files": [], "missing_file_count": 0,
        "orphan_files": [], "orphan_file_count": 0,
        "public_bucket": false, "widening_policies": [],
        "worker_secret_set": true, "internal_exposed": false,
        "retention_days": null, "retention_ran_at": null,
        "has_inactive_anonymous_users": false,
        "visible_documents": 2, "anonymous_documents": 0,
        "counts": { "counted_day": "2026-11-22", "recorded_day": "2026-11-22" },
        "alerts": { "url_set": false, "measures": [], "pg_net": false, "checked_at": null, "sent": [] },
    })
}

fn doctor(health: Value, arguments: &[&str]) -> Output {
    doctor_with(health, calibration(embedder::fingerprint()), arguments)
}

fn doctor_with(health: Value, calibration: Value, arguments: &[&str]) -> Output {
    let fake = server(move |line| match line {
        HEALTH => Some(health.clone()),
        CALIBRATION => Some(calibration.clone()),
        LEXEMES => Some(value!([{ "language": "english", "chunks": 24 }])),
        _ => None,
    });
    kb(&fake.url, &[&["doctor"], arguments].concat())
}

fn access_change(kind: &str, name: &str, change: &str) -> Value {
    value!({ "kind": kind, "name": name, "change": change })
}

fn calibration(model: &str) -> Value {
    value!([{
        "model": model, "language": "english", "mean": -4.2, "deviation": 2.0, "questions": 80,
        "updated_at": "2026-11-22T10:04:05+00:00",
    }])
}

/// The level of a check.
fn level(report: &Value, name: &str) -> String {
    let checks = report["checks"].as_array().unwrap();
    let check =
        checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("{name}: {report}"));
    check["level"].as_str().unwrap().to_owned()
}

#[test]
fn a_healthy_knowledge_base_has_no_problems() {
    let output = doctor(healthy(), &[]);
    assert!(output.out.ends_with("\nAll is well.\n"), "{}{}", output.out, output.err);
    assert_eq!(output.code, 0);
    let report = doctor(healthy(), &["--json"]).json();
    assert_eq!(
        (&report["ok"], &report["problems"], &report["warnings"]),
        (&value!(true), &value!(0), &value!(0))
    );
}

#[test]
fn each_fault_is_reported_and_only_problems_exit_with_1() {
    let faults = [
        ("schema_version", value!("20261201000100"), "schema", "problem"),
        ("vector_version", value!("0.7.0"), "pgvector", "problem"),
        ("tables", value!([{ "name": "kb_\u{1b}", "rls": false }]), "rls", "problem"),
        ("access_changes", value!([access_change("view", "public.v\u{1b}", "changed")]), "access", "problem"),
        ("internal_exposed", value!(true), "api", "problem"),
        ("worker_secret_set", value!(false), "worker", "warning"),
        ("retention_days", value!(90), "retention", "warning"),
        (
            "indexes",
            value!([{ "name": "i", "table": "t", "exists": true, "valid": false }]),
            "indexes",
            "problem",
        ),
        ("visibility_mismatches", value!(1), "visibility", "problem"),
        ("embeddings_by_model", value!({ "another\u{1b}": 1 }), "vectors", "problem"),
        ("public_bucket", value!(true), "bucket", "problem"),
        ("widening_policies", value!(["p\u{1b}"]), "bucket", "warning"),
        ("orphan_file_count", value!(1), "orphans", "warning"),
        ("missing_file_count", value!(1), "originals", "warning"),
        ("pending_older_than_day", value!(1), "pending", "warning"),
        ("stale_chunks", value!(1), "stale", "warning"),
        ("chunks_without_embedding", value!(1), "unembedded", "warning"),
        ("documents_without_chunks", value!(1), "documents", "warning"),
        ("documents", value!({}), "documents", "warning"),
        ("sentences_missing", value!(20), "sentences", "warning"),
        ("lexeme_mismatch", value!(true), "words", "warning"),
        ("counts", value!({ "counted_day": null, "recorded_day": "2026-11-22" }), "insights", "warning"),
        (
            "alerts",
            value!({ "url_set": true, "measures": ["cited_share"], "pg_net": false, "checked_at": null, "sent": [] }),
            "alerts",
            "warning",
        ),
    ];
    for (field, broken, check, expected) in faults {
        let mut health = healthy();
        health[field] = broken;
        let output = doctor(health.clone(), &["--json"]);
        let report = output.json();
        assert_eq!(level(&report, check), expected, "{field}");
        assert_eq!(
            report["problems"].as_u64().unwrap() + report["warnings"].as_u64().unwrap(),
            1,
            "{field}: {report}"
        );
        assert_eq!(output.code, i32::from(expected == "problem"), "{field}");
        let text = doctor(health, &[]).out;
        assert!(text.contains('→'), "{field} without a word on how to fix it: {text}");
    }
}

/// Responses of the API with and without the schema `internal`, whatever the database reports.
#[test]
fn the_api_is_asked_whether_it_exposes_the_schema_internal() {
    for (status, body, expected) in [
        (403, r#"{"code":"42501","message":"permission denied for table expected_access"}"#, "problem"),
        (200, "[]", "problem"),
        (
            404,
            r#"{"code":"PGRST205","message":"Could not find the table 'internal.expected_access'"}"#,
            "problem",
        ),
        (404, r#"{"code":"PGRST205","message":"Could not find the table 'public.expected_access'"}"#, "ok"),
        (404, r#"{"code":"42P01","message":"relation \"expected_access\" does not exist"}"#, "ok"),
        (404, "not found", "ok"),
        (406, r#"{"code":"PGRST106","message":"Invalid schema: internal"}"#, "ok"),
    ] {
        let fake = FakeServer::start(move |request, before| match request.line.as_str() {
            INTERNAL => json(status, body),
            HEALTH => json(200, healthy().to_string()),
            CALIBRATION if before == 0 => json(200, calibration(embedder::fingerprint()).to_string()),
            _ => json(200, "[]"),
        });
        let output = kb(&fake.url, &["doctor", "--json"]);
        assert_eq!(level(&output.json(), "api"), expected, "{status} {body}");
        assert_eq!(output.code, i32::from(expected == "problem"), "{status} {body}");
        let request = fake.requests().into_iter().find(|request| request.line == INTERNAL).unwrap();
        assert!(request.headers.to_ascii_lowercase().contains("accept-profile: internal\r\n"));
    }
}

#[test]
fn the_calibration_is_shown_and_an_outdated_one_is_a_warning() {
    let expected = "questions about something else reach evidence -4.2 ± 2.0 (80 questions in english, 2026-11-22 10:04 UTC)";
    let output = doctor(healthy(), &[]);
    assert!(output.out.contains(expected), "{}", output.out);
    for (stored, reason) in [(value!([]), "none"), (calibration("another"), "another model")] {
        let output = doctor_with(healthy(), stored.clone(), &[]);
        let line =
            output.out.lines().find(|line| line.starts_with("warning  calibration")).unwrap_or_default();
        assert!(line.contains(reason), "{}", output.out);
        assert_eq!(output.code, 0);
        assert_eq!(doctor_with(healthy(), stored, &["--json"]).json()["warnings"], 1);
    }
    let fake = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (HEALTH, _) => json(200, healthy().to_string()),
        (CALIBRATION, _) => json(200, calibration(embedder::fingerprint()).to_string()),
        // First all documents, of which there are none; then those changed since.
        (DOCUMENTS, 1) => json(200, r#"[{"id":"x"}]"#),
        _ => json(200, "[]"),
    });
    let output = kb(&fake.url, &["doctor"]);
    assert!(output.out.contains("documents have changed since"), "{}", output.out);
}

#[test]
fn documents_in_unsupported_scripts_are_named() {
    let fake = server(|line| match line {
        HEALTH => Some(healthy()),
        CALIBRATION => Some(calibration(embedder::fingerprint())),
        "POST /rest/v1/rpc/kb_non_latin_documents" => Some(value!([{ "source": HOSTILE }])),
        _ => None,
    });
    let output = kb(&fake.url, &["doctor"]);
    assert!(output.out.contains("warning  scripts"), "{}", output.out);
    assert!(output.out.contains("1 document in a script that the model cannot read"), "{}", output.out);
    assert!(output.out.contains("kb/a\\u{1b}"), "{}", output.out);
}

#[test]
fn what_is_not_up_to_date_and_duplicates_are_named() {
    let fake = server(|line| match line {
        HEALTH => Some(healthy()),
        DOCUMENTS => {
            let mut twin = document(2, "kb/b.md", "ready");
            twin["content_hash"] = "hash 1".into();
            Some(value!([document(1, HOSTILE, "ready"), twin]))
        }
        _ => None,
    });
    let output = kb(&fake.url, &["doctor"]);
    assert!(output.out.contains("duplicates") && output.out.contains(".md = kb/b.md"), "{}", output.out);
    let fake = server(|line| match line {
        HEALTH => Some(healthy()),
        TROUBLES => Some(troubles()),
        _ => None,
    });
    let output = kb(&fake.url, &["doctor"]);
    assert!(
        output.out.contains("warning  syncs        1 document or collection not up to date"),
        "{}",
        output.out
    );
    assert!(output.out.contains("kb/b.pdf: kb/a\\u{1b}"), "{}", output.out);
    assert!(output.out.contains("is encrypted (since 2026-11-20 08:00 UTC)"), "{}", output.out);
    assert_eq!(output.code, 0);
}

#[test]
fn a_postgres_without_storage_is_ok() {
    let mut health = healthy();
    for field in [
        "missing_files",
        "missing_file_count",
        "orphan_files",
        "orphan_file_count",
        "public_bucket",
        "widening_policies",
    ] {
        health.as_object_mut().unwrap().remove(field);
    }
    health["schema_version"] = Value::Null;
    assert_eq!(doctor(health, &["--json"]).json()["ok"], true);
}

#[test]
fn fix_deletes_only_orphans_and_leftovers() {
    let orphan = format!("originals/{}/x.md", id(9));
    let broken = {
        let mut health = healthy();
        health["pending_older_than_day"] = 1.into();
        health["orphan_files"] = value!([&orphan]);
        health["orphan_file_count"] = 1.into();
        health
    };
    let fake = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (HEALTH, 0 | 1) => json(200, broken.to_string()),
        (HEALTH, _) => json(200, healthy().to_string()),
        (DOCUMENTS, 0) => json(200, value!([document(1, "kb/half.md", "pending")]).to_string()),
        (DELETE_DOCUMENTS, _) => json(200, "[]"),
        (CALIBRATION, _) => json(200, calibration(embedder::fingerprint()).to_string()),
        (INTERNAL, _) => not_exposed(),
        _ => json(200, "[]"),
    });
    let output = kb(&fake.url, &["doctor", "--fix"]);
    assert!(
        output.out.starts_with("deleted the incomplete kb/half.md\ndeleted 1 original that"),
        "{}",
        output.out
    );
    assert!(output.out.ends_with("All is well.\n"), "{}", output.out);
    let requests = fake.requests();
    let deleted: Vec<_> = requests
        .iter()
        .filter(|request| [DELETE_DOCUMENTS, DELETE_FILES].contains(&request.line.as_str()))
        .collect();
    let lines: Vec<_> = deleted.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines, [DELETE_DOCUMENTS, DELETE_FILES, DELETE_FILES]);
    assert_eq!(deleted[2].body, value!({ "prefixes": [orphan] }).to_string());
}

#[test]
fn orphans_that_cannot_be_deleted_do_not_cause_an_endless_loop() {
    let mut health = healthy();
    health["orphan_files"] = value!(["originals/x/y"]);
    health["orphan_file_count"] = 1.into();
    let fake = server(move |line| (line == HEALTH).then(|| health.clone()));
    assert_eq!(kb(&fake.url, &["doctor", "--fix"]).code, 0);
    assert_eq!(fake.count(DELETE_FILES), 1);
}

#[test]
fn a_missing_model_is_a_problem_that_says_where_to_get_it() {
    let output = doctor(healthy(), &["--model-dir", "/nowhere", "--json"]);
    assert_eq!((output.code, level(&output.json(), "model")), (1, "problem".to_owned()));
    assert!(output.out.contains("cargo xtask setup"), "{}", output.out);
}

#[test]
fn a_wrong_key_an_old_schema_and_an_unreachable_server_are_distinguished() {
    let wrong_key = FakeServer::start(|_, _| json(401, format!(r#"{{"message":"bad {KEY}"}}"#)));
    let publishable =
        FakeServer::start(|_, _| json(403, r#"{"code":"42501","message":"permission denied"}"#));
    for fake in [wrong_key, publishable] {
        let output = kb(&fake.url, &["doctor"]);
        assert!(
            output.out.contains("PROBLEM  key") && output.out.contains("SUPABASE_SECRET_KEY"),
            "{}",
            output.out
        );
        assert_eq!(output.code, 1);
    }
    let old = FakeServer::start(|_, _| json(404, r#"{"code":"PGRST202","message":"no function kb_health"}"#));
    let output = kb(&old.url, &["doctor"]);
    assert!(output.out.contains("→ supabase db push --remote"), "{}", output.out);
    assert_eq!(output.code, 1);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let output = kb(&format!("http://{closed}"), &["doctor", "--json"]);
    assert_eq!((output.code, level(&output.json(), "server")), (1, "problem".to_owned()));
}

#[test]
fn an_assistant_without_documents_is_a_warning() {
    let mut state = healthy();
    state["assistants_without_documents"] = value!(["staff"]);
    let output = doctor(state, &["--json"]);
    assert_eq!(level(&output.json(), "assistants"), "warning");
}
