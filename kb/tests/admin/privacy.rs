//! `kb worker-secret · retain`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use sha2::{Digest, Sha256};

use super::*;

fn hash(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn worker_secret_prints_only_the_secret_and_sends_only_its_hash() {
    let fake = server(|_| Some(Value::Null));
    let mut secrets = Vec::new();
    for _ in 0..2 {
        let output = kb(&fake.url, &["worker-secret"]);
        assert_eq!(output.code, 0, "{}", output.err);
        let secret = output.out.strip_suffix('\n').unwrap().to_owned();
        // 32 bytes as base64url without padding.
        assert_eq!(secret.len(), 43, "{}", output.out);
        assert!(secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{secret}");
        assert!(
            output.err.contains("CHAT_WORKER_SECRET") && output.err.contains("stays valid"),
            "{}",
            output.err
        );
        assert!(!output.err.contains(&secret), "{}", output.err);
        secrets.push(secret);
    }
    assert_ne!(secrets[0], secrets[1]);
    let requests = fake.requests();
    assert_eq!(requests.len(), 2);
    for (request, secret) in requests.iter().zip(&secrets) {
        assert_eq!(request.line, SET_SECRET);
        assert_eq!(request.body, value!({ "secret_hash": hash(secret) }).to_string());
        assert!(!request.headers.contains(secret.as_str()));
    }
}

#[test]
fn a_secret_that_the_database_refused_is_not_printed() {
    let refusals = [
        (401, "{}"),
        (404, r#"{"code":"PGRST202","message":"no function"}"#),
        (400, r#"{"code":"22023","message":"secret_hash must be the SHA-256"}"#),
        (200, "no JSON"),
    ];
    for (status, body) in refusals {
        let fake = FakeServer::start(move |_, _| json(status, body));
        let output = kb(&fake.url, &["worker-secret"]);
        assert_eq!((output.code, output.out.as_str()), (1, ""), "{status}");
        assert!(output.err.starts_with("error: "), "{status}: {}", output.err);
        assert!(!output.err.contains("CHAT_WORKER_SECRET"), "{status}: {}", output.err);
    }
}

#[test]
fn a_retried_request_stores_the_secret_that_is_printed() {
    let fake = FakeServer::start(|_, before| if before == 0 { Answer::Drop } else { json(204, "") });
    let output = kb(&fake.url, &["worker-secret"]);
    let bodies: Vec<_> = fake.requests().into_iter().map(|request| request.body).collect();
    let expected = value!({ "secret_hash": hash(output.out.trim_end()) }).to_string();
    assert_eq!(bodies, [expected.clone(), expected]);
}

#[test]
fn a_closed_standard_output_is_an_error_for_worker_secret() {
    let (closed, is_closed) = mpsc::channel();
    let fake = FakeServer::start(move |_, _| {
        is_closed.recv().unwrap();
        json(204, "")
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(["worker-secret", "--supabase-url", &fake.url])
        .env("SUPABASE_SECRET_KEY", KEY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    closed.send(()).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("Nobody has it, so run this again"), "{err}");
}

/// Runs `kb retain` against a server that does this in the first of two pieces.
fn retain(settings: Value, done: Value, arguments: &[&str]) -> Output {
    let pieces = AtomicUsize::new(0);
    let fake = server(move |line| match line {
        SETTINGS => Some(settings.clone()),
        RETAIN => {
            let mut piece = done.clone();
            let is_first = pieces.fetch_add(1, Ordering::Relaxed) == 0;
            if !is_first {
                for (_, count) in
                    piece.as_object_mut().unwrap().iter_mut().filter(|(_, count)| count.is_number())
                {
                    *count = 0.into();
                }
            }
            piece["more"] = is_first.into();
            Some(piece)
        }
        _ => None,
    });
    let output = kb(&fake.url, &[&["retain"], arguments].concat());
    assert_eq!((output.code, fake.count(RETAIN)), (0, 2), "{}", output.err);
    assert!(
        fake.requests().iter().filter(|request| request.line == RETAIN).all(|request| request.body == "{}")
    );
    output
}

#[test]
fn retain_prints_what_it_deleted_and_the_schedule() {
    let done = |scheduled| {
        value!({ "sessions": 3, "refusals": 1, "anonymous": 4, "anonymous_users": 2, "undeletable_users": 1,
            "scheduled": scheduled })
    };
    let set = || settings(value!({ "retention_days": 90, "keep_refusals": "anonymous" }));
    let text = retain(set(), done(true), &[]).out;
    let expected = "Deleted 3 conversations and 1 unanswered question.\nRemoved the user of 4 unanswered questions.\n\
         Deleted 2 anonymous users without activity.\n1 anonymous user without activity could not be deleted, only what they \
         asked. Tables of your own that refer to auth.users need `on delete cascade`.\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("kept for 90 days") && text.contains("every night (pg_cron)"), "{text}");
    let text = retain(set(), done(false), &[]).out;
    assert!(text.contains("run `kb retain` every day") && !text.contains("every night"), "{text}");
}

#[test]
fn retain_prints_the_same_as_json() {
    let done = value!({ "sessions": 3, "refusals": 1, "anonymous": 4, "anonymous_users": 2, "undeletable_users": 0,
        "scheduled": true });
    let mut expected = done.clone();
    expected["retention_days"] = 90.into();
    expected["anonymous_retention_days"] = 30.into();
    expected["keep_refusals"] = "full".into();
    assert_eq!(retain(settings(value!({ "retention_days": 90 })), done, &["--json"]).json(), expected);
}
