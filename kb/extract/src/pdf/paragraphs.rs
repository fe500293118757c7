//! Joins the lines of a page into paragraphs.

use std::collections::{HashMap, HashSet};

use super::{lines::Line, tables};
use crate::clean::ends_sentence;
use crate::markers::{bullet, is_next, number};
use crate::rows;
use crate::shifted::is_raised;

/// Maximum relative difference in size between lines of one paragraph.
pub(super) const MAX_SIZE_DIFFERENCE: f64 = 0.12;
/// Granularity in points by which sizes give different styles.
const SIZE_STEP: f64 = 0.5;
/// A gap larger than the usual gap by this factor ends a paragraph, unless the sentence goes on.
const MIN_PARAGRAPH_GAP: f64 = 1.2;
/// Maximum gap in em within a sentence, however small the usual gap is.
const MAX_SENTENCE_GAP: f64 = 2.0;
/// Line distance in em if a page has too few lines of a style to measure it.
const DEFAULT_LEADING: f64 = 1.35;
const MIN_GAPS: usize = 3;
/// Distance in em back to the top of the next column.
const MIN_COLUMN_HEIGHT: f64 = 8.0;
/// The margin of a column is known if it is as wide as running text, in em, and so many of its lines end near it.
const MIN_COLUMN_WIDTH: f64 = 12.0;
const MIN_FULL_LINES: usize = 2;
/// A line that ends before the margin by at least this share of the width is short.
const MIN_SHORT_LINE_SHARE: f64 = 0.12;
/// Space in em between two words of a line, at most.
const MAX_SPACE: f64 = 0.5;
/// Indentation of the first line of a paragraph, in em.
const INDENT: std::ops::Range<f64> = 0.8..4.5;

/// Signs that begin items, too; in other formats they say that something is included.
const TICKS: [&str; 2] = ["✓ ", "✔ "];

/// A paragraph without its line breaks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) lines: usize,
    /// True if it started with a bullet, which is not in the text.
    pub(super) is_item: bool,
    /// True if it is an item whose bullet is drawn, so that only its place shows it: set in below a
    /// line that a list may follow.
    is_set_in: bool,
    /// True if it, or only its first row, is bold.
    pub(super) is_bold: bool,
    /// The cells of a table.
    pub(super) rows: Vec<Vec<String>>,
    /// Index of the page on which it begins.
    pub(super) page: usize,
    direction: i32,
    /// Start of its first line.
    start: f64,
    /// Distance of its last two lines in em.
    leading: Option<f64>,
    /// Width of its first word.
    first_word: f64,
    /// Width between its last line and the margin; infinite if the margin is unknown.
    room: f64,
    /// True if its first and last lines have gaps as between cells.
    cells: (bool, bool),
}

impl Paragraph {
    /// Returns whether a sentence goes on in a paragraph of the next page.
    pub(super) fn goes_on_in(&self, next: &Self) -> bool {
        let ends_sentence = ends_sentence(&self.text);
        let is_left_of_item = self.is_item && next.start < self.start - MAX_SPACE * self.size;
        let is_broken =
            !ends_sentence && !is_left_of_item && next.first_word + MAX_SPACE * next.size > self.room;
        let goes_on = if ends_sentence {
            // After an abbreviation.
            self.text.ends_with('.') && starts_small(&next.text)
        } else {
            starts_small(&next.text) || self.text.ends_with(OPEN_ENDS) || is_broken
        };
        self.direction == next.direction
            && is_alike(self.size, next.size)
            && !self.cells.1
            && !next.cells.0
            && !next.is_item
            && !self.comes_before_item(&next.text, is_broken)
            && goes_on
    }

    /// Returns whether a line after this paragraph starts an item. A dash, number or letter does
    /// not if the line before is broken there, unless it continues a list: a sentence can have a
    /// dash, or a date.
    fn comes_before_item(&self, line: &str, is_broken: bool) -> bool {
        match marker(line) {
            Some(Marker::Bullet) => true,
            Some(Marker::Dash) => !is_broken || self.is_item,
            Some(Marker::Number) => !is_broken || is_next(&self.text, line),
            None => false,
        }
    }

    /// Returns whether a line below this paragraph begins an item without a bullet. The first line
    /// of a paragraph may be set in, too, but not the line below it.
    fn is_above_item(&self, line: &Line, next: Option<&Line>) -> bool {
        let is_beside = |other: f64| (line.start - other).abs() < MAX_SPACE * line.size;
        let is_deeper = INDENT.contains(&((line.start - self.start) / line.size.max(1.0)));
        let is_open = self.is_introduction() || !ends_sentence(&self.text);
        let opens = is_deeper && is_open && self.rows.is_empty() && !self.is_item;
        let is_next = self.is_set_in && is_beside(self.start);
        let is_block = next.is_none_or(|next| is_beside(next.start) || gap(line, next) > MAX_SENTENCE_GAP);
        (opens && is_block || is_next) && marker(line.text.trim()).is_none() && !line.has_cells()
    }

