//! Short lines that are set apart from running text, and what they are about: the status of a section, the name of what follows, the author
//! of a quotation.

use std::ops::Range;

use chat_core::statement::{Role, StatementKind};

use super::Link;
use super::paragraph::is_listed;
use super::walker::{Walker, is_heading};
use super::words::{
    ends_with_colon, has_status, is_cover, is_fragment, is_question, is_status, refers_back, word_count,
};
use crate::document::{Block, BlockKind, MarkKind};

/// Longest short line, such as a bold paragraph above others.
pub(super) const MAX_LINE_CHARS: usize = 120;

impl Walker<'_> {
    /// Returns whether a block right below a heading says for what the whole section holds:
    /// "Deprecated", "(Only for members)". In a section with several lines of the same form, each
    /// of them holds up to the next.
    pub(super) fn is_status(&self, block: &Block, below: &[Block]) -> bool {
        let Some(form) = self.form(block).filter(|_| self.limits(block)) else { return false };
        let text = self.document.slice(&block.range);
        // "SSO: no" is a value.
        let is_value = !form.is_set_apart() && text.contains(": ") && !has_status(text);
        // A box with a name often warns of a single step.
        let is_warning =
            block.children.len() > 1 && !has_status(self.document.slice(&innermost(block).range));
        // Without a heading, only a line that is set apart.
        let has_section = !self.headings.is_empty() || form.is_set_apart();
        let is_lead_in = form != Form::Box && below.first().is_some_and(is_listed);
        let mut section = below.iter().take_while(|block| !is_heading(block));
        let is_only = !below.is_empty() && !section.any(|other| self.form(other) == Some(form));
        has_section && is_only && !is_value && !is_warning && !is_lead_in
    }

    pub(super) fn status(&mut self, block: &Block, mut chain: Vec<Link>) {
        let range = innermost(block).range.clone();
        let label = block.children.first().filter(|label| label.kind == BlockKind::Label);
        chain.extend(label.map(|label| Link::new(Role::Label, &label.range)));
        self.with_heading(&mut chain);
        self.push(range.clone(), StatementKind::Sentence, chain, true);
        let level = self.headings.last().map_or(0, |heading| heading.level);
        self.scopes.push((level, vec![Link::new(Role::Label, &range)]));
    }

    pub(super) fn is_remark(&self, block: &Block) -> bool {
        self.limits(block) && self.form(block).is_some_and(Form::is_set_apart)
    }

    /// Reads a line about the statements above it, from `first` on.
    pub(super) fn remark(&mut self, block: &Block, first: usize, chain: Vec<Link>) {
        let range = innermost(block).range.clone();
        self.attach(first..self.statements.len(), &Link::new(Role::Exception, &range));
        self.push(range, StatementKind::Sentence, chain, false);
    }

    fn limits(&self, block: &Block) -> bool {
        let line = &innermost(block).range;
        is_status(self.document.slice(line)) && !self.document.is_covered(line, MarkKind::Link)
    }

    /// How a short line is set apart from running text.
    pub(super) fn form(&self, block: &Block) -> Option<Form> {
        let line = innermost(block);
        let text = self.document.slice(&line.range);
        if !matches!(line.kind, BlockKind::Paragraph | BlockKind::Label)
            || text.chars().nth(MAX_LINE_CHARS).is_some()
            || is_question(text)
            || ends_with_colon(text)
            || refers_back(text)
            || self.sentences(&line.range).len() > 1
        {
            return None;
        }
        let form = if block.kind == BlockKind::Group {
            Form::Box
        } else if self.document.is_covered(&line.range, MarkKind::Strong) {
            Form::Strong
        } else if self.document.is_covered(&line.range, MarkKind::Emphasis) {
            Form::Emphasis
        } else if text.starts_with('(') && text.ends_with(')') {
            Form::Brackets
        } else if is_fragment(text) {
            Form::Fragment
        } else {
            Form::Sentence
        };
        (word_count(text) <= form.max_words()).then_some(form)
    }

    /// Returns whether a line names the author of the quotation above it: "— Anna, guest".
    pub(super) fn is_author(&self, block: &Block) -> bool {
        let text = self.document.slice(&block.range);
        let is_dash = |c: char| matches!(c, '–' | '—' | '―');
        text.starts_with(is_dash) && !text.ends_with(is_dash) && self.form(block).is_some()
    }

    /// A bold paragraph that names what follows, or asks what follows answers. One in italics does so if it limits, or if such a line is
    /// above it.
    pub(super) fn is_run_in(&self, block: &Block, next: Option<&Block>, section: &[Link]) -> bool {
        let document = self.document;
        let is_long = |text: &str| text.chars().nth(MAX_LINE_CHARS).is_some();
        let text = document.slice(&block.range);
        // "Start · Playground" is a menu.
        let links = document.marks_in(&block.range).filter(|mark| mark.kind == MarkKind::Link).count();
        let Some(next) = next.filter(|_| links < 2 && !text.ends_with(['.', '!', ',']) && !is_long(text))
        else {
            return false;
        };
        let is_emphasis = |range: &Range<usize>| document.is_covered(range, MarkKind::Emphasis);
        let mut labels = section.iter().filter(|above| above.role == Role::Label);
        let is_below_emphasis = labels.any(|label| is_emphasis(&label.range));
        let is_line = |range: &Range<usize>| {
            document.is_covered(range, MarkKind::Strong)
                || is_emphasis(range) && (is_below_emphasis || is_status(document.slice(range)))
        };
        let below = document.slice(&next.range);
        match next.kind {
            BlockKind::Heading { .. } | BlockKind::Question => false,
            // "Not covered" above sentences.
            BlockKind::Paragraph if is_cover(text) && !is_fragment(below) => true,
            BlockKind::Paragraph => is_line(&block.range) && (is_long(below) || !is_line(&next.range)),
            _ => is_line(&block.range),
        }
    }
}

/// How a short line is set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Box,
    Strong,
    Emphasis,
    Brackets,
    Fragment,
    Sentence,
}

impl Form {
    fn max_words(self) -> usize {
        match self {
            Self::Sentence => 4,
            Self::Fragment => 6,
            _ => 8,
        }
    }

    pub(super) fn is_set_apart(self) -> bool {
        !matches!(self, Self::Fragment | Self::Sentence)
    }
}

/// The only line of a box, or the block itself.
pub(super) fn innermost(block: &Block) -> &Block {
    match block.children.as_slice() {
        [only] if block.kind == BlockKind::Group => innermost(only),
        [label, only] if label.kind == BlockKind::Label && block.kind == BlockKind::Group => innermost(only),
        _ => block,
    }
}
