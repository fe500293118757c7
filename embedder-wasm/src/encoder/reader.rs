//! Scores of statements: the encoder reads question and passage at once, then two heads read the
//! rows of \[CLS\] and of the statements' markers.

use std::sync::Arc;

use super::forward::{Goal, Pass};
use super::scratch::Scratch;
use super::weights::{Layer, LoadLayers, Steps, Weights};
use super::{Encoder, LAYERS, MAX_ROWS, Model};
use crate::kernels::{AnyKernel, Kernel, rows};
use crate::model_file::ModelFile;
use crate::{DIMENSIONS, EmbedderError};

/// Value of the metadata key `kind` in a reader's file; the embedder's file has no such key.
const READER_KIND: &str = "reader";

/// The first layers, which are the embedder's.
const SHARED_LAYERS: usize = 2;

/// The reader's model, ready to run. It shares the embedder's weights, clones share all of them;
/// each has its own working memory of fixed size.
#[derive(Clone)]
pub(crate) struct ReaderEncoder {
    kernel: AnyKernel,
    embedder: Arc<Model>,
    reader: Arc<ReaderModel>,
    scratch: Scratch,
}

/// The weights that only the reader has.
pub(super) struct ReaderModel {
    /// `[positions][DIMENSIONS]`: the sums of position and token type 1.
    pub(super) passage_positions: Vec<f32>,
    /// The word embedding of the marker.
    pub(super) marker: Vec<f32>,
    /// The layers after the shared ones.
    layers: Vec<Layer>,
    statement: Head,
    nothing: Head,
}

/// A linear layer of one output. In floats: it works on a few rows, and its error affects the score
/// directly.
struct Head {
    weights: Vec<f32>,
    bias: f32,
}

/// A row that a head reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReadRow {
    /// The row of \[CLS\]: the logit that nothing in the passage answers.
    Start(usize),
    /// The row of a statement's marker: the logit that the statement answers.
    Marker(usize),
}

impl ReaderEncoder {
    /// Loads a reader's file.
    pub(crate) fn load(embedder: &Encoder, bytes: Vec<u8>) -> Result<Self, EmbedderError> {
        let Encoder { kernel, model: embedder, .. } = embedder;
        let mut file = ModelFile::parse(bytes)?;
        file.expect_kind(Some(READER_KIND))?;
        let difference = file.floats("embeddings.token_type_difference", &[DIMENSIONS])?;
        let passage_position =
            |row: &[f32]| row.iter().zip(&difference).map(|(a, b)| a + b).collect::<Vec<f32>>();
        let positions = embedder.weights.positions.chunks_exact(DIMENSIONS);
        let reader = ReaderModel {
            passage_positions: positions.flat_map(passage_position).collect(),
            marker: file.floats("embeddings.marker", &[DIMENSIONS])?,
            statement: Head::load(&file, "statement")?,
            nothing: Head::load(&file, "nothing")?,
            layers: kernel.run(LoadLayers {
                file: &mut file,
                layers: SHARED_LAYERS..LAYERS,
                steps: Steps::PerChannel,
            })?,
        };
        Ok(Self {
            kernel: *kernel,
            embedder: Arc::clone(embedder),
            reader: Arc::new(reader),
            scratch: Scratch::new(MAX_ROWS),
        })
    }

    /// Reads passages in one pass. `ids` are their token ids, concatenated, at most [`MAX_ROWS`];
    /// `lengths` the number of ids of each; the first `question_ids` of each have token type 0.
    /// `read`: for each passage its start, then its markers; ascending. Appends the z of each
    /// marker to `scores`. It does not depend on the other passages.
    pub(crate) fn read(
        &mut self,
        ids: &[u32],
        lengths: &[usize],
        question_ids: usize,
        read: &[ReadRow],
        scores: &mut Vec<f32>,
    ) {
        let Self { kernel, embedder, reader, scratch } = self;
        let forward = embedder.forward(scratch, ids, lengths);
        let goal = Goal::Read(Reading { reader, question_ids, read, scores });
        kernel.run(Pass { forward, goal });
    }
}

impl ReaderModel {
    pub(super) fn layers<'a>(&'a self, embedder: &'a Weights) -> [&'a [Layer]; 2] {
        [&embedder.layers[..SHARED_LAYERS], &self.layers]
    }
}

impl Head {
    fn load(file: &ModelFile, name: &str) -> Result<Self, EmbedderError> {
        Ok(Self {
            weights: file.floats(&format!("{name}.weight"), &[DIMENSIONS])?,
            bias: file.float(&format!("{name}.bias"))?,
        })
    }

    #[inline(always)]
    fn logit<K: Kernel>(&self, kernel: K, row: &[f32]) -> f32 {
        rows::dot(kernel, &self.weights, row) + self.bias
    }
}

/// Input and output of a pass over passages.
pub(super) struct Reading<'a> {
    pub(super) reader: &'a ReaderModel,
    /// Ids of each passage that have token type 0.
    pub(super) question_ids: usize,
    pub(super) read: &'a [ReadRow],
    scores: &'a mut Vec<f32>,
}

impl Reading<'_> {
    /// Moves the rows of the heads to the front: only these are needed after the last attention.
    pub(super) fn gather(&self, hidden: &mut [f32]) {
        for (place, ReadRow::Start(row) | ReadRow::Marker(row)) in self.read.iter().enumerate() {
            hidden.copy_within(row * DIMENSIONS..(row + 1) * DIMENSIONS, place * DIMENSIONS);
        }
    }

    /// Appends the scores, from the gathered rows.
    #[inline(always)]
    pub(super) fn score<K: Kernel>(self, kernel: K, hidden: &[f32]) {
        let Self { reader, read, scores, .. } = self;
        let mut nothing = 0.0;
        for (read, row) in read.iter().zip(hidden.chunks_exact(DIMENSIONS)) {
            match read {
                ReadRow::Start(_) => nothing = reader.nothing.logit(kernel, row),
                ReadRow::Marker(_) => scores.push(reader.statement.logit(kernel, row) - nothing),
            }
        }
    }
}
