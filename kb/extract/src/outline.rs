//! Collects blocks into sections under the headings above them.

use super::{Block, Section, properties};

/// A longer "heading" is a paragraph, which somebody underlined with dashes by accident or set in large type; it stays
/// content.
pub(crate) const MAX_HEADING_CHARS: usize = 200;

/// Headings inside headings that are kept: each section has a copy of those above it.
const MAX_DEPTH: usize = 16;

/// The sections of a document while it is read.
#[derive(Default)]
pub(crate) struct Outline {
    title: Option<String>,
    path: Vec<(usize, String)>,
    page: Option<u32>,
    url: Option<String>,
    sections: Vec<Section>,
    is_open: bool,
}

impl Outline {
    /// What follows stands under this heading, cut to the length of a title. 1 is the outermost level.
    pub(crate) fn heading(&mut self, level: usize, text: &str) {
        let text = properties::title(text).unwrap_or_default();
        self.path.retain(|(above, _)| *above < level);
        if level == 1 && self.title.is_none() && !text.is_empty() {
            self.title = Some(text.clone());
        }
        self.path.push((level, text));
        self.is_open = false;
    }

    /// What follows stands on this page.
    pub(crate) fn page(&mut self, page: u32) {
        self.page = Some(page);
        self.is_open = false;
    }

    /// What follows has an address of its own, or none.
    pub(crate) fn url(&mut self, url: Option<String>) {
        self.url = url;
        self.is_open = false;
    }

    /// What follows must not be merged with what came before.
    pub(crate) fn interrupt(&mut self) {
        self.is_open = false;
    }

    pub(crate) fn push(&mut self, block: Block) {
        if !self.is_open {
            let innermost = self.path.iter().skip(self.path.len().saturating_sub(MAX_DEPTH));
            let headings = innermost.map(|(_, text)| text.clone()).filter(|text| !text.is_empty()).collect();
            self.sections.push(Section {
                headings,
                page: self.page,
                url: self.url.clone(),
                blocks: Vec::new(),
            });
            self.is_open = true;
        }
        if let Some(section) = self.sections.last_mut() {
            section.blocks.push(block);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.sections.len()
    }

    /// The first heading of level 1, and the sections that have blocks, in reading order.
    pub(crate) fn finish(self) -> (Option<String>, Vec<Section>) {
        (self.title, self.sections)
    }
}
