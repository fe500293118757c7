//! Token ids → sentence vector: BERT encoder, mean pooling, L2 norm.

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, HiddenAct, PositionEmbeddingType};

use crate::{DIMENSIONS, EmbedderError};

pub(crate) struct Model {
    bert: BertModel,
}

impl Model {
    pub(crate) fn from_safetensors(bytes: Vec<u8>) -> Result<Self, EmbedderError> {
        let load = |error: candle_core::Error| EmbedderError::Load(error.to_string());
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu).map_err(load)?;
        Ok(Self { bert: BertModel::load(weights, &config()).map_err(load)? })
    }

    /// `ids`: [CLS] … [SEP] of one text. No padding ever enters the model, so every position is a real token: the
    /// masked mean over real tokens is the plain mean, and no attention mask is needed.
    pub(crate) fn embed(&self, ids: &[u32]) -> Result<Vec<f32>, EmbedderError> {
        let ids = Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?; // [1, tokens]
        let hidden = self.bert.forward(&ids, &ids.zeros_like()?, None)?; // [1, tokens, DIMENSIONS]
        let mut vector: Vec<f32> = hidden.mean(1)?.squeeze(0)?.to_vec1()?;
        normalize(&mut vector);
        Ok(vector)
    }
}

/// Scales to unit length; the floor keeps a zero vector finite (torch.nn.functional.normalize uses the same 1e-12).
fn normalize(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
    for x in vector {
        *x /= norm;
    }
}

/// `config.json` of sentence-transformers/all-MiniLM-L6-v2.
fn config() -> Config {
    Config {
        vocab_size: 30_522,
        hidden_size: DIMENSIONS,
        num_hidden_layers: 6,
        num_attention_heads: 12,
        intermediate_size: 1536,
        hidden_act: HiddenAct::Gelu,
        hidden_dropout_prob: 0.1,
        max_position_embeddings: 512,
        type_vocab_size: 2,
        initializer_range: 0.02,
        layer_norm_eps: 1e-12,
        pad_token_id: 0,
        position_embedding_type: PositionEmbeddingType::Absolute,
        use_cache: true,
        classifier_dropout: None,
        model_type: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalize_gives_unit_length() {
        let mut vector = [3.0, 0.0, -4.0];
        normalize(&mut vector);
        assert_eq!(vector, [0.6, 0.0, -0.8]);
    }

    #[test]
    fn normalize_keeps_a_zero_vector_finite() {
        let mut vector = [0.0; 4];
        normalize(&mut vector);
        assert_eq!(vector, [0.0; 4]);
    }
}
