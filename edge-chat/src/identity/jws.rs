//! The compact form of a signed token (RFC 7515): `header.payload.signature`, each in base64url without padding.

use super::base64url;
use super::error::AuthError;
use super::json::Object;
use super::keys::Algorithm;

/// Bytes of a token. Supabase's are about 1 KB.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// A parsed token. Nothing is verified yet.
pub(super) struct Jws<'a> {
    pub(super) header: Header,
    /// The signed bytes: encoded header and payload.
    pub(super) signed: &'a [u8],
    pub(super) payload: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

/// The header fields that we use. Keys and URLs of keys in the header (`jwk`, `jku`, `x5c`, `x5u`) are ignored.
pub(super) struct Header {
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
}

impl<'a> Jws<'a> {
    pub(super) fn parse(token: &'a str) -> Result<Self, AuthError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError::invalid("too long"));
        }
        let malformed = || AuthError::invalid("malformed");
        let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;
        Ok(Self {
            header: Header::parse(&base64url::decode(header).ok_or_else(malformed)?)?,
            signed: signed.as_bytes(),
            payload: base64url::decode(payload).ok_or_else(malformed)?,
            signature: base64url::decode(signature).ok_or_else(malformed)?,
        })
    }
}

impl Header {
    fn parse(json: &[u8]) -> Result<Self, AuthError> {
        let header = Object::parse(json).ok_or(AuthError::invalid("malformed header"))?;
        // Critical extensions must be understood, and we support none.
        if header.has("crit") {
            return Err(AuthError::invalid("critical extension"));
        }
        if !header.text("typ")?.is_none_or(is_token_type) {
            return Err(AuthError::invalid("not an access token by its type"));
        }
        let algorithm = header.text("alg")?.and_then(Algorithm::from_name);
        Ok(Self {
            algorithm: algorithm.ok_or(AuthError::invalid("algorithm not accepted"))?,
            kid: header.text("kid")?.map(str::to_owned),
        })
    }
}

fn is_token_type(typ: &str) -> bool {
    ["JWT", "at+jwt"].iter().any(|name| typ.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(json: &str) -> Result<Header, AuthError> {
        Header::parse(json.as_bytes())
    }

    #[test]
    fn algorithm_and_key_id_are_read_from_the_header() {
        let read = header(r#"{"alg":"ES256","kid":"k1","typ":"JWT","b64":false,"jku":"https://x"}"#).ok();
        let read = read.map(|header| (header.algorithm, header.kid));
        assert_eq!(read, Some((Algorithm::Es256, Some("k1".to_owned()))));
        for typ in ["jwt", "JWT", "at+jwt", "AT+JWT"] {
            assert!(header(&format!(r#"{{"alg":"HS256","typ":"{typ}"}}"#)).is_ok(), "{typ}");
        }
    }

    #[test]
    fn an_invalid_header_is_rejected() {
        for wrong in [
            "{}",
            "[\"HS256\"]",
            r#"{"alg":null}"#,
            r#"{"alg":["HS256"]}"#,
            r#"{"alg":"none"}"#,
            r#"{"alg":"None"}"#,
            r#"{"alg":""}"#,
            r#"{"alg":"hs256"}"#,
            r#"{"alg":"HS384"}"#,
            r#"{"alg":"PS256"}"#,
            r#"{"alg":"ES512"}"#,
            r#"{"alg":"EdDSA"}"#,
            r#"{"alg":"HS256","alg":"HS256"}"#,
            r#"{"alg":"HS256","kid":null}"#,
            r#"{"alg":"HS256","kid":1}"#,
            r#"{"alg":"HS256","kid":"a","kid":"a"}"#,
            r#"{"alg":"HS256","typ":null}"#,
            r#"{"alg":"HS256","typ":"JWE"}"#,
            r#"{"alg":"HS256","typ":"dpop+jwt"}"#,
            r#"{"alg":"HS256","typ":["JWT"]}"#,
            r#"{"alg":"HS256","crit":["b64"]}"#,
            r#"{"alg":"HS256","crit":[]}"#,
            r#"{"alg":"HS256","crit":null}"#,
        ] {
            assert!(header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_token_must_have_three_parts_and_a_bounded_length() {
        let head = "eyJhbGciOiJIUzI1NiJ9";
        let parts = Jws::parse("eyJhbGciOiJIUzI1NiJ9.e30.AAAA").ok();
        assert_eq!(
            parts.map(|jws| (jws.signed, jws.payload)),
            Some((&b"eyJhbGciOiJIUzI1NiJ9.e30"[..], b"{}".to_vec()))
        );
        for wrong in
            ["", ".", "..", "...", head, "eyJhbGciOiJIUzI1NiJ9.e30", "eyJhbGciOiJIUzI1NiJ9.e30.AAAA.AAAA"]
        {
            assert!(Jws::parse(wrong).is_err(), "{wrong}");
        }
        let token = |length: usize| format!("{head}..{}", "A".repeat(length - head.len() - 2));
        assert!(Jws::parse(&token(MAX_TOKEN_BYTES)).is_ok());
        let error = Jws::parse(&token(MAX_TOKEN_BYTES + 4)).err();
        assert_eq!(error, Some(AuthError::invalid("too long")));
    }
}
