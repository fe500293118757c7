//! Cuts a document into passages: small enough to embed and to cite, each with its statements.
//!
//! The content of a passage is a slice of the document's text. Headings are not content: they become its *section* ("Refunds ›
//! Exceptions"), and a passage never spans sections. The embedded text is the section, a newline, and the content ([`texts`]), because
//! "It takes five days." means little without its heading.
//!
//! Blocks stay whole while they fit; one that does not is cut at the next smaller unit: items or rows, statements, words, characters.
//! Neighbouring pieces of a section are merged up to [`TARGET_TOKENS`]. A statement keeps its chain wherever the cut is, because the
//! chain is made of parts of the document, not of the passage. One that is itself cut is none: it would be shown in half.

mod edited;
mod layout;
mod measure;
mod merge;
mod section;
mod split;

use std::ops::Range;
use std::sync::Arc;

use chat_core::limits::{MAX_PARTS_BYTES, MAX_SENTENCES, json_bytes};
use chat_core::statement::{Part, Role, StatementKind, shown_text};
use extract::document::{Block, BlockKind, Document};
use extract::statement::{Link, Statement, statements};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use edited::read_edited;
pub use section::{SECTION_SEPARATOR, headings};
use section::{innermost_heading, section_path, with_context};

/// Changed whenever the same document would give different passages or statements, so that documents are written again.
pub const PASSAGES_VERSION: &str = "passages-1";

/// Size that neighbouring pieces are merged up to, in tokens of the embedded text, `[CLS]` and `[SEP]` included.
pub const TARGET_TOKENS: usize = 200;

/// Hard limit on the embedded text: what the model reads, `[CLS]` and `[SEP]` included.
pub const MAX_TOKENS: usize = embedder::MAX_TOKENS;

/// Counts the tokens of a text, `[CLS]` and `[SEP]` included.
pub type CountTokens<'a> = dyn Fn(&str) -> usize + 'a;

/// A passage of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Headings above it, outermost first, joined by [`SECTION_SEPARATOR`]. Outermost headings are left out if the path would be longer
    /// than [`MAX_SECTION_BYTES`](chat_core::limits::MAX_SECTION_BYTES).
    pub section: Option<Arc<str>>,
    /// Page, counted from 1.
    pub page: Option<u32>,
    /// Its own address, if it has one.
    pub url: Option<Arc<str>>,
    /// Id on the document's page at which the page opens to show it.
    pub anchor: Option<Arc<str>>,
    /// Bytes of the document's text.
    pub range: Range<usize>,
    /// In reading order, disjoint, at most [`MAX_SENTENCES`].
    pub statements: Vec<PassageStatement>,
    /// The parts of the chains of its statements, each once.
    pub parts: Vec<Part>,
    /// How it is laid out. `None` if that is too large to store.
    pub blocks: Option<Value>,
}

/// A statement of a passage. Offsets count characters (Unicode code points) of the content, as Postgres does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassageStatement {
    /// Its first character.
    pub start: usize,
    /// Behind its last character.
    pub end: usize,
    /// The kind of the statement.
    pub kind: StatementKind,
    /// Positions in the parts of the passage, outermost first.
    pub chain: Vec<usize>,
}

/// The passages of a document, in reading order.
pub fn passages(document: &Document, count_tokens: &CountTokens<'_>) -> Vec<Passage> {
    let statements = statements(document);
    let mut unread = statements.as_slice();
    let mut passages = Vec::new();
    for section in sections(document) {
        for range in split::ranges(document, &section, &statements, count_tokens) {
            let passage = passage(document, &section, range, &mut unread);
            passages.extend(passage);
        }
    }
    passages
}

/// Blocks below the same headings.
struct Section<'d> {
    path: Option<Arc<str>>,
    blocks: Vec<&'d Block>,
}

fn sections(document: &Document) -> Vec<Section<'_>> {
    let mut headings: Vec<(u8, String)> = Vec::new();
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut is_open = false;
    for block in &document.blocks {
        if let BlockKind::Heading { level } = block.kind {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, document.slice(&block.range).to_owned()));
            is_open = false;
            continue;
        }
        if !is_open {
            let texts: Vec<String> = headings.iter().map(|(_, text)| text.clone()).collect();
            sections.push(Section { path: section_path(&texts).map(Arc::from), blocks: Vec::new() });
            is_open = true;
        }
        if let Some(section) = sections.last_mut() {
            section.blocks.push(block);
        }
    }
    sections
}

fn passage(
    document: &Document,
    section: &Section<'_>,
    range: Range<usize>,
    unread: &mut &[Statement],
) -> Option<Passage> {
    let content = document.slice(&range);
    if !content.contains(char::is_alphanumeric) {
        return None;
    }
    let mut parts = Parts { document, range: &range, parts: Vec::new(), links: Vec::new(), bytes: 0 };
    let mut found = Vec::new();
    let mut characters = Characters { content, byte: 0, before: 0 };
    while let Some((statement, rest)) = unread.split_first() {
        if statement.range.start >= range.end {
            break;
        }
        *unread = rest;
        let is_whole = statement.range.start >= range.start && statement.range.end <= range.end;
        if !is_whole || !statement.is_quotable || found.len() == MAX_SENTENCES {
            continue;
        }
        let Some(chain) = parts.positions(&statement.chain, found.is_empty()) else { continue };
        found.push(PassageStatement {
            start: characters.before(statement.range.start - range.start),
            end: characters.before(statement.range.end - range.start),
            kind: statement.kind,
            chain,
        });
    }
    let place = document.place(range.start);
    Some(Passage {
        statements: found,
        parts: parts.parts,
        blocks: layout::layout(document, &section.blocks, &range),
        section: section.path.clone(),
        page: place.and_then(|place| place.page),
        url: place.and_then(|place| place.url.as_deref()).map(Arc::from),
        anchor: place.and_then(|place| place.anchor.as_deref()).map(Arc::from),
        range,
    })
}

