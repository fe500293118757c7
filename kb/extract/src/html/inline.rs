//! Builds the text of a paragraph with white space as in a browser.

use crate::shifted::{Line, Shift};

#[derive(Default)]
pub(super) struct Inline {
    line: Line,
}

impl Inline {
    /// Adds text and collapses white space, also across elements.
    pub(super) fn push(&mut self, text: &str) {
        for character in text.chars() {
            if !character.is_whitespace() {
                self.line.push(character.encode_utf8(&mut [0; 4]));
            } else if !self.line.as_str().is_empty() && !self.line.as_str().ends_with([' ', '\n']) {
                self.line.push(" ");
            }
        }
    }

    /// Adds text with its white space.
    pub(super) fn push_preformatted(&mut self, text: &str) {
        self.line.push(text);
    }

    /// Adds text in place of an element.
    pub(super) fn push_apart(&mut self, text: &str) {
        self.line.apart();
        self.push(text);
        self.line.apart();
    }

    pub(super) fn line_break(&mut self) {
        self.line.line_break();
    }

    /// Separates the words before and after.
    pub(super) fn gap(&mut self) {
        self.push(" ");
    }

    /// Separates the words before and after, unless punctuation does.
    pub(super) fn apart(&mut self) {
        self.line.apart();
    }

    /// Opens a raised or lowered part.
    pub(super) fn open(&mut self, shift: Shift) {
        self.line.open(shift);
    }

    /// Closes the part that was opened last.
    pub(super) fn close(&mut self) {
        self.line.close();
    }

    pub(super) fn take(&mut self) -> String {
        crate::clean::visible(&self.line.take())
    }
}
