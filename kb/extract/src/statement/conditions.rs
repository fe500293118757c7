//! The conditions behind asterisks, daggers and numbers of notes: "Delivery is free.*" and, anywhere, "* Only above 50 euros."

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use chat_core::sentences::sentences;

use super::is_within;
use super::words::{ends_with_colon, is_fragment};
use crate::document::{Block, BlockKind, Document, MarkKind};

/// A longer run of asterisks is a line or a rating.
const MAX_SYMBOLS: usize = 4;
/// How much of a word before a mark is looked at.
const MAX_WORD_BYTES: usize = 60;
/// A longer word is no unit.
const MAX_UNIT_CHARS: usize = 4;
/// A larger number is no mark.
const MAX_NUMBER_DIGITS: usize = 2;

/// The conditions of a document.
pub(super) struct Conditions {
    /// The texts behind each mark, in order.
    texts: HashMap<String, Vec<Range<usize>>>,
    /// All of them that are only conditions, in order.
    ranges: Vec<Range<usize>>,
    /// The first byte of the number that leads to the note which begins at a byte.
    owners: HashMap<usize, usize>,
}

/// What the marks of a text lead to.
#[derive(Default)]
pub(super) struct Found {
    pub(super) texts: Vec<Range<usize>>,
    /// Whether a mark leads to nothing.
    pub(super) is_missing: bool,
}

impl Conditions {
    pub(super) fn new(document: &Document) -> Self {
        let mut finder =
            Finder { document, used: HashSet::new(), sure: HashSet::new(), found: Vec::new(), texts: 0 };
        finder.read(&document.blocks);
        let mut texts: HashMap<String, Vec<Range<usize>>> = HashMap::new();
        let mut ranges = Vec::new();
        for Definition { form, key, range, .. } in finder.kept() {
            if form != Form::Mention {
                ranges.push(range.clone());
            }
            texts.entry(key).or_default().push(range);
        }
        ranges.sort_by_key(|range| range.start);
        texts.values_mut().for_each(|texts| texts.sort_by_key(|range| range.start));
        let owner = |reference: &crate::document::Reference| (reference.note.start, reference.range.start);
        // Of several numbers, the first is the owner.
        let owners = document.references.iter().rev().map(owner).collect();
        Self { texts, ranges, owners }
    }

    /// What the marks within a range lead to.
    pub(super) fn of(&self, document: &Document, range: &Range<usize>) -> Found {
        let mut found = Found::default();
        let first = document.references.partition_point(|reference| reference.range.start < range.start);
        let inside = document.references.iter().skip(first);
        let references: Vec<_> =
            inside.take_while(|reference| is_within(&reference.range, range)).cloned().collect();
        let text = document.slice(range);
        for Use { key, at, is_sure } in uses(text) {
            let at = range.start + at;
            let has =
                |kind: MarkKind, range: Range<usize>| document.marks_in(&range).any(|mark| mark.kind == kind);
            let reference = references.partition_point(|reference| reference.range.end <= at);
            let is_reference = references.get(reference).is_some_and(|found| found.range.start <= at);
            if is_reference || has(MarkKind::Code, at.saturating_sub(1)..at + 1) {
                continue;
            }
            match self.behind(&key, range) {
                Some(condition) if is_within(condition, range) => {}
                Some(condition) => found.texts.push(condition.clone()),
                None => found.is_missing |= is_sure || has(MarkKind::Reference, at..at + 1),
            }
        }
        let is_code = |at: usize| document.marks_in(&(at..at + 1)).any(|mark| mark.kind == MarkKind::Code);
        found.is_missing |= unknown_notes(text).any(|at| !is_code(range.start + at));
        found.texts.extend(references.into_iter().map(|reference| reference.note));
        found
    }

    /// Whether a range is part of a condition.
    pub(super) fn contains(&self, range: &Range<usize>) -> bool {
        let after = self.ranges.partition_point(|condition| condition.start <= range.start);
        let before = after.checked_sub(1).and_then(|before| self.ranges.get(before));
        before.is_some_and(|condition| is_within(range, condition))
    }

