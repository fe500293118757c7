//! Reads a cross-encoder in the layout of Hugging Face's `BertForSequenceClassification`: a folder with `config.json`,
//! `model.safetensors`, and `tokenizer.json` or `vocab.txt`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::recipe::{HIDDEN, INTERMEDIATE, VOCABULARY_SIZE};

/// Layers and positions that the engine supports. Fewer positions than the shortest useful pair are a mistake.
const LAYERS: std::ops::RangeInclusive<u64> = 2..=12;
const POSITIONS: std::ops::RangeInclusive<u64> = 16..=512;

/// The content of a folder. The tensors are not checked yet.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) layers: usize,
    pub(crate) positions: usize,
    /// The bytes of `model.safetensors`.
    pub(crate) weights: Vec<u8>,
    /// The tokens in the order of their ids, one per line.
    pub(crate) vocabulary: String,
}

impl Checkpoint {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let config = json_file(&folder.join("config.json"))?;
        check_config(&config)?;
        let number = |key: &str| config[key].as_u64().unwrap_or_default() as usize;
        let vocabulary = vocabulary(folder)?;
        let weights = folder.join("model.safetensors");
        let weights = fs::read(&weights).with_context(|| {
            format!(
                "cannot read {}; to convert a checkpoint of another format, save it with \
                 `save_pretrained(folder, safe_serialization=True)` of transformers",
                weights.display()
            )
        })?;
        Ok(Self {
            layers: number("num_hidden_layers"),
            positions: number("max_position_embeddings"),
            weights,
            vocabulary,
        })
    }
}

/// Rejects a model that the engine would compute wrongly, and names all differences.
fn check_config(config: &Value) -> Result<()> {
    let mut differences = Vec::new();
    let mut expect = |key: &str, is_right: bool, expected: &str| {
        if !is_right {
            differences.push(format!("{key} is {}, expected {expected}", config[key]));
        }
    };
    let is = |key: &str, expected: Value| config[key] == expected;
    let within = |key: &str, range: std::ops::RangeInclusive<u64>| {
        config[key].as_u64().is_some_and(|number| range.contains(&number))
    };
    expect("model_type", is("model_type", json!("bert")), "\"bert\"");
    expect("hidden_size", is("hidden_size", json!(HIDDEN)), "384");
    expect("num_attention_heads", is("num_attention_heads", json!(12)), "12");
    expect("intermediate_size", is("intermediate_size", json!(INTERMEDIATE)), "1536");
    expect("vocab_size", is("vocab_size", json!(VOCABULARY_SIZE)), "30522");
    expect("type_vocab_size", is("type_vocab_size", json!(2)), "2");
    expect("hidden_act", is("hidden_act", json!("gelu")), "\"gelu\"");
    expect("layer_norm_eps", is("layer_norm_eps", json!(1e-12)), "1e-12");
    expect("num_hidden_layers", within("num_hidden_layers", LAYERS), "2 to 12");
    expect("max_position_embeddings", within("max_position_embeddings", POSITIONS), "16 to 512");
    // Older files lack this key and mean "absolute".
    let position_type = &config["position_embedding_type"];
    expect(
        "position_embedding_type",
        position_type.is_null() || *position_type == "absolute",
        "\"absolute\"",
    );
    // Transformers writes one of the two, or the default of two labels.
    let labels = config["id2label"].as_object().map(serde_json::Map::len);
    expect("id2label", labels == Some(1) || is("num_labels", json!(1)), "one label, as in cross-encoders");
    ensure!(
        differences.is_empty(),
        "the engine cannot run this model: config.json differs in {}: {}",
        if differences.len() == 1 { "one place" } else { "several places" },
        differences.join("; ")
    );
    Ok(())
}

