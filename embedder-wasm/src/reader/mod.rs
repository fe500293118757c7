//! The reader: reads question and passage together, and says which statements of the passage answer
//! the question.

pub(crate) mod packing;

use std::path::Path;
use std::sync::Arc;

use crate::encoder::{MAX_ROWS, ReaderEncoder};
use crate::{Embedder, EmbedderError, READER_FILE, WordPiece, files};
use packing::{Batch, pack, pack_question};

/// A small model that reads question and passage together.
///
/// Its word embeddings and first two layers are those of the [`Embedder`], with which it shares them; [`READER_FILE`] has the
/// other four layers and two heads. Like a vector of the embedder, a score has the same bits on every machine.
///
/// A clone shares the weights and has its own working memory (about 4 MB, which never grows): use one per thread.
///
/// ```no_run
/// let embedder = embedder::Embedder::from_dir("all-MiniLM-L6-v2".as_ref())?;
/// let mut reader = embedder::Reader::from_dir(&embedder, "embedder-wasm/reader".as_ref())?;
/// let statements = ["Returns are free.", "A refund takes five days."];
/// let z = reader.read("When do I get my money back?", "Returns › Refunds", &statements);
/// assert!(z[1] > z[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reader {
    tokenizer: Arc<WordPiece>,
    encoder: ReaderEncoder,
    batch: Batch,
}

/// A passage for [`Reader::read_batch`].
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a, T> {
    /// Title and section of the passage; may be empty. Only its last 40 tokens are read.
    pub heading: &'a str,
    /// The statements of the passage in their order.
    pub statements: &'a [T],
}

impl Reader {
    /// Loads [`READER_FILE`] from a folder.
    ///
    /// # Errors
    /// [`EmbedderError::Io`] if the file cannot be read, otherwise those of [`Reader::new`].
    pub fn from_dir(embedder: &Embedder, dir: &Path) -> Result<Self, EmbedderError> {
        let path = dir.join(READER_FILE);
        match std::fs::read(&path) {
            Ok(bytes) => Self::new(embedder, bytes),
            Err(source) => Err(EmbedderError::Io { path, source }),
        }
    }

    /// Loads the reader from the bytes of [`READER_FILE`].
    ///
    /// # Errors
    /// [`EmbedderError::WrongFile`] unless it is exactly the file that [`reader_fingerprint`](crate::reader_fingerprint) stands
    /// for: the thresholds of an answer are fitted to its scores.
    pub fn new(embedder: &Embedder, file: Vec<u8>) -> Result<Self, EmbedderError> {
        files::verify_reader(&file)?;
        Self::from_trusted(embedder, file)
    }

    /// Like [`Reader::new`], for bytes whose SHA-256 the caller has compared with
    /// [`READER_SHA256`](crate::READER_SHA256).
    ///
    /// # Errors
    /// [`EmbedderError::Damaged`] if the bytes are not a reader after all. No bytes make it panic or
    /// allocate more than the reader needs.
    pub fn from_trusted(embedder: &Embedder, file: Vec<u8>) -> Result<Self, EmbedderError> {
        let encoder = ReaderEncoder::load(&embedder.encoder, file)?;
        Ok(Self { tokenizer: Arc::clone(&embedder.tokenizer), encoder, batch: Batch::default() })
    }

    /// Reads a passage: the z of each statement, in their order.
    ///
    /// z is the logit that the statement answers the question, minus the logit that nothing in the
    /// passage does: above 0, the statement is more likely to be the answer than that there is
    /// none. It has no unit; most are between −10 and 10. `None`: the statement did not fit into
    /// the [`MAX_TOKENS`](crate::MAX_TOKENS) tokens of an input. These are always the last ones. Of
    /// the question, the first 64 tokens are read.
    pub fn read<T: AsRef<str>>(
        &mut self,
        question: &str,
        heading: &str,
        statements: &[T],
    ) -> Vec<Option<f32>> {
        self.read_batch(question, &[Passage { heading, statements }]).pop().unwrap_or_default()
    }

    /// Reads passages, in their order. Each gets exactly what [`Reader::read`] returns.
    ///
    /// Short passages share a pass over the weights, without padding.
    pub fn read_batch<T: AsRef<str>>(
        &mut self,
        question: &str,
        passages: &[Passage<'_, T>],
    ) -> Vec<Vec<Option<f32>>> {
        let Self { tokenizer, encoder, batch } = self;
        let question = pack_question(tokenizer, question);
        let mut scores = Vec::new();
        let mut fitting = Vec::with_capacity(passages.len());
        for Passage { heading, statements } in passages {
            let input = pack(tokenizer, &question, heading, statements);
            if batch.ids.len() + input.ids.len() > MAX_ROWS {
                batch.flush(encoder, question.len(), &mut scores);
            }
            batch.push(&input);
            fitting.push(input.markers.len());
        }
        batch.flush(encoder, question.len(), &mut scores);
        let mut scores = scores.into_iter();
        let passages = passages.iter().zip(fitting);
        passages
            .map(|(passage, fitting)| {
                let mut read: Vec<Option<f32>> = scores.by_ref().take(fitting).map(Some).collect();
                read.resize(passage.statements.len(), None);
                read
            })
            .collect()
    }
}

impl Batch {
    /// Reads the passages and clears the batch.
    fn flush(&mut self, encoder: &mut ReaderEncoder, question_ids: usize, scores: &mut Vec<f32>) {
        if !self.lengths.is_empty() {
            encoder.read(&self.ids, &self.lengths, question_ids, &self.read, scores);
        }
        self.clear();
    }
}
