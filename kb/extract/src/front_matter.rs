//! Front matter: what the first lines of a text file say about the document, in YAML (`---`) or TOML (`+++`).
//!
//! It may say who may see the document, so front matter that is not understood is an error and never ignored.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::DuplicateKeyPolicy;
use toml::value::Datetime;

use super::time::{DAY_SECONDS, seconds};
use super::{ExtractError, Properties, audience, properties};

/// Maximum size; longer front matter is not read.
const MAX_BYTES: usize = 64 * 1024;
/// Lines in which front matter that does not begin in the first line is noticed.
const MAX_STRAY_LINES: usize = 20;
/// After the beginning of a day, when it is over everywhere.
const TWO_DAYS: i64 = 2 * DAY_SECONDS;

/// Names that keep a document out.
const HIDES_IF_TRUE: [&str; 6] = ["draft", "unlisted", "private", "hidden", "noindex", "headless"];
const HIDES_IF_FALSE: [&str; 4] = ["published", "publish", "search", "pagefind"];
const STATES: [&str; 2] = ["status", "visibility"];
const UNPUBLISHED_STATES: [&str; 5] = ["draft", "private", "hidden", "unlisted", "unpublished"];
const PUBLICATION_DATES: [&str; 3] = ["publishdate", "pubdate", "publishedat"];
const EXPIRY_DATES: [&str; 5] = ["expirydate", "expires", "expiresat", "unpublish", "unpublishdate"];

const NOT_ITS_NAME: &str = "its name must be `audience`, not below another name";

/// Names with their values. A name may be repeated, and the last value counts, except where another
/// one keeps the document out.
#[derive(Default)]
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Fields;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("names with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some(entry) = map.next_entry()? {
                    fields.0.push(entry);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl Fields {
    /// All values of a name, in any spelling.
    fn all<'f>(&'f self, name: &str) -> impl DoubleEndedIterator<Item = &'f Value> {
        self.0.iter().filter(move |(key, _)| spelled(key) == name).map(|(_, value)| value)
    }

    /// The values of these names that are not null, with their names.
    fn given(
        &self,
        names: impl IntoIterator<Item = &'static str>,
    ) -> impl Iterator<Item = (&'static str, &Value)> {
        let values = |name| self.all(name).map(move |value| (name, value));
        names.into_iter().flat_map(values).filter(|(_, value)| !value.is_null())
    }

    /// Notes about names that have different values.
    fn repetitions(&self) -> Vec<String> {
        let is_last = |at: usize, key: &str| {
            !self.0.iter().skip(at + 1).any(|(other, _)| spelled(other) == spelled(key))
        };
        let last = self.0.iter().enumerate().filter(|(at, (key, _))| is_last(*at, key));
        last.filter(|(_, (key, last))| self.all(&spelled(key)).any(|value| value != last))
            .map(|(_, (key, _))| format!("has `{key}` twice in its front matter; the last one counts"))
            .collect()
    }
}

/// A text file, with its front matter read.
pub(crate) struct Front<'a> {
    pub(crate) properties: Properties,
    /// Notes on values that could not be read.
    pub(crate) notes: Vec<String>,
    /// The text below.
    pub(crate) body: &'a str,
}

/// Reads the front matter of a text file, if it has any.
///
/// # Errors
/// If it is not understood, or says that the document is not published.
pub(crate) fn read(text: &str) -> Result<Front<'_>, ExtractError> {
    let Some((fields, body)) = block(text)? else {
        refuse_stray(text)?;
        return Ok(Front { properties: Properties::default(), notes: Vec::new(), body: text });
    };
    refuse_stray(body)?;
    let mut notes = fields.repetitions();
    if let Some(reason) = unpublished(&fields, &mut notes)? {
        return Err(ExtractError::NotPublished(reason));
    }
    let mut text = |names: &[&str], check: fn(&str) -> Option<String>, wanted: &str| {
        for name in names {
            let text = match fields.all(name).next_back() {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => check(text),
                Some(Value::Number(number)) => check(&number.to_string()),
                Some(_) => None,
            };
            if text.is_none() {
                notes.push(format!("`{name}` in its front matter is not {wanted}"));
            }
            return text;
        }
        None
    };
    let properties = Properties {
        title: text(&["title"], properties::title, "a text"),
        url: text(&["url"], properties::url, "an absolute http or https address"),
        language: text(&["language", "lang"], properties::language, "a language"),
        audience: declared_audience(&fields)?,
    };
    Ok(Front { properties, notes, body })
}

