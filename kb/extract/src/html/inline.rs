//! Builds the text of a paragraph with white space as in a browser.

#[derive(Default)]
pub(super) struct Inline {
    text: String,
}

impl Inline {
    /// Adds text and collapses white space, also across elements.
    pub(super) fn push(&mut self, text: &str) {
        for character in text.chars() {
            if !character.is_whitespace() {
                self.text.push(character);
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    /// Adds text with its white space.
    pub(super) fn push_preformatted(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn line_break(&mut self) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
    }

    /// Separates the words before and after.
    pub(super) fn gap(&mut self) {
        self.push(" ");
    }

    pub(super) fn take(&mut self) -> String {
        super::super::clean::visible(&std::mem::take(&mut self.text))
    }
}
