//! Accepted and rejected tokens and published keys.

use serde_json::{Value, json};

use super::super::json::Object;
use super::super::keys::{PublicKey, Secret};
use super::super::rsa_key::RsaKey;
use super::*;
use crate::http::error::HttpError;

#[test]
fn tokens_of_each_algorithm_are_accepted() {
    let key = ec_key(1);
    let isolate = Isolate::new(&[ec_jwk("ec", &key), rsa_jwk("rsa")]);
    for token in [hs256_token(&claims()), es256_token("ec", &key), rs256_token("rsa")] {
        for authorization in [format!("Bearer {token}"), format!("bearer  {token} ")] {
            let user = verify(Some(&authorization), &isolate.rules, &isolate.platform, &isolate.cache);
            let user = block_on(user).ok().unwrap();
            assert_eq!(user.user_id().to_string(), USER);
            assert_eq!(user.token(), token);
        }
    }
    assert_eq!(isolate.fetches(), 1);
}

#[test]
fn hs256_needs_no_published_keys_and_ignores_the_kid() {
    let isolate = Isolate::new(&[]);
    let header = json!({ "alg": "HS256", "kid": "legacy" });
    assert_eq!(isolate.verify(&sign(&header, &claims(), hs256(SECRET.as_bytes()))), Ok(()));
    assert_eq!(isolate.fetches(), 0);
}

#[test]
fn hs256_is_rejected_without_a_secret() {
    let mut isolate = Isolate::new(&[]);
    isolate.rules.secret = None;
    assert_invalid(isolate.verify(&hs256_token(&claims())), "HS256");
    assert_invalid(isolate.verify(&sign(&json!({ "alg": "HS256" }), &claims(), hs256(b""))), "empty secret");
}

#[test]
fn a_secret_must_have_at_least_32_bytes() {
    assert!(Secret::new("x".repeat(31)).is_none());
    assert!(Secret::new("x".repeat(32)).is_some());
}

#[test]
fn other_authorization_schemes_count_as_a_missing_token() {
    let isolate = Isolate::new(&[]);
    let token = hs256_token(&claims());
    for header in [None, Some(""), Some("Bearer"), Some("Bearer "), Some("Basic x"), Some(token.as_str())] {
        let result = block_on(verify(header, &isolate.rules, &isolate.platform, &isolate.cache));
        assert_eq!(result.err(), Some(AuthError::Missing), "{header:?}");
    }
}

#[test]
fn the_client_gets_a_sentence_and_the_log_the_reason() {
    for (denial, status, message, detail) in [
        (AuthError::Missing, 401, "Sign in to ask a question.", "token: missing"),
        (AuthError::Expired, 401, "Your session has expired. Sign in again.", "token: expired"),
        (
            AuthError::invalid("wrong issuer"),
            401,
            "The access token is not valid. Sign in again.",
            "token: wrong issuer",
        ),
        (
            AuthError::NoKeys("HTTP 500".to_owned()),
            503,
            "Your session cannot be checked right now. Please try again in a moment.",
            "jwks: HTTP 500",
        ),
    ] {
        let error = HttpError::from(denial);
        assert_eq!((error.status, error.body.message.as_str()), (status, message));
        assert_eq!(error.detail.as_deref(), Some(detail));
        assert_eq!(error.headers.iter().any(|(name, _)| *name == "WWW-Authenticate"), status == 401);
    }
}

fn is_usable(jwk: &Value) -> bool {
    PublicKey::from_jwk(&Object::parse(jwk.to_string().as_bytes()).unwrap()).is_some()
}

fn with(jwk: &Value, member: &str, value: Value) -> Value {
    let mut jwk = jwk.clone();
    jwk[member] = value;
    jwk
}

#[test]
fn the_metadata_of_a_key_limit_its_use() {
    for jwk in [ec_jwk("k", &ec_key(1)), rsa_jwk("k")] {
        assert!(is_usable(&jwk));
        for member in ["alg", "use", "key_ops", "kid"] {
            let mut silent = jwk.clone();
            silent.as_object_mut().unwrap().remove(member);
            assert!(is_usable(&silent), "without {member}");
        }
        for (member, value) in [
            ("alg", json!("HS256")),
            ("alg", json!("ES384")),
            ("alg", json!("PS256")),
            ("alg", json!("none")),
            ("alg", json!(null)),
            ("use", json!("enc")),
            ("use", json!(["sig"])),
            ("key_ops", json!([])),
            ("key_ops", json!(["sign"])),
            ("key_ops", json!("verify")),
            ("key_ops", json!(["verify", 1])),
            ("kty", json!("oct")),
            ("kty", json!("OKP")),
            ("kty", json!("ec")),
            ("kty", json!(null)),
            ("d", json!("AQ")),
        ] {
            assert!(!is_usable(&with(&jwk, member, value.clone())), "{member}: {value}");
        }
        for (own, others) in [("ES256", "RS256"), ("RS256", "ES256")] {
            assert_eq!(is_usable(&with(&jwk, "alg", json!(others))), jwk["alg"] != own);
        }
    }
}

