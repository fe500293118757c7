//! The model: token ids → sentence vectors. BERT encoder, mean pooling, unit length.

mod attention;
mod forward;
mod scratch;
mod weights;

use std::sync::Arc;

use crate::kernels::Instructions;
use crate::model_file::ModelFile;
use crate::{DIMENSIONS, EmbedderError, MAX_TOKENS};

use forward::Forward;
use scratch::Scratch;
use weights::{Load, Weights};

/// Layers of the encoder.
const LAYERS: usize = 6;
/// Attention heads of a layer.
const HEADS: usize = 12;
/// Dimensions of a head.
const HEAD_DIMENSIONS: usize = DIMENSIONS / HEADS;
/// Width of the feed-forward step.
const INTERMEDIATE: usize = 1536;
/// Entries of the vocabulary.
pub(crate) const VOCABULARY: usize = 30_522;

/// Most rows (tokens) that one forward pass works on.
pub(crate) const MAX_ROWS: usize = MAX_TOKENS;

/// The model, ready to run. Clones share the weights; each has its own working memory, which never grows.
#[derive(Clone)]
pub(crate) struct Encoder {
    instructions: Instructions,
    model: Arc<Model>,
    scratch: Scratch,
}

struct Model {
    weights: Weights,
    /// The part of the model file that holds the word embeddings.
    words: Vec<u8>,
}

impl Encoder {
    /// Unpacks the weights of a model file for these instructions. Only the word embeddings stay as they are; what
    /// the file holds behind them is given back.
    ///
    /// Also gives what `vocabulary` makes of the file's vocabulary.
    pub(crate) fn load<T>(
        mut bytes: Vec<u8>,
        instructions: Instructions,
        vocabulary: impl FnOnce(&[u8]) -> Result<T, EmbedderError>,
    ) -> Result<(Self, T), EmbedderError> {
        let file = ModelFile::parse(&bytes)?;
        let vocabulary = vocabulary(file.vocabulary()?)?;
        let weights = instructions.run(Load { file: &file })?;
        bytes.truncate(weights.tokens.bytes.end);
        bytes.shrink_to_fit();
        let model = Arc::new(Model { weights, words: bytes });
        Ok((Self { instructions, model, scratch: Scratch::new() }, vocabulary))
    }

    /// Embeds texts in one pass: `ids` are their token ids one after the other, `lengths` how many each has. At most
    /// [`MAX_ROWS`] ids. `vectors` gets [`DIMENSIONS`] floats per text. A text's vector does not depend on its company.
    pub(crate) fn embed(&mut self, ids: &[u32], lengths: &[usize], vectors: &mut [f32]) {
        let Self { instructions, model, scratch } = self;
        let Model { weights, words } = &**model;
        instructions.run(Forward { weights, words, scratch, ids, lengths, vectors });
    }
}
