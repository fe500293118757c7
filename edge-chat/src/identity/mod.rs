//! Authentication: the Supabase access token of a request.
//!
//! A token is signed with the project's shared secret (HS256) or with a key of its JWKS (ES256,
//! RS256). The header of a token only selects one of our keys; each key has one fixed algorithm.

pub(crate) mod base64url;
mod claims;
mod error;
mod json;
mod jws;
mod key_cache;
mod key_set;
mod keys;
mod platform;
mod rsa_key;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use uuid::Uuid;

use crate::http::error::HttpError;

use claims::Claims;
use error::AuthError;
use jws::{Header, Jws};
use key_cache::{KeyCache, KeyStep};
use key_set::KeySet;
use keys::{Algorithm, PublicKey};

pub(crate) use keys::Secret;
pub(crate) use platform::Platform;

/// Rules of accepted tokens.
pub(crate) struct TokenRules {
    /// The secret of HS256 tokens. Without it they are rejected.
    pub(crate) secret: Option<Secret>,
    /// The address of the public keys of ES256 and RS256 tokens.
    pub(crate) jwks_url: String,
    pub(crate) issuer: String,
}

/// A user with a verified token. Only [`authenticate`] creates one. It has no `Debug`, so that the token cannot be logged.
pub(crate) struct Authenticated {
    user_id: Uuid,
    is_anonymous: bool,
    token: String,
}

impl Authenticated {
    pub(crate) fn user_id(&self) -> Uuid {
        self.user_id
    }

    /// Whether the user has no account: Supabase Auth signed the visitor in anonymously.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.is_anonymous
    }

    /// The token, for calls to Supabase as the user.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

thread_local! {
    /// The published keys that this isolate has fetched.
    static CACHE: Rc<RefCell<KeyCache>> = Rc::default();
}

/// How often a request checks whether the fetch of another request has ended.
const POLL: Duration = Duration::from_millis(20);

/// Verifies the token in an `Authorization` header.
pub(crate) async fn authenticate(
    authorization: Option<&str>,
    rules: &TokenRules,
    platform: &impl Platform,
) -> Result<Authenticated, HttpError> {
    let cache = CACHE.with(Rc::clone);
    Ok(verify(authorization, rules, platform, &cache).await?)
}

async fn verify(
    authorization: Option<&str>,
    rules: &TokenRules,
    platform: &impl Platform,
    cache: &RefCell<KeyCache>,
) -> Result<Authenticated, AuthError> {
    let token = authorization.and_then(bearer_token).ok_or(AuthError::Missing)?;
    let payload = signed_payload(token, rules, platform, cache).await?;
    let Claims { user_id, is_anonymous } = claims::read(&payload, &rules.issuer, platform.now_ms() / 1000)?;
    Ok(Authenticated { user_id, is_anonymous, token: token.to_owned() })
}

/// The payload of a token whose signature is valid.
async fn signed_payload(
    token: &str,
    rules: &TokenRules,
    platform: &impl Platform,
    cache: &RefCell<KeyCache>,
) -> Result<Vec<u8>, AuthError> {
    let jws = Jws::parse(token)?;
    let is_valid = match jws.header.algorithm {
        Algorithm::Hs256 => {
            let secret = rules.secret.as_ref().ok_or(AuthError::invalid("there is no secret for HS256"))?;
            secret.verify(jws.signed, &jws.signature)
        }
        Algorithm::Es256 | Algorithm::Rs256 => {
            let key = public_key(&jws.header, &rules.jwks_url, platform, cache).await?;
            key.verify(jws.signed, &jws.signature)
        }
    };
    is_valid.then_some(jws.payload).ok_or(AuthError::invalid("wrong signature"))
}

fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The published key that a token names. One request fetches the key set at most once for an unknown key.
async fn public_key(
    wanted: &Header,
    url: &str,
    platform: &impl Platform,
    cache: &RefCell<KeyCache>,
) -> Result<Rc<PublicKey>, AuthError> {
    let mut has_fetched = false;
    loop {
        let step = cache.borrow_mut().next(wanted, platform.now_ms(), has_fetched);
        match step {
            KeyStep::Use(key) => return Ok(key),
            KeyStep::Reject(reason) => return Err(AuthError::invalid(reason)),
            KeyStep::GiveUp(reason) => return Err(AuthError::NoKeys(reason)),
            KeyStep::Wait => platform.pause(POLL).await,
            KeyStep::Fetch => {
                has_fetched = true;
                let answer = platform.fetch(url).await;
                let keys = answer.and_then(|body| body.as_deref().map(KeySet::parse).transpose());
                cache.borrow_mut().finish(keys, platform.now_ms());
            }
        }
    }
}
