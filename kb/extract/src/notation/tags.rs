//! Tags of MDX and templates, and the names that a reader sees on the boxes and tabs that they make.

use std::collections::{HashSet, VecDeque};

/// Kinds of boxes that sites show as the title of a box without one.
const KINDS: &str = " abstract attention bug caution critical danger deprecated error example fail failure hint important info \
                     note question quote success summary tip todo warn warning ";
/// Tags of templates whose content is shown under a condition.
const CONDITIONS: [&str; 6] = ["if", "ifversion", "unless", "case", "ifequal", "ifnotequal"];
/// Attributes with the title of a box, and with its kind.
const TITLES: [&str; 6] = ["title", "label", "header", "heading", "summary", "caption"];
const KIND_ATTRIBUTES: [&str; 8] =
    ["type", "kind", "variant", "style", "severity", "color", "intent", "status"];
/// Elements whose content is Markdown in MDX.
const ELEMENTS: [&str; 5] = ["div", "section", "details", "center", "figure"];
/// The replacement for a value that is not in the file.
pub(super) const UNKNOWN: &str = "\u{fffd}";

pub(super) enum Tag<'t> {
    /// With its name and arguments.
    Open(&'t str, &'t str),
    Close(&'t str),
    /// Without content, with its arguments.
    Alone(&'t str),
}

/// The names of all closing tags.
pub(crate) fn closed(document: &str) -> HashSet<String> {
    let marks = ["</", "{{< /", "{{</", "{{% /", "{{%/", "{% end", "{%- end", "{% /"];
    let names = marks.into_iter().flat_map(|mark| {
        document.match_indices(mark).filter_map(move |(at, _)| document.get(at + mark.len()..)).map(name)
    });
    names.map(str::to_owned).collect()
}

/// The name of the tag of MDX that a line begins with.
pub(super) fn component(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('<')?;
    rest.starts_with(|c: char| c.is_ascii_uppercase()).then(|| name(rest))
}

pub(super) fn is_element(name: &str) -> bool {
    ELEMENTS.contains(&name)
}

/// The tag that a text begins with, and the text after it.
pub(super) fn first(text: &str, is_mdx: bool) -> Option<(Tag<'_>, &str)> {
    if let Some(rest) = text.strip_prefix('<') {
        let is_close = rest.starts_with('/');
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let name = name(rest);
        let end = tag_end(rest)?;
        let (arguments, after) = (rest.get(name.len()..end)?, rest.get(end + 1..)?.trim());
        let is_component = name.starts_with(|c: char| c.is_ascii_uppercase());
        let is_read = is_component || (is_element(name) && (is_mdx || arguments.contains(" markdown")));
        let tag = match arguments.trim_end().strip_suffix('/') {
            _ if is_close => Tag::Close(name),
            Some(arguments) => Tag::Alone(arguments),
            None => Tag::Open(name, arguments),
        };
        return is_read.then_some((tag, after));
    }
    let (tag, length) = template(text)?;
    Some((tag, text.get(length..)?.trim()))
}

/// The tag of a template that a text begins with, and its length.
pub(super) fn template(text: &str) -> Option<(Tag<'_>, usize)> {
    let marks = [("{{<", ">}}"), ("{{%", "%}}"), ("{%", "%}")];
    let (open, close) = marks.into_iter().find(|(open, _)| text.starts_with(open))?;
    let inside = text.get(open.len()..)?;
    let end = inside.get(..inside.floor_char_boundary(super::MAX_MARK_BYTES))?.find(close)?;
    let length = open.len() + end + close.len();
    let inside = inside.get(..end)?.trim_matches(['-', ' ', '\t']);
    if let Some(closed) = inside.strip_prefix('/').or_else(|| inside.strip_prefix("end")) {
        return Some((Tag::Close(closed.trim()), length));
    }
    let (name, arguments) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
    let tag = match arguments.strip_suffix('/') {
        Some(arguments) => Tag::Alone(arguments),
        None => Tag::Open(name, arguments),
    };
    Some((tag, length))
}

/// The replacement for a tag of a template inside a line.
pub(super) fn in_line(tag: &Tag<'_>, closed: &HashSet<String>) -> &'static str {
    match tag {
        Tag::Open(name, _) if CONDITIONS.contains(name) => UNKNOWN,
        Tag::Open(name, _) if closed.contains(*name) || name.starts_with("el") => "",
        Tag::Close(name) if CONDITIONS.contains(name) => UNKNOWN,
        Tag::Close(_) => "",
        _ => UNKNOWN,
    }
}

/// The text without the closing tag at its end, and its name.
pub(super) fn last(text: &str) -> Option<(&str, &str)> {
    let start = [text.rfind("</"), text.rfind("{{"), text.rfind("{%")].into_iter().flatten().max()?;
    let (before, tag) = text.split_at_checked(start)?;
    let closed = match tag.strip_prefix("</") {
        Some(tag) => tag.strip_suffix('>')?,
        None => match template(tag)? {
            (Tag::Close(name), length) if length == tag.len() => name,
            _ => return None,
        },
    };
    Some((before, closed))
}

/// The title of a box or tab, or else its kind.
pub(super) fn label(name: &str, arguments: &str) -> String {
    if CONDITIONS.contains(&name) {
        return UNKNOWN.to_owned();
    }
    let name = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_tab = name.starts_with("tab") && name != "tabs";
    let values = attributes(arguments);
    let bare = || values.iter().find(|(key, _)| key.is_empty()).map(|(_, value)| (*value).to_owned());
    let of_tab = || attribute(arguments, &["name", "tabName", "value"]).or_else(bare).filter(|_| is_tab);
    let named = || attribute(arguments, &["name"]).filter(|_| !name.starts_with("icon"));
    title(arguments).or_else(of_tab).or_else(named).unwrap_or_else(|| {
        let kinds = [attribute(arguments, &KIND_ATTRIBUTES), bare(), Some(name.clone())];
        kinds.into_iter().flatten().find_map(|kind| self::kind(&kind)).unwrap_or_default()
    })
}

/// The title that the arguments of a tag name.
pub(super) fn caption(arguments: &str) -> Option<String> {
    attribute(arguments, &TITLES)
}

/// The title that the arguments of a box contain.
pub(super) fn title(arguments: &str) -> Option<String> {
    caption(arguments).or_else(|| attribute(arguments, &["\""]))
}

/// A kind of box as a reader sees it.
pub(super) fn kind(kind: &str) -> Option<String> {
    let kind = kind.rsplit('-').next().unwrap_or_default().to_lowercase();
    let is_kind = !kind.is_empty() && KINDS.contains(&format!(" {kind} "));
    is_kind.then(|| capitalised(if kind == "warn" { "warning" } else { &kind }))
}

pub(super) fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + characters.as_str())
}

