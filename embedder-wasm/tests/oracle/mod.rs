//! The f32 model, run by candle.

use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, HiddenAct, PositionEmbeddingType};

pub(crate) struct Oracle(BertModel);

impl Oracle {
    /// Loads `model.safetensors`, which `cargo xtask setup model` leaves next to the model file.
    pub(crate) fn load(dir: &Path) -> Self {
        let bytes =
            std::fs::read(dir.join("model.safetensors")).expect("the f32 weights next to the model file");
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu).unwrap();
        Self(BertModel::load(weights, &config()).unwrap())
    }

    /// Mean over the tokens of one text, not scaled to unit length.
    pub(crate) fn embed(&self, ids: &[u32]) -> Vec<f32> {
        let ids = Tensor::new(ids, &Device::Cpu).unwrap().unsqueeze(0).unwrap(); // [1, tokens]
        let hidden = self.0.forward(&ids, &ids.zeros_like().unwrap(), None).unwrap(); // [1, tokens, dimensions]
        hidden.mean(1).unwrap().squeeze(0).unwrap().to_vec1().unwrap()
    }
}

/// `config.json` of sentence-transformers/all-MiniLM-L6-v2.
fn config() -> Config {
    Config {
        vocab_size: 30_522,
        hidden_size: 384,
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
