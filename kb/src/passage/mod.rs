//! Cuts a document into passages: small enough to embed and to cite, each with its statements.
//!
//! The content of a passage is a slice of the document's text. Headings are not content: they become its *section*, and a passage never
//! spans sections. Blocks stay whole while they fit; one that does not is cut at the next smaller unit: items or rows, statements, words.
//! A statement keeps its chain wherever the cut is, because the chain is made of parts of the document, not of the passage. One that is
//! itself cut is none: it would be shown in half.

mod layout;
mod split;

use std::ops::Range;
use std::sync::Arc;

use chat_core::limits::{MAX_PARTS_BYTES, MAX_SENTENCES, json_bytes};
use chat_core::statement::{Part, Role, StatementKind, shown_text};
use extract::document::{Block, BlockKind, Document};
use extract::statement::{Link, Statement, statements};
use serde_json::Value;

use crate::chunk::{Chunk, CountTokens, MAX_TOKENS, headings, section_path, with_context};

/// Punctuation and names of fields around the text of a part, as JSON.
const PART_FIELDS: usize = 80;

/// A passage with what can be quoted of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Its place, and its range in the document's text.
    pub chunk: Chunk,
    /// In reading order, disjoint, at most [`MAX_SENTENCES`].
    pub statements: Vec<PassageStatement>,
    /// What the chains of its statements are made of, each once.
    pub parts: Vec<Part>,
    /// How it is laid out. `None` if that is too large to store.
    pub blocks: Option<Value>,
}

/// A statement of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageStatement {
    /// Range in the passage's content in characters (Unicode code points), as Postgres counts.
    pub range: Range<usize>,
    /// The same range in bytes.
    bytes: Range<usize>,
    /// What it is.
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
    path: Option<String>,
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
            sections.push(Section { path: section_path(&texts), blocks: Vec::new() });
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
        let bytes = statement.range.start - range.start..statement.range.end - range.start;
        let start = characters.before(bytes.start);
        found.push(PassageStatement {
            range: start..characters.before(bytes.end),
            bytes,
            kind: statement.kind,
            chain,
        });
    }
    let place = document.place(range.start);
    Some(Passage {
        statements: found,
        parts: parts.parts,
        blocks: layout::layout(document, &section.blocks, &range),
        chunk: Chunk {
            section: section.path.as_deref().map(Arc::from),
            page: place.and_then(|place| place.page),
            url: place.and_then(|place| place.url.as_deref()).map(Arc::from),
            anchor: place.and_then(|place| place.anchor.as_deref()).map(Arc::from),
            range,
        },
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
        let text = self.document.slice(&link.range);
        let bytes = json_bytes(text) + PART_FIELDS;
        if self.bytes + bytes > MAX_PARTS_BYTES {
            return None;
        }
        self.bytes += bytes;
        let is_above = is_first && link.range.end <= self.range.start && link.role != Role::Antecedent;
        self.parts.push(Part { is_above, ..link.part(self.document) });
        self.links.push(link.clone());
        Some(self.links.len() - 1)
    }
}

impl Passage {
    /// The passage's text.
    pub fn content<'d>(&self, document: &'d Document) -> &'d str {
        document.slice(&self.chunk.range)
    }

    /// The texts whose vectors it needs: its own, its innermost heading if it has one, and one for each statement.
    pub fn texts(&self, content: &str, count_tokens: &CountTokens<'_>) -> Vec<String> {
        texts(self.chunk.section.as_deref(), content, &self.statements, &self.parts, count_tokens)
    }
}

/// [`Passage::texts`] of a stored passage.
pub(crate) fn texts(
    section: Option<&str>,
    content: &str,
    statements: &[PassageStatement],
    parts: &[Part],
    count_tokens: &CountTokens<'_>,
) -> Vec<String> {
    let context = headings(section, count_tokens);
    let above: Vec<&str> = parts
        .iter()
        .filter(|part| part.is_above && part.role != Role::Heading)
        .map(|part| part.text.as_str())
        .collect();
    let whole = if above.is_empty() { content.to_owned() } else { format!("{}\n{content}", above.join(" ")) };
    let heading = section.map(|section| crate::chunk::innermost_heading(section).to_owned());
    let of_statement = |statement: &PassageStatement| {
        let text = content.get(statement.bytes.clone()).unwrap_or_default();
        let chain: Vec<&Part> = statement.chain.iter().filter_map(|at| parts.get(*at)).collect();
        // The section has the headings.
        let mut chain: Vec<&Part> = chain.into_iter().filter(|part| part.role != Role::Heading).collect();
        loop {
            let text = with_context(context.as_deref(), &shown_text(statement.kind, text, &chain));
            if chain.is_empty() || count_tokens(&text) <= MAX_TOKENS {
                return text;
            }
            // The statement counts more than what is far above it.
            chain.remove(0);
        }
    };
    let whole = with_context(context.as_deref(), &whole);
    std::iter::once(whole).chain(heading).chain(statements.iter().map(of_statement)).collect()
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