    /// Whether a condition begins at a byte.
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
    /// A sentence about the mark: "Fields with * are required."
    Mention,
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
    used: HashSet<String>,
    /// Those that can be nothing else.
    sure: HashSet<String>,
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
        for Use { key, at, is_sure } in uses(text) {
            let at = range.start + at;
            let is_code = |mark: &crate::document::Mark| mark.kind == MarkKind::Code;
            if is_sure && !self.document.marks_in(&(at.saturating_sub(1)..at + 1)).any(is_code) {
                self.sure.insert(key.clone());
            }
            self.used.insert(key);
        }
        for (form, key, inside) in definitions(text, is_alone) {
            self.add(form, key, range.start + inside.start..range.start + inside.end);
        }
        if is_alone && text.contains(" * ") {
            let parts = sentences(&self.document.text, range.clone());
            let mentions = parts.into_iter().filter(|part| mentions_asterisk(self.document.slice(part)));
            mentions.for_each(|part| self.add(Form::Mention, "*".to_owned(), part));
        }
    }

    fn item(&mut self, range: &Range<usize>) {
        self.text(range, true);
        let text = self.document.slice(range);
        let others = self.found.iter().rev().take_while(|found| found.range.start >= range.start);
        let end = others.map(|found| found.range.start).min().unwrap_or(range.end);
        let own = text.get(..end - range.start).unwrap_or_default().trim_end().len();
        if own > 0 {
            self.add(Form::Item, "*".to_owned(), range.start..range.start + own);
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
            if matches!(definition.form, Form::Item | Form::Mention) || definition.above + 1 < last {
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
        let is_item = items == 1 && self.sure.contains("*") && !has_symbol;
        let used = self.used;
        let is_kept = |(at, found): &(usize, Definition)| match found.form {
            Form::Symbol => true,
            Form::Number => used.contains(&found.key),
            Form::PlainNumber => *at >= end && used.contains(&found.key),
            Form::Item => is_item,
            Form::Mention => !has_symbol && !is_item,
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

/// "Fields with * are required."
fn mentions_asterisk(sentence: &str) -> bool {
    let is_word = |word: &str| word.chars().all(char::is_alphabetic) && !word.is_empty();
    sentence.split(" * ").zip(sentence.split(" * ").skip(1)).any(|(before, after)| {
        before.split(' ').next_back().is_some_and(is_word) && after.split(' ').next().is_some_and(is_word)
    })
}

/// References to notes of Markdown that do not exist: `[^1]`.
fn unknown_notes(text: &str) -> impl Iterator<Item = usize> + '_ {
    let is_name = |inner: &str| {
        let name = inner.split(']').next().unwrap_or_default();
        name.len() < inner.len() && !name.is_empty() && !name.contains(char::is_whitespace)
    };
    text.match_indices("[^").map(|(at, _)| at).filter(move |at| text.get(at + 2..).is_some_and(is_name))
}

/// A mark behind a word.
struct Use {
    key: String,
    at: usize,
    /// Whether it can be nothing else.
    is_sure: bool,
}

/// The marks of a text that may lead to a condition.
fn uses(text: &str) -> impl Iterator<Item = Use> + '_ {
    let is_start = |c: char| is_symbol(c) || raised_digit(c).is_some() || matches!(c, '(' | '[' | ')');
    let mut from = 0;
    let mut leftovers: Option<HashSet<&str>> = None;
    std::iter::from_fn(move || {
        loop {
            let at = from + text.get(from..)?.find(is_start)?;
            if text.get(at..)?.starts_with(')') {
                from = at + 1;
                if let Some(key) = bare_number(text, at) {
                    return Some(Use { key: key.to_owned(), at, is_sure: false });
                }
                continue;
            }
            let mark = Mark::read(text.get(at..)?)?;
            from = at + mark.length;
            if let Some(mut found) = mark.used(text, at) {
                let leftovers = leftovers.get_or_insert_with(|| self::leftovers(text));
                found.is_sure &= !leftovers.contains(found.key.as_str());
                return Some(found);
            }
        }
    })
}

/// The number of a mark "1)" apart from words at the end of a line or cell.
fn bare_number(text: &str, bracket: usize) -> Option<&str> {
    let (head, rest) = text.split_at_checked(bracket)?;
    let (_, number) = head.rsplit_once(char::is_whitespace)?;
    let is_number =
        (1..=MAX_NUMBER_DIGITS).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_end = matches!(rest.chars().nth(1), None | Some('\n' | '\t'));
    (is_number && is_end).then_some(number)
}

/// Asterisks that may be markup that was left over: those before a word, and pairs of more than one.
fn leftovers(text: &str) -> HashSet<&str> {
    let mut found = HashSet::new();
    let mut pairs = HashSet::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(is_symbol)).map(|at| from + at) {
        let rest = text.get(at..).unwrap_or_default();
        let run = rest.get(..rest.find(|c| !is_symbol(c)).unwrap_or(rest.len())).unwrap_or_default();
        from = at + run.len().max(1);
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(from..).and_then(|after| after.chars().next());
        let is_opening = before.is_none_or(char::is_whitespace) && after.is_some_and(char::is_alphanumeric);
        if is_opening || run.len() > 1 && !pairs.insert(run) {
            found.insert(run);
        }
    }
    found
}

/// A mark, wherever it is found.
struct Mark {
    key: String,
    form: Form,
    length: usize,
}

impl Mark {
    /// The mark that begins a text; an empty one for another character.
    fn read(text: &str) -> Option<Self> {
        let first = text.chars().next()?;
        let run = |is_part: fn(char) -> bool| text.get(..text.find(|c| !is_part(c)).unwrap_or(text.len()));
        if is_symbol(first) {
            let key = run(is_symbol)?.to_owned();
            return Some(Self { length: key.len(), key, form: Form::Symbol });
        }
        if raised_digit(first).is_some() {
            let digits = run(|c| raised_digit(c).is_some())?;
            let key = digits.chars().filter_map(raised_digit).collect();
            return Some(Self { key, form: Form::Number, length: digits.len() });
        }
        let inner = text.get(first.len_utf8()..)?;
        let digits = inner.get(..inner.find(|c: char| !c.is_ascii_digit()).unwrap_or(inner.len()))?;
        let closer = if first == '(' { ')' } else { ']' };
        let is_closed = inner.get(digits.len()..)?.starts_with(closer);
        if !is_closed || !(1..=MAX_NUMBER_DIGITS).contains(&digits.len()) {
            return Some(Self { key: String::new(), form: Form::PlainNumber, length: first.len_utf8() });
        }
        let form = if first == '(' { Form::PlainNumber } else { Form::Number };
        Some(Self { key: digits.to_owned(), form, length: digits.len() + 2 })
    }

    /// The mark at a byte of a text, if it stands behind a word.
    fn used(self, text: &str, at: usize) -> Option<Use> {
        let head = text.get(..at)?;
        let before = head.chars().next_back()?;
        let rest = text.get(at + self.length..)?;
        let after = rest.chars().next();
        let is_apart = after.is_none_or(|c| !c.is_alphanumeric() && !is_symbol(c));
        let is_bracket = text.get(at..)?.starts_with('[');
        let Self { key, form, .. } = self;
        if key.is_empty() || !is_apart || before == '\n' {
            return None;
        }
        let near = head.get(head.floor_char_boundary(head.len().saturating_sub(MAX_WORD_BYTES))..)?;
        let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
        // "1.2.* runs everywhere"
        let goes_on = before == '.' && rest.trim_start().starts_with(char::is_lowercase);
        // "It costs 12 €.[2]"; but an item of a list in code is "names[2]".
        let is_note =
            form == Form::Number && is_bracket && matches!(before, '.' | ',' | ';' | '!' | '€' | '%');
        let is_raised = form == Form::Number && !is_bracket && is_word_or_price(word);
        let is_sure = is_note
            || is_raised
            || form == Form::Symbol && !before.is_whitespace() && !goes_on && !is_other(head, word, after);
        let is_end = after.is_none_or(|c| matches!(c, '\n' | '\t'));
        let is_used = match form {
            Form::Symbol => {
                let is_in_brackets = before == '(' && after == Some(')');
                let is_quoted = matches!(before, '"' | '\'' | '“' | '„' | '«' | '`')
                    && after.is_some_and(|c| "\"'”“»`".contains(c));
                let is_behind = (is_end || !before.is_whitespace()) && !"(/\\|=<>~^&+_{-[".contains(before);
                key.chars().count() <= MAX_SYMBOLS && (is_in_brackets || is_behind && !is_quoted)
            }
            // "50 m²", "10⁻³"
            Form::Number => !is_unit(word) && before != '⁻',
            _ => !before.is_whitespace() || after.is_none_or(|c| ".,;:!?\n\t".contains(c)),
        };
        is_used.then_some(Use { key, at, is_sure })
    }
}

fn is_symbol(c: char) -> bool {
    matches!(c, '*' | '†' | '‡')
}

/// A short word of lower case letters: what follows it is an exponent.
fn is_unit(word: &str) -> bool {
    let is_letters = word.chars().all(|c| c.is_ascii_lowercase());
    is_letters && (1..=2).contains(&word.len())
}

/// Whether a raised number behind a word can be no exponent: "Shipping¹", "5 €¹".
fn is_word_or_price(word: &str) -> bool {
    let letters = word.trim_end_matches(['.', ',', '!']);
    let is_word = letters.chars().all(char::is_alphabetic) && letters.chars().nth(MAX_UNIT_CHARS).is_some();
    is_word || word.ends_with(['€', '$', '%'])
}

fn raised_digit(c: char) -> Option<char> {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = RAISED.iter().position(|raised| *raised == c)?;
    char::from_digit(u32::try_from(digit).ok()?, 10)
}

/// Whether an asterisk behind a word may be something else than the mark of a condition: a rating ("4*"), a grade or algorithm ("A*"),
/// computer code, or the name of a required parameter at the start of a row.
fn is_other(head: &str, word: &str, after: Option<char>) -> bool {
    let is_single = word.len() == 1 && word.chars().all(|c| c.is_ascii_alphanumeric());
    let letters: Vec<char> = word.chars().collect();
    let is_dotted = letters.windows(3).any(
        |three| matches!(three, [before, '.', after] if before.is_alphabetic() && after.is_alphabetic()),
    );
    let is_code = word.contains(['/', '\\', '_', '=', '<', '>', '{', '}', '`', '#', '@'])
        || word.contains("()")
        || is_dotted;
    let is_parameter =
        head == word && word.starts_with(|c: char| c.is_ascii_lowercase()) && after == Some('\t');
    is_single || is_code || is_parameter
}

/// The conditions of a text: from a mark at the start of the text or of a line to the next one, which may follow on the same line.
fn definitions(text: &str, is_alone: bool) -> Vec<(Form, String, Range<usize>)> {
    let mut found: Vec<(Form, String, Range<usize>)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let mut is_start = is_alone || at > 0;
        let mut before = None;
        for word in line.split_inclusive(char::is_whitespace) {
            if !is_start && found.is_empty() {
                break;
            }
            let rest = text.get(at..).unwrap_or_default();
            at += word.len();
            if word.trim().is_empty() {
                continue;
            }
            let is_next = |form: Form, key: &String| {
                let is_other = found.last().is_some_and(|(_, last, _)| last != key);
                is_other && form != Form::PlainNumber && matches!(before, Some('.' | ';' | ',' | ')' | '!'))
            };
            if let Some((form, key)) = leading(rest).filter(|(form, key)| is_start || is_next(*form, key)) {
                let start = text.len() - rest.len();
                if let Some((_, _, last)) = found.last_mut() {
                    last.end = text.get(..start).map_or(start, |before| before.trim_end().len());
                }
                found.push((form, key, start..text.trim_end().len()));
            }
            is_start = false;
            before = word.trim_end().chars().next_back();
        }
        at = end;
    }
    found
}

