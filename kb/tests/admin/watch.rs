//! `kb watch`.

use std::process::Child;
use std::time::Instant;

use super::*;

const REPORT: &str = "POST /rest/v1/rpc/kb_report_watch";
const BEGIN: &str = "POST /rest/v1/rpc/kb_begin_sync";
const END: &str = "POST /rest/v1/rpc/kb_end_sync";

/// An empty project in which every sync gets its lease.
fn empty_project(request: &Request) -> Answer {
    match request.line.as_str() {
        BEGIN => json(200, value!({ "acquired": true, "host": null, "started_at": null }).to_string()),
        END => json(200, "true"),
        "POST /rest/v1/rpc/kb_renew_sync" => json(200, "true"),
        REPORT => json(204, ""),
        _ => json(200, "[]"),
    }
}

fn watch(url: &str, arguments: &[&str]) -> Output {
    kb(url, &[&["watch"], arguments].concat())
}

/// The events that were reported, with the failure of each.
fn reports(fake: &FakeServer) -> Vec<(String, Value)> {
    let reports = fake.requests().into_iter().filter(|request| request.line == REPORT);
    reports
        .map(|request| {
            let mut body: Value = serde_json::from_str(&request.body).unwrap();
            (body["event"].as_str().unwrap().to_owned(), body["failure"].take())
        })
        .collect()
}

fn start(url: &str, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(["watch", "--json"])
        .args(arguments)
        .env("SUPABASE_URL", url)
        .env("SUPABASE_SECRET_KEY", KEY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_until(what: &str, is_done: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_done() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited a minute for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn one_round_syncs_the_bucket_and_reports_its_beginning_and_its_end() {
    let fake = FakeServer::start(|request, _| empty_project(request));
    let output = watch(&fake.url, &["--once", "--json"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let round = output.json();
    assert_eq!((&round["reembedded"], &round["failures"]), (&value!(0), &value!([])));
    assert_eq!(round["syncs"][0]["added"], 0);
    let null = Value::Null;
    let events = ["running", "finished", "stopped"].map(|event| (event.to_owned(), null.clone()));
    assert_eq!(reports(&fake), events);
    let first = fake.requests().into_iter().find(|request| request.line == REPORT).unwrap();
    let body: Value = serde_json::from_str(&first.body).unwrap();
    assert_eq!((&body["sources"], &body["interval_seconds"]), (&value!("bucket"), &null));
}

#[test]
fn a_failed_step_is_reported_to_the_database_and_does_not_stop_the_others() {
    let fake = FakeServer::start(|request, _| match request.line.as_str() {
        BEGIN => json(400, r#"{"code":"x","message":"no lease today"}"#),
        _ => empty_project(request),
    });
    let output = watch(&fake.url, &["--once"]);
    assert_eq!(output.code, 1);
    assert!(
        output.err.contains("bucket: the server refused the data (400): no lease today"),
        "{}",
        output.err
    );
    let reports = reports(&fake);
    assert_eq!(reports[1].0, "finished");
    assert!(reports[1].1.as_str().unwrap().contains("no lease today"), "{reports:?}");
}

#[test]
fn a_wrong_key_ends_it_at_the_start() {
    let fake = FakeServer::start(|_, _| json(401, "{}"));
    let output = watch(&fake.url, &[]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("SUPABASE_SECRET_KEY"), "{}", output.err);
}

#[test]
fn web_sites_and_intervals_that_would_be_impolite_are_refused() {
    let fake = FakeServer::start(|request, _| empty_project(request));
    let site = watch(&fake.url, &["https://docs.example.com/sitemap.xml"]);
    assert!(
        site.code == 1 && site.err.contains("run `kb sync https://docs.example.com/sitemap.xml` every night")
    );
    assert_eq!(watch(&fake.url, &["--interval", "4"]).code, 2);
    assert!(fake.requests().is_empty());
}

#[test]
fn two_sources_of_one_collection_are_refused_and_each_may_name_its_own() {
    let fake = FakeServer::start(|request, _| empty_project(request));
    let root = tempfile::tempdir().unwrap();
    let folder = |team: &str| {
        let path = root.path().join(team).join("docs");
        std::fs::create_dir_all(&path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (a, b) = (folder("a"), folder("b"));
    let both = watch(&fake.url, &["--once", &a, &b]);
    assert!(both.code == 1 && both.err.contains("are both the collection docs"), "{}", both.err);
    assert!(fake.requests().is_empty());
    let named = watch(&fake.url, &["--once", &a, &format!("team-b={b}")]);
    assert_eq!(named.code, 0, "{}", named.err);
    let begun = fake.requests().into_iter().filter(|request| request.line == BEGIN);
    let collections =
        begun.map(|request| serde_json::from_str::<Value>(&request.body).unwrap()["collection"].take());
    assert_eq!(collections.collect::<Vec<_>>(), ["docs", "team-b"]);
    let with_sign = folder("a=b");
    assert_eq!(watch(&fake.url, &["--once", &with_sign]).code, 0);
    assert_eq!(watch(&fake.url, &["--once", &format!("a/b={b}")]).code, 1);
}

#[cfg(unix)]
#[test]
fn a_signal_stops_it_between_rounds_with_a_report_and_a_failure_is_printed_once() {
    let fake = FakeServer::start(|request, _| match request.line.as_str() {
        BEGIN => json(400, r#"{"code":"x","message":"no lease today"}"#),
        _ => empty_project(request),
    });
    let child = start(&fake.url, &["--interval", "5"]);
    let finished = || reports(&fake).iter().filter(|(event, _)| event == "finished").count();
    wait_until("two rounds", || finished() >= 2);
    let signalled = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(reports(&fake).last().unwrap().0, "stopped");
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(out.lines().count(), finished(), "a line of JSON for each round: {out}");
    assert_eq!(err.matches("no lease today").count(), 1, "{err}");
}

#[cfg(unix)]
#[test]
fn a_signal_during_a_sync_returns_its_lease_and_a_single_round_has_then_failed() {
    for (arguments, code) in [(&["--interval", "5"][..], 0), (&["--once"], 1)] {
        let fake = FakeServer::start(|request, _| match request.line.as_str() {
            line if line.starts_with("POST /storage/v1/object/list") => {
                // One thread answers all requests: the list is slow, not the server.
                std::thread::sleep(Duration::from_secs(2));
                empty_project(request)
            }
            _ => empty_project(request),
        });
        let child = start(&fake.url, arguments);
        wait_until("the list of files", || {
            fake.requests().iter().any(|request| request.line.starts_with("POST /storage"))
        });
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(code), "{arguments:?}");
        assert_eq!(fake.count(END), 1);
        assert_eq!(reports(&fake).last().unwrap().0, "stopped");
    }
}

#[test]
fn an_audience_that_cannot_be_stored_is_refused_before_anything_is_sent() {
    let fake = FakeServer::start(|request, _| empty_project(request));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    for arguments in [&["sync", "--dry-run"][..], &["sync"], &["watch", "--once"]] {
        for (audience, advice) in [
            ("email:bob@example.com", "use a claim of app_metadata"),
            ("sales", "write for example team:sales"),
        ] {
            let output = kb(&fake.url, &[arguments, &[folder, "--audience", audience]].concat());
            assert_eq!(output.code, 1, "{}{}", output.out, output.err);
            assert!(output.err.contains("--audience") && output.err.contains(advice), "{}", output.err);
        }
    }
    assert!(fake.requests().is_empty());
}