/// The parts of a passage, each once.
struct Parts<'d> {
    document: &'d Document,
    range: &'d Range<usize>,
    parts: Vec<Part>,
    links: Vec<Link>,
    bytes: usize,
}

impl Parts<'_> {
    /// The positions of a chain; `None` if there is no room for it. The chain of the first statement also holds for a text that
    /// somebody writes in its place.
    fn positions(&mut self, chain: &[Link], is_first: bool) -> Option<Vec<usize>> {
        let mut positions = Vec::with_capacity(chain.len());
        for link in chain {
            let known = self.links.iter().position(|other| other == link);
            let position = match known {
                Some(position) => position,
                None => self.add(link, is_first)?,
            };
            positions.push(position);
        }
        Some(positions)
    }

    fn add(&mut self, link: &Link, is_first: bool) -> Option<usize> {
        let is_above = is_first && link.range.end <= self.range.start && link.role != Role::Antecedent;
        let part = Part { is_above, ..link.part(self.document) };
        let bytes = jsonb_bytes(&json!(part)) + 2;
        if self.bytes + bytes > MAX_PARTS_BYTES {
            return None;
        }
        self.bytes += bytes;
        self.parts.push(part);
        self.links.push(link.clone());
        Some(self.links.len() - 1)
    }
}

impl Passage {
    /// Its text.
    pub fn content<'d>(&self, document: &'d Document) -> &'d str {
        document.slice(&self.range)
    }

    /// [`texts`] of this passage.
    pub fn texts(&self, content: &str, count_tokens: &CountTokens<'_>) -> Vec<String> {
        texts(self.section.as_deref(), content, &self.statements, &self.parts, count_tokens)
    }
}

/// The texts whose vectors a passage needs: its own, its innermost heading if it has one, and one for each statement.
pub fn texts(
    section: Option<&str>,
    content: &str,
    statements: &[PassageStatement],
    parts: &[Part],
    count_tokens: &CountTokens<'_>,
) -> Vec<String> {
    let context = headings(section, count_tokens);
    // What it is about counts more than what is far above it.
    let fitting = |chain: &[&Part], shown: &dyn Fn(&[&Part]) -> String| {
        let text =
            |first: usize| with_context(context.as_deref(), &shown(chain.get(first..).unwrap_or_default()));
        let fits = |first: &usize| count_tokens(&text(*first)) <= MAX_TOKENS;
        text((0..chain.len()).find(fits).unwrap_or(chain.len()))
    };
    // The section has the headings.
    let is_heading = |part: &Part| match part.role {
        Role::Heading => true,
        Role::Label => section.is_some_and(|section| section.contains(&part.text)),
        _ => false,
    };
    let is_shown = |part: &&Part| !is_heading(part);
    let above: Vec<&Part> = parts.iter().filter(|part| part.is_above).filter(is_shown).collect();
    let whole = fitting(&above, &|above| {
        let lines = above.iter().map(|part| part.text.as_str()).chain([content]);
        lines.collect::<Vec<_>>().join("\n")
    });
    let heading = section.map(|section| innermost_heading(section).to_owned());
    let mut rest = (content, 0);
    let statements = statements.iter().map(|statement| {
        let text = slice(&mut rest, statement);
        let chain = statement.chain.iter().filter_map(|at| parts.get(*at)).filter(is_shown);
        fitting(&chain.collect::<Vec<_>>(), &|chain| shown_text(statement.kind, text, chain))
    });
    std::iter::once(whole).chain(heading).chain(statements).collect()
}

/// The words of a statement, in what is left of the content from a character on. Statements do not overlap, so each is read once.
fn slice<'c>((rest, read): &mut (&'c str, usize), statement: &PassageStatement) -> &'c str {
    let at = |text: &str, characters: usize| {
        text.char_indices().nth(characters).map_or(text.len(), |(byte, _)| byte)
    };
    let (_, from) = rest.split_at(at(rest, statement.start.saturating_sub(*read)));
    let (text, after) = from.split_at(at(from, statement.end.saturating_sub(statement.start)));
    (*rest, *read) = (after, statement.end);
    text
}

/// Size of a value as Postgres prints jsonb, which check constraints measure: with a space after each comma and colon.
pub(crate) fn jsonb_bytes(value: &Value) -> usize {
    let list = |parts: usize, count: usize| 2 + parts + 2 * count.saturating_sub(1);
    match value {
        Value::Array(items) => list(items.iter().map(jsonb_bytes).sum(), items.len()),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| json_bytes(name) + 4 + jsonb_bytes(value);
            list(fields.iter().map(field).sum(), fields.len())
        }
        other => other.to_string().len(),
    }
}

/// Counts characters from the start of a text once, for byte offsets that never decrease.
struct Characters<'a> {
    content: &'a str,
    byte: usize,
    before: usize,
}

impl Characters<'_> {
    /// Number of characters before a byte offset.
    fn before(&mut self, byte: usize) -> usize {
        self.before += self.content.get(self.byte..byte).map_or(0, |text| text.chars().count());
        self.byte = byte;
        self.before
    }
}

#[cfg(test)]
mod tests;
