//! The keys that verify tokens. Each key has one kind and one algorithm.

use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use sha2::Sha256;

use super::base64url;
use super::json::{Object, WrongType};
use super::rsa_key::RsaKey;

/// The algorithms a Supabase project can sign with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Hs256,
    Es256,
    Rs256,
}

impl Algorithm {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Hs256, Self::Es256, Self::Rs256].into_iter().find(|algorithm| algorithm.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
        }
    }
}

/// RFC 7518 requires a key at least as long as the hash.
const MIN_SECRET_BYTES: usize = 32;

/// The secret shared with Supabase. It has no `Debug`.
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    /// `None` if it is shorter than 32 bytes.
    pub(crate) fn new(secret: impl Into<Vec<u8>>) -> Option<Self> {
        let secret = secret.into();
        (secret.len() >= MIN_SECRET_BYTES).then_some(Self(secret))
    }

    /// Takes constant time.
    pub(super) fn verify(&self, signed: &[u8], signature: &[u8]) -> bool {
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return false };
        mac.chain_update(signed).verify_slice(signature).is_ok()
    }
}

/// A published key. There is no variant for shared secrets, so a JWKS cannot contain one.
pub(super) enum PublicKey {
    P256(VerifyingKey),
    Rsa(RsaKey),
}

impl PublicKey {
    /// Parses a JWK (RFC 7517). `None` if it is not a key that verifies tokens.
    pub(super) fn from_jwk(jwk: &Object) -> Option<Self> {
        let key = match jwk.text("kty").ok()?? {
            "EC" => Self::P256(p256_key(jwk)?),
            "RSA" => Self::Rsa(RsaKey::new(&bytes(jwk, "n")?, &bytes(jwk, "e")?)?),
            _ => return None,
        };
        is_for_verifying(jwk, key.algorithm()).is_ok_and(|fits| fits).then_some(key)
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        match self {
            Self::P256(_) => Algorithm::Es256,
            Self::Rsa(_) => Algorithm::Rs256,
        }
    }

    pub(super) fn verify(&self, signed: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::P256(key) => {
                Signature::from_slice(signature).is_ok_and(|signature| key.verify(signed, &signature).is_ok())
            }
            Self::Rsa(key) => key.verify(signed, signature),
        }
    }
}

/// Whether the JWK's metadata allow its use. A published private key proves nothing.
fn is_for_verifying(jwk: &Object, algorithm: Algorithm) -> Result<bool, WrongType> {
    let is_public = !jwk.has("d");
    let has_algorithm = jwk.text("alg")?.is_none_or(|name| name == algorithm.name());
    let has_use = jwk.text("use")?.is_none_or(|name| name == "sig");
    let has_operation = jwk.texts("key_ops")?.is_none_or(|names| names.contains(&"verify"));
    Ok(is_public && has_algorithm && has_use && has_operation)
}

fn p256_key(jwk: &Object) -> Option<VerifyingKey> {
    if jwk.text("crv").ok()?? != "P-256" {
        return None;
    }
    let (x, y) = (bytes(jwk, "x")?, bytes(jwk, "y")?);
    if x.len() != 32 || y.len() != 32 {
        return None;
    }
    // The uncompressed form of SEC 1. Points that are not on the curve are rejected.
    VerifyingKey::from_sec1_bytes(&[&[4], x.as_slice(), y.as_slice()].concat()).ok()
}

fn bytes(jwk: &Object, name: &'static str) -> Option<Vec<u8>> {
    base64url::decode(jwk.text(name).ok()??)
}
