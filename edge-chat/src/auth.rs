//! Who asks: the Supabase access token of the request.

use chat_core::error::{ApiError, ErrorCode};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde::Deserialize;
use uuid::Uuid;

/// Allowed difference between our clock and the issuer's, in seconds.
const LEEWAY_SECONDS: u64 = 5;
/// Supabase's name for signed-in users, both as audience and as role.
const AUTHENTICATED: &str = "authenticated";
/// Longest token, in bytes; Supabase's are about 1 KB.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// A user whose token was verified. Only [`Authenticated::verify`] makes one. It has no `Debug`, so that the token
/// cannot end up in a log.
pub(crate) struct Authenticated {
    user_id: Uuid,
    token: String,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    role: String,
}

impl Authenticated {
    /// Verifies the token in an `Authorization` header.
    pub(crate) fn verify(authorization: Option<&str>, secret: &str) -> Result<Self, ApiError> {
        let token =
            authorization.and_then(bearer_token).ok_or_else(|| unauthorized("Sign in to ask a question."))?;
        let user_id = verified_user(token, secret)?;
        Ok(Self { user_id, token: token.to_owned() })
    }

    pub(crate) fn user_id(&self) -> Uuid {
        self.user_id
    }

    /// The token, to act as the user against Supabase.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn verified_user(token: &str, secret: &str) -> Result<Uuid, ApiError> {
    let invalid = || unauthorized("The access token is not valid. Sign in again.");
    if token.len() > MAX_TOKEN_BYTES {
        return Err(invalid());
    }
    // The algorithm is ours to say: a token that names another one is refused before its signature is looked at.
    let mut rules = Validation::new(Algorithm::HS256);
    rules.leeway = LEEWAY_SECONDS;
    rules.validate_nbf = true;
    rules.set_audience(&[AUTHENTICATED]);
    rules.set_required_spec_claims(&["exp", "aud", "sub"]);
    let verified =
        decode::<Claims>(token, &DecodingKey::from_secret(secret.as_bytes()), &rules).map_err(|error| {
            match error.kind() {
                ErrorKind::ExpiredSignature => unauthorized("Your session has expired. Sign in again."),
                _ => invalid(),
            }
        })?;
    // RFC 7515: extensions marked critical must be understood, and we know none.
    if verified.header.crit.is_some() || verified.claims.role != AUTHENTICATED {
        return Err(invalid());
    }
    Uuid::try_parse(&verified.claims.sub).map_err(|_| invalid())
}

fn unauthorized(message: &str) -> ApiError {
    ApiError::new(ErrorCode::Unauthorized, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{EncodingKey, Header, encode, get_current_timestamp};
    use serde_json::{Value, json};

    const SECRET: &str = "super-secret-jwt-token-with-at-least-32-characters";
    const USER: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";

    fn claims() -> Value {
        json!({ "sub": USER, "aud": "authenticated", "role": "authenticated", "exp": get_current_timestamp() + 60 })
    }

    fn sign(header: &Header, claims: &Value, secret: &str) -> String {
        encode(header, claims, &EncodingKey::from_secret(secret.as_bytes())).expect("a token")
    }

    fn verify(token: &str) -> Result<Authenticated, ApiError> {
        Authenticated::verify(Some(&format!("Bearer {token}")), SECRET)
    }

    fn with(claim: &str, value: Value) -> Result<Authenticated, ApiError> {
        let mut claims = claims();
        claims[claim] = value;
        verify(&sign(&Header::default(), &claims, SECRET))
    }

    #[track_caller]
    fn refused(result: Result<Authenticated, ApiError>) {
        let error = result.err().expect("refused");
        assert_eq!(error.code, ErrorCode::Unauthorized);
    }

    #[test]
    fn a_valid_token_names_its_user() {
        let token = sign(&Header::default(), &claims(), SECRET);
        for authorization in [format!("Bearer {token}"), format!("bearer  {token} ")] {
            let user = Authenticated::verify(Some(&authorization), SECRET).expect("verified");
            assert_eq!(user.user_id().to_string(), USER);
            assert_eq!(user.token(), token);
        }
    }

    #[test]
    fn a_missing_or_malformed_header_is_refused() {
        let token = sign(&Header::default(), &claims(), SECRET);
        for header in [None, Some(""), Some("Bearer"), Some("Bearer "), Some("Basic x"), Some(token.as_str())]
        {
            refused(Authenticated::verify(header, SECRET));
        }
        for garbage in ["x", "a.b.c", "..", &format!("{token}."), &format!("{token}="), &"a".repeat(9000)] {
            refused(verify(garbage));
        }
    }

    #[test]
    fn another_secret_or_a_changed_token_is_refused() {
        refused(verify(&sign(&Header::default(), &claims(), &SECRET.to_uppercase())));
        let token = sign(&Header::default(), &claims(), SECRET);
        let mut parts: Vec<&str> = token.split('.').collect();
        let mut other = claims();
        other["sub"] = json!("00000000-0000-0000-0000-000000000001");
        let other = sign(&Header::default(), &other, "another secret");
        parts[1] = other.split('.').nth(1).expect("a payload");
        refused(verify(&parts.join(".")));
    }

    #[test]
    fn only_hs256_is_accepted_whatever_the_token_says() {
        for algorithm in [Algorithm::HS384, Algorithm::HS512] {
            refused(verify(&sign(&Header::new(algorithm), &claims(), SECRET)));
        }
        let token = sign(&Header::default(), &claims(), SECRET);
        let payload = token.split('.').nth(1).expect("a payload");
        // {"alg":"none"} with and without a signature, and {"alg":"RS256"}.
        for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJSUzI1NiJ9"] {
            refused(verify(&format!("{header}.{payload}.")));
            refused(verify(&format!("{header}.{payload}.AAAA")));
        }
    }

    #[test]
    fn time_is_checked_with_a_small_leeway() {
        let now = get_current_timestamp();
        assert!(with("exp", json!(now - 3)).is_ok());
        assert!(with("nbf", json!(now + 3)).is_ok());
        refused(with("exp", json!(now - 10)));
        refused(with("nbf", json!(now + 10)));
        for odd in [json!(null), json!("soon"), json!(-1), json!((now + 60).to_string())] {
            refused(with("exp", odd));
        }
        refused(with("nbf", json!("soon")));
    }

    #[test]
    fn audience_role_and_subject_are_checked() {
        assert!(with("aud", json!(["other", "authenticated"])).is_ok());
        for aud in [json!("anon"), json!([]), json!(null), json!(7), json!(["anon"])] {
            refused(with("aud", aud));
        }
        for role in [json!("anon"), json!("service_role"), json!(null), json!(["authenticated"])] {
            refused(with("role", role));
        }
        for sub in [json!(""), json!("admin"), json!(null), json!(7)] {
            refused(with("sub", sub));
        }
    }

    #[test]
    fn critical_extensions_are_refused() {
        let header = Header { crit: Some(vec!["b64".to_owned()]), ..Header::default() };
        refused(verify(&sign(&header, &claims(), SECRET)));
    }
}