/// Finds and parses the block. A file may also begin with a rule, which looks the same: text follows it, in which no line begins with a
/// name, or a blank line, and no name that matters here.
fn block(text: &str) -> Result<Option<(Fields, &str)>, ExtractError> {
    let start = text.len() - text.trim_start_matches(is_blank).len();
    let mut lines = text.get(start..).unwrap_or_default().split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let fence = ["---", "+++"].into_iter().find_map(|fence| Some((fence, first.strip_prefix(fence)?)));
    let Some((fence, notation)) = fence else { return Ok(None) };
    let notation = notation.trim_matches(is_blank);
    if !notation.chars().all(char::is_alphanumeric) {
        return Ok(None);
    }
    let from = start + first.len();
    let (mut to, mut end) = (from, None);
    for line in lines {
        let is_fence = |mark| line.trim_end_matches(is_blank) == mark;
        if is_fence(fence) || (fence == "---" && is_fence("...")) {
            end = Some(to + line.len());
            break;
        }
        to += line.len();
    }
    let inside = text.get(from..to).unwrap_or_default();
    let is_spaced = inside.lines().next().is_some_and(|line| line.trim_matches(is_blank).is_empty());
    let matters = |name: &str| name == "title" || decides_access(name);
    let Some(end) = end else {
        let mut head = inside.lines().take(MAX_STRAY_LINES);
        if head.clone().filter_map(name).any(|name| decides_access(&name))
            || (!is_spaced && head.next().and_then(name).is_some())
        {
            return Err(unreadable(&format!("it has no line `{fence}` at its end")));
        }
        return Ok(None);
    };
    let is_comment = |line: &str| {
        let line = line.trim_start_matches(is_blank);
        line.is_empty() || line.starts_with('#')
    };
    let is_front = inside.lines().filter_map(name).any(|name| !is_spaced || matters(&name))
        || (!is_spaced && inside.lines().all(is_comment));
    if !is_front {
        return Ok(None);
    }
    let is_toml = fence == "+++" || notation.eq_ignore_ascii_case("toml");
    if !is_toml && !["", "yaml", "yml", "json"].contains(&notation.to_ascii_lowercase().as_str()) {
        return Err(unreadable(&format!("{notation} is not a known notation")));
    }
    let fields = fields(inside, is_toml).map_err(|reason| unreadable(&reason))?;
    // In braces, YAML takes the whole line for a name, or the line before as a part of it.
    if inside.lines().filter_map(name).any(|name| matches!(&*name, "audience" | "audiences"))
        && fields.all("audience").next().is_none()
    {
        return Err(refused(NOT_ITS_NAME));
    }
    Ok(Some((fields, text.get(end..).unwrap_or_default())))
}

