//! Who asks: the Supabase access token of the request.
//!
//! A token is signed with the project's shared secret (HS256) or with a key of its JWKS (ES256, RS256). What a token
//! says about itself only chooses among our keys; each key knows the one algorithm it verifies.

mod cache;
mod claims;
mod denial;
mod json;
mod jws;
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

use crate::http::error::Failure;

use cache::{Cache, Step};
use denial::Denial;
use jws::{Header, Jws};
use key_set::KeySet;
use keys::{Algorithm, PublicKey};

pub(crate) use keys::Secret;
pub(crate) use platform::{Platform, Runtime};

/// What a token has to be signed with and who must have issued it.
pub(crate) struct Rules {
    /// The secret of HS256 tokens; without it they are refused.
    pub(crate) secret: Option<Secret>,
    /// Where the public keys of ES256 and RS256 tokens are published.
    pub(crate) jwks_url: String,
    pub(crate) issuer: String,
}

/// A user whose token was verified. Only [`authenticate`] makes one. It has no `Debug`, so that the token cannot end up
/// in a log.
pub(crate) struct Authenticated {
    user_id: Uuid,
    token: String,
}

impl Authenticated {
    pub(crate) fn user_id(&self) -> Uuid {
        self.user_id
    }

    /// The token, to act as the user against Supabase.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

thread_local! {
    /// The published keys, as this isolate knows them.
    static CACHE: Rc<RefCell<Cache>> = Rc::default();
}

/// How often a request looks whether the fetch of another one has ended.
const POLL: Duration = Duration::from_millis(20);

/// Verifies the token in an `Authorization` header.
pub(crate) async fn authenticate(
    authorization: Option<&str>,
    rules: &Rules,
    platform: &impl Platform,
) -> Result<Authenticated, Failure> {
    let cache = CACHE.with(Rc::clone);
    Ok(verify(authorization, rules, platform, &cache).await?)
}

async fn verify(
    authorization: Option<&str>,
    rules: &Rules,
    platform: &impl Platform,
    cache: &RefCell<Cache>,
) -> Result<Authenticated, Denial> {
    let token = authorization.and_then(bearer_token).ok_or(Denial::Missing)?;
    let payload = signed_payload(token, rules, platform, cache).await?;
    let user_id = claims::user(&payload, &rules.issuer, platform.now_s())?;
    Ok(Authenticated { user_id, token: token.to_owned() })
}

/// What a token says, if its signature is genuine.
async fn signed_payload(
    token: &str,
    rules: &Rules,
    platform: &impl Platform,
    cache: &RefCell<Cache>,
) -> Result<Vec<u8>, Denial> {
    let jws = Jws::parse(token)?;
    let is_genuine = match jws.header.algorithm {
        Algorithm::Hs256 => {
            let secret = rules.secret.as_ref().ok_or(Denial::invalid("there is no secret for HS256"))?;
            secret.verify(jws.signed, &jws.signature)
        }
        Algorithm::Es256 | Algorithm::Rs256 => {
            let key = public_key(&jws.header, &rules.jwks_url, platform, cache).await?;
            key.verify(jws.signed, &jws.signature)
        }
    };
    is_genuine.then_some(jws.payload).ok_or(Denial::invalid("wrong signature"))
}

fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The published key that a token names; fetched at most once for one request.
async fn public_key(
    wanted: &Header,
    url: &str,
    platform: &impl Platform,
    cache: &RefCell<Cache>,
) -> Result<Rc<PublicKey>, Denial> {
    let mut has_fetched = false;
    loop {
        let step = cache.borrow_mut().next(wanted, platform.now_s(), has_fetched);
        match step {
            Step::Use(key) => return Ok(key),
            Step::Refuse(reason) => return Err(Denial::invalid(reason)),
            Step::GiveUp(reason) => return Err(Denial::NoKeys(reason)),
            Step::Wait => platform.pause(POLL).await,
            Step::Fetch => {
                has_fetched = true;
                let answer = platform.fetch(url).await;
                let keys = answer.and_then(|body| body.as_deref().map(KeySet::parse).transpose());
                cache.borrow_mut().finish(keys, platform.now_s());
            }
        }
    }
}
