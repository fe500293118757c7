//! Scores of pairs: the encoder over both texts at once, then pooler and head on the row of \[CLS\].

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::forward::{Forward, attend, feed_forward};
use super::scratch::Scratch;
use super::weights::Outline;
use super::{DIMENSIONS, Model};
use crate::EmbedderError;
use crate::kernels::{Instructions, Kernel, Work, dense, rows};
use crate::model_file::ModelFile;

/// Value of the metadata key `kind` of a reader's file; that of the embedder has no such key.
const READER: &str = "reader";

/// Layers that an encoder of pairs may have.
const LAYERS: RangeInclusive<usize> = 1..=12;
/// Positions it may have: three are \[CLS\] and two \[SEP\], and attention has room for the sums of 512.
const POSITIONS: RangeInclusive<usize> = 3..=512;

/// Token types: the first text with \[CLS\] and its \[SEP\], and the second with its own.
const TOKEN_TYPES: usize = 2;

/// The reader's model, ready to run. Clones share the weights; each has its own working memory, which never grows.
#[derive(Clone)]
pub(crate) struct PairEncoder {
    instructions: Instructions,
    model: Arc<PairModel>,
    scratch: Scratch,
}

struct PairModel {
    encoder: Model,
    head: Head,
    /// Rows of the table of positions.
    positions: usize,
}

/// What comes after the last layer. Floats: it works on one row of a pair, and its errors go straight into the score.
struct Head {
    /// `[DIMENSIONS][DIMENSIONS]`, a row for each output.
    pooler: Vec<f32>,
    pooler_bias: Vec<f32>,
    classifier: Vec<f32>,
    classifier_bias: f32,
}

/// Token ids of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// Ids of the first text, \[CLS\] and \[SEP\] included.
    pub(crate) first: usize,
    /// Ids of both.
    pub(crate) length: usize,
}

impl PairEncoder {
    /// Loads a reader's model file; also gives what `vocabulary` makes of its vocabulary.
    pub(crate) fn load<T>(
        bytes: Vec<u8>,
        instructions: Instructions,
        vocabulary: impl FnOnce(&[u8]) -> Result<T, EmbedderError>,
    ) -> Result<(Self, T), EmbedderError> {
        let (encoder, (vocabulary, head, positions)) = Model::load(bytes, instructions, |file| {
            file.expect_kind(Some(READER))?;
            let (layers, positions) =
                (number(file, "layers", LAYERS)?, number(file, "positions", POSITIONS)?);
            let vocabulary = vocabulary(file.vocabulary()?)?;
            let outline = Outline {
                layers,
                positions: positions_of_types(file, positions)?,
                has_step_per_channel: true,
            };
            Ok((outline, (vocabulary, Head::load(file)?, positions)))
        })?;
        let model = Arc::new(PairModel { encoder, head, positions });
        Ok((Self { instructions, model, scratch: Scratch::new(positions) }, vocabulary))
    }

    /// Most ids of a pair, and of all pairs of a pass.
    pub(crate) fn max_rows(&self) -> usize {
        self.model.positions
    }

    /// Scores pairs in one pass: `ids` are their token ids one after the other, `pairs` how many each has. At
    /// most [`PairEncoder::max_rows`] ids. A pair's score does not depend on its company.
    pub(crate) fn score(&mut self, ids: &[u32], pairs: &[Pair], scores: &mut [f32]) {
        let Self { instructions, model, scratch } = self;
        let PairModel { encoder, head, positions } = &**model;
        let lengths: Vec<usize> = pairs.iter().map(|pair| pair.length).collect();
        let forward = encoder.forward(scratch, ids, &lengths);
        instructions.run(Score { forward, pairs, head, positions: *positions, scores });
    }
}

/// A whole number in the metadata of the file.
fn number(file: &ModelFile<'_>, key: &str, range: RangeInclusive<usize>) -> Result<usize, EmbedderError> {
    let text = file.metadata(key);
    let number = text.and_then(|text| text.parse().ok()).filter(|number| range.contains(number));
    number.ok_or_else(|| EmbedderError::Damaged(format!("its {key} are {text:?}, expected {range:?}")))
}

/// The table of positions for each token type.
fn positions_of_types(file: &ModelFile<'_>, count: usize) -> Result<Vec<f32>, EmbedderError> {
    let positions = file.floats("embeddings.position_embeddings.weight", &[count, DIMENSIONS])?;
    let types = file.floats("embeddings.token_type_embeddings.weight", &[TOKEN_TYPES, DIMENSIONS])?;
    let of_type = |token_type: &[f32]| {
        let rows = positions.chunks_exact(DIMENSIONS);
        let sums = rows.flat_map(|row| row.iter().zip(token_type).map(|(a, b)| a + b));
        sums.collect::<Vec<f32>>()
    };
    Ok(types.chunks_exact(DIMENSIONS).flat_map(of_type).collect())
}

impl Head {
    fn load(file: &ModelFile<'_>) -> Result<Self, EmbedderError> {
        Ok(Self {
            pooler: file.floats("pooler.dense.weight", &[DIMENSIONS, DIMENSIONS])?,
            pooler_bias: file.floats("pooler.dense.bias", &[DIMENSIONS])?,
            classifier: file.floats("classifier.weight", &[1, DIMENSIONS])?,
            classifier_bias: file.floats("classifier.bias", &[1])?[0],
        })
    }

    /// The score of a pair from the row of its \[CLS\].
    #[inline(always)]
    fn score<K: Kernel>(&self, kernel: K, row: &[f32]) -> f32 {
        let mut pooled = [0.0; DIMENSIONS];
        dense::multiply(kernel, &self.pooler, row, &mut pooled);
        rows::add(kernel, &mut pooled, &self.pooler_bias);
        dense::tanh(kernel, &mut pooled);
        let mut logit = [0.0];
        dense::multiply(kernel, &self.classifier, &pooled, &mut logit);
        logit[0] + self.classifier_bias
    }
}

struct Score<'a> {
    forward: Forward<'a>,
    pairs: &'a [Pair],
    head: &'a Head,
    /// Rows of the table of positions.
    positions: usize,
    /// One for each pair.
    scores: &'a mut [f32],
}

impl Work for Score<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { mut forward, pairs, head, positions, scores } = self;
        let weights = forward.weights;
        let (first, second) = weights.positions.split_at(positions * DIMENSIONS);
        let rows = pairs.iter().flat_map(|pair| {
            let first = first.chunks_exact(DIMENSIONS).take(pair.first);
            first.chain(second.chunks_exact(DIMENSIONS).take(pair.length).skip(pair.first))
        });
        forward.embed_tokens(kernel, rows);
        if let Some((last, layers)) = weights.layers.split_last() {
            forward.run_layers(kernel, layers);
            let Forward { scratch, ids, lengths, .. } = forward;
            attend(kernel, last, lengths, ids.len(), scratch);
            // Nothing looks at the other rows any more.
            gather_first_rows(lengths, &mut scratch.hidden);
            feed_forward(kernel, last, pairs.len(), scratch);
            for (score, row) in scores.iter_mut().zip(scratch.hidden.chunks_exact(DIMENSIONS)) {
                *score = head.score(kernel, row);
            }
        }
    }
}

/// Moves the first row of each text, that of \[CLS\], to the front.
fn gather_first_rows(lengths: &[usize], hidden: &mut [f32]) {
    let mut row = 0;
    for (index, length) in lengths.iter().enumerate() {
        hidden.copy_within(row * DIMENSIONS..(row + 1) * DIMENSIONS, index * DIMENSIONS);
        row += length;
    }
}
