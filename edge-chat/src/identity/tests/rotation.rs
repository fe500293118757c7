//! The published keys over time: expiry, rotation, floods of unknown keys, and failed fetches.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use futures_util::future::join_all;
use serde_json::json;

use super::super::key_set::{KeySet, MAX_BYTES};
use super::*;

const HOUR: u64 = 60 * 60;

fn no_keys(result: Result<(), AuthError>) {
    assert!(matches!(result, Err(AuthError::NoKeys(_))), "{result:?}");
}

#[test]
fn a_key_set_is_used_for_ten_minutes() {
    let key = ec_key(1);
    let isolate = Isolate::new(&[ec_jwk("a", &key)]);
    for (at, fetches) in [(0, 1), (599, 1), (600, 2), (1199, 2), (1200, 3)] {
        assert_eq!(isolate.at(at).verify(&es256_token("a", &key)), Ok(()));
        assert_eq!(isolate.fetches(), fetches, "after {at} s");
    }
}

#[test]
fn a_new_key_is_fetched_immediately_and_replaces_the_old_set() {
    let (old, new) = (ec_key(1), ec_key(2));
    let isolate = Isolate::new(&[ec_jwk("old", &old)]);
    assert_eq!(isolate.verify(&es256_token("old", &old)), Ok(()));
    isolate.publish(&[ec_jwk("new", &new)]);
    // No token has named the new key yet.
    assert_eq!(isolate.at(1).verify(&es256_token("old", &old)), Ok(()));
    assert_eq!(isolate.at(2).verify(&es256_token("new", &new)), Ok(()));
    assert_eq!(isolate.fetches(), 2);
    assert_invalid(isolate.at(2).verify(&es256_token("old", &old)), "the old key");
}

#[test]
fn a_removed_key_is_rejected_after_the_next_fetch() {
    let (old, new) = (ec_key(1), ec_key(2));
    let isolate = Isolate::new(&[ec_jwk("old", &old), ec_jwk("new", &new)]);
    assert_eq!(isolate.verify(&es256_token("old", &old)), Ok(()));
    isolate.publish(&[ec_jwk("new", &new)]);
    assert_invalid(isolate.at(600).verify(&es256_token("old", &old)), "the old key");
    assert_eq!(isolate.fetches(), 2, "one request fetches once");
}

#[test]
fn unknown_keys_cause_one_fetch_in_thirty_seconds() {
    let key = ec_key(1);
    let isolate = Isolate::new(&[ec_jwk("a", &key)]);
    for (at, fetches) in [(0, 1), (1, 2), (2, 2), (30, 2), (31, 3), (60, 3), (61, 4)] {
        for n in 0..if at == 0 { 1 } else { 50 } {
            assert_invalid(isolate.at(at).verify(&es256_token(&format!("{at}-{n}"), &key)), "unknown");
        }
        assert_eq!(isolate.fetches(), fetches, "after {at} s");
        assert_eq!(isolate.verify(&es256_token("a", &key)), Ok(()));
    }
}

#[test]
fn without_a_key_set_a_failed_fetch_is_not_an_invalid_token() {
    let key = ec_key(1);
    let token = es256_token("a", &key);
    let isolate = Isolate::new(&[]);
    isolate.answer(Err("HTTP 500"));
    for (at, fetches) in [(0, 1), (4, 1), (5, 2), (9, 2)] {
        assert_eq!(isolate.at(at).verify(&token), Err(AuthError::NoKeys("HTTP 500".to_owned())));
        assert_eq!(isolate.fetches(), fetches, "after {at} s");
    }
    assert_eq!(isolate.verify(&hs256_token(&claims())), Ok(()));
    isolate.publish(&[ec_jwk("a", &key)]);
    assert_eq!(isolate.at(10).verify(&token), Ok(()));
    assert_invalid(
        isolate.verify(&es256_token("b", &key)),
        "once keys are there, an unknown one is the token's fault",
    );
}

#[test]
fn the_last_key_set_is_used_for_an_hour_while_fetches_fail() {
    let key = ec_key(1);
    let token = es256_token("a", &key);
    let isolate = Isolate::new(&[ec_jwk("a", &key)]);
    assert_eq!(isolate.verify(&token), Ok(()));
    isolate.answer(Err("no connection"));
    for (at, fetches) in [(599, 1), (600, 2), (629, 2), (630, 3), (HOUR - 1, 4)] {
        assert_eq!(isolate.at(at).verify(&token), Ok(()));
        assert_eq!(isolate.fetches(), fetches, "after {at} s");
    }
    no_keys(isolate.at(HOUR).verify(&token));
    isolate.publish(&[ec_jwk("a", &key)]);
    assert_eq!(isolate.at(HOUR + 5).verify(&token), Ok(()));
}

#[test]
fn an_unknown_key_is_not_called_invalid_while_fetches_fail() {
    let (old, new) = (ec_key(1), ec_key(2));
    let isolate = Isolate::new(&[ec_jwk("old", &old)]);
    assert_eq!(isolate.verify(&es256_token("old", &old)), Ok(()));
    isolate.answer(Err("no connection"));
    for at in [1, 2, 30] {
        no_keys(isolate.at(at).verify(&es256_token("new", &new)));
        assert_eq!(isolate.fetches(), 2, "after {at} s");
        assert_eq!(isolate.verify(&es256_token("old", &old)), Ok(()));
    }
    isolate.publish(&[ec_jwk("new", &new)]);
    assert_eq!(isolate.at(31).verify(&es256_token("new", &new)), Ok(()));
}

