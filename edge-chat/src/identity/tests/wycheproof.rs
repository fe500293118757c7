//! The test vectors of Project Wycheproof (`edge-chat/tests/corpora/wycheproof`). Their payloads are not claims, so only the
//! signature is verified.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::super::base64url;
use super::super::{Secret, signed_payload};
use super::*;

const SIGNATURE_VECTORS: &str = include_str!("../../../tests/corpora/wycheproof/json_web_signature.json");
const KEY_VECTORS: &str = include_str!("../../../tests/corpora/wycheproof/json_web_key.json");

/// Vectors that do not apply: their numbers, whether we accept them, and why.
type Exceptions = &'static [(RangeInclusive<u64>, bool, &'static str)];

const SIGNATURES: Exceptions = &[
    (264..=271, false, "RS384 and RS512: Supabase does not sign with them"),
    (272..=319, false, "PS256: Supabase does not sign with it"),
    (320..=324, false, "PS384: Supabase does not sign with it"),
    (325..=331, false, "PS512: Supabase does not sign with it"),
    (333..=340, false, "PS256, PS384, PS512, RS384 and RS512 for a key of PS512"),
    (346..=346, false, "PS384: Supabase does not sign with it"),
    (347..=347, false, "ES512: Supabase does not sign with it"),
    (350..=350, false, "PS384: Supabase does not sign with it"),
    (351..=351, false, "ES512: Supabase does not sign with it"),
    (367..=367, true, "marked invalid for its padding, but byte for byte the valid vector 357"),
    (370..=370, true, "marked invalid for its padding, but byte for byte the valid vector 357"),
    (372..=373, false, "marked valid, but with a character outside base64url (RFC 7515, appendix C)"),
];

const KEYS: Exceptions = &[
    (2..=2, false, "a shared secret (oct) is never taken from a JWKS"),
    (13..=15, false, "a shared secret (oct) is never taken from a JWKS"),
];

/// How many vectors behaved as expected.
#[derive(Debug, PartialEq, Eq)]
struct Tally {
    valid: u32,
    invalid: u32,
    not_applicable: u32,
}

#[test]
fn signatures_are_accepted_or_rejected_as_marked() {
    let corpus = corpus(SIGNATURE_VECTORS);
    let tally = check(&corpus, SIGNATURES, |group| {
        let key = group.get("public").unwrap_or(&group["private"]);
        let mut isolate = Isolate::new(std::slice::from_ref(key));
        isolate.rules.secret = None;
        if key["kty"] == "oct" {
            isolate.rules.secret = Secret::new(base64url::decode(key["k"].as_str().unwrap()).unwrap());
        }
        isolate
    });
    assert_eq!(tally, Tally { valid: 18, invalid: 299, not_applicable: 84 });
}

#[test]
fn key_sets_are_accepted_or_rejected_as_marked() {
    let corpus = corpus(KEY_VECTORS);
    let tally = check(&corpus, KEYS, |group| {
        let set = group.get("public").unwrap_or(&group["private"]);
        let mut isolate = Isolate::new(set["keys"].as_array().unwrap());
        isolate.rules.secret = None;
        isolate
    });
    assert_eq!(tally, Tally { valid: 1, invalid: 21, not_applicable: 4 });
}

fn check(corpus: &Value, exceptions: Exceptions, isolate: impl Fn(&Value) -> Isolate) -> Tally {
    let mut tally = Tally { valid: 0, invalid: 0, not_applicable: 0 };
    for group in corpus["testGroups"].as_array().unwrap() {
        for vector in group["tests"].as_array().unwrap() {
            let number = vector["tcId"].as_u64().unwrap();
            let exception = exceptions.iter().find(|(numbers, ..)| numbers.contains(&number));
            let is_valid = vector["result"] == "valid";
            let (expected, count) = match exception {
                Some((_, accepted, _)) => (*accepted, &mut tally.not_applicable),
                None if is_valid => (true, &mut tally.valid),
                None => (false, &mut tally.invalid),
            };
            *count += 1;
            let Isolate { rules, platform, cache } = isolate(group);
            let token = vector["jws"].as_str().unwrap();
            let result = block_on(signed_payload(token, &rules, &platform, &cache));
            assert_eq!(result.is_ok(), expected, "{number} {}: {:?}", vector["comment"], result.err());
        }
    }
    tally
}

/// Checks that the weak keys of the corpus are rejected for their numbers and for nothing else.
#[test]
fn a_weak_key_with_strong_numbers_is_accepted() {
    let corpus = corpus(KEY_VECTORS);
    let strong = rsa_jwk("strong");
    for name in ["jws_rsa_roca_key", "keysize_too_small", "exponentOne"] {
        let groups = corpus["testGroups"].as_array().unwrap();
        let group = groups.iter().find(|group| group["comment"] == name).unwrap();
        let mut key = group["public"]["keys"][0].clone();
        key["n"] = strong["n"].clone();
        key["e"] = strong["e"].clone();
        let token = rs256_token(key["kid"].as_str().unwrap());
        assert_eq!(Isolate::new(&[key]).verify(&token), Ok(()), "{name}");
    }
}

fn corpus(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}
