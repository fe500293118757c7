//! The claims of a token (RFC 7519), checked after its signature.

use chat_core::request::parse_id;
use uuid::Uuid;

use super::error::AuthError;
use super::json::{Object, WrongType};

/// Allowed clock skew in seconds: the same as in PostgREST (`allowedSkewSeconds` in `PostgREST.Auth.Jwt`), so that we reject no
/// token that Supabase accepts.
const LEEWAY_S: f64 = 30.0;
/// The audience and the role of signed-in users in Supabase.
const AUTHENTICATED: &str = "authenticated";

/// The user of a token.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub(super) user_id: Uuid,
    /// Whether Supabase Auth signed the user in without an account. Tokens of other issuers do not have the claim. Any other value
    /// than `false` counts as anonymous, as in the database (`internal.kb_is_anonymous`).
    pub(super) is_anonymous: bool,
}

/// The claims of a token that is valid at `now_s`.
pub(super) fn read(payload: &[u8], issuer: &str, now_s: u64) -> Result<Claims, AuthError> {
    let claims = Object::parse(payload).ok_or(AuthError::invalid("malformed claims"))?;
    if claims.text("iss")? != Some(issuer) {
        return Err(AuthError::invalid("wrong issuer"));
    }
    if !claims.text_or_texts("aud")?.is_some_and(|audience| audience.contains(&AUTHENTICATED)) {
        return Err(AuthError::invalid("wrong audience"));
    }
    if claims.text("role")? != Some(AUTHENTICATED) {
        return Err(AuthError::invalid("wrong role"));
    }
    let user_id =
        claims.text("sub")?.and_then(parse_id).ok_or(AuthError::invalid("subject is not a user id"))?;

    let now_s = now_s as f64;
    let not_before = time(&claims, "nbf")?.into_iter().chain(time(&claims, "iat")?);
    let expires = time(&claims, "exp")?.ok_or(AuthError::invalid("no expiry"))?;
    if not_before.into_iter().any(|start| now_s + LEEWAY_S < start) {
        return Err(AuthError::invalid("not valid yet"));
    }
    if now_s >= expires + LEEWAY_S {
        return Err(AuthError::Expired);
    }
    Ok(Claims { user_id, is_anonymous: claims.is_set("is_anonymous") })
}

