//! Markers of items: bullets, numbers, letters and numbered clauses.

use std::collections::HashMap;

use crate::numerals;

const BULLETS: [char; 17] =
    ['-', '*', '+', '•', '◦', '▪', '▫', '■', '●', '○', '‣', '⁃', '∙', '·', '–', '—', '►'];
/// Maximum number of characters of a number or letter with its marks.
const MAX_MARKER_CHARS: usize = 14;

/// Maximum number of lines in which the next number is looked for.
pub(super) const MAX_LOOKAHEAD: usize = 100;

/// What begins an item.
pub(crate) struct Marker<'l> {
    /// As printed.
    pub(crate) text: &'l str,
    pub(crate) rest: &'l str,
    /// Items of one list have the same: the bullet, or the number with its last part left out.
    pub(super) style: String,
    /// Its last part as a number.
    pub(super) value: u32,
    /// Of "1.2.3": 3. 0 for others.
    pub(super) depth: usize,
    /// False for a box that is not ticked.
    pub(super) is_ticked: bool,
}

impl Marker<'_> {
    /// Whether it is a dash before a digit: "- 20 °C".
    pub(super) fn may_be_sign(&self) -> bool {
        self.style.starts_with(['-', '+', '–', '—']) && self.rest.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// The bullet or box that begins a line. A dash before a digit is a sign.
pub(crate) fn bullet(text: &str) -> Option<Marker<'_>> {
    bullet_or_sign(text).filter(|marker| !marker.may_be_sign())
}

/// The bullet, box or sign that begins a line.
pub(super) fn bullet_or_sign(text: &str) -> Option<Marker<'_>> {
    let first = text.chars().next()?;
    let length = match first {
        '[' if matches!(text.get(1..3), Some(" ]" | "x]" | "X]")) => 3,
        'o' => 1,
        _ if BULLETS.contains(&first) => first.len_utf8(),
        _ => return None,
    };
    let (marker, after) = text.split_at_checked(length)?;
    let rest = after.trim_start();
    let is_dash = matches!(first, '-' | '+' | '–' | '—');
    let needs_space = is_dash || first.is_ascii();
    let is_apart = after.starts_with([' ', '\t']) || !needs_space;
    (is_apart && rest.contains(char::is_alphanumeric)).then(|| Marker {
        text: if marker == "o" { "-" } else { marker },
        rest,
        style: first.to_string(),
        value: 0,
        depth: 0,
        is_ticked: marker != "[ ]",
    })
}

/// The last number of each style of counter.
#[derive(Default)]
pub(crate) struct Counters {
    last: HashMap<String, u32>,
    /// Numbers of the heading above: "2" of "2. Exclusions".
    heading: String,
}

impl Counters {
    pub(super) fn note_heading(&mut self, heading: &str) {
        self.heading = number(heading).map(|(marker, ..)| trimmed(marker).to_owned()).unwrap_or_default();
    }

    /// The numbers of the items inside this one begin again.
    pub(crate) fn note(&mut self, item: &Marker<'_>) {
        if item.value > 0 {
            self.last.retain(|other, _| !other.starts_with(trimmed(item.text)));
            self.last.insert(item.style.clone(), item.value);
        }
    }

    /// The item that a line begins with a number or letter, if others before or after it say that it is one of a list.
    pub(crate) fn item<'l>(&self, text: &'l str, below: &[&str], is_inside: bool) -> Option<Marker<'l>> {
        let (marker, rest, readings) = number(text)?;
        let depth = trimmed(marker).split('.').count();
        let is_number = trimmed(marker).starts_with(|c: char| c.is_ascii_digit());
        for (style, value) in readings {
            let has_next = below.iter().take(MAX_LOOKAHEAD).any(|line| {
                number(line.trim()).is_some_and(|(_, _, next)| {
                    next.iter().any(|(other, after)| *other == style && *after == value + 1)
                })
            });
            let before = self.last.get(&style).copied();
            let parent = trimmed(marker).rsplit_once('.').map(|(parent, _)| parent);
            let is_below_parent = parent.is_some_and(|parent| {
                self.heading == parent || self.last.get("#.").is_some_and(|last| last.to_string() == parent)
            });
            let is_bracketed = marker.ends_with(')');
            let is_item = match before {
                Some(before) if value == before + 1 || (value == 1 && before == 1 && depth == 1) => true,
                Some(_) => value <= 1 && (has_next || is_below_parent),
                None if value <= 1 => {
                    has_next || is_below_parent || (depth == 1 && (is_number || is_bracketed) && !is_inside)
                }
                None => has_next || is_below_parent,
            };
            let is_text = is_inside
                && ((depth > 1 && rest.starts_with(char::is_lowercase)) || (!has_next && before.is_none()));
            if is_item && !is_text {
                let depth = if is_number { depth } else { 0 };
                return Some(Marker { text: marker, rest, style, value, depth, is_ticked: true });
            }
        }
        None
    }
}

fn trimmed(marker: &str) -> &str {
    marker.trim_matches(['(', ')', '.', '§', ' '])
}

/// A marker, the text after it, and its style and value as each that it may be: (i) is a letter or a roman number.
type Number<'l> = (&'l str, &'l str, Vec<(String, u32)>);

/// The number or letter that begins a line: "2.", "2)", "(2)", "1.2", "1.2.", "a)", "(a)", "a.", "iv)", "§ 4".
pub(super) fn number(text: &str) -> Option<Number<'_>> {
    let start = text.strip_prefix('§').map_or(0, |rest| text.len() - rest.trim_start().len());
    let end = start + text.get(start..)?.find([' ', '\t', '\u{a0}'])?;
    let (marker, rest) = text.split_at_checked(end)?;
    let core = trimmed(marker);
    if core.is_empty() || marker.chars().nth(MAX_MARKER_CHARS).is_some() || rest.trim().is_empty() {
        return None;
    }
    let (parents, last) = core.rsplit_once('.').unwrap_or(("", core));
    let is_count = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let is_part = |part: &str| is_count(part) && !part.starts_with('0');
    let is_closed = marker.ends_with(['.', ')']);
    let is_marker = match parents {
        "" => (is_closed || start > 0) && last.bytes().all(|b| b.is_ascii_alphanumeric()),
        parents => parents.split('.').all(is_part) && (is_part(last) || is_closed && last.len() == 1),
    };
    if !is_marker {
        return None;
    }
    let style = |class: &str| marker.replace(core, &format!("{parents}{class}"));
    let mut readings = Vec::new();
    if is_count(last) {
        readings.push((style("#"), last.parse().ok()?));
    }
    if let (1, Some(letter)) = (last.len(), last.bytes().next().filter(u8::is_ascii_alphabetic)) {
        let class = if letter.is_ascii_lowercase() { "a" } else { "A" };
        readings.push((style(class), u32::from(letter.to_ascii_lowercase() - b'a') + 1));
    }
    readings.extend(roman(last).map(|value| (style("i"), value)));
    (!readings.is_empty()).then(|| (marker, rest.trim_start(), readings))
}

/// The value of a roman number up to 39.
fn roman(text: &str) -> Option<u32> {
    let text = text.to_ascii_lowercase();
    let is_roman = text.bytes().all(|letter| b"ivx".contains(&letter));
    is_roman.then(|| (1..40).find(|value| numerals::roman(i64::from(*value)).as_ref() == Some(&text)))?
}
