//! Text of a paragraph, heading or cell, built piece by piece.

use std::ops::Range;

use crate::clean::is_invisible;
use crate::document::{Mark, MarkKind};
use crate::shifted::{Line, Shift};

/// Text of a paragraph, heading or cell, with its marks. White space collapses as in a browser; line breaks stay.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inline {
    line: Line,
    marks: Vec<Mark>,
    open: Vec<(MarkKind, usize)>,
    /// Where the open raised and lowered parts begin.
    shifts: Vec<usize>,
    /// Footnotes that it refers to, each with the offset of its number.
    references: Vec<(usize, String)>,
}

impl Inline {
    pub(crate) fn from_text(text: &str) -> Self {
        let mut inline = Self::default();
        for (number, line) in text.lines().enumerate() {
            if number > 0 {
                inline.line_break();
            }
            inline.push(line);
        }
        inline
    }

    /// Adds text without invisible characters and collapses white space, also across elements.
    pub(crate) fn push(&mut self, text: &str) {
        for character in text.chars() {
            if is_invisible(character) {
                continue;
            }
            if !character.is_whitespace() {
                self.line.push(character.encode_utf8(&mut [0; 4]));
            } else if !self.text().is_empty() && !self.text().ends_with([' ', '\n']) {
                self.line.push(" ");
            }
        }
    }

    /// Adds text in place of an element.
    pub(crate) fn push_apart(&mut self, text: &str) {
        self.line.apart();
        self.push(text);
        self.line.apart();
    }

    /// Separates the words before and after.
    pub(crate) fn gap(&mut self) {
        self.push(" ");
    }

    /// Separates the words before and after, unless punctuation does.
    pub(crate) fn apart(&mut self) {
        self.line.apart();
    }

    pub(crate) fn line_break(&mut self) {
        if !self.text().trim_end_matches(' ').ends_with('\n') && !self.text().is_empty() {
            self.line.line_break();
        }
    }

    /// Opens a raised or lowered part.
    pub(crate) fn open_shift(&mut self, shift: Shift) {
        self.shifts.push(self.text().len());
        self.line.open(shift);
    }

    /// Closes the part that was opened last.
    pub(crate) fn close_shift(&mut self) {
        self.line.close();
        // Its characters are others now.
        if let Some(start) = self.shifts.pop() {
            while self.marks.pop_if(|mark| mark.range.start >= start).is_some() {}
        }
    }

    pub(crate) fn open(&mut self, kind: MarkKind) {
        self.open.push((kind, self.text().len()));
    }

    pub(crate) fn is_in(&self, kind: MarkKind) -> bool {
        self.open.iter().any(|(open, _)| *open == kind)
    }

    /// Closes the mark of this kind that was opened last.
    pub(crate) fn close(&mut self, kind: MarkKind) {
        let Some(at) = self.open.iter().rposition(|(open, _)| *open == kind) else { return };
        let (_, start) = self.open.remove(at);
        if start < self.text().len() {
            self.marks.push(Mark { kind, range: start..self.text().len() });
        }
    }

    /// The following number is that of a footnote, whose text follows anywhere in the document.
    pub(crate) fn reference(&mut self, label: &str) {
        self.references.push((self.text().len(), label.to_owned()));
    }

    pub(crate) fn text(&self) -> &str {
        self.line.as_str()
    }

    /// Without some characters at the end.
    pub(crate) fn without_end(self, unwanted: &[char]) -> Text {
        let text = self.finish();
        let kept = text.text.trim_end_matches(unwanted).len();
        text.cut(0..kept)
    }

    /// Without white space at the ends, with all marks closed.
    pub(crate) fn finish(mut self) -> Text {
        while let Some((kind, _)) = self.open.last().copied() {
            self.close(kind);
        }
        let text = self.line.take();
        let end = text.len();
        let mut marks = self.marks;
        let mut references = Vec::new();
        for (at, label) in self.references {
            let rest = text.get(at..).unwrap_or_default();
            let start = at + (rest.len() - rest.trim_start().len());
            let number = text.get(start..).unwrap_or_default();
            let length = number.find(|c: char| c.is_whitespace()).unwrap_or(number.len());
            marks.push(Mark { kind: MarkKind::Reference, range: start..start + length });
            references.push((start, label));
        }
        Text { text, marks, references }.cut(0..end)
    }
}

/// Text that is complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) marks: Vec<Mark>,
    pub(crate) references: Vec<(usize, String)>,
}

impl From<Inline> for Text {
    fn from(inline: Inline) -> Self {
        inline.finish()
    }
}

impl Text {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the text without line breaks.
    pub(crate) fn on_one_line(mut self) -> Self {
        self.text = self.text.replace('\n', " ");
        self
    }

    /// Returns the text in bold.
    pub(crate) fn strong(mut self) -> Self {
        self.marks.insert(0, Mark { kind: MarkKind::Strong, range: 0..self.text.len() });
        self
    }

    /// The part in a range, trimmed.
    pub(crate) fn cut(&self, range: Range<usize>) -> Self {
        let slice = self.text.get(range.clone()).unwrap_or_default();
        let start = range.start + (slice.len() - slice.trim_start().len());
        let end = start + slice.trim().len();
        // A part that was raised or lowered has other bytes than when a mark in it began.
        let before = |at: usize| self.text.floor_char_boundary(at.clamp(start, end)) - start;
        let mut marks: Vec<Mark> = self
            .marks
            .iter()
            .filter(|mark| mark.range.start < end && mark.range.end > start)
            .map(|mark| Mark { kind: mark.kind, range: before(mark.range.start)..before(mark.range.end) })
            .filter(|mark| !mark.range.is_empty())
            .collect();
        marks.sort_by_key(|mark| (mark.range.start, mark.range.end, mark.kind));
        let references = self.references.iter().filter(|(at, _)| (start..end).contains(at));
        let references = references.map(|(at, label)| (before(*at), label.clone())).collect();
        let text = self.text.get(start..end).unwrap_or_default().to_owned();
        Self { text, marks, references }
    }
}
