//! Markers of list items.

use std::collections::HashMap;

use super::styles::ListLevel;
use crate::{
    ExtractError,
    xml::{self, Step},
};

/// The number of levels in Word.
const MAX_LEVELS: usize = 9;

#[derive(Default)]
pub(super) struct Numbering {
    /// Kinds of lists by id.
    kinds: HashMap<String, Vec<Level>>,
    /// The kind of each list.
    lists: HashMap<String, String>,
    /// The number of the last item at each level, by kind.
    counts: HashMap<String, [Option<i64>; MAX_LEVELS]>,
}

#[derive(Clone, Default)]
struct Level {
    is_bullet: bool,
    start: Option<i64>,
}

/// An item of a list.
pub(super) struct Item {
    /// 0 is the outermost.
    pub(super) level: usize,
    /// "-" or a number with its full stop.
    pub(super) marker: String,
}

impl Numbering {
    pub(super) fn read(part: &str) -> Result<Self, ExtractError> {
        let mut read = Self::default();
        let (mut kind, mut list, mut level) = (None, None, 0);
        xml::walk(part, |step| match step {
            Step::Open("abstractNum", element) => kind = element.attribute("abstractNumId"),
            Step::Close("abstractNum") => kind = None,
            Step::Open("num", element) => list = element.attribute("numId"),
            Step::Close("num") => list = None,
            Step::Open("abstractNumId", element) => {
                read.lists.extend(list.clone().zip(element.val()));
            }
            Step::Open("lvl", element) => {
                level = element.attribute("ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
            }
            Step::Open(name @ ("numFmt" | "start"), element) => {
                let Some(kind) = kind.clone().filter(|_| level < MAX_LEVELS) else { return };
                let levels = read.kinds.entry(kind).or_insert_with(|| vec![Level::default(); MAX_LEVELS]);
                let (Some(level), Some(value)) = (levels.get_mut(level), element.val()) else { return };
                match name {
                    "numFmt" => level.is_bullet = matches!(value.as_str(), "bullet" | "none"),
                    _ => level.start = value.parse().ok(),
                }
            }
            _ => {}
        })?;
        Ok(read)
    }

    /// The next item at this place; `None` if the list does not exist.
    pub(super) fn next(&mut self, place: &ListLevel) -> Option<Item> {
        let list = place.numbering.as_deref().filter(|list| *list != "0")?;
        let level = place.level.unwrap_or(0).min(MAX_LEVELS - 1);
        let kind = self.lists.get(list).map_or(list, String::as_str);
        let found = self.kinds.get(kind).and_then(|levels| levels.get(level)).cloned().unwrap_or_default();
        if found.is_bullet {
            return Some(Item { level, marker: "-".to_owned() });
        }
        let counts = self.counts.entry(kind.to_owned()).or_default();
        let count = counts.get_mut(level)?;
        let number = count.map_or(found.start.unwrap_or(1), |count| count.saturating_add(1));
        *count = Some(number);
        for deeper in counts.iter_mut().skip(level + 1) {
            *deeper = None;
        }
        Some(Item { level, marker: format!("{number}.") })
    }
}
