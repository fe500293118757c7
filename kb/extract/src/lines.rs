//! Lines of a paragraph that are really items or rows.

use std::ops::Range;

use crate::builder::{TableRow, Text};
use crate::markers::Markers;

/// Fewer dots are no leader.
const MIN_LEADER_DOTS: usize = 5;
/// Maximum length of the text behind a leader: a price, an hour, a page.
const MAX_LED_BYTES: usize = 80;

/// A part of a paragraph.
pub(crate) struct Part {
    /// 0 for text, 1 for an item, more for one inside another.
    pub(crate) depth: usize,
    /// As printed.
    pub(crate) marker: String,
    pub(crate) is_ticked: bool,
    /// Without the marker.
    pub(crate) range: Range<usize>,
}

/// The items of a paragraph, each with the lines after it that are none, and the text around them. Below items, a line with a colon
/// announces others: "Not covered:".
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut markers = Markers::default();
    markers.note_marks(text);
    // The styles of the items around a line, outermost first.
    let mut styles: Vec<String> = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    let mut next = 0;
    for (at, line) in lines.iter().enumerate() {
        let (start, end) = (next, next + line.trim_end().len());
        next += line.len() + 1;
        let item = markers.item(&lines, at, |style| styles.iter().any(|known| known == style));
        // "§ 4 Costs" names what is below it, and "24. December" is a date.
        let is_date = |value: u32| value > 1 && !parts.iter().any(|part: &Part| part.depth > 0);
        if let Some(item) = item.filter(|item| !(item.style.starts_with('§') || is_date(item.value))) {
            markers.counters.note(&item);
            styles.truncate(styles.iter().position(|style| *style == item.style).unwrap_or(styles.len()));
            styles.push(item.style);
            let range = end - item.rest.len()..end;
            let (marker, is_ticked) = (item.text.to_owned(), item.is_ticked);
            parts.push(Part { depth: styles.len(), marker, is_ticked, range });
            continue;
        }
        match parts.last_mut() {
            Some(part) if part.depth == 0 || !line.ends_with([':', '：']) => part.range.end = end,
            _ => {
                styles.clear();
                parts.push(Part { depth: 0, marker: String::new(), is_ticked: true, range: start..end });
            }
        }
    }
    // Alone, a dash may be a sign or a thought, and a number a date.
    let mut items = parts.iter().filter(|part| part.depth > 0);
    let is_doubtful = |item: &Part| item.marker.is_ascii() || item.marker.starts_with(['–', '—']);
    if items.next().is_some_and(is_doubtful) && items.next().is_none() {
        return vec![Part { depth: 0, marker: String::new(), is_ticked: true, range: 0..text.len() }];
    }
    parts
}

/// "Tea ........ 2 €" as rows, if each line has dots between two texts.
pub(crate) fn leader_rows(text: &Text) -> Option<Vec<TableRow>> {
    let mut start = 0;
    let rows = text.text.split_inclusive('\n').map(|line| {
        let (begin, end) = (start, start + line.len());
        start = end;
        let (name, value) = leader(line)?;
        let cells = vec![text.cut(begin..begin + name.len()), text.cut(end - value.len()..end)];
        Some(TableRow { is_header: false, cells, url: None })
    });
    rows.collect()
}

/// The texts before and after dots that lead the eye from one to the other.
pub(crate) fn leader(line: &str) -> Option<(&str, &str)> {
    let dots = |c: char| match c {
        '.' | '·' | '․' | '∙' | '・' | '‧' => 1,
        '…' | '⋯' | '‥' => 2,
        _ => 0,
    };
    let is_leader = |c: char| c == ' ' || dots(c) > 0;
    let mut start = 0;
    let runs = line.split_inclusive(|c| !is_leader(c)).filter_map(|part| {
        let run = start..start + part.trim_end_matches(|c| !is_leader(c)).len();
        start += part.len();
        (part.chars().map(dots).sum::<usize>() >= MIN_LEADER_DOTS).then_some(run)
    });
    let mut runs = runs.take(2);
    let run = runs.next().filter(|_| runs.next().is_none())?;
    let texts = (line.get(..run.start)?, line.get(run.end..)?);
    let has_words = |text: &str| text.contains(char::is_alphanumeric);
    (texts.1.len() <= MAX_LED_BYTES && has_words(texts.0) && has_words(texts.1)).then_some(texts)
}