    /// Adds the rest of a table, without its names of columns if they are repeated. Returns whether it is one.
    pub(super) fn append_rows(&mut self, rest: &Self) -> bool {
        let width = self.rows.first().map(Vec::len);
        let is_table =
            width.is_some() && self.rows.iter().chain(&rest.rows).all(|row| Some(row.len()) == width);
        let is_repeated = self.rows.first() == rest.rows.first();
        let is_rest = is_table
            && !rest.rows.is_empty()
            && is_alike(self.size, rest.size)
            && (self.start - rest.start).abs() < self.size
            && (is_repeated || !rest.is_bold);
        if is_rest {
            let mut rows = rest.rows.iter().skip(usize::from(is_repeated)).peekable();
            // A row that the page break divides goes on in small letters, unlike others.
            let is_small = |row: &Vec<String>| row.first().is_some_and(|cell| starts_small(cell));
            let is_other = self.rows.iter().skip(1).chain(rest.rows.iter().skip(1)).any(is_small);
            if let (Some(rest), Some(last)) =
                (rows.next_if(|row| !is_other && is_small(row)), self.rows.last_mut())
            {
                for (cell, rest) in last.iter_mut().zip(rest).filter(|(_, rest)| !rest.is_empty()) {
                    cell.push(' ');
                    cell.push_str(rest);
                }
            }
            self.rows.extend(rows.cloned());
            self.text = rows::lines_of(&self.rows);
            self.lines += rest.lines;
        }
        is_rest
    }

    /// Adds the rest of a paragraph.
    pub(super) fn append(&mut self, rest: &Self, words: &Words) {
        join(&mut self.text, &rest.text, words);
        self.lines += rest.lines;
        self.is_bold &= rest.is_bold;
        self.room = rest.room;
        self.cells.1 = rest.cells.1;
    }

    /// Returns whether the next paragraph belongs to a list that this one opens or is part of.
    pub(super) fn leads_to(&self, next: &Self) -> bool {
        let is_numbered = next.number().is_some();
        (self.is_introduction() && (next.is_item || is_numbered))
            || (self.is_item && next.is_item)
            || (is_numbered && self.number().is_some())
    }

    /// Returns whether a list can follow, whose items are incomplete without this paragraph.
    pub(super) fn is_introduction(&self) -> bool {
        self.text.ends_with([':', '：'])
    }

    /// Returns whether it is text without the end of its sentence.
    pub(super) fn is_open(&self) -> bool {
        let is_text = self.rows.is_empty() && !self.is_bold && self.text.contains(char::is_alphabetic);
        is_text && !ends_sentence(&self.text)
    }

    /// The number or letter of an item, such as "1.", and the text after it.
    pub(super) fn number(&self) -> Option<(&str, &str)> {
        self.text.split_once(' ').filter(|_| matches!(marker(&self.text), Some(Marker::Number)))
    }
}

/// Endings of a line whose sentence goes on.
const OPEN_ENDS: [char; 4] = ['-', '\u{2010}', '\u{ad}', ','];

/// The words of a document, to distinguish hyphens in words from those at line ends.
pub(super) type Words = HashSet<String>;

pub(super) fn words<'a>(lines: impl Iterator<Item = &'a Line>) -> Words {
    lines.flat_map(|line| line.text.split(|c: char| !is_word_character(c))).map(str::to_lowercase).collect()
}

/// The paragraphs of each page.
pub(super) fn pages<'l>(pages: impl Iterator<Item = &'l [Line]>, words: &Words) -> Vec<Vec<Paragraph>> {
    let mut found: Vec<Vec<Paragraph>> = Vec::new();
    let mut before = None;
    for (page, lines) in pages.enumerate() {
        let mut layout = Layout::from_lines(lines);
        layout.before = before.take();
        found.push(paragraphs(lines, page, words, &layout, found.last().and_then(|page| page.last())));
        before = Some(layout.columns);
    }
    found
}

