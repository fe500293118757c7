//! Tokens and keys for the tests, and a platform with a controllable clock and JWKS.

mod forgeries;
mod keys;
mod rotation;
mod wycheproof;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, Pkcs1v15Sign, RsaPrivateKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::key_cache::KeyCache;
use super::{AuthError, Authenticated, Platform, Secret, TokenRules, verify};

const SECRET: &str = "super-secret-jwt-token-with-at-least-32-characters";
const ISSUER: &str = "https://abc.supabase.co/auth/v1";
const USER: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
const START_S: u64 = 1_800_000_000;

/// An isolate with a key cache.
struct Isolate {
    rules: TokenRules,
    cache: RefCell<KeyCache>,
    platform: FakePlatform,
}

struct FakePlatform {
    now_ms: Cell<u64>,
    /// How far the clock advances in each pause.
    pause_ms: Cell<u64>,
    answer: RefCell<Result<Option<Vec<u8>>, String>>,
    /// How often other tasks run before a response arrives.
    delay: Cell<u32>,
    fetches: Cell<u32>,
}

impl Platform for FakePlatform {
    fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    async fn pause(&self, _time: Duration) {
        self.now_ms.set(self.now_ms.get() + self.pause_ms.get());
        tokio::task::yield_now().await;
    }

    async fn fetch(&self, url: &str) -> Result<Option<Vec<u8>>, String> {
        assert_eq!(url, "https://abc.supabase.co/jwks.json");
        self.fetches.set(self.fetches.get() + 1);
        for _ in 0..self.delay.get() {
            tokio::task::yield_now().await;
        }
        self.answer.borrow().clone()
    }
}

impl Isolate {
    /// An isolate with a shared secret and these published keys.
    fn new(keys: &[Value]) -> Self {
        let isolate = Self {
            rules: TokenRules {
                secret: Secret::new(SECRET),
                jwks_url: "https://abc.supabase.co/jwks.json".to_owned(),
                issuer: ISSUER.to_owned(),
            },
            cache: RefCell::default(),
            platform: FakePlatform {
                now_ms: Cell::new(START_S * 1000),
                pause_ms: Cell::new(0),
                answer: RefCell::new(Ok(None)),
                delay: Cell::new(0),
                fetches: Cell::new(0),
            },
        };
        isolate.publish(keys);
        isolate
    }

    fn publish(&self, keys: &[Value]) {
        self.answer(Ok(Some(&json!({ "keys": keys }).to_string())));
    }

    fn answer(&self, answer: Result<Option<&str>, &str>) {
        let body = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
        *self.platform.answer.borrow_mut() = answer.map(body).map_err(str::to_owned);
    }

    /// Sets the clock to `seconds` after the start.
    fn at(&self, seconds: u64) -> &Self {
        self.platform.now_ms.set((START_S + seconds) * 1000);
        self
    }

    fn fetches(&self) -> u32 {
        self.platform.fetches.get()
    }

    async fn verify_async(&self, token: &str) -> Result<Authenticated, AuthError> {
        verify(Some(&format!("Bearer {token}")), &self.rules, &self.platform, &self.cache).await
    }

    fn verify(&self, token: &str) -> Result<(), AuthError> {
        block_on(self.verify_async(token)).map(drop)
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Claims that are valid throughout the tests.
fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": USER, "aud": "authenticated", "role": "authenticated",
        "iat": START_S, "exp": START_S + 1_000_000,
    })
}

fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn sign(header: &Value, claims: &Value, signature: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", base64url(header.to_string()), base64url(claims.to_string()));
    let signature = signature(signed.as_bytes());
    format!("{signed}.{}", base64url(signature))
}

fn hs256(secret: &[u8]) -> impl Fn(&[u8]) -> Vec<u8> {
    |signed| {
        Hmac::<Sha256>::new_from_slice(secret).unwrap().chain_update(signed).finalize().into_bytes().to_vec()
    }
}

fn es256(key: &SigningKey) -> impl Fn(&[u8]) -> Vec<u8> {
    |signed| {
        let signature: Signature = key.sign(signed);
        signature.to_bytes().to_vec()
    }
}

fn rs256(key: &RsaPrivateKey) -> impl Fn(&[u8]) -> Vec<u8> {
    |signed| {
        // The DER before a SHA-256 hash.
        let prefix = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
        let padding = Pkcs1v15Sign { hash_len: Some(32), prefix: prefix.as_slice().into() };
        key.sign(padding, &Sha256::digest(signed)).unwrap()
    }
}

fn ec_key(seed: u8) -> SigningKey {
    SigningKey::from_slice(&[seed; 32]).unwrap()
}

/// Made for these tests.
fn rsa_key() -> RsaPrivateKey {
    let prime = |text| BigUint::from_bytes_be(&URL_SAFE_NO_PAD.decode(text).unwrap());
    let p = prime(
        "yCs9pGnCsvkYZ-rl0N2QnOj88oxfvBeMYWc-62GSqV62Yadn0vxAi2xnH2SqdxhGWQTz9pJzWIrw4G9dIa340wr_c4ptS7_VvwHim76dvqaJ7qsY\
         F0K-Jk0UDpLbIamWN9Ay9oZbQaPOwUyxzyfegwWWE9vnQr3IziYFbyn-62M",
    );
    let q = prime(
        "wqRtH40ebrAoI1BIxAfX333naLLiq-qB5dRmr2XoBW4Y8R2C7WXGepRJNqEPGjjchs2G3GMc1m1EKt8wuRIJxkCH8KPKJDvD9bThrf1eOoxQX5D8\
         rKq7P-0Yx1HVaDTjU9xoeujJm1QKHXADr_q3Ff1NW8E5tGSR-apNGrUgSCk",
    );
    RsaPrivateKey::from_p_q(p, q, BigUint::from(65537u32)).unwrap()
}

/// The uncompressed point: 4, x, y.
fn point(key: &SigningKey) -> Vec<u8> {
    key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
}

fn ec_jwk(kid: &str, key: &SigningKey) -> Value {
    let point = point(key);
    json!({
        "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "key_ops": ["verify"], "ext": true, "kid": kid,
        "x": base64url(&point[1..33]), "y": base64url(&point[33..]),
    })
}

fn rsa_jwk(kid: &str) -> Value {
    let key = rsa_key();
    json!({
        "kty": "RSA", "alg": "RS256", "use": "sig", "kid": kid,
        "n": base64url(key.n().to_bytes_be()), "e": base64url(key.e().to_bytes_be()),
    })
}

fn hs256_token(claims: &Value) -> String {
    sign(&json!({ "alg": "HS256", "typ": "JWT" }), claims, hs256(SECRET.as_bytes()))
}

fn es256_token(kid: &str, key: &SigningKey) -> String {
    sign(&json!({ "alg": "ES256", "typ": "JWT", "kid": kid }), &claims(), es256(key))
}

fn rs256_token(kid: &str) -> String {
    sign(&json!({ "alg": "RS256", "typ": "JWT", "kid": kid }), &claims(), rs256(&rsa_key()))
}

#[track_caller]
fn assert_invalid(result: Result<(), AuthError>, about: &str) {
    assert!(matches!(result, Err(AuthError::Invalid(_))), "{about}: {result:?}");
}