#[test]
fn an_invalid_key_set_does_not_replace_a_valid_one() {
    let key = ec_key(1);
    let jwk = ec_jwk("a", &key);
    let many = vec![json!({ "kty": "OKP" }); 65];
    let twice = jwk.to_string().replacen('{', r#"{"kty":"EC","#, 1);
    for wrong in [
        String::new(),
        "<html>".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"{"keys":null}"#.to_owned(),
        r#"{"keys":{}}"#.to_owned(),
        r#"{"keys":[1]}"#.to_owned(),
        r#"{"keys":[],"keys":[]}"#.to_owned(),
        format!(r#"{{"keys":[{twice}]}}"#),
        format!("[[{jwk}]]"),
        json!({ "keys": [{ "kty": "oct", "k": "AAAA" }] }).to_string(),
        json!({ "keys": [jwk, jwk] }).to_string(),
        json!({ "keys": many }).to_string(),
        json!({ "keys": [jwk], "x": "x".repeat(MAX_BYTES) }).to_string(),
    ] {
        assert!(KeySet::parse(wrong.as_bytes()).is_err(), "{wrong}");
        let isolate = Isolate::new(std::slice::from_ref(&jwk));
        assert_eq!(isolate.verify(&es256_token("a", &key)), Ok(()));
        isolate.answer(Ok(Some(&wrong)));
        assert_eq!(isolate.at(600).verify(&es256_token("a", &key)), Ok(()), "{wrong}");
        assert_eq!(isolate.fetches(), 2);
    }
}

#[test]
fn a_key_set_has_at_most_64_keys_and_64_kib() {
    let set = |keys: usize, bytes: usize| {
        let mut jwks = vec![json!({ "kty": "OKP" }); keys - 1];
        jwks.push(ec_jwk("a", &ec_key(1)));
        let text = json!({ "keys": jwks }).to_string();
        KeySet::parse(format!("{text}{}", " ".repeat(bytes.saturating_sub(text.len()))).as_bytes()).is_ok()
    };
    assert_eq!(
        [set(64, 0), set(65, 0), set(1, MAX_BYTES), set(1, MAX_BYTES + 1)],
        [true, false, true, false]
    );
}

#[test]
fn keys_of_other_kinds_are_ignored() {
    let key = ec_key(1);
    let others = [
        json!({ "kty": "oct", "kid": "s", "alg": "HS256", "k": base64url([7; 32]) }),
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": "o", "x": "AA" }),
        json!({ "kty": 7, "kid": 7 }),
        json!({}),
    ];
    let isolate = Isolate::new(&[others.as_slice(), &[ec_jwk("a", &key)]].concat());
    assert_eq!(isolate.verify(&es256_token("a", &key)), Ok(()));
    let header = json!({ "alg": "HS256", "kid": "s" });
    assert_invalid(isolate.verify(&sign(&header, &claims(), hs256(&[7; 32]))), "oct");
}

#[test]
fn a_project_without_public_keys_rejects_tokens_of_public_keys() {
    let token = es256_token("a", &ec_key(1));
    for answer in [Ok(None), Ok(Some(r#"{"keys":[]}"#))] {
        let isolate = Isolate::new(&[]);
        isolate.answer(answer);
        assert_invalid(isolate.verify(&token), "cold");
        assert_invalid(isolate.verify(&token), "again");
        assert_invalid(isolate.verify(&token), "too soon");
        assert_eq!(isolate.fetches(), 2);
    }
}

#[test]
fn an_empty_key_set_revokes_all_keys_but_a_missing_one_does_not() {
    let key = ec_key(1);
    let token = es256_token("a", &key);
    let isolate = Isolate::new(&[ec_jwk("a", &key)]);
    assert_eq!(isolate.verify(&token), Ok(()));
    isolate.answer(Ok(None));
    assert_eq!(isolate.at(600).verify(&token), Ok(()));
    isolate.publish(&[]);
    assert_invalid(isolate.at(630).verify(&token), "revoked");
}

#[test]
fn concurrent_requests_share_one_fetch() {
    let (old, new) = (ec_key(1), ec_key(2));
    let isolate = Isolate::new(&[ec_jwk("old", &old)]);
    isolate.platform.delay.set(3);
    let all = |token: String| {
        let requests = (0..200).map(|_| isolate.verify_async(&token));
        block_on(join_all(requests)).into_iter().filter(Result::is_ok).count()
    };
    assert_eq!((all(es256_token("old", &old)), isolate.fetches()), (200, 1));
    isolate.publish(&[ec_jwk("new", &new)]);
    assert_eq!((all(es256_token("new", &new)), isolate.fetches()), (200, 2));
    // A stale set is used while one request fetches.
    isolate.at(600);
    assert_eq!((all(es256_token("new", &new)), isolate.fetches()), (200, 3));
    assert_eq!((all(es256_token("unknown", &new)), isolate.fetches()), (0, 4));
}

#[test]
fn a_cancelled_fetch_is_repeated() {
    let key = ec_key(1);
    let token = es256_token("a", &key);
    let isolate = Isolate::new(&[ec_jwk("a", &key)]);
    isolate.platform.delay.set(1);
    block_on(async {
        let mut cancelled = pin!(isolate.verify_async(&token));
        assert!(poll_fn(|context| Poll::Ready(cancelled.as_mut().poll(context).is_pending())).await);
    });
    assert_eq!(isolate.fetches(), 1);
    isolate.platform.pause_ms.set(20);
    assert_eq!(isolate.verify(&token), Ok(()));
    assert_eq!((isolate.fetches(), isolate.platform.now_ms()), (2, (START_S + 4) * 1000));
}
