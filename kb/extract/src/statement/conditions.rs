//! The conditions behind asterisks, daggers and numbers of notes: "Delivery is free.*" and, anywhere, "* Only above 50 euros."

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::is_within;
use super::words::{ends_with_colon, is_fragment};
use crate::document::{Block, BlockKind, Document, MarkKind, Reference};
use crate::shifted::raised_digit;

/// A longer run of asterisks is a line or a rating.
const MAX_SYMBOLS: usize = 4;
/// A larger number is no mark.
const MAX_DIGITS: usize = 2;
/// How much before and after a mark is looked at.
const MAX_NEAR_BYTES: usize = 100;
/// A longer word is no unit.
const MAX_UNIT_CHARS: usize = 4;

/// The conditions of a document.
pub(super) struct Conditions {
    /// The texts behind each mark, in order.
    texts: HashMap<String, Vec<Range<usize>>>,
    /// All of them, in order.
    ranges: Vec<Range<usize>>,
    /// The first byte of the number that leads to the note which begins at a byte.
    owners: HashMap<usize, usize>,
}

/// The conditions to which the marks of a text lead.
#[derive(Default)]
pub(super) struct Found {
    pub(super) texts: Vec<Range<usize>>,
    /// True if a mark leads to nothing.
    pub(super) is_missing: bool,
}

impl Conditions {
    pub(super) fn new(document: &Document) -> Self {
        let mut finder =
            Finder { document, used: HashSet::new(), is_starred: false, found: Vec::new(), texts: 0 };
        finder.read(&document.blocks);
        let mut texts: HashMap<String, Vec<Range<usize>>> = HashMap::new();
        let mut kept = finder.kept();
        kept.sort_by_key(|found| found.range.start);
        let ranges = kept.iter().map(|found| found.range.clone()).collect();
        for Definition { key, range, .. } in kept {
            texts.entry(key).or_default().push(range);
        }
        let owner = |reference: &Reference| (reference.note.start, reference.range.start);
        // Of several numbers, the first is the owner.
        let owners = document.references.iter().rev().map(owner).collect();
        Self { texts, ranges, owners }
    }

    /// The conditions to which the marks within a range lead.
    pub(super) fn of(&self, document: &Document, range: &Range<usize>) -> Found {
        let mut found = Found::default();
        let first = document.references.partition_point(|reference| reference.range.start < range.start);
        let inside = document.references.iter().skip(first);
        let references: Vec<_> = inside.take_while(|reference| is_within(&reference.range, range)).collect();
        let text = document.slice(range);
        for mark in marks(text) {
            let Some(is_sure) = mark.used() else { continue };
            let at = range.start + mark.head.len();
            let next = references.partition_point(|reference| reference.range.end <= at);
            let is_reference = references.get(next).is_some_and(|found| found.range.start <= at);
            if is_reference || has(document, MarkKind::Code, at.saturating_sub(1)..at + 1) {
                continue;
            }
            match self.behind(&mark.key, range) {
                Some(condition) if is_within(condition, range) => {}
                Some(condition) => found.texts.push(condition.clone()),
                None => found.is_missing |= is_sure || has(document, MarkKind::Reference, at..at + 1),
            }
        }
        let is_text = |at: usize| !has(document, MarkKind::Code, range.start + at..range.start + at + 1);
        found.is_missing |= unknown_notes(text).any(is_text);
        found.texts.extend(references.into_iter().map(|reference| reference.note.clone()));
        found
    }

    /// Returns whether a range is part of a condition.
    pub(super) fn contains(&self, range: &Range<usize>) -> bool {
        let after = self.ranges.partition_point(|condition| condition.start <= range.start);
        let before = after.checked_sub(1).and_then(|before| self.ranges.get(before));
        before.is_some_and(|condition| is_within(range, condition))
    }

    /// Returns whether a condition begins at a byte.
    pub(super) fn begins_at(&self, start: usize) -> bool {
        self.ranges.binary_search_by_key(&start, |range| range.start).is_ok()
    }

    /// The first byte of the number that leads to a note.
    pub(super) fn owner(&self, note: &Range<usize>) -> Option<usize> {
        self.owners.get(&note.start).copied()
    }

    /// The condition behind a mark: the next below the range, or else the last above.
    fn behind(&self, key: &str, range: &Range<usize>) -> Option<&Range<usize>> {
        let texts = self.texts.get(key)?;
        let below = texts.partition_point(|text| text.start < range.end);
        let own = below.checked_sub(1).and_then(|above| texts.get(above));
        own.filter(|own| is_within(own, range)).or_else(|| texts.get(below)).or(own)
    }
}

pub(super) fn has(document: &Document, kind: MarkKind, range: Range<usize>) -> bool {
    document.marks_in(&range).any(|mark| mark.kind == kind)
}