/// The paragraphs of the page with this index. `last`: the last one of the page before.
fn paragraphs(
    lines: &[Line],
    page: usize,
    words: &Words,
    layout: &Layout,
    last: Option<&Paragraph>,
) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut before: Option<&Line> = None;
    let mut end_of_table = 0;
    for (at, line) in lines.iter().enumerate() {
        if at < end_of_table {
            before = None;
            continue;
        }
        let text = line.text.trim();
        let is_marked =
            |row: &Vec<String>| row.first().is_some_and(|cell| marker(&format!("{cell} x")).is_some());
        let table = tables::table(lines.get(at..).unwrap_or_default())
            .filter(|table| !table.rows.iter().any(is_marked));
        if let Some(tables::Table { lines: count, rows, has_header }) = table {
            end_of_table = at + count;
            let text = rows::lines_of(&rows);
            paragraphs.push(Paragraph {
                text,
                rows,
                lines: count,
                is_bold: has_header,
                cells: (true, true),
                ..begin(line, page, layout)
            });
            continue;
        }
        match (before, paragraphs.last_mut()) {
            (Some(before), Some(paragraph)) if layout.continues_paragraph(before, line, paragraph) => {
                join(&mut paragraph.text, text, words);
                paragraph.lines += 1;
                paragraph.is_bold &= line.is_bold;
                paragraph.leading = Some(gap(before, line)).filter(|gap| *gap > 0.0);
                paragraph.room = layout.room(line);
                paragraph.cells.1 = line.has_cells();
            }
            _ => {
                let is_marked = matches!(marker(text), Some(Marker::Bullet | Marker::Dash));
                let is_set_in = !is_marked
                    && paragraphs
                        .last()
                        .or(last)
                        .is_some_and(|above| above.is_above_item(line, lines.get(at + 1)));
                let is_item = is_marked || is_set_in;
                let item = text.split_once(' ').filter(|_| is_marked).map(|(_, text)| text.trim_start());
                let text = item.unwrap_or(text).to_owned();
                paragraphs.push(Paragraph { text, is_item, is_set_in, ..begin(line, page, layout) });
            }
        }
        before = Some(line);
    }
    paragraphs.retain(|paragraph| !paragraph.text.is_empty());
    paragraphs
}

/// The paragraph that a line begins, without its text.
fn begin(line: &Line, page: usize, layout: &Layout) -> Paragraph {
    Paragraph {
        text: String::new(),
        size: line.size,
        lines: 1,
        is_item: false,
        is_set_in: false,
        is_bold: line.is_bold,
        rows: Vec::new(),
        page,
        direction: line.direction,
        start: line.start,
        leading: None,
        first_word: first_word(line),
        room: layout.room(line),
        cells: (line.has_cells(), line.has_cells()),
    }
}

/// Size and direction of lines.
type Style = (i64, i32);

/// The layout of the text on a page. Rows of tables do not count.
struct Layout {
    /// Distance of the lines of each style, in em.
    leadings: HashMap<Style, f64>,
    /// The columns of each style, from left to right.
    columns: HashMap<Style, Vec<Column>>,
    /// The columns of the page before.
    before: Option<HashMap<Style, Vec<Column>>>,
}

/// Lines below each other.
struct Column {
    start: f64,
    end: f64,
    /// Number of lines that end near its margin.
    full_lines: usize,
}

impl Column {
    fn width(&self) -> f64 {
        self.end - self.start
    }

    fn is_short(&self, line: &Line) -> bool {
        self.end - line.end > self.width() * MIN_SHORT_LINE_SHARE
    }
}

impl Layout {
    fn from_lines(lines: &[Line]) -> Self {
        // Gaps with the number of characters above them: a gap below a long line is hardly ever between paragraphs.
        let mut gaps: HashMap<Style, Vec<(f64, usize)>> = HashMap::new();
        for pair in lines.windows(2) {
            let [before, line] = pair else { continue };
            let gap = gap(before, line);
            let is_text = has_same_style(before, line) && !before.has_cells() && !line.has_cells();
            if is_text && (0.8..3.0).contains(&gap) {
                gaps.entry(style(line)).or_default().push((gap, before.text.len()));
            }
        }
        let leadings = gaps.into_iter().filter(|(_, gaps)| gaps.len() >= MIN_GAPS);
        let leadings = leadings.filter_map(|(style, gaps)| Some((style, lower_quartile(gaps)?))).collect();

        let mut styles: HashMap<Style, Vec<&Line>> = HashMap::new();
        for line in lines.iter().filter(|line| !line.has_cells()) {
            styles.entry(style(line)).or_default().push(line);
        }
        let columns = styles.into_iter().map(|(style, lines)| (style, columns(lines))).collect();
        Self { leadings, columns, before: None }
    }