/// The mark of a condition that begins a text.
fn leading(text: &str) -> Option<(Form, String)> {
    let bare = text.strip_prefix('(').filter(|inner| inner.starts_with(is_symbol)).unwrap_or(text);
    let first = bare.chars().next()?;
    let mark = if first.is_ascii_digit() {
        let digits = bare.get(..bare.find(|c: char| !c.is_ascii_digit()).unwrap_or(bare.len()))?;
        let is_short = digits.len() <= MAX_NUMBER_DIGITS;
        is_short.then(|| Mark { key: digits.to_owned(), form: Form::PlainNumber, length: digits.len() })?
    } else if is_symbol(first) || raised_digit(first).is_some() || matches!(first, '(' | '[') {
        Mark::read(bare)?
    } else {
        return None;
    };
    let rest = bare.get(mark.length..)?;
    let rest = rest.strip_prefix([')', ']', '⁾', ':']).unwrap_or(rest);
    let is_word = rest.starts_with(char::is_alphabetic) && mark.form != Form::PlainNumber;
    let begins = rest.starts_with(char::is_whitespace) || is_word;
    let has_words = rest.split('\n').next().is_some_and(|line| line.contains(char::is_alphanumeric));
    (!mark.key.is_empty() && mark.key.chars().count() <= MAX_SYMBOLS && begins && has_words)
        .then_some((mark.form, mark.key))
}