/// References to notes of Markdown that do not exist: `[^1]`.
fn unknown_notes(text: &str) -> impl Iterator<Item = usize> + '_ {
    let is_name = |inner: &str| {
        let name = inner.split(']').next().unwrap_or_default();
        name.len() < inner.len() && !name.is_empty() && !name.contains(char::is_whitespace)
    };
    text.match_indices("[^").map(|(at, _)| at).filter(move |at| text.get(at + 2..).is_some_and(is_name))
}

/// How a condition begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// "* …", "† …"
    Symbol,
    /// "¹ …", "[1] …"
    Number,
    /// "(1) …", "1) …", "1 …": also the number of a paragraph.
    PlainNumber,
    /// The only item of a list: a file may write "* …" so that it reads as an item.
    Item,
}

struct Definition {
    form: Form,
    key: String,
    range: Range<usize>,
    /// The number of texts above it in the document.
    above: usize,
}

struct Finder<'d> {
    document: &'d Document,
    /// The marks behind words.
    used: HashSet<String>,
    /// True if an asterisk behind a word can be nothing else than a mark.
    is_starred: bool,
    found: Vec<Definition>,
    /// Texts that were read.
    texts: usize,
}

impl Finder<'_> {
    fn read(&mut self, blocks: &[Block]) {
        let document = self.document;
        let mut before: Option<&Block> = None;
        for block in blocks {
            match block.kind {
                BlockKind::Code | BlockKind::Note => {}
                BlockKind::Row { .. } => {
                    let is_blank = |cell: &&Block| document.slice(&cell.range).trim().is_empty();
                    let cells: Vec<&Block> = block.children.iter().filter(|cell| !is_blank(cell)).collect();
                    cells.iter().for_each(|cell| self.text(&cell.range, cells.len() == 1));
                }
                BlockKind::List => {
                    let before = before.map_or(".", |before| document.slice(&before.range));
                    let lone = lone_item(block).filter(|_| !ends_with_colon(before) && !is_fragment(before));
                    match lone {
                        Some(item) => self.item(&item.range),
                        None => self.read(&block.children),
                    }
                }
                _ if block.children.is_empty() => {
                    self.text(&block.range, block.kind == BlockKind::Paragraph);
                }
                _ => self.read(&block.children),
            }
            before = Some(block);
        }
    }

    /// `is_alone`: whether a mark at its start can lead to it.
    fn text(&mut self, range: &Range<usize>, is_alone: bool) {
        self.texts += 1;
        let text = self.document.slice(range);
        for mark in marks(text) {
            let Some(is_sure) = mark.used() else { continue };
            let at = range.start + mark.head.len();
            self.is_starred |= is_sure
                && mark.key == "*"
                && !has(self.document, MarkKind::Code, at.saturating_sub(1)..at + 1);
            self.used.insert(mark.key);
        }
        for (form, key, inside) in definitions(text, is_alone) {
            self.add(form, key, range.start + inside.start..range.start + inside.end);
        }
    }

    fn item(&mut self, range: &Range<usize>) {
        let first = self.found.len();
        self.text(range, true);
        let end = self.found.get(first).map_or(range.end, |found| found.range.start);
        let text = self.document.slice(&(range.start..end)).trim_end();
        if !text.is_empty() {
            self.add(Form::Item, "*".to_owned(), range.start..range.start + text.len());
        }
    }

    fn add(&mut self, form: Form, key: String, range: Range<usize>) {
        self.found.push(Definition { form, key, range, above: self.texts });
    }

    /// The conditions that a mark leads to. Symbols lead to nothing else, so they count even if the mark was left out.
    fn kept(self) -> Vec<Definition> {
        let mut last = self.texts;
        let mut end = self.found.len();
        // Plain numbers are those of notes only in one sequence at the end of the document.
        for definition in self.found.iter().rev() {
            if definition.form == Form::Item || definition.above + 1 < last {
                break;
            }
            last = definition.above;
            end -= 1;
        }
        let mut numbers = self.found.iter().skip(end).filter(|found| found.form == Form::PlainNumber);
        if numbers.next().is_some_and(|first| first.key != "1") {
            end = self.found.len();
        }
        let has_symbol = self.found.iter().any(|found| found.form == Form::Symbol && found.key == "*");
        // Several such lists are something else.
        let items = self.found.iter().filter(|found| found.form == Form::Item).count();
        let is_item = items == 1 && self.is_starred && !has_symbol;
        // "(1) Not in May." where only one paragraph has that number. Paragraphs of a contract have it in each section.
        let document = self.document;
        let mut bracketed: HashMap<String, usize> = HashMap::new();
        for found in &self.found {
            if found.form == Form::PlainNumber && document.slice(&found.range).starts_with('(') {
                *bracketed.entry(found.key.clone()).or_default() += 1;
            }
        }
        let is_unique = |key: &String| bracketed.get(key) == Some(&1);
        let used = self.used;
        let is_kept = |(at, found): &(usize, Definition)| match found.form {
            Form::Symbol => true,
            Form::Number => used.contains(&found.key),
            Form::PlainNumber => (*at >= end || is_unique(&found.key)) && used.contains(&found.key),
            Form::Item => is_item,
        };
        self.found.into_iter().enumerate().filter(is_kept).map(|(_, found)| found).collect()
    }
}

