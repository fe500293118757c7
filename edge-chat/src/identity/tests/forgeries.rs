//! Tokens that can be created without a key. All are rejected.

use proptest::prelude::*;
use rsa::pkcs8::EncodePublicKey;
use serde_json::{Value, json};

use super::*;

fn isolate() -> Isolate {
    Isolate::new(&[ec_jwk("ec", &ec_key(1)), rsa_jwk("rsa")])
}

fn pem(der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line)).collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
}

/// Every encoding of the public keys that could be confused with a shared secret.
fn public_bytes() -> Vec<Vec<u8>> {
    let point = point(&ec_key(1));
    let ec_header = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
    let ec_der = [ec_header.as_slice(), &point].concat();
    let rsa_der = rsa_key().to_public_key().to_public_key_der().unwrap().into_vec();
    let modulus = rsa_key().n().to_bytes_be();
    let mut all = vec![Vec::new(), point[1..33].to_vec(), point, modulus];
    for der in [ec_der, rsa_der] {
        let pem = pem(&der);
        all.extend([der, pem.trim_end().as_bytes().to_vec(), pem.into_bytes()]);
    }
    for jwk in [ec_jwk("ec", &ec_key(1)), rsa_jwk("rsa")] {
        all.extend(["x", "y", "n"].iter().filter_map(|name| Some(jwk[name].as_str()?.as_bytes().to_vec())));
        all.push(jwk.to_string().into_bytes());
    }
    all
}

#[test]
fn a_public_key_is_not_accepted_as_shared_secret() {
    for has_secret in [true, false] {
        let mut isolate = isolate();
        if !has_secret {
            isolate.rules.secret = None;
        }
        for (n, bytes) in public_bytes().iter().enumerate() {
            for kid in ["ec", "rsa"] {
                let header = json!({ "alg": "HS256", "kid": kid });
                assert_invalid(isolate.verify(&sign(&header, &claims(), hs256(bytes))), &format!("form {n}"));
            }
        }
    }
}

#[test]
fn the_header_cannot_change_the_algorithm_of_a_key() {
    let isolate = isolate();
    let (ec, rsa, secret) = (ec_key(1), rsa_key(), SECRET.as_bytes());
    for kid in ["ec", "rsa"] {
        for algorithm in
            ["HS256", "ES256", "RS256", "none", "None", "HS384", "HS512", "ES384", "RS512", "PS256", ""]
        {
            let header = json!({ "alg": algorithm, "kid": kid });
            let tokens = [
                (sign(&header, &claims(), hs256(secret)), algorithm == "HS256"),
                (sign(&header, &claims(), es256(&ec)), algorithm == "ES256" && kid == "ec"),
                (sign(&header, &claims(), rs256(&rsa)), algorithm == "RS256" && kid == "rsa"),
                (sign(&header, &claims(), |_| Vec::new()), false),
                (sign(&header, &claims(), |_| vec![0; 64]), false),
            ];
            for (n, (token, is_genuine)) in tokens.into_iter().enumerate() {
                assert_eq!(isolate.verify(&token).is_ok(), is_genuine, "{algorithm} {kid} {n}");
            }
        }
    }
}

#[test]
fn a_key_in_the_header_is_ignored() {
    let isolate = isolate();
    let mine = ec_key(9);
    for (member, value) in [
        ("jwk", ec_jwk("ec", &mine)),
        ("jku", json!("https://evil.test/jwks.json")),
        ("x5u", json!("https://evil.test/cert.pem")),
        ("x5c", json!(["AAAA"])),
    ] {
        let mut header = json!({ "alg": "ES256", "kid": "ec" });
        header[member] = value;
        assert_invalid(isolate.verify(&sign(&header, &claims(), es256(&mine))), member);
        assert_eq!(isolate.verify(&sign(&header, &claims(), es256(&ec_key(1)))), Ok(()), "{member}");
    }
    for kid in ["../../dev/null", "' OR 1=1 --", "", "ec\u{0}", "EC", "ec "] {
        assert_invalid(isolate.verify(&es256_token(kid, &mine)), kid);
    }
}

