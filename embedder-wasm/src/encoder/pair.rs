//! Scores of pairs: the encoder reads both texts at once, then pooler and head read the row of \[CLS\].

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::forward::{Forward, attend, feed_forward};
use super::scratch::Scratch;
use super::weights::Outline;
use super::{DIMENSIONS, Model};
use crate::EmbedderError;
use crate::kernels::{AnyKernel, Kernel, Work, dense, rows};
use crate::model_file::ModelFile;

/// Value of the metadata key `kind` in a reader's file; the embedder's file has no such key.
const READER_KIND: &str = "reader";

/// Supported numbers of layers.
const LAYERS: RangeInclusive<usize> = 1..=12;
/// Supported numbers of positions: at least \[CLS\] and two \[SEP\]; the sums of attention do not overflow up to 512.
const POSITIONS: RangeInclusive<usize> = 3..=512;

/// Token types: 0 for the first text with \[CLS\] and its \[SEP\], 1 for the second text with its \[SEP\].
const TOKEN_TYPES: usize = 2;

/// The reader's model, ready to run. Clones share the weights; each has its own working memory of fixed size.
#[derive(Clone)]
pub(crate) struct PairEncoder {
    kernel: AnyKernel,
    model: Arc<PairModel>,
    scratch: Scratch,
}

struct PairModel {
    encoder: Model,
    head: Head,
    /// Number of positions.
    positions: usize,
}

/// The layers after the encoder. In floats: they work on one row per pair, and their errors affect the score directly.
struct Head {
    /// `[DIMENSIONS][DIMENSIONS]`, a row for each output.
    pooler: Vec<f32>,
    pooler_bias: Vec<f32>,
    classifier: Vec<f32>,
    classifier_bias: f32,
}

/// The lengths of a pair in token ids.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// Number of ids of the first text, including \[CLS\] and \[SEP\].
    pub(crate) first: usize,
    /// Number of ids of both texts.
    pub(crate) length: usize,
}

impl PairEncoder {
    /// Loads a reader's model file; also returns the result of `vocabulary`, which parses its vocabulary.
    pub(crate) fn load<T>(
        bytes: Vec<u8>,
        kernel: AnyKernel,
        vocabulary: impl FnOnce(&[u8]) -> Result<T, EmbedderError>,
    ) -> Result<(Self, T), EmbedderError> {
        let (encoder, (vocabulary, head, positions)) = Model::load(bytes, kernel, |file| {
            file.expect_kind(Some(READER_KIND))?;
            let (layers, positions) =
                (number(file, "layers", LAYERS)?, number(file, "positions", POSITIONS)?);
            let vocabulary = vocabulary(file.vocabulary()?)?;
            let outline = Outline {
                layers,
                positions: positions_per_type(file, positions)?,
                has_step_per_channel: true,
            };
            Ok((outline, (vocabulary, Head::load(file)?, positions)))
        })?;
        let model = Arc::new(PairModel { encoder, head, positions });
        Ok((Self { kernel, model, scratch: Scratch::new(positions) }, vocabulary))
    }

    /// Maximum ids of a pair, and of all pairs in a pass.
    pub(crate) fn max_rows(&self) -> usize {
        self.model.positions
    }

    /// Scores pairs in one pass. `ids` are their token ids, concatenated, at most [`PairEncoder::max_rows`]; `pairs` their
    /// lengths. A pair's score does not depend on the other pairs.
    pub(crate) fn score(&mut self, ids: &[u32], pairs: &[Pair], scores: &mut [f32]) {
        let Self { kernel, model, scratch } = self;
        let PairModel { encoder, head, positions } = &**model;
        let lengths: Vec<usize> = pairs.iter().map(|pair| pair.length).collect();
        let forward = encoder.forward(scratch, ids, &lengths);
        kernel.run(Score { forward, pairs, head, positions: *positions, scores });
    }
}

/// Reads a whole number from the metadata of the file.
fn number(file: &ModelFile, key: &str, range: RangeInclusive<usize>) -> Result<usize, EmbedderError> {
    let text = file.metadata(key);
    let number = text.and_then(|text| text.parse().ok()).filter(|number| range.contains(number));
    number.ok_or_else(|| EmbedderError::Damaged(format!("its {key} are {text:?}, expected {range:?}")))
}

/// The table of positions for each token type.
fn positions_per_type(file: &ModelFile, count: usize) -> Result<Vec<f32>, EmbedderError> {
    let positions = file.floats("embeddings.position_embeddings.weight", &[count, DIMENSIONS])?;
    let types = file.floats("embeddings.token_type_embeddings.weight", &[TOKEN_TYPES, DIMENSIONS])?;
    let add_type = |token_type: &[f32]| {
        let rows = positions.chunks_exact(DIMENSIONS);
        let sums = rows.flat_map(|row| row.iter().zip(token_type).map(|(a, b)| a + b));
        sums.collect::<Vec<f32>>()
    };
    Ok(types.chunks_exact(DIMENSIONS).flat_map(add_type).collect())
}

impl Head {
    fn load(file: &ModelFile) -> Result<Self, EmbedderError> {
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
    /// Number of positions.
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
            // Only the rows of [CLS] are read from here on.
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
