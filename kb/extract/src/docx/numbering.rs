//! Markers of list items, as printed.

use std::collections::{HashMap, HashSet};

use super::styles::ListLevel;
use crate::{
    ExtractError,
    numerals::roman,
    xml::{self, Step},
};

/// The number of levels in Word.
const MAX_LEVELS: usize = 9;
/// A longer pattern is not used.
const MAX_PATTERN_CHARS: usize = 40;
/// Letters are repeated for numbers over 26, at most this often.
const MAX_LETTERS: usize = 10;

#[derive(Default)]
pub(super) struct Numbering {
    /// Kinds of lists by id.
    kinds: HashMap<String, Kind>,
    /// Kinds by the style that they define, for kinds that refer to it.
    styles: HashMap<String, String>,
    lists: HashMap<String, List>,
    /// The number of the last item at each level, by kind: lists of a kind go on with each other's numbers.
    counts: HashMap<String, [Option<i64>; MAX_LEVELS]>,
    /// Lists and levels that have begun.
    begun: HashSet<(String, usize)>,
}

#[derive(Default)]
struct Kind {
    levels: [Level; MAX_LEVELS],
    /// The style that another kind defines, which has the levels of this one.
    style: Option<String>,
}

#[derive(Default)]
struct List {
    kind: String,
    /// The levels that differ from those of the kind.
    levels: [Option<Level>; MAX_LEVELS],
    starts: [Option<i64>; MAX_LEVELS],
}

#[derive(Clone, Default)]
struct Level {
    format: Format,
    /// With `%1` in place of the number of the outermost level.
    pattern: Option<String>,
    start: Option<i64>,
    /// The level, counted from 1, after which the numbers start again; 0 for never. Without it, after any outer level.
    restart: Option<usize>,
    /// True if the numbers of all levels are decimal.
    is_legal: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Format {
    #[default]
    Decimal,
    TwoDigits,
    Letters {
        is_upper: bool,
    },
    Roman {
        is_upper: bool,
    },
    Bullet,
}

/// An item of a list.
pub(super) struct Item {
    /// 0 is the outermost.
    pub(super) level: usize,
    /// "-", or a number as printed: "2.", "b)", "1.2".
    pub(super) marker: String,
}

impl Item {
    pub(super) fn is_numbered(&self) -> bool {
        self.marker != "-"
    }
}

impl Numbering {
    pub(super) fn read(part: &str) -> Result<Self, ExtractError> {
        let mut read = Self::default();
        let (mut kind, mut list) = (None, None);
        let mut level = 0;
        xml::walk_current(part, |step| match step {
            Step::Open("abstractNum", element) => kind = element.attribute("abstractNumId"),
            Step::Close("abstractNum") => kind = None,
            Step::Open("num", element) => list = element.attribute("numId"),
            Step::Close("num") => list = None,
            Step::Open("abstractNumId", element) => {
                if let (Some(list), Some(kind)) = (&list, element.val()) {
                    read.lists.entry(list.clone()).or_default().kind = kind;
                }
            }
            Step::Open("styleLink", element) => read.styles.extend(element.val().zip(kind.clone())),
            Step::Open("numStyleLink", element) => {
                if let Some(kind) = &kind {
                    read.kinds.entry(kind.clone()).or_default().style = element.val();
                }
            }
            Step::Open("lvl" | "lvlOverride", element) => {
                level = element.attribute("ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
            }
            Step::Open("startOverride", element) => {
                if let Some(list) = &list
                    && let Some(start) = read.lists.entry(list.clone()).or_default().starts.get_mut(level)
                {
                    *start = element.val().and_then(|start| start.parse().ok());
                }
            }
            Step::Open(name, element) => {
                let found = match (&kind, &list) {
                    (Some(kind), _) => read.kinds.entry(kind.clone()).or_default().levels.get_mut(level),
                    (None, Some(list)) if Level::HAS.contains(&name) => {
                        let levels = &mut read.lists.entry(list.clone()).or_default().levels;
                        levels.get_mut(level).map(|level| level.get_or_insert_default())
                    }
                    _ => None,
                };
                if let Some(level) = found {
                    level.read(name, element.val());
                }
            }
            _ => {}
        })?;
        Ok(read)
    }

    /// The next item at this place; `None` if the list does not exist.
    pub(super) fn next(&mut self, place: &ListLevel) -> Option<Item> {
        let list = place.numbering.clone().filter(|list| list != "0")?;
        let at = place.level.unwrap_or(0).min(MAX_LEVELS - 1);
        let kind = self.kind(&list);
        let level = self.level(&list, &kind, at);
        let start = self.lists.get(&list).and_then(|list| *list.starts.get(at)?);
        let is_first = start.is_some() && self.begun.insert((list.clone(), at));
        let restarts: Vec<Option<usize>> =
            (0..MAX_LEVELS).map(|deeper| self.level(&list, &kind, deeper).restart).collect();
        let counts = self.counts.entry(kind.clone()).or_default();
        for ((deeper, count), restart) in counts.iter_mut().enumerate().zip(restarts).skip(at + 1) {
            if restart.is_none_or(|restart| at < restart && restart <= deeper) {
                *count = None;
            }
        }
        if level.format == Format::Bullet {
            return Some(Item { level: at, marker: "-".to_owned() });
        }
        let count = counts.get_mut(at)?;
        let next = count.filter(|_| !is_first).map(|count| count.saturating_add(1));
        *count = Some(next.unwrap_or(start.or(level.start).unwrap_or(1)));
        let marker = self.marker(&list, &kind, at, &level);
        Some(Item { level: at, marker: if marker.is_empty() { "-".to_owned() } else { marker } })
    }

    /// The kind of a list: the one that defines the style to which its own refers.
    fn kind(&self, list: &str) -> String {
        let own = self.lists.get(list).map_or(list, |list| list.kind.as_str());
        let style = self.kinds.get(own).and_then(|kind| kind.style.as_ref());
        style.and_then(|style| self.styles.get(style)).map_or(own, String::as_str).to_owned()
    }

    fn level(&self, list: &str, kind: &str, at: usize) -> Level {
        let own = self.lists.get(list).and_then(|list| list.levels.get(at)?.clone());
        own.or_else(|| Some(self.kinds.get(kind)?.levels.get(at)?.clone())).unwrap_or_default()
    }

    fn marker(&self, list: &str, kind: &str, at: usize, level: &Level) -> String {
        let usual = || format!("%{}.", at + 1);
        let pattern = level.pattern.clone().unwrap_or_else(usual);
        let mut marker = String::new();
        let mut rest = pattern.chars().peekable();
        while let Some(c) = rest.next() {
            let place =
                rest.peek().and_then(|digit| digit.to_digit(10)).filter(|digit| c == '%' && *digit > 0);
            let Some(place) = place.and_then(|place| usize::try_from(place - 1).ok()) else {
                marker.push(c);
                continue;
            };
            rest.next();
            let of = self.level(list, kind, place);
            let count = self.counts.get(kind).and_then(|counts| *counts.get(place)?);
            let number = count.or(of.start).unwrap_or(1);
            let format = if level.is_legal { Format::Decimal } else { of.format };
            marker.push_str(&format.write(number));
        }
        marker.trim().to_owned()
    }
}

impl Level {
    /// Its elements.
    const HAS: [&str; 5] = ["numFmt", "lvlText", "start", "lvlRestart", "isLgl"];

