//! Finds the headings of plain text: lines that look like one, apart from the text.

use std::ops::Range;

use chat_core::sentences::sentences;

use crate::markers::{bullet, number};
use crate::notation::indentation;

/// Maximum length of a heading.
const MAX_CHARS: usize = 100;
/// Maximum length of a heading that only stands alone.
const MAX_PLAIN_CHARS: usize = 60;

/// Maximum length of a heading right above text.
const MAX_ABOVE_CHARS: usize = 40;

/// A part of a text.
pub(super) enum Part<'l> {
    Heading {
        level: u8,
        text: &'l str,
        /// True if it is the first line.
        is_first: bool,
    },
    /// Lines without headings.
    Text(Range<usize>),
    /// Short lines that may be headings or not, which stay together.
    Verbatim(Range<usize>),
}

/// How a heading looks. Headings with one look have one level: a title stands above them, or alone has its look.
#[derive(Clone, PartialEq, Eq)]
enum Look {
    /// The line below it has this character only.
    Underlined(char),
    /// Begins with so many "#".
    Hashes(usize),
    /// The parts of its number.
    Numbered(usize),
    Paragraph,
    Capitals,
    /// A short line right above text, which would have room for the first word of the text.
    AboveText,
    /// A short line that stands alone.
    Plain,
}

/// Lines without a blank line between them, with the look if they begin with a heading, and the lines of the heading.
struct Block<'l> {
    lines: Range<usize>,
    heading: Option<(Look, &'l str, usize)>,
    /// True if it is one of several short lines that may be headings or not.
    is_unclear: bool,
}

impl Block<'_> {
    fn is(&self, look: &Look) -> bool {
        self.heading.as_ref().is_some_and(|(own, ..)| own == look)
    }

    /// Returns whether it has nothing but a heading.
    fn is_bare(&self) -> bool {
        self.heading.as_ref().is_some_and(|(_, _, length)| *length == self.lines.len())
    }
}

pub(super) fn parts<'l>(lines: &[&'l str]) -> Vec<Part<'l>> {
    let mut blocks = blocks(lines);
    without_single(&mut blocks);
    without_items(&mut blocks);
    without_unclear(&mut blocks, lines);
    let has_title = blocks.first().and_then(|first| first.heading.as_ref()).is_some_and(|(look, ..)| {
        let is_above_another = blocks.first().is_some_and(Block::is_bare)
            && blocks.get(1).is_some_and(|next| next.heading.is_some());
        is_above_another || !blocks.iter().skip(1).any(|other| other.is(look))
    });
    let mut parts: Vec<Part<'l>> = Vec::new();
    let mut looks: Vec<&Look> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let mut rest = block.lines.clone();
        if let Some((look, text, length)) = &block.heading {
            let mut level = 0;
            if at > 0 || !has_title {
                let known = looks.iter().position(|other| *other == look);
                looks.extend(known.is_none().then_some(look));
                level = 1 + known.unwrap_or(looks.len() - 1);
            }
            let level = u8::try_from(level + 1).unwrap_or(u8::MAX);
            parts.push(Part::Heading { level, text, is_first: at == 0 });
            rest.start += length;
        }
        match parts.last_mut() {
            _ if rest.is_empty() => {}
            Some(Part::Verbatim(range)) if block.is_unclear => range.end = rest.end,
            Some(Part::Text(range)) if !block.is_unclear => range.end = rest.end,
            _ if block.is_unclear => parts.push(Part::Verbatim(rest)),
            _ => parts.push(Part::Text(rest)),
        }
    }
    parts
}

fn blocks<'l>(lines: &[&'l str]) -> Vec<Block<'l>> {
    let mut blocks: Vec<Block<'l>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let above = at.checked_sub(1).and_then(|above| lines.get(above));
        match blocks.last_mut() {
            _ if line.trim().is_empty() => {}
            Some(block) if above.is_some_and(|above| !above.trim().is_empty()) => block.lines.end = at + 1,
            _ => blocks.push(Block { lines: at..at + 1, heading: None, is_unclear: false }),
        }
    }
    let count = blocks.len();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    for (at, block) in blocks.iter_mut().enumerate() {
        let of_block = lines.get(block.lines.clone()).unwrap_or_default();
        // A heading stands above text.
        let is_above = |(look, _, length): &(Look, &str, usize)| {
            (at > 0 && *look == Look::Plain) || at + 1 < count || *length < of_block.len()
        };
        let named = || above_text(of_block, width).map(|text| (Look::AboveText, text, 1));
        block.heading = heading(of_block, at == 0).filter(is_above).or_else(named);
    }
    blocks
}

