//! Properties from YAML (`---`) and TOML (`+++`) front matter.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ExtractError, Properties, properties};

/// Maximum size; longer front matter is not read.
const MAX_BYTES: usize = 64 * 1024;

type Fields = BTreeMap<String, Value>;

/// Parses a block including its fences. Returns the properties, and notes about what could not be read.
///
/// # Errors
/// [`ExtractError::Audience`]: a document whose audience is not understood must not be visible to everybody.
pub(crate) fn read(block: &str) -> Result<(Properties, Vec<String>), ExtractError> {
    let fields = match fields(block) {
        Ok(fields) => fields,
        Err(reason) if block.lines().any(|line| line.to_lowercase().contains("audience")) => {
            return Err(ExtractError::Audience { reason });
        }
        Err(reason) => {
            return Ok((Properties::default(), vec![format!("its front matter was not read: {reason}")]));
        }
    };
    let mut notes = Vec::new();
    let mut text = |names: &[&str], check: fn(&str) -> Option<String>, wanted: &str| {
        let (name, value) = names.iter().find_map(|name| Some((*name, field(&fields, name)?)))?;
        let text = match value {
            Value::String(text) => check(text),
            Value::Number(number) => check(&number.to_string()),
            _ => None,
        };
        if text.is_none() {
            notes.push(format!("`{name}` in its front matter is not {wanted}"));
        }
        text
    };
    let properties = Properties {
        title: text(&["title"], properties::title, "a text"),
        url: text(&["url"], properties::url, "an absolute http or https address"),
        language: text(&["language", "lang"], properties::language, "a language"),
        audience: field(&fields, "audience").map(audience).transpose()?,
    };
    Ok((properties, notes))
}

fn fields(block: &str) -> Result<Fields, String> {
    if block.len() > MAX_BYTES {
        return Err(format!("it is longer than {} KB", MAX_BYTES / 1024));
    }
    let body: Vec<&str> = block.lines().collect();
    let body = body.get(1..body.len().saturating_sub(1)).unwrap_or_default().join("\n");
    if body.trim().is_empty() {
        return Ok(Fields::new());
    }
    if block.starts_with("+++") {
        let table: toml::Table = toml::from_str(&body).map_err(|error| first_line(error.message()))?;
        let value = serde_json::to_value(table).map_err(|error| first_line(&error.to_string()))?;
        return serde_json::from_value(value).map_err(|error| first_line(&error.to_string()));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 10_000,
            max_nodes: 5_000,
            max_aliases: 100,
            max_anchors: 100,
            max_recorded_anchor_events: 5_000,
            max_recorded_anchor_bytes: 256 * 1024,
            max_depth: 32,
            max_documents: 1,
            max_total_scalar_bytes: 256 * 1024,
        },
    };
    serde_saphyr::from_str_with_options(&body, options).map_err(|error| first_line(&error.to_string()))
}

/// Matches names case-insensitively; null counts as missing.
fn field<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields
        .iter()
        .find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null())
        .map(|(_, value)| value)
}

/// One entry or a list of them.
fn audience(value: &Value) -> Result<Vec<String>, ExtractError> {
    let entries = match value {
        Value::Array(entries) => entries.iter().collect(),
        single => vec![single],
    };
    if entries.is_empty() {
        return Err(ExtractError::Audience { reason: "the list is empty".to_owned() });
    }
    entries.into_iter().map(audience_entry).collect()
}

fn audience_entry(value: &Value) -> Result<String, ExtractError> {
    let invalid = || {
        let shown: String = value.to_string().chars().take(60).collect();
        ExtractError::Audience { reason: format!("{shown} is not `claim:value`") }
    };
    let entry = value.as_str().ok_or_else(invalid)?.trim();
    let (claim, of) = entry.split_once(':').ok_or_else(invalid)?;
    let is_plain = !claim.trim().is_empty() && !of.trim().is_empty() && !entry.contains(char::is_control);
    if is_plain && entry.len() <= 200 {
        Ok(format!("{}:{}", claim.trim(), of.trim()))
    } else {
        Err(invalid())
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(block: &str) -> Properties {
        let (properties, notes) = read(block).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        properties
    }

    #[test]
    fn yaml_and_toml_give_the_same_properties() {
        let expected = Properties {
            title: Some("Refunds: how".into()),
            url: Some("https://example.org/refunds".into()),
            language: Some("de-at".into()),
            audience: Some(vec!["team:sales".into(), "team:ops".into()]),
        };
        let yaml = "---\ntitle: 'Refunds: how'\nurl: https://example.org/refunds\nlang: de-AT\naudience: [team:sales, \
            'team: ops']\ntags: {a: 1}\n---";
        assert_eq!(good(yaml), expected);
        let toml = "+++\r\ntitle = 'Refunds: how'\r\nurl = 'https://example.org/refunds'\r\nLanguage = 'de_AT'\r\n\
            date = 2024-01-01\r\naudience = ['team:sales', 'team:ops']\r\n+++";
        assert_eq!(good(toml), expected);
        assert_eq!(good("---\ntitle: 2024\naudience: team:sales\n---").audience.unwrap(), ["team:sales"]);
        assert_eq!(good("---\n---"), Properties::default());
        assert_eq!(good("---\ntitle:\n# only a comment\n---"), Properties::default());
    }

    #[test]
    fn wrong_types_are_noted_and_the_rest_is_kept() {
        let (properties, notes) = read("---\ntitle: [a]\nurl: /here\nlang: en\n---").unwrap();
        assert_eq!(properties, Properties { language: Some("en".into()), ..Properties::default() });
        assert_eq!(notes.len(), 2);
        assert!(notes[1].contains("`url`"), "{notes:?}");
        for broken in ["---\ntitle: 'a\n---", "---\n- a list\n---", "---\na: 1\na: 2\n---", "+++\ntitle\n+++"]
        {
            let (properties, notes) = read(broken).unwrap();
            assert_eq!((properties, notes.len()), (Properties::default(), 1), "{broken}");
        }
    }

    #[test]
    fn an_audience_that_is_not_understood_is_never_ignored() {
        for bad in
            ["5", "sales", "[]", "[team:sales, 7]", "{team: sales}", "'team:'", "':sales'", "\"a:\\x01\""]
        {
            let error = read(&format!("---\naudience: {bad}\n---")).unwrap_err();
            assert!(error.to_string().contains("audience: team:sales"), "{bad}: {error}");
        }
        assert!(read("---\nAudience: team:sales\ntitle: 'open\n---").is_err());
        assert!(read(&format!("---\naudience: team:sales\nx: {}\n---", "x".repeat(MAX_BYTES))).is_err());
    }

    #[test]
    fn yaml_bombs_are_stopped() {
        let mut bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for at in 1..20 {
            let before = format!("*a{}", at - 1);
            bomb += &format!("a{at}: &a{at} [{}]\n", [before.as_str(); 9].join(", "));
        }
        let started = std::time::Instant::now();
        assert_eq!(read(&(bomb + "---")).unwrap().1.len(), 1);
        let deep = format!("---\ntitle: {}\n---", "[".repeat(30_000));
        assert_eq!(read(&deep).unwrap().1.len(), 1);
        assert!(started.elapsed().as_secs() < 5);
    }
}