fn fields(inside: &str, is_toml: bool) -> Result<Fields, String> {
    if inside.len() > MAX_BYTES {
        return Err(format!("it is longer than {} KB", MAX_BYTES / 1024));
    }
    if inside.trim().is_empty() {
        return Ok(Fields::default());
    }
    if is_toml {
        let table: toml::Table = toml::from_str(inside).map_err(|error| first_line(error.message()))?;
        let value = serde_json::to_value(table).map_err(|error| first_line(&error.to_string()))?;
        return serde_json::from_value(value).map_err(|error| first_line(&error.to_string()));
    }
    let read = |duplicate_keys| {
        let options = serde_saphyr::options! {
            duplicate_keys: duplicate_keys,
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
        serde_saphyr::from_str_with_options::<Fields>(inside, options)
            .map_err(|error| first_line(&error.to_string()))
    };
    let all = read(DuplicateKeyPolicy::PassThrough)?;
    let mut names = BTreeSet::new();
    if all.0.iter().all(|(name, _)| names.insert(name)) {
        // A name that is repeated inside of a value is an error: its first values would be lost.
        return read(DuplicateKeyPolicy::Error);
    }
    let mut fields = read(DuplicateKeyPolicy::FirstWins)?;
    fields.0.retain(|field| !all.0.contains(field));
    fields.0.extend(all.0);
    Ok(fields)
}

/// A name as it is compared: `publish_date` and `publish-date` are `publishDate`.
fn spelled(name: &str) -> String {
    name.trim().replace(['_', '-'], "").to_lowercase()
}

fn refused(reason: &str) -> ExtractError {
    ExtractError::Audience(reason.to_owned())
}

/// Reads an entry or a list of entries.
fn declared_audience(fields: &Fields) -> Result<Option<Vec<String>>, ExtractError> {
    let names_audience = |fields: &Map<_, _>| fields.keys().any(|key| key.eq_ignore_ascii_case("audience"));
    if fields.all("audiences").next().is_some()
        || fields.0.iter().any(|(_, value)| has_mapping(value, &names_audience))
    {
        return Err(refused(NOT_ITS_NAME));
    }
    let text = |value: &Value| {
        let shown: String = value.to_string().chars().take(60).collect();
        value.as_str().map(str::to_owned).ok_or_else(|| refused(&format!("{shown} is not `claim:value`")))
    };
    let entries = |value: &Value| {
        let entries = match value {
            Value::Null => return Err(refused("it has no value")),
            Value::Array(entries) => entries.iter().map(text).collect::<Result<Vec<_>, _>>()?,
            single => vec![text(single)?],
        };
        audience(entries.iter().map(String::as_str)).map_err(|error| refused(&error.to_string()))
    };
    let mut declared = fields.all("audience").map(entries).collect::<Result<Vec<_>, _>>()?;
    declared.dedup();
    match declared.pop() {
        Some(_) if !declared.is_empty() => Err(refused("it is there twice, with different values")),
        declared => Ok(declared),
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        value => value.as_bool(),
    }
}

/// Returns whether a mapping at any depth is as described.
fn has_mapping(value: &Value, is_it: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| has_mapping(value, is_it)),
        Value::Object(fields) => is_it(fields) || fields.values().any(|value| has_mapping(value, is_it)),
        _ => false,
    }
}

/// Why the author does not want the document to be published or found.
fn unpublished(fields: &Fields, notes: &mut Vec<String>) -> Result<Option<String>, ExtractError> {
    for (name, value) in fields.given(HIDES_IF_TRUE.into_iter().chain(HIDES_IF_FALSE)) {
        let hides = HIDES_IF_TRUE.contains(&name);
        let says = match value {
            Value::Object(search) if name == "search" => match search.get("exclude") {
                None | Some(Value::Null) => Some(true),
                Some(value) => truth(value).map(|is_excluded| !is_excluded),
            },
            value => truth(value)
                .or_else(|| is_to_come(value, TWO_DAYS).filter(|_| !hides).map(|is_later| !is_later)),
        };
        match says {
            Some(says) if says == hides => return Ok(Some(format!("`{name}: {says}`"))),
            Some(_) => {}
            None => return Err(unreadable(&format!("`{name}` is neither true nor false"))),
        }
    }
    for (name, value) in fields.given(STATES) {
        let state = value.as_str().unwrap_or_default().to_lowercase();
        if UNPUBLISHED_STATES.contains(&state.trim()) {
            return Ok(Some(format!("`{name}: {state}`")));
        }
    }
    let dates = PUBLICATION_DATES.into_iter().chain(["date"]).chain(EXPIRY_DATES);
    for (name, value) in fields.given(dates) {
        let is_expiry = EXPIRY_DATES.contains(&name);
        let is_later = match value {
            Value::Bool(is_over) if is_expiry => Some(!is_over),
            _ => is_to_come(value, if is_expiry { 0 } else { TWO_DAYS }),
        };
        match is_later {
            Some(is_later) if is_later != is_expiry => {
                return Ok(Some(format!("`{name}` is {}", if is_later { "to come" } else { "over" })));
            }
            Some(_) => {}
            // The date of an event may be "in spring".
            None if name == "date" => notes.push("`date` in its front matter is not a date".to_owned()),
            None => return Err(unreadable(&format!("`{name}` is not a date"))),
        }
    }
    let is_noindex = |value: &Value| match value {
        Value::String(text) => properties::forbids_indexing(text),
        Value::Array(list) => list.iter().filter_map(Value::as_str).any(properties::forbids_indexing),
        Value::Object(robots) => robots.get("index") == Some(&Value::Bool(false)),
        _ => false,
    };
    // An element for the head of the page.
    let is_robots_tag = |element: &Map<String, Value>| {
        let text = |name| element.get(name).and_then(Value::as_str).unwrap_or_default();
        text("name") == "robots" && properties::forbids_indexing(text("content"))
    };
    let is_hidden = fields.all("robots").any(is_noindex)
        || fields.0.iter().any(|(_, value)| has_mapping(value, &is_robots_tag));
    Ok(is_hidden.then(|| "`robots: noindex`".to_owned()))
}