    fn continues_paragraph(&self, before: &Line, line: &Line, paragraph: &Paragraph) -> bool {
        if !has_same_style(before, line) || is_note_mark(&line.text) {
            return false;
        }
        let gap = gap(before, line);
        let ends_sentence = ends_sentence(&before.text);
        let goes_on = !ends_sentence && (starts_small(&line.text) || before.text.ends_with(OPEN_ENDS));
        let width = first_word(line) + MAX_SPACE * line.size;
        // Below a heading, the margin is that of the text.
        let below = self.column(line).filter(|column| column.start < before.end && before.start < column.end);
        let room = self.room(before).max(below.map_or(0.0, |column| column.end - before.end));
        let is_broken = !ends_sentence && width > room;
        // The next item: its first word had room.
        let is_deeper = INDENT.contains(&((line.start - before.start) / line.size.max(1.0)));
        let is_next_item = paragraph.is_set_in && !before.text.ends_with(OPEN_ENDS)
            || paragraph.is_introduction() && is_deeper;
        // The last page may have too few lines to show its margin.
        let room_before = self.before.as_ref().map_or(f64::INFINITY, |columns| room_in(columns, before));
        let room_in_list = if room.is_finite() { room } else { room_before };
        if is_next_item && room_in_list.is_finite() && (ends_sentence || width <= room_in_list) {
            return false;
        }
        let is_below_label = before.is_bold != line.is_bold && !goes_on && !is_broken;
        if is_below_label || paragraph.comes_before_item(line.text.trim(), is_broken) {
            return false;
        }
        if gap < 0.5 {
            // In the next column, or next to the line.
            return gap < -1.0 && (goes_on || (gap < -MIN_COLUMN_HEIGHT && is_broken));
        }
        let is_left_of_item = paragraph.is_item && line.start < paragraph.start - MAX_SPACE * line.size;
        if is_left_of_item && !goes_on {
            return false;
        }
        let usual = self.leadings.get(&style(line)).or_else(|| self.leadings.get(&style(before)));
        let usual = paragraph.leading.or(usual.copied()).unwrap_or(DEFAULT_LEADING);
        if gap > usual * MIN_PARAGRAPH_GAP {
            let is_below = line.start < before.end && before.start < line.end;
            let is_text = !before.has_cells() && !line.has_cells();
            return gap <= MAX_SENTENCE_GAP && is_below && is_text && (goes_on || is_broken);
        }
        let is_short = self
            .column(before)
            .is_none_or(|column| column.is_short(before) || width <= column.end - before.end);
        let is_set_in = !paragraph.is_item && is_deeper;
        !(ends_sentence && (is_short || is_set_in))
    }

    fn column(&self, line: &Line) -> Option<&Column> {
        column_in(&self.columns, line)
    }

    /// Width between a line and its margin; infinite if the margin is unknown.
    fn room(&self, line: &Line) -> f64 {
        room_in(&self.columns, line)
    }
}

fn column_in<'c>(columns: &'c HashMap<Style, Vec<Column>>, line: &Line) -> Option<&'c Column> {
    let columns = columns.get(&style(line)).filter(|_| !line.has_cells())?;
    let after = columns.partition_point(|column| column.start <= line.start);
    columns.get(after.checked_sub(1)?)
}

fn room_in(columns: &HashMap<Style, Vec<Column>>, line: &Line) -> f64 {
    let is_known = |column: &&Column| {
        column.width() >= MIN_COLUMN_WIDTH * line.size && column.full_lines >= MIN_FULL_LINES
    };
    column_in(columns, line).filter(is_known).map_or(f64::INFINITY, |column| column.end - line.end)
}

/// Joins lines that overlap, seen from above, into columns.
fn columns(mut lines: Vec<&Line>) -> Vec<Column> {
    lines.sort_by(|one, other| one.start.total_cmp(&other.start));
    let mut columns: Vec<Column> = Vec::new();
    let mut first = 0;
    let mut end = f64::NEG_INFINITY;
    for (at, line) in lines.iter().enumerate() {
        end = end.max(line.end);
        if lines.get(at + 1).is_some_and(|next| next.start < end) {
            continue;
        }
        let of_column = lines.get(first..=at).unwrap_or_default();
        let start = of_column.first().map_or(end, |line| line.start);
        let mut column = Column { start, end, full_lines: 0 };
        column.full_lines = of_column.iter().filter(|line| !column.is_short(line)).count();
        columns.push(column);
        first = at + 1;
        end = f64::NEG_INFINITY;
    }
    columns
}

