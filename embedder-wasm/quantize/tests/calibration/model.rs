//! The exact model in candle, and its statistics.

use std::collections::BTreeMap;
use std::path::Path;

use candle_core::{D, DType, Device, Result, Tensor, Var};
use candle_nn::ops::softmax;

use crate::sequences::Sequence;

const HEADS: usize = 12;
const HEAD_DIMENSIONS: usize = 32;
pub(crate) const LAYERS: usize = 6;
/// Name of the gradient of the embeddings among the statistics.
pub(crate) const GRADIENT: &str = "embeddings";
/// Tokens that are computed together.
const MAX_TOKENS: usize = 2048;

pub(crate) struct Model(std::collections::HashMap<String, Tensor>);

/// Weighted sums over the tokens.
#[derive(Clone)]
pub(crate) struct Statistics {
    /// [columns]
    pub(crate) mean: Tensor,
    /// [columns, columns], not centred.
    pub(crate) squares: Tensor,
    /// The largest magnitude of each column.
    pub(crate) max: Tensor,
}

impl Statistics {
    /// `values` is [tokens, columns], `shares` is [tokens, 1].
    fn of(values: &Tensor, shares: &Tensor) -> Result<Self> {
        let scaled = values.broadcast_mul(&shares.sqrt()?)?;
        Ok(Self {
            mean: values.broadcast_mul(shares)?.sum(0)?.to_dtype(DType::F64)?,
            squares: scaled.t()?.matmul(&scaled)?.to_dtype(DType::F64)?,
            max: values.abs()?.max(0)?,
        })
    }

    fn add(&self, other: &Self) -> Result<Self> {
        Ok(Self {
            mean: (&self.mean + &other.mean)?,
            squares: (&self.squares + &other.squares)?,
            max: self.max.maximum(&other.max)?,
        })
    }
}

impl Model {
    pub(crate) fn load(dir: &Path) -> Self {
        let weights = dir.join("model.safetensors");
        Self(candle_core::safetensors::load(weights, &Device::Cpu).expect("run `cargo xtask setup model`"))
    }

    /// The statistics of linear layers' inputs, by name: those of `layers` layers and the first of the next layer. With all
    /// layers also those of the gradient of the embeddings, for each sequence's direction of its vector.
    pub(crate) fn measure(
        &self,
        sequences: &[Sequence],
        layers: usize,
    ) -> Result<BTreeMap<String, Statistics>> {
        let mut all: BTreeMap<String, Statistics> = BTreeMap::new();
        for sequences in sequences.chunk_by(|a, b| a.ids.len() == b.ids.len()) {
            for batch in sequences.chunks(MAX_TOKENS / sequences[0].ids.len()) {
                let shares: Vec<f32> = batch
                    .iter()
                    .flat_map(|sequence| vec![sequence.share as f32; sequence.ids.len()])
                    .collect();
                let shares = Tensor::new(shares, &Device::Cpu)?.unsqueeze(1)?;
                let mut see = |name: &str, values: &Tensor| -> Result<()> {
                    let values = values.detach().flatten_to(1)?;
                    let statistics = Statistics::of(&values, &shares)?;
                    let sum = all.get(name).map_or(Ok(statistics.clone()), |sum| sum.add(&statistics))?;
                    all.insert(name.to_owned(), sum);
                    Ok(())
                };
                let sums = Var::from_tensor(&self.embed(batch)?)?;
                let outputs = self.encode(sums.as_tensor(), layers, &mut see)?;
                if layers == LAYERS {
                    let directions: Vec<_> = batch.iter().map(|sequence| &sequence.direction[..]).collect();
                    let loss = along(&outputs, &Tensor::new(directions, &Device::Cpu)?)?;
                    see(GRADIENT, loss.backward()?.get(&sums).expect("a gradient"))?;
                }
            }
        }
        Ok(all)
    }

    fn weight(&self, name: &str) -> &Tensor {
        &self.0[name]
    }

    /// Word and position embeddings, without the layer norm: [sequences, tokens, 384].
    fn embed(&self, batch: &[Sequence]) -> Result<Tensor> {
        let ids: Vec<_> = batch.iter().map(|sequence| &sequence.ids[..]).collect();
        let ids = Tensor::new(ids, &Device::Cpu)?;
        let (sequences, tokens) = ids.dims2()?;
        let words = self.weight("embeddings.word_embeddings.weight").index_select(&ids.flatten_all()?, 0)?;
        let positions = self.weight("embeddings.position_embeddings.weight").narrow(0, 0, tokens)?;
        let token_type = self.weight("embeddings.token_type_embeddings.weight").narrow(0, 0, 1)?;
        words.reshape((sequences, tokens, ()))?.broadcast_add(&positions.broadcast_add(&token_type)?)
    }

    fn encode(
        &self,
        sums: &Tensor,
        layers: usize,
        see: &mut dyn FnMut(&str, &Tensor) -> Result<()>,
    ) -> Result<Tensor> {
        let mut hidden = self.layer_norm("embeddings", sums)?;
        for layer in 0..LAYERS {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            see(&name("attention.self"), &hidden)?;
            if layer == layers {
                break;
            }
            let head = |part: &str| {
                let values = self.linear(&name(&format!("attention.self.{part}")), &hidden)?;
                let (sequences, tokens, _) = values.dims3()?;
                values.reshape((sequences, tokens, HEADS, HEAD_DIMENSIONS))?.transpose(1, 2)?.contiguous()
            };
            let scores = (head("query")?.matmul(&head("key")?.t()?)? / (HEAD_DIMENSIONS as f64).sqrt())?;
            let context = softmax(&scores, D::Minus1)?.matmul(&head("value")?)?;
            let context = context.transpose(1, 2)?.flatten_from(2)?;
            see(&name("attention.output.dense"), &context)?;
            let outputs = (self.linear(&name("attention.output.dense"), &context)? + hidden)?;
            let attended = self.layer_norm(&name("attention.output"), &outputs)?;
            see(&name("intermediate.dense"), &attended)?;
            let inner = self.linear(&name("intermediate.dense"), &attended)?.gelu_erf()?;
            see(&name("output.dense"), &inner)?;
            let outputs = (self.linear(&name("output.dense"), &inner)? + attended)?;
            hidden = self.layer_norm(&name("output"), &outputs)?;
        }
        Ok(hidden)
    }

    fn linear(&self, name: &str, inputs: &Tensor) -> Result<Tensor> {
        let weight = self.weight(&format!("{name}.weight"));
        let outputs = inputs.flatten_to(1)?.matmul(&weight.t()?)?;
        let outputs = outputs.broadcast_add(self.weight(&format!("{name}.bias")))?;
        outputs.reshape((inputs.dim(0)?, inputs.dim(1)?, ()))
    }

    // Not candle's, which has no gradient.
    fn layer_norm(&self, module: &str, inputs: &Tensor) -> Result<Tensor> {
        let centred = inputs.broadcast_sub(&inputs.mean_keepdim(D::Minus1)?)?;
        let deviation = centred.sqr()?.mean_keepdim(D::Minus1)?.sqrt()?;
        centred
            .broadcast_div(&deviation)?
            .broadcast_mul(self.weight(&format!("{module}.LayerNorm.weight")))?
            .broadcast_add(self.weight(&format!("{module}.LayerNorm.bias")))
    }
}

/// The sum of the vectors' products with `directions`.
fn along(outputs: &Tensor, directions: &Tensor) -> Result<Tensor> {
    let means = outputs.mean(1)?;
    let lengths = means.sqr()?.sum_keepdim(1)?.sqrt()?;
    (means.broadcast_div(&lengths)? * directions)?.sum_all()
}