#[test]
fn a_signature_has_exactly_one_encoding() {
    let isolate = isolate();
    let header = json!({ "alg": "ES256", "kid": "ec" });
    let ec = ec_key(1);
    let raw = |signed: &[u8]| es256(&ec)(signed);
    let forms = [
        sign(&header, &claims(), |signed| raw(signed)[..63].to_vec()),
        sign(&header, &claims(), |signed| [raw(signed).as_slice(), &[0]].concat()),
        sign(&header, &claims(), |signed| [&[0], &raw(signed)[..32], &[0], &raw(signed)[32..]].concat()),
        sign(&header, &claims(), |signed| {
            Signature::from_slice(&raw(signed)).unwrap().to_der().as_bytes().to_vec()
        }),
    ];
    for (n, token) in forms.iter().enumerate() {
        assert_invalid(isolate.verify(token), &format!("form {n}"));
    }
    let header = json!({ "alg": "RS256", "kid": "rsa" });
    let padded = sign(&header, &claims(), |signed| [vec![0], rs256(&rsa_key())(signed)].concat());
    assert_invalid(isolate.verify(&padded), "RSA");
    let header = json!({ "alg": "HS256" });
    for length in [0, 1, 16, 31] {
        let cut = sign(&header, &claims(), |signed| hs256(SECRET.as_bytes())(signed)[..length].to_vec());
        assert_invalid(isolate.verify(&cut), &format!("{length} bytes"));
    }
}

#[test]
fn parts_of_two_tokens_do_not_combine() {
    let isolate = isolate();
    let mut other = claims();
    other["sub"] = json!("00000000-0000-4000-8000-000000000001");
    let (one, other) = (hs256_token(&claims()), hs256_token(&other));
    let parts: Vec<_> = one.split('.').zip(other.split('.')).collect();
    assert_invalid(isolate.verify(&[parts[0].0, parts[1].1, parts[2].0].join(".")), "another payload");
    assert_invalid(isolate.verify(&hs256_token_with(&SECRET.to_uppercase())), "another secret");
}

fn hs256_token_with(secret: &str) -> String {
    sign(&json!({ "alg": "HS256" }), &claims(), hs256(secret.as_bytes()))
}

#[test]
fn claims_are_checked_after_a_valid_signature() {
    let isolate = isolate();
    let cases: [(&str, Value); 4] = [
        ("iss", json!("https://evil.test")),
        ("aud", json!("anon")),
        ("role", json!("anon")),
        ("sub", json!("me")),
    ];
    for (claim, value) in cases {
        let mut claims = claims();
        claims[claim] = value;
        assert_invalid(isolate.verify(&hs256_token(&claims)), claim);
    }
    let mut expired = claims();
    expired["exp"] = json!(START_S - 30);
    assert_eq!(isolate.verify(&hs256_token(&expired)), Err(AuthError::Expired));
}

/// A token with one change: characters replaced, removed, inserted.
fn changed() -> impl Strategy<Value = (String, String)> {
    let tokens = [hs256_token(&claims()), es256_token("ec", &ec_key(1)), rs256_token("rsa")];
    let change = (any::<prop::sample::Index>(), 0..2usize, "[A-Za-z0-9_.=+/ -]{0,2}|\\PC{1,2}");
    (prop::sample::select(tokens.to_vec()), change).prop_map(|(token, (at, removed, inserted))| {
        let at = at.index(token.len());
        let other = format!("{}{inserted}{}", &token[..at], &token[at + removed..]);
        (token, other)
    })
}

proptest! {
    #[test]
    fn a_modified_token_is_rejected((token, other) in changed()) {
        // White space around a token is not part of it.
        prop_assume!(other.trim() != token);
        prop_assert!(isolate().verify(&other).is_err());
    }

    #[test]
    fn arbitrary_text_is_rejected(text in "\\PC{0,200}|([A-Za-z0-9_-]{0,60}\\.){0,4}[A-Za-z0-9_-]{0,60}") {
        prop_assert!(isolate().verify(&text).is_err());
    }

    #[test]
    fn an_arbitrary_header_without_valid_signature_is_rejected(header in "\\{\"alg\":\"(none|HS256|ES256|RS256)\"(,\"[a-z]{1,4}\":(1|null|\"ec\"|\\[\\]|\\{\\})){0,3}\\}", signature in prop::collection::vec(any::<u8>(), 0..300)) {
        let token = format!("{}.{}.{}", base64url(header), base64url(claims().to_string()), base64url(signature));
        prop_assert!(isolate().verify(&token).is_err());
    }
}