/// The heading with which lines begin, and the number of its lines.
fn heading<'l>(lines: &[&'l str], is_first: bool) -> Option<(Look, &'l str, usize)> {
    let text = lines.first()?.trim();
    let is_possible = |text: &str| {
        text.chars().nth(MAX_CHARS).is_none()
            && text.chars().filter(|c| c.is_alphabetic()).nth(1).is_some()
            && !text.contains(['\t', '|'])
            && !text.contains("  ")
            && text.starts_with(|c: char| c.is_alphanumeric() || "§#\"'“„«¿¡(".contains(c))
    };
    let underline = |line: Option<&&str>| {
        let line = line?.trim();
        let mark = line.chars().next().filter(|mark| "=-~^*_#+".contains(*mark))?;
        (line.len() > 2 && line.chars().all(|c| c == mark)).then(|| (mark, line.chars().count()))
    };
    let is_under = |text: &str, length: usize| length * 4 >= text.chars().count() * 3;
    if let (Some((mark, _)), Some(text), Some((below, length))) =
        (underline(lines.first()), lines.get(1), underline(lines.get(2)))
        && mark == below
        && is_possible(text.trim())
        && is_under(text.trim(), length)
    {
        return Some((Look::Underlined(mark), text.trim(), 3));
    }
    if !is_possible(text) || bullet(text).is_some() {
        return None;
    }
    if let Some((mark, _)) = underline(lines.get(1)).filter(|(_, length)| is_under(text, *length)) {
        return Some((Look::Underlined(mark), text, 2));
    }
    let is_sentence = text.ends_with(['.', '!', ';', ',', '*', '†', ']', '。', '！', '؟', '।']);
    if is_sentence || text.ends_with(['?', '？']) {
        return None;
    }
    let hashes = text.len() - text.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && text.get(hashes..)?.starts_with(' ') && lines.len() == 1 {
        return Some((Look::Hashes(hashes), text.trim_matches('#').trim(), 1));
    }
    let is_alone = lines.len() == 1;
    let is_above_set_in =
        lines.get(1).is_some_and(|next| indentation(next) > 0 && next.trim().starts_with(char::is_uppercase));
    let is_set_in = lines.first().is_some_and(|line| indentation(line) > 0);
    let has_colon = text.ends_with([':', '：']);
    let name = number(text).map_or(text, |(_, rest, _)| rest);
    let next_is_capital = lines.get(1).is_some_and(|next| is_capitals(next.trim()));
    let is_value = name.trim_end_matches([':', '：']).contains([':', '：']);
    let is_capital = is_capitals(name) && !is_value && !next_is_capital;
    if let Some((marker, ..)) = number(text) {
        let is_paragraph = marker.starts_with('§');
        let is_number = !marker.contains(|c: char| c.is_lowercase() || matches!(c, '(' | ')'));
        let starts_large = name.starts_with(char::is_uppercase);
        if is_number
            && !has_colon
            && !is_set_in
            && (is_paragraph || !is_value)
            && starts_large
            && (is_capital || is_alone || is_above_set_in)
        {
            let parts = marker.trim_matches('.').split('.').count();
            return Some((if is_paragraph { Look::Paragraph } else { Look::Numbered(parts) }, text, 1));
        }
        return None;
    }
    if is_capital {
        return Some((Look::Capitals, text, 1));
    }
    let starts_small = text.starts_with(|c: char| c.is_lowercase() || !c.is_alphanumeric());
    let is_plain = is_alone
        && !has_colon
        && sentences(text, 0..text.len()).len() < 2
        && (is_first
            || !(starts_small || is_value || is_set_in || text.chars().nth(MAX_PLAIN_CHARS).is_some()));
    is_plain.then_some((Look::Plain, text, 1))
}

