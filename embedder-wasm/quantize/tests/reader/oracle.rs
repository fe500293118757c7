//! The f32 cross-encoder: candle's BERT, with pooler and head added.

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};

use crate::checkpoint::{Checkpoint, HIDDEN};

pub(crate) struct Oracle {
    bert: BertModel,
    pooler: (Tensor, Tensor),
    classifier: (Tensor, Tensor),
}

impl Oracle {
    pub(crate) fn new(checkpoint: &Checkpoint) -> Self {
        let mut config = checkpoint.config.clone();
        // candle requires keys that the engine does not.
        for (key, value) in [("hidden_dropout_prob", 0.1), ("initializer_range", 0.02)] {
            config[key] = value.into();
        }
        let config: Config = serde_json::from_value(config).unwrap();
        let weights =
            VarBuilder::from_buffered_safetensors(checkpoint.weights(), DType::F32, &Device::Cpu).unwrap();
        let dense = |name: &str, out: usize| {
            let weights = weights.pp(name);
            (weights.get((out, HIDDEN), "weight").unwrap(), weights.get(out, "bias").unwrap())
        };
        Self {
            pooler: dense("bert.pooler.dense", HIDDEN),
            classifier: dense("classifier", 1),
            bert: BertModel::load(weights.pp("bert"), &config).unwrap(),
        }
    }

    /// The logit.
    pub(crate) fn score(&self, (ids, types): &(Vec<u32>, Vec<u32>)) -> f32 {
        let row = |values: &[u32]| Tensor::new(values, &Device::Cpu).unwrap().unsqueeze(0).unwrap(); // [1, tokens]
        let hidden = self.bert.forward(&row(ids), &row(types), None).unwrap(); // [1, tokens, dimensions]
        let cls = hidden.narrow(1, 0, 1).unwrap().squeeze(1).unwrap(); // [1, dimensions]
        let dense = |input: &Tensor, (weight, bias): &(Tensor, Tensor)| {
            input.matmul(&weight.t().unwrap()).unwrap().broadcast_add(bias).unwrap()
        };
        let pooled = dense(&cls, &self.pooler).tanh().unwrap();
        dense(&pooled, &self.classifier).to_vec2::<f32>().unwrap()[0][0]
    }
}
