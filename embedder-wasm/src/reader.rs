//! A reader: question and passage together through one encoder, and a score of how well the passage answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::encoder::{Pair, PairEncoder};
use crate::kernels::Instructions;
use crate::wordpiece::{CLS, SEP};
use crate::{EmbedderError, VocabularyError, WordPiece};

/// Tokens of a pair that are neither of the question nor of the passage: \[CLS\], \[SEP\] and \[SEP\].
const SPECIAL: usize = 3;

/// A cross-encoder and its tokenizer: a BERT with pooler and a head of one output, as sentence-transformers' MiniLM
/// cross-encoders are.
///
/// None ships with the product: `quantize-model reader` (`embedder-wasm/quantize`) makes the file from a checkpoint that
/// the owner has. Its input is \[CLS\] question \[SEP\] passage \[SEP\], token type 0 up to the first \[SEP\] and 1
/// after it. Like a vector of the embedder, a score has the same bits on every machine.
///
/// A clone shares the weights and has its own working memory (about 11 MB, which never grows): one clone per thread.
/// Only native builds have it, so the package for browsers is no larger.
#[derive(Clone)]
pub struct Reader {
    tokenizer: Arc<WordPiece>,
    encoder: PairEncoder,
    batch: Batch,
}

/// Pairs that wait for one forward pass.
#[derive(Clone, Default)]
struct Batch {
    ids: Vec<u32>,
    pairs: Vec<Pair>,
}

/// Why a reader could not be loaded. Once it is loaded, every pair has a score.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// The file could not be read.
    #[error("cannot read the reader {}: {source}", path.display())]
    Io {
        /// The file asked for.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A model of another kind, such as the embedder's.
    #[error(
        "this model file is not a reader but {}. `quantize-model reader` makes one from a checkpoint",
        kind.as_deref().map_or("the embedder's".to_owned(), |kind| format!("of the kind {kind:?}"))
    )]
    NotAReader {
        /// The kind that the file names; the embedder's names none.
        kind: Option<String>,
    },
    /// The bytes do not describe a reader.
    #[error("the reader's file is damaged: {0}. Make it again with `quantize-model reader`")]
    Damaged(String),
    /// The tokens are not those of BERT (uncased), which all-MiniLM-L6-v2 has too.
    #[error(
        "the reader's vocabulary is not that of BERT (uncased): {0}. Make the file again from another checkpoint"
    )]
    Vocabulary(VocabularyError),
}

impl Reader {
    /// Loads a file that `quantize-model reader` made.
    ///
    /// # Errors
    /// [`ReaderError::Io`] if the file cannot be read, otherwise as [`Reader::from_bytes`].
    pub fn from_file(path: &Path) -> Result<Self, ReaderError> {
        match std::fs::read(path) {
            Ok(bytes) => Self::from_bytes(bytes),
            Err(source) => Err(ReaderError::Io { path: path.to_owned(), source }),
        }
    }