/// The short line with which lines of text begin: it ends where the first word of the text would have had room, so the line was broken
/// on purpose. `width`: of the longest line.
fn above_text<'l>(lines: &[&'l str], width: usize) -> Option<&'l str> {
    let [first, next, ..] = lines else { return None };
    let (text, next) = (first.trim(), next.trim());
    let word = next.split_whitespace().next()?.chars().count();
    let is_short = text.chars().count() <= MAX_ABOVE_CHARS && text.chars().count() + 1 + word <= width;
    let is_name = text.starts_with(|c: char| c.is_uppercase() || c == '§')
        && text.ends_with(|c: char| c.is_alphanumeric() || c == ')');
    let ends_sentence = lines.last()?.trim_end().ends_with(['.', '!', '。', '！', '।']);
    let is_item = |line: &&str| {
        bullet(line.trim()).is_some() || number(line.trim()).is_some() || line.contains(['\t', '|'])
    };
    // "§ 3 Bans" may also be above a line and its list.
    let is_text = text.starts_with('§') || ends_sentence && !lines.iter().any(is_item);
    let is_heading = is_short && is_name && is_text && next.starts_with(char::is_uppercase);
    is_heading.then_some(text)
}

/// A line right above text is a heading only if another one is, too: one alone may be the beginning of a sentence.
fn without_single(blocks: &mut [Block<'_>]) {
    let is_alone = blocks.iter().filter(|block| block.is(&Look::AboveText)).count() == 1;
    for block in blocks.iter_mut().filter(|block| is_alone && block.is(&Look::AboveText)) {
        block.heading = block.heading.take().filter(|(_, text, _)| text.starts_with('§'));
    }
}

/// A numbered line right above another of its kind is an item, and so are all others of its kind. Others right above a line of their look
/// are none.
fn without_items(blocks: &mut [Block<'_>]) {
    let looks: Vec<Option<Look>> =
        blocks.iter().map(|block| block.heading.as_ref().map(|(look, ..)| look.clone())).collect();
    let is_above_own = |at: usize| {
        let look = looks.get(at).and_then(Option::as_ref);
        look.is_some() && looks.get(at + 1).and_then(Option::as_ref) == look
    };
    let bare: Vec<usize> = (0..blocks.len())
        .filter(|at| blocks.get(*at).is_some_and(Block::is_bare) && is_above_own(*at))
        .collect();
    let listed: Vec<&Look> = bare.iter().filter_map(|at| looks.get(*at)?.as_ref()).collect();
    for (at, block) in blocks.iter_mut().enumerate() {
        let is_item = block.heading.as_ref().is_some_and(|(look, ..)| match look {
            Look::Numbered(_) => listed.contains(&look),
            Look::Plain => false,
            _ => at > 0 && bare.contains(&at),
        });
        if is_item {
            block.heading = None;
        }
    }
}

/// Of short lines that only stand alone, the last is a heading if text follows. Below a colon, they are what it announces.
fn without_unclear(blocks: &mut [Block<'_>], lines: &[&str]) {
    let mut at = 1;
    while at < blocks.len() {
        let alike = blocks.iter().skip(at).take_while(|block| block.is(&Look::Plain)).count();
        let next = blocks.get(at + alike);
        let above = blocks.get(at - 1);
        let is_followed = next.is_some_and(|next| next.heading.is_none());
        let is_announced = above
            .and_then(|above| lines.get(above.lines.end - 1))
            .is_some_and(|line| line.trim_end().ends_with([':', '：']));
        // A heading and its text, as above.
        if alike == 2 && next.is_none() && !is_announced && above.is_some_and(|above| above.heading.is_none())
        {
            blocks.iter_mut().skip(at + 1).for_each(|text| text.heading = None);
            return;
        }
        let unclear = if is_announced { alike } else { alike.saturating_sub(usize::from(is_followed)) };
        for block in blocks.iter_mut().skip(at).take(unclear) {
            block.heading = None;
            block.is_unclear = unclear > 1 && !is_announced;
        }
        at += alike.max(1);
    }
}

/// Returns whether a text is in capitals.
fn is_capitals(text: &str) -> bool {
    !text.contains(char::is_lowercase) && text.chars().filter(|c| c.is_uppercase()).nth(1).is_some()
}