/// The names of the tabs in a set that names them: `items={['npm', 'yarn']}`.
pub(super) fn items(arguments: &str) -> VecDeque<String> {
    let items = attribute(arguments, &["items"]).unwrap_or_default();
    items.split(['\'', '"']).skip(1).step_by(2).map(str::to_owned).collect()
}

/// The name of a box: `tip My title`, `{.callout-tip title="My title"}`, `{tip} My title`, `tip[My title]`; or else its kind.
pub(super) fn box_name(rest: &str) -> String {
    if let Some((_, quoted)) = rest.split_once("title=\"") {
        return quoted.split('"').next().unwrap_or_default().to_owned();
    }
    let after_kind = rest.split_once(char::is_whitespace).map_or("", |(_, title)| title).trim();
    let title = after_kind.split(['{', '|']).next().unwrap_or_default().trim();
    let is_title = !rest.starts_with("{.") && !after_kind.starts_with(['{', '.', '#']) && !title.is_empty();
    let bracketed = rest.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(title, _)| title);
    let kind = rest.trim_start_matches(['{', '.', ' ']);
    let kind = kind.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
    match bracketed.or(is_title.then_some(title)) {
        Some(title) => title.to_owned(),
        None => self::kind(kind).unwrap_or_default(),
    }
}

/// The name above code: `js title="a.js"`, `sh [npm]`.
pub(super) fn code_name(info: &str) -> String {
    let bracketed = || info.strip_suffix(']')?.rsplit_once('[').map(|(_, name)| name.to_owned());
    attribute(info, &["title", "filename"]).or_else(bracketed).unwrap_or_default()
}

fn attribute(arguments: &str, names: &[&str]) -> Option<String> {
    let found = attributes(arguments);
    let value = names
        .iter()
        .find_map(|name| found.iter().find(|(key, value)| key == name && !value.trim().is_empty()));
    value.map(|(_, value)| (*value).to_owned())
}

/// Names and values of `name="value"`. A value alone has no name, or `"` if it is quoted.
fn attributes(arguments: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = arguments.trim_start();
    while !rest.is_empty() {
        let key = rest
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.')))
            .next()
            .unwrap_or_default();
        let after = rest.get(key.len()..).unwrap_or_default();
        let (key, mut value) = match after.strip_prefix('=') {
            Some(value) => (key, value),
            None if !key.is_empty() => {
                found.push(("", key));
                rest = after.trim_start();
                continue;
            }
            None => ("\"", after),
        };
        let is_expression = value.starts_with('{');
        value = value.trim_start_matches('{');
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let end = match quote {
            Some(quote) => value.get(1..).and_then(|value| value.find(quote)).map(|end| (1, end + 1)),
            None if is_expression => value.find('}').map(|end| (0, end)),
            None => Some((
                0,
                value.find(char::is_whitespace).unwrap_or(value.len()).max(usize::from(key == "\"")),
            )),
        };
        let Some((start, end)) = end else { break };
        let is_named = key != "\"" || quote.is_some();
        found.extend(value.get(start..end).filter(|_| is_named).map(|value| (key, value)));
        let length = end
            + value
                .get(end..)
                .and_then(|rest| rest.chars().next())
                .filter(|_| quote.is_some())
                .map_or(0, char::len_utf8);
        rest = value.get(length..).unwrap_or_default().trim_start_matches('}').trim_start();
    }
    found
}

fn name(text: &str) -> &str {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')))
        .next()
        .unwrap_or_default()
}

/// Where the first tag of a text ends. Quotes and braces may contain the sign of the end.
fn tag_end(text: &str) -> Option<usize> {
    let (mut quote, mut depth) = (None, 0_usize);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'' | '`', None) => quote = Some(c),
            ('{', None) => depth += 1,
            ('}', None) => depth = depth.saturating_sub(1),
            ('>', None) if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}