/// The tokens, from `tokenizer.json` or, without it, `vocab.txt`. The engine rejects any but BERT's (uncased).
fn vocabulary(folder: &Path) -> Result<String> {
    let (tokenizer, list) = (folder.join("tokenizer.json"), folder.join("vocab.txt"));
    if tokenizer.exists() {
        let bytes = fs::read(&tokenizer).with_context(|| format!("cannot read {}", tokenizer.display()))?;
        check_normalizer(&bytes)?;
        return crate::source::vocabulary(&bytes);
    }
    if !list.exists() {
        bail!("{} has neither tokenizer.json nor vocab.txt", folder.display());
    }
    let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    Ok(text.lines().collect::<Vec<_>>().join("\n"))
}

/// The engine's tokenizer ignores case and accents.
fn check_normalizer(tokenizer_json: &[u8]) -> Result<()> {
    let tokenizer: Value = serde_json::from_slice(tokenizer_json).context("the tokenizer is not JSON")?;
    let normalizer = &tokenizer["normalizer"];
    ensure!(
        normalizer["lowercase"] == true
            && ["strip_accents", "clean_text", "handle_chinese_chars"]
                .iter()
                .all(|key| normalizer[key] != false),
        "tokenizer.json has the normalizer {normalizer}, expected BERT's for text without case and accents"
    );
    Ok(())
}

fn json_file(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the published cross-encoders' `config.json` that is read.
    fn published() -> Value {
        json!({
            "architectures": ["BertForSequenceClassification"],
            "model_type": "bert",
            "hidden_size": 384,
            "num_attention_heads": 12,
            "num_hidden_layers": 6,
            "intermediate_size": 1536,
            "vocab_size": 30522,
            "type_vocab_size": 2,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": 512,
            "position_embedding_type": "absolute",
            "id2label": {"0": "LABEL_0"},
        })
    }

    #[test]
    fn the_published_configuration_is_accepted_with_2_to_12_layers() {
        check_config(&published()).unwrap();
        for (layers, is_right) in [(1, false), (2, true), (12, true), (13, false)] {
            let mut config = published();
            config["num_hidden_layers"] = json!(layers);
            assert_eq!(check_config(&config).is_ok(), is_right, "{layers} layers");
        }
        let mut old = published();
        old.as_object_mut().unwrap().remove("position_embedding_type");
        check_config(&old).unwrap();
    }

    #[test]
    fn every_difference_is_named_with_the_expected_value() {
        let mut config = published();
        for (key, value) in [
            ("model_type", json!("roberta")),
            ("hidden_size", json!(768)),
            ("num_attention_heads", json!(6)),
            ("intermediate_size", json!(3072)),
            ("vocab_size", json!(28996)),
            ("type_vocab_size", json!(1)),
            ("hidden_act", json!("relu")),
            ("layer_norm_eps", json!(1e-5)),
            ("num_hidden_layers", json!("6")),
            ("max_position_embeddings", json!(514)),
            ("position_embedding_type", json!("relative_key")),
            ("id2label", json!({"0": "no", "1": "yes"})),
        ] {
            let mut one = published();
            one[key] = value.clone();
            let error = check_config(&one).unwrap_err().to_string();
            assert!(error.contains(&format!("differs in one place: {key} is {value}, expected")), "{error}");
            config[key] = value;
        }
        let error = check_config(&config).unwrap_err().to_string();
        assert!(error.contains("several places") && error.matches(", expected").count() == 12, "{error}");
    }

    #[test]
    fn a_tokenizer_that_keeps_case_or_accents_is_rejected() {
        let check =
            |normalizer: &str| check_normalizer(format!("{{\"normalizer\": {normalizer}}}").as_bytes());
        check(r#"{"type": "BertNormalizer", "lowercase": true, "strip_accents": null}"#).unwrap();
        for wrong in [
            "null",
            r#"{"lowercase": false}"#,
            r#"{"lowercase": true, "strip_accents": false}"#,
            r#"{"lowercase": true, "handle_chinese_chars": false}"#,
        ] {
            let error = check(wrong).unwrap_err().to_string();
            assert!(error.contains("without case and accents"), "{error}");
        }
    }
}
