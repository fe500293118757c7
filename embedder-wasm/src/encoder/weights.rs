//! The weights, unpacked from the model file into the layout of the kernels.

use std::ops::Range;

use super::{INTERMEDIATE, LAYERS};
use crate::kernels::rows::LayerNorm;
use crate::kernels::{AnyKernel, InputFormat, Kernel, Linear, MAX_ACTIVATION, Work};
use crate::model_file::ModelFile;
use crate::wordpiece::VOCABULARY_SIZE;
use crate::{DIMENSIONS, EmbedderError, MAX_TOKENS};

pub(super) struct Weights {
    pub(super) tokens: TokenTable,
    /// `[positions][DIMENSIONS]`: the sums of position and token type 0.
    pub(super) positions: Vec<f32>,
    pub(super) norm: LayerNorm,
    pub(super) layers: Vec<Layer>,
}

/// Word embeddings: rows of i8, which stay in the bytes of the model file, each with a scale.
pub(super) struct TokenTable {
    pub(super) bytes: Range<usize>,
    pub(super) scales: Vec<f32>,
}

pub(super) struct Layer {
    pub(super) attention_format: InputFormat,
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) attention_output_format: InputFormat,
    pub(super) attention_output: Linear,
    pub(super) attention_norm: LayerNorm,
    pub(super) intermediate_format: InputFormat,
    pub(super) intermediate: Linear,
    pub(super) output_format: InputFormat,
    pub(super) output: Linear,
    pub(super) output_norm: LayerNorm,
}

/// Smallest integer of a narrow input column: half of the range is negative.
const MIN_INPUT: i16 = -64;
/// Smallest integer of a narrow column after GELU, whose values are never below -0.17.
const MIN_INPUT_AFTER_GELU: i16 = -14;

impl Weights {
    /// Unpacks the weights of the embedder's model file.
    pub(super) fn load(file: &mut ModelFile, kernel: AnyKernel) -> Result<Self, EmbedderError> {
        let tokens = TokenTable {
            bytes: file.range("embeddings.word_embeddings.weight", &[VOCABULARY_SIZE, DIMENSIONS])?,
            scales: file.floats("embeddings.word_embeddings.scale", &[VOCABULARY_SIZE])?,
        };
        // In the file, the positions include the token type of a single text.
        let positions = file.floats("embeddings.position_embeddings.weight", &[MAX_TOKENS, DIMENSIONS])?;
        let norm = layer_norm(file, "embeddings.LayerNorm")?;
        let layers = kernel.run(LoadLayers { file, layers: 0..LAYERS, steps: Steps::PerMatrix })?;
        Ok(Self { tokens, positions, norm, layers })
    }
}

/// Unpacks these layers of a model file.
pub(super) struct LoadLayers<'a> {
    pub(super) file: &'a mut ModelFile,
    pub(super) layers: Range<usize>,
    pub(super) steps: Steps,
}

/// Granularity of the steps of a linear layer's integers.
#[derive(Clone, Copy)]
pub(super) enum Steps {
    PerMatrix,
    /// Each output has its own step.
    PerChannel,
}

impl Work for LoadLayers<'_> {
    type Output = Result<Vec<Layer>, EmbedderError>;

    /// Unpacks the layers in the opposite order of the file, which gives each back before the next
    /// one.
    #[inline(always)]
    fn run<K: Kernel>(self, _kernel: K) -> Self::Output {
        let Self { file, layers, steps } = self;
        let mut loaded = Vec::with_capacity(layers.len());
        for layer in layers.rev() {
            loaded.push(load_layer::<K>(file, layer, steps)?);
        }
        loaded.reverse();
        Ok(loaded)
    }
}

fn layer_norm(file: &ModelFile, name: &str) -> Result<LayerNorm, EmbedderError> {
    Ok(LayerNorm {
        gain: file.floats(&format!("{name}.weight"), &[DIMENSIONS])?,
        shift: file.floats(&format!("{name}.bias"), &[DIMENSIONS])?,
    })
}

/// Unpacks the matrices in the opposite order of the file, which gives each back before the next
/// one.
fn load_layer<K: Kernel>(file: &mut ModelFile, layer: usize, steps: Steps) -> Result<Layer, EmbedderError> {
    let name = |part: &str| format!("encoder.layer.{layer}.{part}");
    let format = |part: &str, depth, min| {
        let wide = file.columns(&name(&format!("{part}.wide_columns")), depth)?;
        Ok::<_, EmbedderError>(InputFormat::new(depth, wide, min))
    };
    let attention_format = format("attention.self", DIMENSIONS, MIN_INPUT)?;
    let attention_output_format = format("attention.output.dense", DIMENSIONS, MIN_INPUT)?;
    let intermediate_format = format("intermediate.dense", DIMENSIONS, MIN_INPUT)?;
    let output_format = format("output.dense", INTERMEDIATE, MIN_INPUT_AFTER_GELU)?;
    let attention_norm = layer_norm(file, &name("attention.output.LayerNorm"))?;
    let output_norm = layer_norm(file, &name("output.LayerNorm"))?;
    let mut linear = |part: &str, channels, format: &InputFormat| {
        load_linear::<K>(file, &name(part), channels, steps, format)
    };
    let output = linear("output.dense", DIMENSIONS, &output_format)?;
    let intermediate = linear("intermediate.dense", INTERMEDIATE, &intermediate_format)?;
    let attention_output = linear("attention.output.dense", DIMENSIONS, &attention_output_format)?;
    let value = linear("attention.self.value", DIMENSIONS, &attention_format)?;
    let key = linear("attention.self.key", DIMENSIONS, &attention_format)?;
    let query = linear("attention.self.query", DIMENSIONS, &attention_format)?;
    Ok(Layer {
        attention_format,
        query,
        key,
        value,
        attention_output_format,
        attention_output,
        attention_norm,
        intermediate_format,
        intermediate,
        output_format,
        output,
        output_norm,
    })
}

fn load_linear<K: Kernel>(
    file: &mut ModelFile,
    name: &str,
    channels: usize,
    steps: Steps,
    format: &InputFormat,
) -> Result<Linear, EmbedderError> {
    let scale = format!("{name}.scale");
    let scale = match steps {
        Steps::PerMatrix => vec![file.float(&scale)?; channels],
        Steps::PerChannel => file.floats(&scale, &[channels])?,
    };
    let bias = file.floats(&format!("{name}.bias"), &[channels])?;
    let weights = file.matrix(name, channels, format.depth(), MAX_ACTIVATION)?;
    let linear = Linear::pack::<K>(format, &weights, scale, bias);
    file.release(&format!("{name}.weight"));
    Ok(linear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::model;

    /// Otherwise more than one matrix is in memory twice while a model is loaded.
    #[test]
    fn every_matrix_of_the_model_is_given_back_once_it_is_unpacked() {
        let mut file = ModelFile::parse(model::real_file().to_vec()).unwrap();
        file.release_vocabulary();
        let weights = Weights::load(&mut file, AnyKernel::BASELINE).unwrap();
        assert_eq!(file.into_bytes(usize::MAX).len(), weights.tokens.bytes.end);
    }
}
