//! Lets the reader read what the search found, as the widget does before it asks.

use chat_core::{PassageReading, PassageToRead, Reading};
use embedder::{Passage, Reader, reader_fingerprint};

/// Reads passages; tests replace it.
pub trait PassageReader {
    /// The z of each statement of each passage, as [`Reader::read_batch`] returns them.
    fn z(&mut self, question: &str, passages: &[PassageToRead]) -> Vec<Vec<Option<f32>>>;
}

impl PassageReader for Reader {
    fn z(&mut self, question: &str, passages: &[PassageToRead]) -> Vec<Vec<Option<f32>>> {
        let inputs = passages.iter();
        let inputs: Vec<_> =
            inputs.map(|PassageToRead { heading, statements, .. }| Passage { heading, statements }).collect();
        self.read_batch(question, &inputs)
    }
}

/// Reads passages with the question.
pub fn read(reader: &mut dyn PassageReader, question: &str, passages: &[PassageToRead]) -> Reading {
    let z = reader.z(question, passages);
    let read = passages.iter().zip(&z).map(|(passage, z)| PassageReading::new(passage, z));
    Reading { reader: reader_fingerprint().to_owned(), passages: read.collect() }
}