    fn read(&mut self, name: &str, value: Option<String>) {
        let value_is = |wanted: &str| value.as_deref() == Some(wanted);
        match name {
            "numFmt" => self.format = Format::parse(value.as_deref().unwrap_or_default()),
            "lvlText" => {
                self.pattern = value.filter(|pattern| pattern.chars().nth(MAX_PATTERN_CHARS).is_none());
            }
            "start" => self.start = value.and_then(|start| start.parse().ok()),
            "lvlRestart" => self.restart = value.and_then(|level| level.parse().ok()),
            "isLgl" => self.is_legal = !value_is("0") && !value_is("false"),
            _ => {}
        }
    }
}

impl Format {
    fn parse(name: &str) -> Self {
        match name {
            "bullet" | "none" => Self::Bullet,
            "lowerLetter" => Self::Letters { is_upper: false },
            "upperLetter" => Self::Letters { is_upper: true },
            "lowerRoman" => Self::Roman { is_upper: false },
            "upperRoman" => Self::Roman { is_upper: true },
            "decimalZero" => Self::TwoDigits,
            _ => Self::Decimal,
        }
    }

    fn write(self, number: i64) -> String {
        let (text, is_upper) = match self {
            Self::Letters { is_upper } => (letters(number), is_upper),
            Self::Roman { is_upper } => (roman(number), is_upper),
            Self::TwoDigits => (Some(format!("{number:02}")), false),
            Self::Decimal | Self::Bullet => (None, false),
        };
        let text = text.unwrap_or_else(|| number.to_string());
        if is_upper { text.to_uppercase() } else { text }
    }
}

/// a, b, …, z, aa, bb, …
fn letters(number: i64) -> Option<String> {
    let at = usize::try_from(number.checked_sub(1)?).ok()?;
    let letter = char::from(b'a' + u8::try_from(at % 26).ok()?);
    let repeated = at / 26 + 1;
    (repeated <= MAX_LETTERS).then(|| letter.to_string().repeat(repeated))
}
