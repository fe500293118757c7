//! Lets the reader read what the search found, as the widget does before it asks.

use chat_core::{PassageReading, PassageToRead, Reading};
use embedder::{Reader, reader_fingerprint};

/// Reads passages; tests replace it.
pub trait PassageReader {
    /// The z of each statement of the passage, as [`Reader::read`] returns them.
    fn z(&mut self, question: &str, passage: &PassageToRead) -> Vec<Option<f32>>;
}

impl PassageReader for Reader {
    fn z(
        &mut self,
        question: &str,
        PassageToRead { heading, statements, .. }: &PassageToRead,
    ) -> Vec<Option<f32>> {
        self.read(question, heading, statements)
    }
}

pub(super) fn read(reader: &mut dyn PassageReader, question: &str, passages: &[PassageToRead]) -> Reading {
    let read = |passage| PassageReading::new(passage, &reader.z(question, passage));
    Reading { reader: reader_fingerprint().to_owned(), passages: passages.iter().map(read).collect() }
}