/// The gap below which a quarter of the weight is.
fn lower_quartile(mut gaps: Vec<(f64, usize)>) -> Option<f64> {
    gaps.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let total: usize = gaps.iter().map(|(_, weight)| weight).sum();
    let mut below = 0;
    let is_enough = |(_, weight): &&(f64, usize)| {
        below += weight;
        below * 4 >= total
    };
    gaps.iter().find(is_enough).map(|(gap, _)| *gap)
}

/// Distance of two lines in em.
fn gap(before: &Line, line: &Line) -> f64 {
    (line.baseline - before.baseline) / line.size.max(1.0)
}

fn style(line: &Line) -> Style {
    (size_step(line.size), line.direction)
}

fn has_same_style(one: &Line, other: &Line) -> bool {
    one.direction == other.direction && is_alike(one.size, other.size)
}

/// The size of most characters; 0 if there are none.
pub(super) fn main_size<'a>(paragraphs: impl Iterator<Item = &'a Paragraph>) -> f64 {
    let mut weights: HashMap<i64, usize> = HashMap::new();
    for paragraph in paragraphs {
        *weights.entry(size_step(paragraph.size)).or_default() += paragraph.text.len();
    }
    let main = weights.into_iter().max_by_key(|(size, weight)| (*weight, *size));
    main.map_or(0.0, |(size, _)| size as f64 * SIZE_STEP)
}

/// Sizes with the same number are one style.
pub(super) fn size_step(size: f64) -> i64 {
    (size / SIZE_STEP).round() as i64
}

pub(super) fn is_alike(one: f64, other: f64) -> bool {
    (one - other).abs() <= one.max(other) * MAX_SIZE_DIFFERENCE
}

/// The width that the line before lacks if the line is broken at the margin. Ideographs are not divided into words.
fn first_word(line: &Line) -> f64 {
    if line.text.starts_with(is_ideographic) { line.size } else { line.first_word }
}

/// Returns whether a text begins with the mark of a note: "¹", "*".
fn is_note_mark(text: &str) -> bool {
    text.starts_with(['*', '†', '‡']) || raised_number(text).is_some()
}

/// The number of a note that begins a text, and the text after it.
pub(super) fn raised_number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c| !is_raised(c)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(number, _)| !number.is_empty())
}

fn starts_small(text: &str) -> bool {
    let opens = ['(', '[', '"', '\'', '“', '„', '‘', '«'];
    text.trim_start_matches(opens).starts_with(char::is_lowercase)
}

/// The start of an item.
enum Marker {
    Bullet,
    /// A bullet that sentences have, too.
    Dash,
    /// A number with a full stop or bracket, or a letter with a bracket.
    Number,
}

fn marker(text: &str) -> Option<Marker> {
    // An asterisk is the mark of a condition, a box is part of the text, and "o" is a word.
    if let Some(marker) = bullet(text).filter(|marker| !marker.style.starts_with(['*', '[', 'o'])) {
        return Some(if marker.is_dash() { Marker::Dash } else { Marker::Bullet });
    }
    if TICKS.iter().any(|tick| text.starts_with(tick)) {
        return Some(Marker::Bullet);
    }
    let (marker, ..) = number(text)?;
    let is_number = |marker: &str| marker.bytes().all(|byte| byte.is_ascii_digit());
    (marker.ends_with(')') || marker.strip_suffix('.').is_some_and(is_number)).then_some(Marker::Number)
}

/// Adds a line; joins a hyphenated word if it certainly is one.
fn join(text: &mut String, line: &str, words: &Words) {
    if text.ends_with('\u{ad}') {
        text.pop();
    } else if text.ends_with(['-', '\u{2010}']) && line.starts_with(char::is_alphabetic) {
        if is_divided(text, line, words) {
            text.pop();
        }
    } else if !(text.ends_with(is_ideographic) && line.starts_with(is_ideographic)) {
        text.push(' ');
    }
    text.push_str(line);
}

/// True if the document contains the joined word elsewhere; "well-known" keeps its hyphen.
fn is_divided(text: &str, line: &str, words: &Words) -> bool {
    let head = text.trim_end_matches(['-', '\u{2010}']);
    let first =
        head.rfind(|c: char| !is_word_character(c)).map_or(head, |at| head.get(at..).unwrap_or_default());
    let first = first.trim_start_matches(|c: char| !is_word_character(c));
    let second =
        line.find(|c: char| !is_word_character(c)).map_or(line, |at| line.get(..at).unwrap_or_default());
    let starts_small = line.starts_with(char::is_lowercase);
    starts_small && !first.is_empty() && words.contains(&format!("{first}{second}").to_lowercase())
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric()
}

fn is_ideographic(character: char) -> bool {
    matches!(character, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
pub(super) mod tests;