/// The text of the only item of a list without numbers.
fn lone_item(list: &Block) -> Option<&Block> {
    let [item] = list.children.as_slice() else { return None };
    let [paragraph] = item.children.as_slice() else { return None };
    let has_bullet =
        matches!(&item.kind, BlockKind::Item { marker, .. } if matches!(marker.as_str(), "-" | "*"));
    (has_bullet && paragraph.kind == BlockKind::Paragraph).then_some(paragraph)
}

/// A run of symbols or digits that may be a mark.
struct Mark<'t> {
    /// The symbols, or the number in ordinary digits.
    key: String,
    form: Form,
    /// The text before the run and after it. Brackets are part of them.
    head: &'t str,
    tail: &'t str,
}

/// The runs of symbols or digits of a text.
fn marks(text: &str) -> impl Iterator<Item = Mark<'_>> {
    let mut from = 0;
    let next = move || loop {
        let start = from + text.get(from..)?.find(|c| form(c).is_some())?;
        let (head, rest) = text.split_at_checked(start)?;
        let own = form(rest.chars().next()?)?;
        let (run, tail) = rest.split_at_checked(rest.find(|c| form(c) != Some(own)).unwrap_or(rest.len()))?;
        from = start + run.len();
        let max = if own == Form::Symbol { MAX_SYMBOLS } else { MAX_DIGITS };
        // "B2", "2.5", "a*b"
        let is_word = |c: char| c.is_alphanumeric() || is_symbol(c);
        if run.chars().nth(max).is_some() || own == Form::PlainNumber && head.ends_with(is_word) {
            continue;
        }
        let key = run.chars().map(|c| raised_digit(c).unwrap_or(c)).collect();
        let is_noted = head.ends_with('[') && tail.starts_with(']');
        return Some(Mark { key, form: if is_noted { Form::Number } else { own }, head, tail });
    };
    std::iter::from_fn(next)
}

/// The form of a run that begins with a character.
fn form(c: char) -> Option<Form> {
    match c {
        c if is_symbol(c) => Some(Form::Symbol),
        c if c.is_ascii_digit() => Some(Form::PlainNumber),
        c => raised_digit(c).map(|_| Form::Number),
    }
}

fn is_symbol(c: char) -> bool {
    matches!(c, '*' | '†' | '‡')
}

impl Mark<'_> {
    /// Returns whether it stands behind a word, and there whether it can be nothing else than a
    /// mark.
    fn used(&self) -> Option<bool> {
        let brackets = [('(', ')'), ('[', ']'), ('⁽', '⁾')];
        let inside = brackets.iter().find_map(|(open, close)| {
            Some((self.head.strip_suffix(*open)?, self.tail.strip_prefix(*close)?, *open))
        });
        let (head, tail, bracket) = match inside {
            Some((head, tail, bracket)) => (head, tail, Some(bracket)),
            None => (self.head, self.tail, None),
        };
        let before = head.chars().next_back().filter(|c| *c != '\n')?;
        let after = tail.chars().next();
        if after.is_some_and(|c| c.is_alphanumeric() || is_symbol(c)) {
            return None;
        }
        let is_apart = before.is_whitespace();
        let is_at_end = |rest: &str| rest.is_empty() || rest.starts_with(['\n', '\t']);
        let near = head.get(head.floor_char_boundary(head.len().saturating_sub(MAX_NEAR_BYTES))..)?;
        let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
        // "*not*" and "**bold**": markup that was left over
        let is_leftover = || {
            let key = self.key.as_str();
            let parts = || near.match_indices(key).map(|(at, _)| near.split_at(at));
            let opens = |(before, rest): (&str, &str)| {
                let is_apart = !before.ends_with(|c: char| !c.is_whitespace());
                is_apart && rest.trim_start_matches(key).starts_with(char::is_alphanumeric)
            };
            let soon = tail.get(..tail.floor_char_boundary(MAX_NEAR_BYTES)).unwrap_or_default();
            parts().any(opens) || key.len() > 1 && (parts().next().is_some() || soon.contains(key))
        };
        let (is_used, is_sure) = match (self.form, bracket) {
            (Form::Symbol, Some('(')) => (true, true),
            (Form::Symbol, _) => {
                let is_quoted = matches!(word, "\"" | "'" | "“" | "„" | "«" | "`");
                // "15 EUR *" at the end of a line
                let is_behind = (!is_apart || is_at_end(tail.trim_start_matches(['.', ';'])))
                    && !"(/\\|=<>~^&+_{-[".contains(before);
                (is_behind && !is_quoted, !is_apart && !is_other(head, word, tail) && !is_leftover())
            }
            // "It costs 12 €.[2]"; but an item of a list in code is "names[2]".
            (Form::Number, Some('[')) => {
                (!is_unit(word), matches!(before, '.' | ',' | ';' | '!' | '€' | '%'))
            }
            // "50 m²", "10⁻³"
            (Form::Number, _) => (!is_unit(word) && before != '⁻', is_word_or_price(word)),
            (_, Some(_)) => {
                (!is_apart || is_at_end(tail) || tail.starts_with(['.', ',', ';', ':', '!', '?']), false)
            }
            // "Delivery is free 1)" at the end of a line
            (_, None) => (is_apart && tail.strip_prefix(')').is_some_and(is_at_end), false),
        };
        is_used.then_some(is_sure)
    }
}

