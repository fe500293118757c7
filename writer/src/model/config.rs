use crate::ModelError;
use crate::gguf::Metadata;
use crate::kernels::{BLOCK, LANES};

/// Tokens of prompt and answer, whatever the model was trained for: memory and time grow with them.
pub(crate) const MAX_CONTEXT: usize = 4096;

/// The shape of a model.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) layers: usize,
    pub(crate) context: usize,
    /// Floats of a token between the layers.
    pub(crate) width: usize,
    pub(crate) feed_forward: usize,
    /// Heads of keys and values; each serves as many heads as `group` says.
    pub(crate) key_heads: usize,
    pub(crate) group: usize,
    pub(crate) head_width: usize,
    /// The first floats of a head that encode the position.
    pub(crate) rotary: usize,
    pub(crate) rotary_base: f32,
    pub(crate) epsilon: f32,
}

impl Config {
    pub(crate) fn new(metadata: &Metadata) -> Result<Self, ModelError> {
        let architecture = metadata.text("general.architecture")?;
        if architecture != "llama" {
            return Err(ModelError::Architecture(architecture.to_owned()));
        }
        if metadata.count("llama.expert_count", usize::MAX).is_ok() {
            return Err(ModelError::Unsupported("several experts".to_owned()));
        }
        let scaling = metadata.optional_text("llama.rope.scaling.type").unwrap_or("none");
        if scaling != "none" {
            return Err(ModelError::Unsupported(format!("the scaling of positions {scaling:?}")));
        }
        let width = metadata.count("llama.embedding_length", 1 << 16)?;
        let heads = metadata.count("llama.attention.head_count", 1 << 10)?;
        let optional = |key: &str, default: usize, max| {
            if metadata.has(key) { metadata.count(key, max) } else { Ok(default) }
        };
        let key_heads = optional("llama.attention.head_count_kv", heads, heads)?;
        let head_width = optional("llama.attention.key_length", width / heads, width)?;
        let value_width = optional("llama.attention.value_length", head_width, width)?;
        let feed_forward = metadata.count("llama.feed_forward_length", 1 << 20)?;
        let has_fitting_heads = heads * head_width == width
            && value_width == head_width
            && heads.is_multiple_of(key_heads)
            && head_width.is_multiple_of(LANES);
        if !has_fitting_heads {
            let shape = format!("{heads} and {key_heads} heads of {head_width} in a width of {width}");
            return Err(ModelError::Unsupported(shape));
        }
        if !width.is_multiple_of(BLOCK) || !feed_forward.is_multiple_of(BLOCK) {
            let shape = format!("widths of {width} and {feed_forward}, which are not multiples of {BLOCK}");
            return Err(ModelError::Unsupported(shape));
        }
        let rotary = optional("llama.rope.dimension_count", head_width, head_width)?;
        if !rotary.is_multiple_of(2) {
            return Err(ModelError::Unsupported(format!("positions in {rotary} dimensions")));
        }
        let rotary_base = "llama.rope.freq_base";
        Ok(Self {
            layers: metadata.count("llama.block_count", 1 << 10)?,
            context: metadata.count("llama.context_length", usize::MAX)?.min(MAX_CONTEXT),
            width,
            feed_forward,
            key_heads,
            group: heads / key_heads,
            head_width,
            rotary,
            rotary_base: if metadata.has(rotary_base) { metadata.float(rotary_base)? } else { 10_000.0 },
            epsilon: metadata.float("llama.attention.layer_norm_rms_epsilon")?,
        })
    }

    /// Floats of all keys, or all values, of a token in one layer.
    pub(crate) fn key_width(&self) -> usize {
        self.key_heads * self.head_width
    }
}
