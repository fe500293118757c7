//! A reader: one encoder reads question and passage together and scores how well the passage answers the question.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::encoder::{Pair, PairEncoder};
use crate::kernels::AnyKernel;
use crate::wordpiece::{CLS, SEP};
use crate::{EmbedderError, VocabularyError, WordPiece};

/// Tokens of a pair besides those of its texts: \[CLS\], \[SEP\] and \[SEP\].
const SPECIAL_TOKENS: usize = 3;

/// A cross-encoder and its tokenizer: a BERT with a pooler and a head of one output, like the MiniLM cross-encoders of
/// sentence-transformers.
///
/// The product ships none: `quantize-model reader` (`embedder-wasm/quantize`) makes the file from a checkpoint of the
/// owner. Its input is \[CLS\] question \[SEP\] passage \[SEP\], token type 0 up to the first \[SEP\] and 1
/// after it. Like a vector of the embedder, a score has the same bits on every machine.
///
/// A clone shares the weights and has its own working memory (about 11 MB, which never grows): use one per thread. Only
/// native builds have it, to keep the package for browsers small.
#[derive(Clone)]
pub struct Reader {
    tokenizer: Arc<WordPiece>,
    encoder: PairEncoder,
    batch: Batch,
}

/// Pairs for the next forward pass.
#[derive(Clone, Default)]
struct Batch {
    ids: Vec<u32>,
    pairs: Vec<Pair>,
}

/// Why a reader could not be loaded. A loaded reader can score every pair.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// The file could not be read.
    #[error("cannot read the reader {}: {source}", path.display())]
    Io {
        /// The requested file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A model of another kind, such as the embedder's.
    #[error(
        "this model file is not a reader but {}. `quantize-model reader` makes one from a checkpoint",
        kind.as_deref().map_or("the embedder's".to_owned(), |kind| format!("of the kind {kind:?}"))
    )]
    NotAReader {
        /// The kind in the file's metadata; the embedder's file has none.
        kind: Option<String>,
    },
    /// The bytes do not describe a reader.
    #[error("the reader's file is damaged: {0}. Make it again with `quantize-model reader`")]
    Damaged(String),
    /// The tokens are not those of BERT (uncased), which all-MiniLM-L6-v2 shares.
    #[error(
        "the reader's vocabulary is not that of BERT (uncased): {0}. Make the file again from another checkpoint"
    )]
    Vocabulary(VocabularyError),
}

impl Reader {
    /// Loads a file that `quantize-model reader` made.
    ///
    /// # Errors
    /// [`ReaderError::Io`] if the file cannot be read, otherwise those of [`Reader::from_bytes`].
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
    /// [`ReaderError::Vocabulary`] for other bytes that are not a reader. No bytes make it panic or allocate more than a
    /// reader needs.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ReaderError> {
        Self::with_kernel(bytes, AnyKernel::best())
    }

    pub(crate) fn with_kernel(bytes: Vec<u8>, kernel: AnyKernel) -> Result<Self, ReaderError> {
        let (encoder, tokenizer) = PairEncoder::load(bytes, kernel, WordPiece::from_vocabulary)?;
        Ok(Self { tokenizer: Arc::new(tokenizer), encoder, batch: Batch::default() })
    }

    /// Scores how well the passage answers the question: the logit of the model's one output, larger is better.
    ///
    /// The score has no unit and no fixed range, and scores of two readers are not comparable. For models trained to
    /// classify relevance (MS MARCO), `1 / (1 + e^-score)` is the probability that the passage is relevant.
    ///
    /// A pair of more than [`Reader::max_tokens`] tokens is truncated "longest first", like sentence-transformers'
    /// `CrossEncoder`: the longer text loses its end first. So a question shorter than half of the limit stays whole.
    pub fn score(&mut self, question: &str, passage: &str) -> f32 {
        self.score_batch(question, &[passage]).first().copied().unwrap_or_default()
    }

    /// Scores passages, in their order. Each gets exactly the score that [`Reader::score`] returns.
    ///
    /// Short passages share a pass over the weights, without padding.
    pub fn score_batch<T: AsRef<str>>(&mut self, question: &str, passages: &[T]) -> Vec<f32> {
        let Self { tokenizer, encoder, batch } = self;
        let max_tokens = encoder.max_rows();
        let question = ids_of(tokenizer, question, max_tokens);
        let mut scores = Vec::with_capacity(passages.len());
        for passage in passages {
            let passage = ids_of(tokenizer, passage.as_ref(), max_tokens);
            let (question, passage) = truncate_longest_first(&question, &passage, max_tokens);
            if batch.ids.len() + question.len() + passage.len() + SPECIAL_TOKENS > max_tokens {
                batch.flush(encoder, &mut scores);
            }
            batch.push(question, passage);
        }
        batch.flush(encoder, &mut scores);
        scores
    }

    /// Token ids that the model reads for this pair, at most [`Reader::max_tokens`].
    pub fn token_ids(&self, question: &str, passage: &str) -> Vec<u32> {
        let max_tokens = self.max_tokens();
        let [question, passage] = [question, passage].map(|text| ids_of(&self.tokenizer, text, max_tokens));
        let (question, passage) = truncate_longest_first(&question, &passage, max_tokens);
        let mut batch = Batch::default();
        batch.push(question, passage);
        batch.ids
    }

    /// Maximum tokens that the model reads, including \[CLS\] and both \[SEP\]: 512 for the published models.
    pub fn max_tokens(&self) -> usize {
        self.encoder.max_rows()
    }
}

/// The token ids of a text without special tokens, at most `max_tokens`.
fn ids_of(tokenizer: &WordPiece, text: &str, max_tokens: usize) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.append(text, max_tokens, &mut ids);
    ids
}

impl Batch {
    fn push(&mut self, question: &[u32], passage: &[u32]) {
        self.ids.push(CLS);
        self.ids.extend(question);
        self.ids.push(SEP);
        self.ids.extend(passage);
        self.ids.push(SEP);
        self.pairs.push(Pair {
            first: question.len() + 2,
            length: question.len() + passage.len() + SPECIAL_TOKENS,
        });
    }

    /// Scores the pairs and clears the batch.
    fn flush(&mut self, encoder: &mut PairEncoder, scores: &mut Vec<f32>) {
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

/// Truncates two texts, each of at most `max_tokens`, "longest first" like the `tokenizers` crate: the longer one to the
/// length of the other, then both equally.
fn truncate_longest_first<'a>(
    question: &'a [u32],
    passage: &'a [u32],
    max_tokens: usize,
) -> (&'a [u32], &'a [u32]) {
    let room = max_tokens - SPECIAL_TOKENS;
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
            // Loading from bytes returns neither.
            EmbedderError::Io { path, source } => Self::Io { path, source },
            EmbedderError::WrongFile { actual } => Self::Damaged(format!("its SHA-256 is {actual}")),
        }
    }
}
