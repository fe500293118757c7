//! A JWK Set (RFC 7517): the keys a project publishes.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;

use super::json::Object;
use super::jws::Header;
use super::keys::PublicKey;
use crate::http::json::parse_object;

/// Bytes of a key set.
pub(super) const MAX_BYTES: usize = 64 * 1024;
const MAX_KEYS: usize = 64;

/// The usable keys of a set.
#[derive(Default)]
pub(super) struct KeySet(Vec<Entry>);

struct Entry {
    kid: Option<String>,
    key: Rc<PublicKey>,
}

/// The result of looking up the key of a token.
pub(super) enum Lookup {
    Found(Rc<PublicKey>),
    /// No key has the token's `kid`.
    Unknown,
    /// No key of the set can have signed the token.
    Unusable(&'static str),
}

impl KeySet {
    /// Parses a set. Keys of other kinds and uses are ignored. A set with keys but without a usable one is an error; an empty
    /// set means that the project has no public keys.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Jwks {
            keys: Vec<Object>,
        }
        if json.len() > MAX_BYTES {
            return Err(format!("more than {MAX_BYTES} bytes"));
        }
        let jwks: Option<Jwks> = parse_object(json);
        let keys = jwks.ok_or("not a JWK set")?.keys;
        if keys.len() > MAX_KEYS {
            return Err(format!("more than {MAX_KEYS} keys"));
        }
        let entries: Vec<_> = unambiguous(&keys).filter_map(Entry::from_jwk).collect();
        if entries.is_empty() && !keys.is_empty() {
            return Err("no usable key".to_owned());
        }
        Ok(Self(entries))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key with the token's `kid`; for a token without `kid`, the only key of its algorithm.
    pub(super) fn find(&self, wanted: &Header) -> Lookup {
        let fits = |entry: &&Entry| entry.key.algorithm() == wanted.algorithm;
        let Some(kid) = &wanted.kid else {
            let mut candidates = self.0.iter().filter(fits);
            return match (candidates.next(), candidates.next()) {
                (Some(entry), None) => Lookup::Found(Rc::clone(&entry.key)),
                _ => Lookup::Unusable("no kid, and not exactly one key"),
            };
        };
        match self.0.iter().find(|entry| entry.kid.as_ref() == Some(kid)) {
            Some(entry) if fits(&entry) => Lookup::Found(Rc::clone(&entry.key)),
            Some(_) => Lookup::Unusable("the key is for another algorithm"),
            None => Lookup::Unknown,
        }
    }
}

impl Entry {
    fn from_jwk(jwk: &Object) -> Option<Self> {
        let kid = jwk.text("kid").ok()?.map(str::to_owned);
        Some(Self { kid, key: Rc::new(PublicKey::from_jwk(jwk)?) })
    }
}

/// The keys whose `kid` is unique in the set, keys of all kinds included.
fn unambiguous(keys: &[Object]) -> impl Iterator<Item = &Object> {
    let kid = |key: &Object| key.text("kid").ok().flatten().map(str::to_owned);
    let mut uses = BTreeMap::new();
    for kid in keys.iter().filter_map(kid) {
        *uses.entry(kid).or_insert(0) += 1;
    }
    keys.iter().filter(move |key| kid(key).is_none_or(|kid| uses.get(&kid) == Some(&1)))
}
