//! The model's `tokenizer.json`, of which only the vocabulary is needed: [`crate::wordpiece`] is the rest of it.

use std::collections::HashMap;

use serde::Deserialize;

use crate::{EmbedderError, WordPiece};

#[derive(Deserialize)]
struct TokenizerFile<'a> {
    #[serde(borrow)]
    model: VocabularyModel<'a>,
}

#[derive(Deserialize)]
struct VocabularyModel<'a> {
    #[serde(borrow)]
    vocab: HashMap<std::borrow::Cow<'a, str>, usize>,
}

/// Reads the tokenizer from the bytes of `tokenizer.json`.
pub(crate) fn from_json(json: &[u8]) -> Result<WordPiece, EmbedderError> {
    let load = |reason: String| EmbedderError::Load(format!("tokenizer.json: {reason}"));
    let file: TokenizerFile<'_> = serde_json::from_slice(json).map_err(|error| load(error.to_string()))?;
    let mut tokens = vec![""; file.model.vocab.len()];
    for (token, id) in &file.model.vocab {
        let place =
            tokens.get_mut(*id).ok_or_else(|| load(format!("the id {id} of {token:?} is too large")))?;
        *place = token;
    }
    WordPiece::from_vocabulary(tokens.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        from_json(json.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_is_not_the_models_vocabulary_is_refused() {
        assert!(error("{").contains("tokenizer.json"));
        assert!(error(r#"{"model": {"vocab": {"a": 5}}}"#).contains("the id 5"));
        assert!(error(r#"{"model": {"vocab": {"a": 0}}}"#).contains("1 tokens, expected 30522"));
    }
}
