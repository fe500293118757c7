//! The model: token ids → what the encoder (BERT) makes of them: sentence vectors (mean pooling, unit length), or the
//! scores of pairs.

mod attention;
mod forward;
#[cfg(not(target_arch = "wasm32"))]
mod pair;
mod scratch;
mod weights;

use std::sync::Arc;

use crate::kernels::Instructions;
use crate::model_file::ModelFile;
use crate::{DIMENSIONS, EmbedderError, MAX_TOKENS};

use forward::{Embed, Forward};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use pair::{Pair, PairEncoder};
use scratch::Scratch;
use weights::{Load, Outline, Weights};

/// Layers of the embedder's encoder.
const LAYERS: usize = 6;
/// Attention heads of a layer.
const HEADS: usize = 12;
/// Dimensions of a head.
const HEAD_DIMENSIONS: usize = DIMENSIONS / HEADS;
/// Width of the feed-forward step.
const INTERMEDIATE: usize = 1536;
/// Entries of the vocabulary.
pub(crate) const VOCABULARY: usize = 30_522;

/// Most rows (tokens) that one forward pass of the embedder works on.
pub(crate) const MAX_ROWS: usize = MAX_TOKENS;

/// The embedder's model, ready to run. Clones share the weights; each has its own working memory, which never grows.
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

impl Model {
    /// Unpacks the weights of a model file for these instructions. Only the word embeddings stay as they are; what
    /// the file holds behind them is given back.
    ///
    /// Also gives what `read` makes of the rest of the file.
    fn load<T>(
        mut bytes: Vec<u8>,
        instructions: Instructions,
        read: impl FnOnce(&ModelFile<'_>) -> Result<(Outline, T), EmbedderError>,
    ) -> Result<(Self, T), EmbedderError> {
        let file = ModelFile::parse(&bytes)?;
        let (outline, rest) = read(&file)?;
        let weights = instructions.run(Load { file: &file, outline })?;
        bytes.truncate(weights.tokens.bytes.end);
        bytes.shrink_to_fit();
        Ok((Self { weights, words: bytes }, rest))
    }

    /// A pass over token ids, as many as `scratch` has room for.
    fn forward<'a>(&'a self, scratch: &'a mut Scratch, ids: &'a [u32], lengths: &'a [usize]) -> Forward<'a> {
        Forward { weights: &self.weights, words: &self.words, scratch, ids, lengths }
    }
}

impl Encoder {
    /// Loads the embedder's model file; also gives what `vocabulary` makes of its vocabulary.
    pub(crate) fn load<T>(
        bytes: Vec<u8>,
        instructions: Instructions,
        vocabulary: impl FnOnce(&[u8]) -> Result<T, EmbedderError>,
    ) -> Result<(Self, T), EmbedderError> {
        let (model, vocabulary) = Model::load(bytes, instructions, |file| {
            file.expect_kind(None)?;
            let vocabulary = vocabulary(file.vocabulary()?)?;
            // The file has the token type of a single text added to the positions.
            let positions =
                file.floats("embeddings.position_embeddings.weight", &[MAX_TOKENS, DIMENSIONS])?;
            Ok((Outline { layers: LAYERS, positions, has_step_per_channel: false }, vocabulary))
        })?;
        Ok((Self { instructions, model: Arc::new(model), scratch: Scratch::new(MAX_ROWS) }, vocabulary))
    }

    /// Embeds texts in one pass: `ids` are their token ids one after the other, `lengths` how many each has. At most
    /// [`MAX_ROWS`] ids. `vectors` gets [`DIMENSIONS`] floats per text. A text's vector does not depend on its company.
    pub(crate) fn embed(&mut self, ids: &[u32], lengths: &[usize], vectors: &mut [f32]) {
        let Self { instructions, model, scratch } = self;
        instructions.run(Embed { forward: model.forward(scratch, ids, lengths), vectors });
    }
}