#[test]
fn an_ec_key_must_be_a_point_of_p_256() {
    let jwk = ec_jwk("k", &ec_key(1));
    let x = jwk["x"].as_str().unwrap();
    for (member, value) in [
        ("crv", json!("P-384")),
        ("crv", json!("p-256")),
        ("crv", json!(null)),
        ("x", jwk["y"].clone()),
        ("x", json!(base64url([0; 32]))),
        ("x", json!(base64url([0xff; 32]))),
        ("x", json!(base64url([1; 31]))),
        ("x", json!(format!("AA{x}"))),
        ("x", json!(format!("{x}="))),
        ("x", json!("")),
        ("y", json!(base64url([0; 32]))),
        ("y", json!(7)),
    ] {
        assert!(!is_usable(&with(&jwk, member, value.clone())), "{member}: {value}");
    }
}

#[test]
fn a_coordinate_must_have_32_bytes() {
    let point = point(&ec_key(1));
    let mut jwk = ec_jwk("k", &ec_key(1));
    for (length, expected) in [(31, false), (32, true), (33, false)] {
        jwk["x"] = json!(base64url(&point[1..=length]));
        jwk["y"] = json!(base64url(&point[length + 1..]));
        assert_eq!(is_usable(&jwk), expected, "{length}");
    }
}

/// An odd number with `bits` bits and without the ROCA fingerprint.
fn modulus(bits: usize) -> Vec<u8> {
    let mut bytes = vec![0x5b; bits.div_ceil(8)];
    let top = (bits - 1) % 8;
    bytes[0] = 1 << top;
    bytes
}

#[test]
fn weak_and_oversized_rsa_keys_are_rejected() {
    let usable = |modulus: &[u8], exponent: &[u8]| RsaKey::new(modulus, exponent).is_some();
    const F4: &[u8] = &[1, 0, 1];
    for (bits, expected) in
        [(1024, false), (2047, false), (2048, true), (4096, true), (8192, true), (8193, false)]
    {
        assert_eq!(usable(&modulus(bits), F4), expected, "{bits} bits");
    }
    for exponent in [&[][..], &[0], &[1], &[2], &[0, 0, 1], &[1, 0, 0], &[0xff; 9]] {
        assert!(!usable(&modulus(2048), exponent), "{exponent:?}");
    }
    assert!(usable(&modulus(2048), &[3]));
    let mut even = modulus(2048);
    *even.last_mut().unwrap() += 1;
    assert!(!usable(&even, F4));
    assert!(!usable(&[], F4));
    assert!(!usable(&[0; 300], F4));
}

#[test]
fn an_rsa_key_with_the_roca_fingerprint_is_rejected() {
    // 65537^128 is 1 modulo some of the primes and a power of 65537 modulo all; it has 2049 bits.
    let power = (0..128).fold(BigUint::from(1u32), |power, _| power * 65537u32).to_bytes_be();
    assert!(RsaKey::new(&power, &[3]).is_none());
    let mut other = power;
    *other.last_mut().unwrap() += 2;
    assert!(RsaKey::new(&other, &[3]).is_some());
}

#[test]
fn keys_with_the_same_kid_are_ignored() {
    let (one, other) = (ec_key(1), ec_key(2));
    let oct = json!({ "kty": "oct", "kid": "a", "k": base64url([7; 32]) });
    for twin in [ec_jwk("a", &other), ec_jwk("a", &one), rsa_jwk("a"), oct] {
        let isolate = Isolate::new(&[ec_jwk("a", &one), twin.clone(), ec_jwk("b", &other)]);
        assert_invalid(isolate.verify(&es256_token("a", &one)), &twin.to_string());
        assert_eq!(isolate.verify(&es256_token("b", &other)), Ok(()));
    }
}

#[test]
fn a_token_without_kid_uses_the_only_key_of_its_algorithm() {
    let (one, other) = (ec_key(1), ec_key(2));
    let token = sign(&json!({ "alg": "ES256" }), &claims(), es256(&one));
    assert_eq!(Isolate::new(&[ec_jwk("a", &one), rsa_jwk("r")]).verify(&token), Ok(()));
    assert_invalid(Isolate::new(&[ec_jwk("a", &one), ec_jwk("b", &other)]).verify(&token), "two keys");
    assert_invalid(Isolate::new(&[rsa_jwk("r")]).verify(&token), "no key");
    assert_invalid(Isolate::new(&[ec_jwk("b", &other)]).verify(&token), "the wrong key");
}
