//! The model, a BERT encoder: token ids → sentence vectors (mean pooling, unit length), or scores
//! of the statements of a passage.

mod attention;
mod forward;
mod reader;
mod scratch;
mod weights;

use std::sync::Arc;

use crate::kernels::AnyKernel;
use crate::model_file::ModelFile;
use crate::{DIMENSIONS, EmbedderError, MAX_TOKENS};

use forward::{Forward, Goal, Pass};
pub(crate) use reader::{ReadRow, ReaderEncoder};
use scratch::Scratch;
use weights::Weights;

/// Layers of the embedder's encoder.
const LAYERS: usize = 6;
/// Attention heads of a layer.
const HEADS: usize = 12;
/// Dimensions of a head.
const HEAD_DIMENSIONS: usize = DIMENSIONS / HEADS;
/// Width of the feed-forward step.
const INTERMEDIATE: usize = 1536;

/// Maximum rows (tokens) in one forward pass of the embedder.
pub(crate) const MAX_ROWS: usize = MAX_TOKENS;

/// The embedder's model, ready to run. Clones share the weights; each has its own working memory of
/// fixed size.
#[derive(Clone)]
pub(crate) struct Encoder {
    kernel: AnyKernel,
    model: Arc<Model>,
    scratch: Scratch,
}

struct Model {
    weights: Weights,
    /// The bytes of the model file up to the end of the word embeddings.
    words: Vec<u8>,
}

impl Model {
    /// A forward pass over token ids, at most as many as `scratch` has rows.
    fn forward<'a>(&'a self, scratch: &'a mut Scratch, ids: &'a [u32], lengths: &'a [usize]) -> Forward<'a> {
        scratch.prepare(ids.len());
        Forward { weights: &self.weights, words: &self.words, scratch, ids, lengths }
    }
}

impl Encoder {
    /// Loads the embedder's model file for this kernel; also returns the result of `vocabulary`,
    /// which parses its vocabulary.
    ///
    /// Only the word embeddings stay in the bytes of the file; the rest of its memory is freed, the
    /// i8 weights of each matrix before the next one is unpacked.
    pub(crate) fn load<T>(
        bytes: Vec<u8>,
        kernel: AnyKernel,
        vocabulary: impl FnOnce(&[u8]) -> Result<T, EmbedderError>,
    ) -> Result<(Self, T), EmbedderError> {
        let mut file = ModelFile::parse(bytes)?;
        file.expect_kind(None)?;
        let vocabulary = vocabulary(file.vocabulary()?)?;
        file.release_vocabulary();
        let weights = Weights::load(&mut file, kernel)?;
        let words = file.into_bytes(weights.tokens.bytes.end);
        let model = Model { weights, words };
        Ok((Self { kernel, model: Arc::new(model), scratch: Scratch::new(MAX_ROWS) }, vocabulary))
    }

    /// Embeds texts in one pass. `ids` are their token ids, concatenated, at most [`MAX_ROWS`];
    /// `lengths` the number of ids of each. `vectors` gets [`DIMENSIONS`] floats per text. A text's
    /// vector does not depend on the other texts.
    pub(crate) fn embed(&mut self, ids: &[u32], lengths: &[usize], vectors: &mut [f32]) {
        let Self { kernel, model, scratch } = self;
        kernel.run(Pass { forward: model.forward(scratch, ids, lengths), goal: Goal::Embed(vectors) });
    }
}
