//! The rules of the database for an audience: an audience that could not be stored is refused
//! before anything is sent.

use chat_core::limits::{MAX_META_BYTES, json_bytes};

/// Maximum size of an audience as JSON. It is part of the metadata of a document, which is limited to [`MAX_META_BYTES`].
pub const MAX_AUDIENCE_BYTES: usize = MAX_META_BYTES / 2;

const MAX_ENTRIES: usize = 100;
const MAX_ENTRY_CHARS: usize = 300;

/// Claims that users can set themselves, as in `internal.kb_is_user_editable_claim`.
const USER_EDITABLE_CLAIMS: &str = "user_metadata email phone phone_number name given_name family_name middle_name nickname \
    preferred_username profile picture website gender birthdate zoneinfo locale address";

/// Why an audience cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AudienceError {
    /// It has no entry.
    #[error("it is empty")]
    Empty,
    /// An entry has not the form `claim:value`.
    #[error("{0} is not `claim:value`")]
    Form(String),
    /// The claim of an entry grants no access.
    #[error("users can set `{0}` themselves, so it cannot give access; use a claim of app_metadata")]
    UserEditable(String),
    /// An entry is too long.
    #[error("{0}… is longer than {MAX_ENTRY_CHARS} characters")]
    TooLong(String),
    /// There are too many entries.
    #[error(
        "it has more than {MAX_ENTRIES} entries or {MAX_AUDIENCE_BYTES} bytes; use a claim that these users share"
    )]
    TooLarge,
}

/// Checks the entries of an audience, and writes each as `claim:value` without spaces around its parts.
///
/// # Errors
/// If the database would refuse them.
pub fn audience<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>, AudienceError> {
    let entries = entries.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    // Each entry adds two quotation marks, a comma and a space.
    let bytes: usize = entries.iter().map(|entry| json_bytes(entry) + 4).sum();
    match entries.len() {
        0 => Err(AudienceError::Empty),
        number if number > MAX_ENTRIES || bytes > MAX_AUDIENCE_BYTES => Err(AudienceError::TooLarge),
        _ => Ok(entries),
    }
}

fn entry(text: &str) -> Result<String, AudienceError> {
    let shown = || text.chars().take(60).collect();
    let (claim, value) = text.split_once(':').ok_or_else(|| AudienceError::Form(shown()))?;
    let (claim, value) = (claim.trim(), value.trim());
    if claim.is_empty()
        || value.is_empty()
        || claim.contains(char::is_whitespace)
        || value.contains(char::is_control)
    {
        return Err(AudienceError::Form(shown()));
    }
    if USER_EDITABLE_CLAIMS.split(' ').any(|name| name == claim) {
        return Err(AudienceError::UserEditable(claim.to_owned()));
    }
    let entry = format!("{claim}:{value}");
    if entry.chars().nth(MAX_ENTRY_CHARS).is_some() {
        Err(AudienceError::TooLong(shown()))
    } else {
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audience_that_the_database_refuses_is_refused_with_what_to_do() {
        assert_eq!(audience([" team : sales ", "role:a:b"]).unwrap(), ["team:sales", "role:a:b"]);
        for (entries, reason) in [
            (vec![], "it is empty"),
            (vec!["team:a", "sales"], "sales is not `claim:value`"),
            (vec!["a team:sales"], "is not `claim:value`"),
            (vec!["team:"], "is not `claim:value`"),
            (vec![":sales"], "is not `claim:value`"),
            (vec!["team:a\u{1}"], "is not `claim:value`"),
            (vec!["email:bob@example.com"], "use a claim of app_metadata"),
            (vec!["user_metadata:x"], "use a claim of app_metadata"),
            (vec!["team:a"; 101], "more than 100 entries"),
        ] {
            let error = audience(entries.clone()).unwrap_err().to_string();
            assert!(error.contains(reason), "{entries:?}: {error}");
        }
        let long = format!("team:{}", "é".repeat(295));
        assert!(audience([long.as_str()]).is_ok() && audience([format!("{long}é").as_str()]).is_err());
        assert_eq!(audience([long.as_str(); 50]), Err(AudienceError::TooLarge));
    }

    #[test]
    fn the_claims_that_users_can_set_are_the_same_as_in_the_database() {
        let schema = include_str!("../../../supabase/migrations/20261201000200_audiences.sql");
        let (_, list) = schema.split_once("return claim in (").unwrap();
        let (list, _) = list.split_once(')').unwrap();
        let claims: Vec<_> = list.split(',').map(|claim| claim.trim().trim_matches('\'')).collect();
        assert_eq!(claims.join(" "), USER_EDITABLE_CLAIMS);
    }
}