    /// Loads the reader from the bytes of its file.
    ///
    /// # Errors
    /// [`ReaderError::NotAReader`] for a model file of another kind, [`ReaderError::Damaged`] or
    /// [`ReaderError::Vocabulary`] for anything else that is no reader; no bytes make it panic or take more memory than
    /// a reader needs.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ReaderError> {
        Self::with_instructions(bytes, Instructions::best())
    }

    pub(crate) fn with_instructions(bytes: Vec<u8>, instructions: Instructions) -> Result<Self, ReaderError> {
        let (encoder, tokenizer) = PairEncoder::load(bytes, instructions, WordPiece::from_vocabulary)?;
        Ok(Self { tokenizer: Arc::new(tokenizer), encoder, batch: Batch::default() })
    }

    /// How well the passage answers the question: the logit of the model's one output, larger is better.
    ///
    /// It has no unit and no fixed range, and scores of two readers cannot be compared. For models trained as relevant
    /// or not (MS MARCO's), `1 / (1 + e^-score)` is their probability that the passage is relevant.
    ///
    /// A pair of more than [`Reader::max_tokens`] tokens loses the ends of its texts, the longer one first: the "longest
    /// first" truncation of sentence-transformers' `CrossEncoder`. So a question shorter than half of the limit stays
    /// whole.
    pub fn score(&mut self, question: &str, passage: &str) -> f32 {
        self.score_batch(question, &[passage]).first().copied().unwrap_or_default()
    }

    /// Scores passages, in their order; each gets exactly the score that [`Reader::score`] gives it.
    ///
    /// Short passages share a pass over the weights, without padding.
    pub fn score_batch<T: AsRef<str>>(&mut self, question: &str, passages: &[T]) -> Vec<f32> {
        let Self { tokenizer, encoder, batch } = self;
        let window = encoder.max_rows();
        let question = ids_of(tokenizer, question, window);
        let mut scores = Vec::with_capacity(passages.len());
        for passage in passages {
            let passage = ids_of(tokenizer, passage.as_ref(), window);
            let (question, passage) = fit(&question, &passage, window);
            if batch.ids.len() + question.len() + passage.len() + SPECIAL > window {
                batch.score(encoder, &mut scores);
            }
            batch.push(question, passage);
        }
        batch.score(encoder, &mut scores);
        scores
    }

    /// Token ids that the model would read for this pair, at most [`Reader::max_tokens`].
    pub fn token_ids(&self, question: &str, passage: &str) -> Vec<u32> {
        let window = self.max_tokens();
        let [question, passage] = [question, passage].map(|text| ids_of(&self.tokenizer, text, window));
        let (question, passage) = fit(&question, &passage, window);
        let mut batch = Batch::default();
        batch.push(question, passage);
        batch.ids
    }

    /// Longest token sequence the model reads, \[CLS\] and both \[SEP\] included: 512 for the published ones.
    pub fn max_tokens(&self) -> usize {
        self.encoder.max_rows()
    }
}

/// A text's own tokens, as many as the window could hold.
fn ids_of(tokenizer: &WordPiece, text: &str, window: usize) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.append(text, window, &mut ids);
    ids
}

impl Batch {
    fn push(&mut self, question: &[u32], passage: &[u32]) {
        self.ids.push(CLS);
        self.ids.extend(question);
        self.ids.push(SEP);
        self.ids.extend(passage);
        self.ids.push(SEP);
        self.pairs.push(Pair { first: question.len() + 2, length: question.len() + passage.len() + SPECIAL });
    }

    /// Scores what waits and starts anew.
    fn score(&mut self, encoder: &mut PairEncoder, scores: &mut Vec<f32>) {
        if self.pairs.is_empty() {
            return;
        }
        let start = scores.len();
        scores.resize(start + self.pairs.len(), 0.0);
        encoder.score(&self.ids, &self.pairs, &mut scores[start..]);
        self.ids.clear();
        self.pairs.clear();
    }
}

/// What is read of two texts, each at most as long as the window: "longest first" of the `tokenizers` crate. The longer
/// one is shortened to the length of the other, then both alike.
fn fit<'a>(question: &'a [u32], passage: &'a [u32], window: usize) -> (&'a [u32], &'a [u32]) {
    let room = window - SPECIAL;
    let half = room / 2;
    let lengths = if question.len() + passage.len() <= room {
        (question.len(), passage.len())
    } else if question.len() <= half {
        (question.len(), room - question.len())
    } else if passage.len() <= half {
        (room - passage.len(), passage.len())
    } else if question.len() <= passage.len() {
        (half, room - half)
    } else {
        (room - half, half)
    };
    (&question[..lengths.0], &passage[..lengths.1])
}

impl From<EmbedderError> for ReaderError {
    fn from(error: EmbedderError) -> Self {
        match error {
            EmbedderError::WrongKind { actual } => Self::NotAReader { kind: actual },
            EmbedderError::Vocabulary(error) => Self::Vocabulary(error),
            EmbedderError::Damaged(what) => Self::Damaged(what),
            // Neither comes of the bytes of a reader.
            EmbedderError::Io { path, source } => Self::Io { path, source },
            EmbedderError::WrongFile { actual } => Self::Damaged(format!("its SHA-256 is {actual}")),
        }
    }
}
