//! Markers that begin lines: bullets, boxes, numbers, letters and numbered clauses.

use std::collections::{HashMap, HashSet};

use crate::{clean::ends_sentence, numerals};

/// Characters that begin a line as the marker of an item.
pub(crate) const BULLETS: [char; 20] =
    ['-', '*', '+', '•', '◦', '▪', '▫', '■', '□', '●', '○', '‣', '⁃', '∙', '·', '⦁', '–', '—', '►', '➢'];
/// Maximum number of characters of a number or letter with its marks.
const MAX_MARKER_CHARS: usize = 14;

/// Maximum number of lines in which the next number is looked for.
const MAX_LOOKAHEAD: usize = 100;

/// The marker that begins an item.
pub(crate) struct Marker<'l> {
    /// As printed.
    pub(crate) text: &'l str,
    pub(crate) rest: &'l str,
    /// Items of one list have the same: the bullet, or the number with its last part left out.
    pub(crate) style: String,
    /// Its last part as a number.
    pub(crate) value: u32,
    /// Of "1.2.3": 3. 0 for others.
    pub(crate) depth: usize,
    /// False for a box that is not ticked.
    pub(crate) is_ticked: bool,
}

impl Marker<'_> {
    /// Returns whether a sentence may have it, too.
    pub(crate) fn is_dash(&self) -> bool {
        self.style.starts_with(['-', '+', '–', '—'])
    }

    /// Returns whether it is a dash before a digit: "- 20 °C".
    fn may_be_sign(&self) -> bool {
        self.is_dash() && self.rest.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// Tells the markers of items from signs, thoughts, marks of conditions, and numbers that are text.
#[derive(Default)]
pub(crate) struct Markers {
    /// The marks of conditions: "*", "(1)", "[2]".
    conditions: HashSet<String>,
    pub(crate) counters: Counters,
}

impl Markers {
    /// The marks in these lines lead to conditions.
    pub(crate) fn note_marks(&mut self, text: &str) {
        self.conditions.extend(text.lines().flat_map(marks).map(str::to_owned));
    }

    /// The item that a line begins; `is_known` says whether an item above has this style. A dash before a digit is a sign, a number
    /// without others is text, and a lone dash may be a thought.
    pub(crate) fn item<'l>(
        &self,
        lines: &[&'l str],
        at: usize,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<Marker<'l>> {
        let text = lines.get(at)?.trim();
        let above = at.checked_sub(1).and_then(|above| lines.get(above)).map_or("", |line| line.trim());
        let below = lines.get(at + 1..).unwrap_or_default();
        let is_inside = !above.is_empty() && !ends_sentence(above);
        if self.is_condition(lines, at) {
            return None;
        }
        let Some(marker) = bullet_or_sign(text) else {
            return self.counters.item(text, below, is_inside);
        };
        let is_alike = |line: &&str| bullet(line.trim()).is_some_and(|next| next.style == marker.style);
        let is_doubtful = marker.style == "o" && !above.ends_with(':')
            || is_inside
                && marker.rest.starts_with(char::is_lowercase)
                && (marker.is_dash() || marker.style == "*")
            || marker.may_be_sign();
        let has_others = || is_known(&marker.style) || below.iter().take(MAX_LOOKAHEAD).any(is_alike);
        (!is_doubtful || has_others()).then_some(marker)
    }

    /// Returns whether a line begins with a mark that the text has behind words. Of several
    /// asterisks below each other, each is a bullet.
    pub(crate) fn is_condition(&self, lines: &[&str], at: usize) -> bool {
        let mark_of = |at: usize| lines.get(at)?.trim().split_once([' ', '\t']).map(|(mark, _)| mark);
        mark_of(at).filter(|mark| self.conditions.contains(*mark)).is_some_and(|mark| {
            let is_next = |at: usize| mark_of(at) == Some(mark);
            !(mark == "*" && (is_next(at + 1) || at.checked_sub(1).is_some_and(is_next)))
        })
    }
}

/// Returns whether a line certainly begins an item, alone as it is: with a bullet or a number in
/// brackets. It may end behind the marker.
pub(crate) fn is_item(line: &str) -> bool {
    let line = format!("{line} x");
    let is_bracketed = |(marker, ..): &Number<'_>| marker.ends_with(')');
    bullet(&line).is_some() || number(&line).is_some_and(|number| is_bracketed(&number))
}

/// Returns whether two lines begin with numbers that follow each other.
pub(crate) fn is_next(line: &str, next: &str) -> bool {
    let readings = |line: &str| number(line).map(|(.., readings)| readings).unwrap_or_default();
    let next = readings(next);
    readings(line).into_iter().any(|(style, value)| next.contains(&(style, value + 1)))
}

/// The bullet or box that begins a line. A dash before a digit is a sign.
pub(crate) fn bullet(text: &str) -> Option<Marker<'_>> {
    bullet_or_sign(text).filter(|marker| !marker.may_be_sign())
}

/// The bullet, box or sign that begins a line.
fn bullet_or_sign(text: &str) -> Option<Marker<'_>> {
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
    pub(crate) fn note_heading(&mut self, heading: &str) {
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
    fn item<'l>(&self, text: &'l str, below: &[&str], is_inside: bool) -> Option<Marker<'l>> {
        let (marker, rest, readings) = number(text)?;
        let depth = trimmed(marker).split('.').count();
        let is_number = trimmed(marker).starts_with(|c: char| c.is_ascii_digit());
        for (style, value) in readings {
            let next = (style.clone(), value + 1);
            let has_next = below
                .iter()
                .take(MAX_LOOKAHEAD)
                .any(|line| number(line.trim()).is_some_and(|(.., readings)| readings.contains(&next)));
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
pub(crate) type Number<'l> = (&'l str, &'l str, Vec<(String, u32)>);

/// The number or letter that begins a line: "2.", "2)", "(2)", "1.2", "1.2.", "a)", "(a)", "a.", "iv)", "§ 4".
pub(crate) fn number(text: &str) -> Option<Number<'_>> {
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

/// The marks behind the words of a line, and an asterisk or number apart from them at its end.
fn marks(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace().enumerate().filter_map(|(at, word)| {
        let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        let start = match word.chars().next_back()? {
            ')' if !line.contains('(') && line.trim_end().ends_with(word) => 0,
            ')' | ']' => word.rfind(['(', '['])?,
            _ => word.trim_end_matches(['*', '†', '‡']).len(),
        };
        let mark = word.get(start..)?;
        let inner = mark.trim_matches(['(', ')', '[', ']', '*', '†', '‡']);
        let is_number = inner.len() <= 2 && inner.bytes().all(|byte| byte.is_ascii_digit());
        let is_end = || line.trim_end().ends_with(word) && !line.trim_start().starts_with(mark);
        let is_behind = start > 0 || (at > 0 && (!inner.is_empty() || is_end()));
        (is_number && is_behind && !mark.is_empty()).then_some(mark)
    })
}
