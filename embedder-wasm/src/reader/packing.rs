//! Question and passage → the token ids of one input, as in training (`training/reader/pack.py`).

use crate::encoder::ReadRow;
use crate::wordpiece::{CLS, SEP};
use crate::{MAX_TOKENS, WordPiece};

/// Stands before every statement: \[unused0\], which no text contains.
pub(crate) const MARKER: u32 = 1;

/// The first tokens of a question that are read.
const QUESTION_TOKENS: usize = 64;
/// The last tokens of a heading that are read.
const HEADING_TOKENS: usize = 40;

/// Passages for the next forward pass, with the same question.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    pub(super) ids: Vec<u32>,
    /// Number of ids of each passage.
    pub(super) lengths: Vec<usize>,
    pub(super) read: Vec<ReadRow>,
}

impl Batch {
    pub(super) fn push(&mut self, input: &Input) {
        let start = self.ids.len();
        self.ids.extend_from_slice(&input.ids);
        self.lengths.push(input.ids.len());
        self.read.push(ReadRow::Start(start));
        self.read.extend(input.markers.iter().map(|marker| ReadRow::Marker(start + marker)));
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.lengths.clear();
        self.read.clear();
    }
}

/// The model's input for a question and a passage, at most [`MAX_TOKENS`] ids:
/// \[CLS\] question \[SEP\] heading \[M\] statement \[M\] statement … \[SEP\].
#[derive(Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) ids: Vec<u32>,
    /// The position of each statement's marker. Statements at the end that did not fit have none.
    pub(crate) markers: Vec<usize>,
}

/// The ids of the question with \[CLS\] and \[SEP\].
pub(crate) fn pack_question(tokenizer: &WordPiece, question: &str) -> Vec<u32> {
    let mut ids = vec![CLS];
    tokenizer.append(question, 1 + QUESTION_TOKENS, &mut ids);
    ids.push(SEP);
    ids
}

/// `question`: from [`pack_question`].
pub(crate) fn pack<T: AsRef<str>>(
    tokenizer: &WordPiece,
    question: &[u32],
    heading: &str,
    statements: &[T],
) -> Input {
    // Without the last [SEP].
    const ROOM: usize = MAX_TOKENS - 1;
    let mut ids = question.to_vec();
    let mut heading_ids = Vec::new();
    tokenizer.append(heading, usize::MAX, &mut heading_ids);
    ids.extend(heading_ids.iter().skip(heading_ids.len().saturating_sub(HEADING_TOKENS)));
    let mut markers = Vec::new();
    for statement in statements {
        // A marker without a token says nothing.
        if ids.len() + 2 > ROOM {
            break;
        }
        markers.push(ids.len());
        ids.push(MARKER);
        tokenizer.append(statement.as_ref(), ROOM, &mut ids);
    }
    ids.push(SEP);
    Input { ids, markers }
}
