//! Text → WordPiece token ids, as sentence-transformers makes them.

use crate::{EmbedderError, MAX_TOKENS};

pub(crate) struct Tokenizer(tokenizers::Tokenizer);

pub(crate) struct Tokens {
    /// [CLS] … [SEP], at most [`MAX_TOKENS`].
    pub(crate) ids: Vec<u32>,
    pub(crate) untruncated_len: usize,
}

impl Tokenizer {
    pub(crate) fn from_json(json: &[u8]) -> Result<Self, EmbedderError> {
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(json)
            .map_err(|error| EmbedderError::Load(error.to_string()))?;
        // The published file pads and truncates to 128 tokens; the model was made for 256 and needs no padding.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| EmbedderError::Load(error.to_string()))?;
        Ok(Self(tokenizer))
    }

    pub(crate) fn encode(&self, text: &str) -> Result<Tokens, EmbedderError> {
        let encoding =
            self.0.encode_fast(text, true).map_err(|error| EmbedderError::Tokenize(error.to_string()))?;
        let mut ids = encoding.get_ids().to_vec();
        let untruncated_len = ids.len();
        if untruncated_len > MAX_TOKENS {
            let sep = ids.split_off(untruncated_len - 1);
            ids.truncate(MAX_TOKENS - 1);
            ids.extend(sep);
        }
        Ok(Tokens { ids, untruncated_len })
    }
}
