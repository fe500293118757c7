//! A JWK Set (RFC 7517): the keys a project publishes.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;

use super::json::Object;
use super::jws::Header;
use super::keys::PublicKey;

/// Largest set that is read, in bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024;
const MAX_KEYS: usize = 64;

/// The usable keys of a set.
#[derive(Default)]
pub(super) struct KeySet(Vec<Entry>);

struct Entry {
    kid: Option<String>,
    key: Rc<PublicKey>,
}

/// What a set has for a token.
pub(super) enum Choice {
    Key(Rc<PublicKey>),
    /// No key has the token's `kid`.
    Unknown,
    /// There is no key that could have signed the token.
    Unfit(&'static str),
}

impl KeySet {
    /// Reads a set. Keys of other kinds and uses are passed over; a set that has keys but none to use is an error, while
    /// an empty one says that the project has no public keys.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Jwks {
            keys: Vec<Object>,
        }
        if json.len() > MAX_BYTES {
            return Err(format!("more than {MAX_BYTES} bytes"));
        }
        // Serde would take a list for a struct as well.
        let is_object = json.trim_ascii_start().starts_with(b"{");
        let jwks: Option<Jwks> = is_object.then(|| serde_json::from_slice(json).ok()).flatten();
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

    /// The key with the token's `kid`; for a token without one, the only key of its kind.
    pub(super) fn find(&self, wanted: &Header) -> Choice {
        let fits = |entry: &&Entry| entry.key.algorithm() == wanted.algorithm;
        let Some(kid) = &wanted.kid else {
            let mut candidates = self.0.iter().filter(fits);
            return match (candidates.next(), candidates.next()) {
                (Some(entry), None) => Choice::Key(Rc::clone(&entry.key)),
                _ => Choice::Unfit("no kid, and not one key only"),
            };
        };
        match self.0.iter().find(|entry| entry.kid.as_ref() == Some(kid)) {
            Some(entry) if fits(&entry) => Choice::Key(Rc::clone(&entry.key)),
            Some(_) => Choice::Unfit("the key is for another algorithm"),
            None => Choice::Unknown,
        }
    }
}

impl Entry {
    fn from_jwk(jwk: &Object) -> Option<Self> {
        let kid = jwk.text("kid").ok()?.map(str::to_owned);
        Some(Self { kid, key: Rc::new(PublicKey::from_jwk(jwk)?) })
    }
}

/// The keys whose `kid` no other key has, whatever its kind.
fn unambiguous(keys: &[Object]) -> impl Iterator<Item = &Object> {
    let kid = |key: &Object| key.text("kid").ok().flatten().map(str::to_owned);
    let mut uses = BTreeMap::new();
    for kid in keys.iter().filter_map(kid) {
        *uses.entry(kid).or_insert(0) += 1;
    }
    keys.iter().filter(move |key| kid(key).is_none_or(|kid| uses.get(&kid) == Some(&1)))
}
