//! Groups blocks into sections by the headings above them.

use super::{Block, Section, properties};

/// Maximum length of a heading. A longer one is probably a paragraph that was underlined with dashes by accident or set in
/// large type, and stays content.
pub(crate) const MAX_HEADING_CHARS: usize = 200;

/// Maximum number of headings of a section, each of which stores a copy.
const MAX_DEPTH: usize = 16;

/// Builder of the sections of a document.
#[derive(Default)]
pub(crate) struct Outline {
    title: Option<String>,
    path: Vec<Heading>,
    sections: Vec<Section>,
    is_open: bool,
}

/// A heading above the following blocks.
struct Heading {
    level: usize,
    text: String,
    anchor: Option<String>,
}

impl Outline {
    /// The following blocks are under this heading, truncated to the length of a title. Level 1 is the outermost.
    pub(crate) fn heading(&mut self, level: usize, text: &str, anchor: Option<String>) {
        let text = properties::title(text).unwrap_or_default();
        self.path.retain(|above| above.level < level);
        if level == 1 && self.title.is_none() && !text.is_empty() {
            self.title = Some(text.clone());
        }
        self.path.push(Heading { level, text, anchor });
        self.is_open = false;
    }

    /// The following blocks must not be merged with those before.
    pub(crate) fn interrupt(&mut self) {
        self.is_open = false;
    }

    pub(crate) fn push(&mut self, block: Block) {
        if !self.is_open {
            let innermost = self.path.iter().skip(self.path.len().saturating_sub(MAX_DEPTH));
            let headings =
                innermost.map(|heading| heading.text.clone()).filter(|text| !text.is_empty()).collect();
            let anchor = self.path.iter().rev().find_map(|heading| heading.anchor.clone());
            self.sections.push(Section { headings, page: None, url: None, anchor, blocks: Vec::new() });
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