/// A short word of lower case letters: what follows it is an exponent.
fn is_unit(word: &str) -> bool {
    (1..=2).contains(&word.len()) && word.chars().all(|c| c.is_ascii_lowercase())
}

/// Returns whether a raised number behind a word can be no exponent: "Shipping¹", "5 €¹".
fn is_word_or_price(word: &str) -> bool {
    let letters = word.trim_end_matches(['.', ',', '!']);
    let is_word = letters.chars().all(char::is_alphabetic) && letters.chars().nth(MAX_UNIT_CHARS).is_some();
    is_word || word.ends_with(['€', '$', '%'])
}

/// Returns whether an asterisk behind a word may be something else than the mark of a condition: a
/// rating ("4*"), a grade or algorithm ("A*"), computer code ("1.2.* runs"), or the name of a
/// required parameter at the start of a row.
fn is_other(head: &str, word: &str, tail: &str) -> bool {
    let is_single = word.len() == 1 && word.chars().all(|c| c.is_ascii_alphanumeric());
    let mut parts = word.trim_end_matches('.').split('.');
    let is_dotted = parts.clone().count() > 1 && parts.all(|part| part.starts_with(char::is_alphabetic));
    let is_pattern = word.ends_with('.') && tail.trim_start().starts_with(char::is_lowercase);
    let is_code = word.contains(['/', '\\', '_', '=', '<', '>', '{', '}', '`', '#', '@'])
        || word.contains("()")
        || is_dotted;
    let is_parameter =
        head == word && word.starts_with(|c: char| c.is_ascii_lowercase()) && tail.starts_with('\t');
    is_single || is_code || is_pattern || is_parameter
}

/// The conditions of a text: from a mark at the start of the text or of a line to the next one, which may follow on the same line.
/// `is_alone`: whether a mark at the start of the text leads to one.
fn definitions(text: &str, is_alone: bool) -> Vec<(Form, String, Range<usize>)> {
    let mut found: Vec<(Form, String, Range<usize>)> = Vec::new();
    for Mark { key, form, head, tail } in marks(text) {
        let (start, rest) = match (head.strip_suffix(['(', '[', '⁽']), tail.strip_prefix([')', ']', '⁾']))
        {
            (Some(_), None) if form == Form::PlainNumber => continue,
            (start, rest) => (start.unwrap_or(head), rest.unwrap_or(tail)),
        };
        let line = start.trim_end_matches([' ', '\u{a0}']);
        let is_start = if line.is_empty() { is_alone } else { line.ends_with('\n') };
        let is_other = found.last().is_some_and(|(_, last, _)| *last != key);
        let is_next = || {
            let is_after = line.len() < start.len() && line.ends_with(['.', ';', ',', ')', '!']);
            is_after && is_other && form != Form::PlainNumber
        };
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        let is_word = rest.starts_with(char::is_alphabetic) && form != Form::PlainNumber;
        let begins = rest.starts_with(char::is_whitespace) || is_word;
        // "*Not covered:*" and "* Not on:" are above something.
        let is_line = |line: &str| {
            line.contains(char::is_alphanumeric)
                && !(form == Form::Symbol && (line.ends_with(&key) || ends_with_colon(line)))
        };
        let has_words = || rest.lines().next().is_some_and(|line| is_line(line.trim_end()));
        if begins && (is_start || is_next()) && has_words() {
            if let Some((_, _, last)) = found.last_mut() {
                last.end = start.trim_end().len();
            }
            found.push((form, key, start.len()..text.trim_end().len()));
        }
    }
    found
}
