use std::collections::BTreeMap;

use super::Config;
use crate::gguf::{TensorInfo, tensor_error};
use crate::kernels::Matrix;
use crate::{ModelError, WriterError};

/// The weights of a model.
#[derive(Debug)]
pub(crate) struct Weights {
    /// One row per token.
    pub(crate) embedding: Matrix,
    pub(crate) layers: Vec<Layer>,
    pub(crate) norm: Vec<f32>,
    /// `None` if the embedding is used for the output, too.
    pub(crate) output: Option<Matrix>,
    /// Divides the frequency of each pair of rotary dimensions; empty for ones.
    pub(crate) rotary_factors: Vec<f32>,
}

#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) attention_norm: Vec<f32>,
    pub(crate) query: Matrix,
    pub(crate) key: Matrix,
    pub(crate) value: Matrix,
    pub(crate) attention_output: Matrix,
    pub(crate) feed_forward_norm: Vec<f32>,
    pub(crate) gate: Matrix,
    pub(crate) up: Matrix,
    pub(crate) down: Matrix,
}

/// Where the rows of a tensor go.
pub(crate) enum Target<'a> {
    Matrix(&'a mut Matrix),
    Vector(&'a mut Vec<f32>),
}

impl Weights {
    /// Allocates the weights and checks that the file has every tensor, with the right shape.
    pub(crate) fn new(config: &Config, tokens: usize, tensors: &[TensorInfo]) -> Result<Self, WriterError> {
        let by_name: BTreeMap<&str, &TensorInfo> =
            tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        if by_name.len() != tensors.len() {
            return Err(ModelError::Header("two tensors have the same name".to_owned()).into());
        }
        // Biases and the like would be ignored silently, and the text would be wrong.
        let is_known = |name: &str| match name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
            Some((layer, suffix)) => {
                let is_layer = layer.parse::<usize>().is_ok_and(|layer| layer < config.layers);
                is_layer && LAYER_TENSORS.contains(&suffix)
            }
            None => MODEL_TENSORS.contains(&name),
        };
        if let Some(unknown) = tensors.iter().find(|tensor| !is_known(&tensor.name)) {
            return Err(ModelError::Unsupported(format!("the tensor {:?}", unknown.name)).into());
        }
        let matrix = |name: &str, rows: usize, columns: usize| -> Result<Matrix, WriterError> {
            check(&by_name, name, &[columns, rows])?;
            Matrix::new(rows, columns)
        };
        let vector = |name: &str| -> Result<Vec<f32>, WriterError> {
            check(&by_name, name, &[config.width])?;
            Ok(Vec::new())
        };
        let mut layers = Vec::new();
        let (width, key_width, feed_forward) = (config.width, config.key_width(), config.feed_forward);
        for at in 0..config.layers {
            let name = |suffix: &str| format!("blk.{at}.{suffix}");
            layers.push(Layer {
                attention_norm: vector(&name("attn_norm.weight"))?,
                query: matrix(&name("attn_q.weight"), width, width)?,
                key: matrix(&name("attn_k.weight"), key_width, width)?,
                value: matrix(&name("attn_v.weight"), key_width, width)?,
                attention_output: matrix(&name("attn_output.weight"), width, width)?,
                feed_forward_norm: vector(&name("ffn_norm.weight"))?,
                gate: matrix(&name("ffn_gate.weight"), feed_forward, width)?,
                up: matrix(&name("ffn_up.weight"), feed_forward, width)?,
                down: matrix(&name("ffn_down.weight"), width, feed_forward)?,
            });
        }
        if by_name.contains_key("rope_freqs.weight") {
            check(&by_name, "rope_freqs.weight", &[config.rotary / 2])?;
        }
        let output = by_name.contains_key("output.weight");
        Ok(Self {
            embedding: matrix("token_embd.weight", tokens, width)?,
            layers,
            norm: vector("output_norm.weight")?,
            output: output.then(|| matrix("output.weight", tokens, width)).transpose()?,
            rotary_factors: Vec::new(),
        })
    }

    /// Where the rows of the tensor of this name go. `None` for one that [`Weights::new`] rejects.
    pub(crate) fn target(&mut self, name: &str) -> Option<Target<'_>> {
        use Target::{Matrix as M, Vector as V};
        match name {
            "token_embd.weight" => return Some(M(&mut self.embedding)),
            "output_norm.weight" => return Some(V(&mut self.norm)),
            "output.weight" => return self.output.as_mut().map(M),
            "rope_freqs.weight" => return Some(V(&mut self.rotary_factors)),
            _ => {}
        }
        let (layer, suffix) = name.strip_prefix("blk.")?.split_once('.')?;
        let layer = self.layers.get_mut(layer.parse::<usize>().ok()?)?;
        Some(match suffix {
            "attn_norm.weight" => V(&mut layer.attention_norm),
            "attn_q.weight" => M(&mut layer.query),
            "attn_k.weight" => M(&mut layer.key),
            "attn_v.weight" => M(&mut layer.value),
            "attn_output.weight" => M(&mut layer.attention_output),
            "ffn_norm.weight" => V(&mut layer.feed_forward_norm),
            "ffn_gate.weight" => M(&mut layer.gate),
            "ffn_up.weight" => M(&mut layer.up),
            "ffn_down.weight" => M(&mut layer.down),
            _ => return None,
        })
    }

    pub(crate) fn output(&self) -> &Matrix {
        self.output.as_ref().unwrap_or(&self.embedding)
    }
}

const MODEL_TENSORS: [&str; 4] =
    ["token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight"];
const LAYER_TENSORS: [&str; 9] = [
    "attn_norm.weight",
    "attn_q.weight",
    "attn_k.weight",
    "attn_v.weight",
    "attn_output.weight",
    "ffn_norm.weight",
    "ffn_gate.weight",
    "ffn_up.weight",
    "ffn_down.weight",
];

fn check(tensors: &BTreeMap<&str, &TensorInfo>, name: &str, shape: &[usize]) -> Result<(), ModelError> {
    match tensors.get(name) {
        None => Err(tensor_error(name, "is missing")),
        Some(tensor) if tensor.dimensions != shape => {
            let problem = format!("has the shape {:?} instead of {shape:?}", tensor.dimensions);
            Err(tensor_error(name, &problem))
        }
        Some(_) => Ok(()),
    }
}