fn time(claims: &Object, name: &'static str) -> Result<Option<f64>, WrongType> {
    match claims.number(name)? {
        Some(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(Some(seconds)),
        Some(_) => Err(WrongType(name)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ISSUER: &str = "https://abc.supabase.co/auth/v1";
    const USER: &str = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
    const NOW: u64 = 1_000_000;

    fn claims() -> Value {
        json!({
            "iss": ISSUER, "sub": USER, "aud": "authenticated", "role": "authenticated", "exp": NOW + 60,
            "iat": NOW - 60, "session_id": "x", "app_metadata": { "provider": "email" }, "amr": [{ "method": "otp" }],
        })
    }

    fn check(claims: &Value) -> Result<String, AuthError> {
        read(claims.to_string().as_bytes(), ISSUER, NOW).map(|claims| claims.user_id.to_string())
    }

    fn with(claim: &str, value: Value) -> Result<String, AuthError> {
        let mut claims = claims();
        claims[claim] = value;
        check(&claims)
    }

    fn without(claim: &str) -> Result<String, AuthError> {
        let mut claims = claims();
        claims.as_object_mut().unwrap().remove(claim);
        check(&claims)
    }

    /// Values of every JSON type, and some that look like other types.
    fn samples() -> Vec<Value> {
        vec![
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(NOW + 60),
            json!(""),
            json!("authenticated"),
            json!((NOW + 60).to_string()),
            json!(ISSUER),
            json!(USER),
            json!([]),
            json!([null]),
            json!([1]),
            json!(["authenticated"]),
            json!([["authenticated"]]),
            json!(["authenticated", 1]),
            json!(["authenticated", null]),
            json!([ISSUER]),
            json!([USER]),
            json!([NOW + 60]),
            json!({}),
            json!({ "authenticated": true }),
        ]
    }

    #[test]
    fn claims_of_supabase_are_accepted() {
        assert_eq!(check(&claims()).as_deref(), Ok(USER));
        assert_eq!(with("sub", json!(USER.to_uppercase())).as_deref(), Ok(USER));
        assert_eq!(with("nbf", json!(NOW)).as_deref(), Ok(USER));
        for optional in ["iat", "session_id"] {
            assert!(without(optional).is_ok(), "{optional}");
        }
    }

    #[test]
    fn a_user_is_anonymous_unless_the_token_says_otherwise_or_nothing() {
        let is_anonymous = |value: Value| {
            let mut claims = claims();
            claims["is_anonymous"] = value;
            read(claims.to_string().as_bytes(), ISSUER, NOW).map(|claims| claims.is_anonymous)
        };
        for (value, expected) in [
            (json!(false), false),
            (json!(null), false),
            (json!(true), true),
            (json!("true"), true),
            (json!(1), true),
            (json!([false]), true),
        ] {
            assert_eq!(is_anonymous(value.clone()), Ok(expected), "{value}");
        }
        assert_eq!(
            read(claims().to_string().as_bytes(), ISSUER, NOW).map(|claims| claims.is_anonymous),
            Ok(false)
        );
    }

    #[test]
    fn a_missing_required_claim_is_rejected() {
        for claim in ["iss", "sub", "aud", "role", "exp"] {
            assert!(matches!(without(claim), Err(AuthError::Invalid(_))), "{claim}");
        }
    }

    #[test]
    fn claims_of_a_wrong_type_are_rejected() {
        let valid: [(&str, Vec<Value>); 7] = [
            ("iss", vec![json!(ISSUER)]),
            ("sub", vec![json!(USER)]),
            ("aud", vec![json!("authenticated"), json!(["authenticated"])]),
            ("role", vec![json!("authenticated")]),
            ("exp", vec![json!(NOW + 60)]),
            ("nbf", vec![json!(0), json!(1.5)]),
            ("iat", vec![json!(0), json!(1.5)]),
        ];
        for (claim, valid) in valid {
            for value in samples() {
                let result = with(claim, value.clone());
                let is_past_expiry = claim == "exp" && [json!(0), json!(1.5)].contains(&value);
                match result {
                    Ok(_) => assert!(valid.contains(&value), "{claim}: {value} accepted"),
                    Err(AuthError::Expired) => assert!(is_past_expiry, "{claim}: {value}"),
                    Err(_) => {
                        assert!(!valid.contains(&value) && !is_past_expiry, "{claim}: {value} rejected")
                    }
                }
            }
        }
    }

    #[test]
    fn claims_with_other_values_are_rejected() {
        for (claim, value) in [
            ("iss", json!(format!("{ISSUER}/"))),
            ("iss", json!("https://abc.supabase.co")),
            ("iss", json!(ISSUER.to_uppercase())),
            ("aud", json!("Authenticated")),
            ("aud", json!("authenticated ")),
            ("aud", json!(["anon", "service_role"])),
            ("role", json!("anon")),
            ("role", json!("service_role")),
            ("role", json!("authenticated\u{0}")),
            ("sub", json!("admin")),
            ("sub", json!(USER.replace('-', ""))),
            ("sub", json!(format!("{{{USER}}}"))),
            ("sub", json!(format!("urn:uuid:{USER}"))),
            ("sub", json!(format!(" {USER}"))),
            ("sub", json!("x".repeat(36))),
        ] {
            assert!(matches!(with(claim, value.clone()), Err(AuthError::Invalid(_))), "{claim}: {value}");
        }
        assert!(with("aud", json!(["other", "authenticated"])).is_ok());
    }

    #[test]
    fn time_is_checked_to_the_boundary() {
        let now = NOW as f64;
        for (claim, value, result) in [
            ("exp", now - 29.5, Ok(())),
            ("exp", now - 30.0, Err(AuthError::Expired)),
            ("exp", now - 30.5, Err(AuthError::Expired)),
            ("exp", 1e300, Ok(())),
            ("nbf", now + 30.0, Ok(())),
            ("nbf", now + 30.5, Err(AuthError::invalid("not valid yet"))),
            ("iat", now + 30.0, Ok(())),
            ("iat", now + 30.5, Err(AuthError::invalid("not valid yet"))),
            ("iat", 1e300, Err(AuthError::invalid("not valid yet"))),
            ("exp", -1.0, Err(WrongType("exp").into())),
            ("nbf", -1.0, Err(WrongType("nbf").into())),
            ("iat", -0.5, Err(WrongType("iat").into())),
        ] {
            assert_eq!(with(claim, json!(value)).map(drop), result, "{claim} {value}");
        }
    }

    #[test]
    fn a_token_counts_as_expired_only_if_it_is_valid_otherwise() {
        let mut claims = claims();
        claims["exp"] = json!(1);
        assert_eq!(check(&claims), Err(AuthError::Expired));
        claims["iss"] = json!("https://other");
        assert_eq!(check(&claims), Err(AuthError::invalid("wrong issuer")));
    }

    #[test]
    fn malformed_claims_are_rejected() {
        let text = claims().to_string();
        let infinite = text.replace(&(NOW + 60).to_string(), "1e400");
        let twice = text.replacen('{', r#"{"role":"anon","#, 1);
        let escaped = text.replacen('{', r#"{"\u0072ole":"anon","#, 1);
        let cut = &text[..text.len() - 1];
        let array = format!("[{text}]");
        for wrong in ["", "{}", "null", "[]", cut, &array, &infinite, &twice, &escaped, &format!("{text} x")]
        {
            assert!(matches!(read(wrong.as_bytes(), ISSUER, NOW), Err(AuthError::Invalid(_))), "{wrong}");
        }
        assert!(read(text.as_bytes(), ISSUER, NOW).is_ok());
    }
}
