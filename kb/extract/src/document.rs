//! The model of a document: the text that a reader of the page sees, and the structure of that text.
//!
//! Every format ends in this model, and nothing behind it knows a format. A [`Block`] owns a range of the text; [`Mark`]s are ranges
//! inside paragraphs; a [`Place`] says where in the file a range is found.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Properties;

/// A longer mark is several, so that those around a byte are found near it.
pub(crate) const MAX_MARK_BYTES: usize = 1000;

/// A document as its reader sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Without markup. Blank lines separate blocks, line feeds separate items and rows, tabs separate cells. Items begin with
    /// their marker.
    pub text: String,
    /// In reading order, disjoint.
    pub blocks: Vec<Block>,
    /// Sorted by their start.
    pub marks: Vec<Mark>,
    /// References to footnotes, sorted by their start.
    pub references: Vec<Reference>,
    /// Sorted by their start. Each holds until the next.
    pub places: Vec<Place>,
    /// Properties that the file declares.
    pub properties: Properties,
    /// Notes on content that was left out, with the reasons.
    pub notes: Vec<String>,
}

/// A paragraph, list, table, …
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The kind of the block.
    pub kind: BlockKind,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// In reading order, disjoint, within the range. Paragraphs, headings and code have none.
    pub children: Vec<Block>,
}

/// A list and no object: a table may have a million cells, and they all go through the pipe of the sandbox.
impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.kind, self.range.start, self.range.end, &self.children).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (kind, start, end, children) = Deserialize::deserialize(deserializer)?;
        Ok(Self { kind, range: start..end, children })
    }
}

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Begins a section. Level 1 is the outermost.
    Heading {
        /// From 1.
        level: u8,
    },
    /// Running text. A line feed is a line break that the reader sees.
    Paragraph,
    /// A question that the blocks after it answer.
    Question,
    /// The name of the tab, box, definition or table around it; the first child.
    Label,
    /// Its children are items.
    List,
    /// Begins with its marker.
    Item {
        /// As printed: "2.", "b)", "-".
        marker: String,
        /// False for a task box that is not ticked.
        is_ticked: bool,
    },
    /// Its children are rows, after a label if it has a caption.
    Table,
    /// Its children are cells.
    Row {
        /// True if its cells are the names of columns.
        is_header: bool,
    },
    /// Text of a row. A line feed separates values.
    Cell,
    /// Shown verbatim.
    Code,
    /// A quotation, box or tab: blocks, after a label if it has one.
    Group,
    /// The text of a footnote.
    Note,
}

/// Something about words of a paragraph, cell or heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The kind of the mark.
    pub kind: MarkKind,
    /// Bytes of the text, at most 1,000.
    pub range: Range<usize>,
}

/// The kind of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// Computer code.
    Code,
    /// A link.
    Link,
    /// Emphasis.
    Emphasis,
    /// Strong emphasis.
    Strong,
    /// The number of a footnote.
    Reference,
}

/// The number of a footnote in the text, and the footnote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Bytes of the number.
    pub range: Range<usize>,
    /// Bytes of the text of the note.
    pub note: Range<usize>,
}

/// Where in the file the text is found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// From this byte of the text on.
    pub start: usize,
    /// Counted from 1 as a reader of the file counts.
    pub page: Option<u32>,
    /// The address of this part alone: a row of a table with a column of links.
    pub url: Option<String>,
    /// Id at which the page opens with `#id`.
    pub anchor: Option<String>,
}

impl Document {
    /// The text of a range; empty if it is not one.
    pub fn slice(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Where the byte at `start` is found.
    pub fn place(&self, start: usize) -> Option<&Place> {
        let after = self.places.partition_point(|place| place.start <= start);
        self.places.get(after.checked_sub(1)?)
    }

    /// The marks that touch a range, sorted by their start.
    pub fn marks_in(&self, range: &Range<usize>) -> impl Iterator<Item = &Mark> {
        let first = self.marks.partition_point(|mark| mark.range.start + MAX_MARK_BYTES <= range.start);
        let Range { start, end } = *range;
        let marks = self.marks.iter().skip(first).take_while(move |mark| mark.range.start < end);
        marks.filter(move |mark| mark.range.end > start)
    }

    /// Returns whether marks of a kind cover every letter of a range.
    pub fn is_covered(&self, range: &Range<usize>, kind: MarkKind) -> bool {
        let mut marks = self.marks_in(range).filter(|mark| mark.kind == kind).peekable();
        let mut end = range.start;
        let mut has_letters = false;
        for (at, _) in self.slice(range).char_indices().filter(|(_, c)| c.is_alphanumeric()) {
            let at = range.start + at;
            while let Some(mark) = marks.next_if(|mark| mark.range.start <= at) {
                end = end.max(mark.range.end);
            }
            if end <= at {
                return false;
            }
            has_letters = true;
        }
        has_letters
    }
}

/// The blocks that touch a range, among blocks in reading order.
pub fn touching<'b>(blocks: &'b [Block], range: &Range<usize>) -> &'b [Block] {
    let first = blocks.partition_point(|block| block.range.end <= range.start);
    let end = blocks.partition_point(|block| block.range.start < range.end);
    blocks.get(first..end).unwrap_or_default()
}