/// Returns whether a post is published later, by a date in the form 2031-1-31 at the beginning of
/// its name.
pub fn is_post_to_come(name: &str) -> bool {
    let mut parts = name.splitn(4, '-');
    let [Some(year), Some(month), Some(day), Some(_)] = [(); 4].map(|()| parts.next()) else { return false };
    is_to_come(&Value::String(format!("{year:0>4}-{month:0>2}-{day:0>2}")), 0) == Some(true)
}

/// Returns whether a text file that begins like this may have front matter with a date after which
/// it is not published.
pub fn may_expire(head: &[u8]) -> bool {
    let is_front = head.iter().find(|byte| byte.is_ascii_graphic()).is_some_and(|byte| b"-+".contains(byte));
    let text = || String::from_utf8_lossy(head.get(..MAX_BYTES).unwrap_or(head));
    is_front && text().lines().filter_map(name).any(|name| EXPIRY_DATES.contains(&&*name))
}

/// Returns whether a date is in the future; `None` if it is no date. A time without a zone is UTC.
/// A time in another notation counts as `unsure` seconds after the beginning of its day.
fn is_to_come(value: &Value, unsure: i64) -> Option<bool> {
    // TOML has dates, which are objects here.
    let text = value.as_str().or_else(|| value.as_object()?.values().next()?.as_str())?.trim();
    let known: Option<Datetime> = text.parse().ok().or_else(|| with_offset(text)?.parse().ok());
    let later = if known.is_some() { 0 } else { unsure };
    let at = seconds(known.or_else(|| text.get(..10)?.parse().ok())?)? + later;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(i64::try_from(now).is_ok_and(|now| at > now))
}

/// A time such as `2031-01-31 10:00:00 +0100`, which Jekyll writes, in the notation of TOML.
fn with_offset(text: &str) -> Option<String> {
    let (time, zone) = text.rsplit_once(' ')?;
    if ["UTC", "GMT", "Z"].contains(&zone) {
        return Some(format!("{}Z", time.trim_end()));
    }
    let (hours, minutes) = zone.split_at_checked(3).filter(|_| zone.starts_with(['+', '-']))?;
    Some(format!("{}{hours}:{}", time.trim_end(), minutes.trim_start_matches(':')))
}

/// An audience in the first lines that is in no front matter, such as below a comment.
fn refuse_stray(text: &str) -> Result<(), ExtractError> {
    let mut is_code = false;
    for line in text.trim_start_matches(is_blank).lines().take(MAX_STRAY_LINES) {
        is_code ^= line.trim_start().starts_with("```");
        // "Audience: all employees" is text.
        let is_claim = |entry: &str| {
            let (claim, value) = entry.split_once(':').unwrap_or_default();
            claim.starts_with(char::is_alphabetic) && value.starts_with(char::is_alphanumeric)
        };
        let (_, value) = line.split_once([':', '=', '：']).unwrap_or_default();
        let has_claim = value.split([',', ' ', '[', '"', '\'', '\t']).any(is_claim);
        let is_audience = name(line).is_some_and(|name| matches!(&*name, "audience" | "audiences"));
        if !is_code && is_audience && has_claim {
            return Err(refused("it must be in front matter, which begins in the first line"));
        }
    }
    Ok(())
}

fn decides_access(name: &str) -> bool {
    matches!(name, "audience" | "audiences" | "robots")
        || [&HIDES_IF_TRUE[..], &HIDES_IF_FALSE, &PUBLICATION_DATES, &EXPIRY_DATES]
            .iter()
            .any(|names| names.contains(&name))
}

/// The name in a line such as `name: value`, `"name": value` or `name = value`, in lower case.
fn name(line: &str) -> Option<String> {
    let (name, value) = line.split_at(line.find([':', '=', '：'])?);
    let name = spelled(name.trim_matches(|c| is_blank(c) || "\"'{,".contains(c)));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '.');
    // "https://example.org" is none.
    let is_value = !value.starts_with("://");
    (is_name && is_value).then_some(name)
}

/// White space and characters of no width, such as a byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

fn unreadable(reason: &str) -> ExtractError {
    ExtractError::FrontMatter(reason.to_owned())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

#[cfg(test)]
mod tests;
