//! Marks inside a line that generators add to Markdown: keys, marked text, emoji, attributes, expressions.

use super::tags::{self, UNKNOWN};
use super::{MAX_CODE_LINES, MAX_MARK_BYTES, Page};
use crate::html::icon::tick_or_cross;

/// The line with the marks as Markdown or HTML. Code and tags of HTML stay as they are. `open_code`: the backticks of code that began
/// in a line above, or that goes on below.
pub(super) fn rewritten(line: &str, below: &[&str], open_code: &mut usize, page: &Page) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    if line.trim().is_empty() {
        *open_code = 0;
    }
    if *open_code > 0 {
        let end = code_end(line, *open_code);
        let (code, after) = line.split_at_checked(end.unwrap_or(line.len())).unwrap_or((line, ""));
        text.push_str(code);
        rest = after;
        if end.is_some() {
            *open_code = 0;
        }
    }
    while let Some(first) = rest.chars().next() {
        let near = rest.get(..rest.floor_char_boundary(MAX_MARK_BYTES)).unwrap_or_default();
        let length = match first {
            '\\' => first.len_utf8() + rest.chars().nth(1).map_or(0, char::len_utf8),
            '`' => {
                let ticks = near.len() - near.trim_start_matches('`').len();
                let end = near.get(ticks..).and_then(|after| code_end(after, ticks));
                let below = below.iter().take(MAX_CODE_LINES).take_while(|line| !line.trim().is_empty());
                let mut below = below.filter_map(|line| line.get(..line.floor_char_boundary(MAX_MARK_BYTES)));
                if end.is_none()
                    && near.len() == rest.len()
                    && below.any(|line| code_end(line, ticks).is_some())
                {
                    *open_code = ticks;
                    rest.len()
                } else {
                    ticks + end.unwrap_or(0)
                }
            }
            '<' => tag_length(near),
            _ => match replaced(near, &text, line, page) {
                Some((length, replacement)) => {
                    text.push_str(&replacement);
                    rest = rest.get(length..).unwrap_or_default();
                    continue;
                }
                None => first.len_utf8(),
            },
        };
        let (kept, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        text.push_str(kept);
        rest = after;
    }
    text
}

/// Where code ends that began with so many backticks.
fn code_end(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text.get(at..)?.find('`').map(|found| at + found) {
        let rest = text.get(start..)?;
        at = start + (rest.len() - rest.trim_start_matches('`').len());
        if at - start == ticks {
            return Some(at);
        }
    }
    None
}

fn tag_length(near: &str) -> usize {
    let is_tag =
        near.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'));
    near.find('>').filter(|_| is_tag).map_or(1, |end| end + 1)
}

/// The length of the mark that a text begins with, and what stands in its place.
fn replaced(near: &str, before: &str, line: &str, page: &Page) -> Option<(usize, String)> {
    let last = before.chars().next_back();
    let is_in_word = last.is_some_and(char::is_alphanumeric);
    if let Some((tag, length)) = tags::template(near) {
        let is_address = last.is_some_and(|c| matches!(c, '(' | '"' | '\''));
        let is_alone = near.len() == length && before.trim().is_empty();
        let text = if is_address || is_alone { "" } else { tags::in_line(&tag, &page.closed) };
        return Some((length, text.to_owned()));
    }
    if near.starts_with("{{") {
        let length = near.find("}}").map_or(2, |end| end + 2);
        return Some((length, near.get(..length)?.to_owned()));
    }
    if let Some(inside) = between(near, "{", "}") {
        let length = inside.len() + 2;
        let is_list = inside.starts_with(':')
            || inside.trim_start().starts_with(['.', '#'])
            || (inside.contains('=') && last.is_some_and(|c| matches!(c, ')' | ']' | '`' | '*')));
        if is_list && !line.trim_start().starts_with('#') {
            return Some((length, String::new()));
        }
        let is_expression = page.is_mdx && !is_list && !inside.is_empty();
        let quoted =
            ['"', '\'', '`'].into_iter().find_map(|quote| inside.strip_prefix(quote)?.strip_suffix(quote));
        return is_expression.then(|| (length, quoted.unwrap_or(UNKNOWN).to_owned()));
    }
    for mark in ["++", "==", "^^"] {
        let Some(inside) = between(near, mark, mark).filter(|_| !is_in_word) else { continue };
        let length = inside.len() + 4;
        let ends = !near.get(length..).unwrap_or_default().starts_with(char::is_alphanumeric);
        let is_key = inside.chars().all(|c| c.is_alphanumeric() || "+-_\"' ".contains(c));
        if ends && (mark != "++" || is_key) && !inside.starts_with(['=', '+', '^']) {
            let keys = inside.split('+').map(|key| tags::capitalised(key.trim_matches('"')));
            let keys = || format!("<kbd>{}</kbd>", keys.collect::<Vec<_>>().join("+"));
            return Some((length, if mark == "++" { keys() } else { inside.to_owned() }));
        }
    }
    for (mark, name) in [("^", "sup"), ("~", "sub")] {
        let Some(inside) = between(near, mark, mark).filter(|_| is_in_word) else { continue };
        let is_number = inside.chars().all(|c| c.is_ascii_digit() || "+-−".contains(c));
        let is_ordinal = last.is_some_and(|c| c.is_ascii_digit()) && inside.chars().all(char::is_alphabetic);
        if inside.len() <= 8 && (is_number || is_ordinal) {
            return Some((inside.len() + 2, format!("<{name}>{inside}</{name}>")));
        }
    }
    if let Some(comment) = between(near, "%% ", " %%").filter(|_| last.is_none_or(char::is_whitespace)) {
        return Some((comment.len() + 6, String::new()));
    }
    let name = between(near, ":", ":").filter(|_| !is_in_word && last != Some(':'))?;
    let after = near.get(name.len() + 2..).unwrap_or_default();
    let is_name = name.contains(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_+-".contains(c))
        && !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, ':' | '`'));
    let text = tick_or_cross(name).unwrap_or("<i class=\"icon\"></i>");
    is_name.then(|| (name.len() + 2, text.to_owned()))
}

/// The text between marks; it does not begin or end with a space where the marks are signs of emphasis.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(open)?;
    let inside = rest.get(..rest.find(close)?)?;
    let has_no_space = open != close || inside.trim() == inside;
    (!inside.is_empty() && has_no_space).then_some(inside)
}
