//! A cross-encoder with random weights, saved in the layout of Hugging Face.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, serialize};
use serde_json::{Value, json};

pub(crate) const HIDDEN: usize = 384;
const INTERMEDIATE: usize = 1536;
const VOCABULARY_SIZE: usize = 30_522;
/// Id of `w0`, the first of the words `w0`, `w1`, … of the texts.
const FIRST_WORD: usize = 2000;
pub(crate) const WORDS: usize = VOCABULARY_SIZE - FIRST_WORD;
const CLS: u32 = 101;
const SEP: u32 = 102;

/// Tensors by name: shape and values.
pub(crate) type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// Adds a tensor of this name and shape with values of this mean and deviation.
type Add<'a> = &'a mut dyn FnMut(String, &[usize], f32, f32);

pub(crate) struct Checkpoint {
    pub(crate) config: Value,
    pub(crate) tensors: Tensors,
}

impl Checkpoint {
    /// Weights scaled like those of a trained BERT, the same for the same seed.
    pub(crate) fn random(layers: usize, positions: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let mut tensors = Tensors::new();
        let mut add = |name: String, shape: &[usize], mean: f32, deviation: f32| {
            let values = (0..shape.iter().product()).map(|_| mean + deviation * random.normal()).collect();
            tensors.insert(name, (shape.to_vec(), values));
        };
        let dense = |add: Add<'_>, name: &str, out: usize, depth: usize| {
            add(format!("{name}.weight"), &[out, depth], 0.0, 0.04);
            add(format!("{name}.bias"), &[out], 0.0, 0.05);
        };
        let norm = |add: Add<'_>, name: &str| {
            add(format!("{name}.LayerNorm.weight"), &[HIDDEN], 0.9, 0.1);
            add(format!("{name}.LayerNorm.bias"), &[HIDDEN], 0.0, 0.1);
        };
        let embeddings = "bert.embeddings";
        add(format!("{embeddings}.word_embeddings.weight"), &[VOCABULARY_SIZE, HIDDEN], 0.0, 0.05);
        add(format!("{embeddings}.position_embeddings.weight"), &[positions, HIDDEN], 0.0, 0.02);
        add(format!("{embeddings}.token_type_embeddings.weight"), &[2, HIDDEN], 0.0, 0.02);
        norm(&mut add, embeddings);
        for layer in 0..layers {
            let layer = format!("bert.encoder.layer.{layer}");
            for linear in ["query", "key", "value"] {
                dense(&mut add, &format!("{layer}.attention.self.{linear}"), HIDDEN, HIDDEN);
            }
            dense(&mut add, &format!("{layer}.attention.output.dense"), HIDDEN, HIDDEN);
            norm(&mut add, &format!("{layer}.attention.output"));
            dense(&mut add, &format!("{layer}.intermediate.dense"), INTERMEDIATE, HIDDEN);
            dense(&mut add, &format!("{layer}.output.dense"), HIDDEN, INTERMEDIATE);
            norm(&mut add, &format!("{layer}.output"));
        }
        dense(&mut add, "bert.pooler.dense", HIDDEN, HIDDEN);
        dense(&mut add, "classifier", 1, HIDDEN);
        Self { config: config(layers, positions), tensors }
    }

    /// Writes the checkpoint to a new folder.
    pub(crate) fn save(&self, name: &str) -> Folder {
        let folder = Folder::new(name);
        fs::write(folder.path().join("config.json"), self.config.to_string()).unwrap();
        fs::write(folder.path().join("tokenizer.json"), tokenizer().to_string()).unwrap();
        self.save_weights(&folder);
        folder
    }

    pub(crate) fn save_weights(&self, folder: &Folder) {
        fs::write(folder.path().join("model.safetensors"), self.weights()).unwrap();
    }

    /// The bytes of `model.safetensors`.
    pub(crate) fn weights(&self) -> Vec<u8> {
        let bytes: Vec<(&String, &Vec<usize>, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, (shape, values))| {
                (name, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
            })
            .collect();
        let views = bytes.iter().map(|(name, shape, bytes)| {
            (*name, TensorView::new(Dtype::F32, (*shape).clone(), bytes).unwrap())
        });
        serialize(views, None).unwrap()
    }
}

/// `config.json` of the published cross-encoders.
fn config(layers: usize, positions: usize) -> Value {
    json!({
        "architectures": ["BertForSequenceClassification"],
        "hidden_act": "gelu",
        "hidden_size": HIDDEN,
        "id2label": {"0": "LABEL_0"},
        "intermediate_size": INTERMEDIATE,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions,
        "model_type": "bert",
        "num_attention_heads": 12,
        "num_hidden_layers": layers,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": VOCABULARY_SIZE,
    })
}

/// A vocabulary of BERT's shape whose words are `w0`, `w1`, …
pub(crate) fn tokens() -> Vec<String> {
    let special = [(0, "[PAD]"), (100, "[UNK]"), (101, "[CLS]"), (102, "[SEP]"), (103, "[MASK]")];
    let token = |id: usize| match special.iter().find(|(special, _)| *special == id) {
        Some((_, token)) => (*token).to_owned(),
        None if id < FIRST_WORD => format!("[unused{id}]"),
        None => format!("w{}", id - FIRST_WORD),
    };
    (0..VOCABULARY_SIZE).map(token).collect()
}

fn tokenizer() -> Value {
    let vocabulary: BTreeMap<String, usize> =
        tokens().into_iter().enumerate().map(|(id, token)| (token, id)).collect();
    json!({
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": true,
            "handle_chinese_chars": true,
            "strip_accents": null,
            "lowercase": true,
        },
        "model": {"type": "WordPiece", "vocab": vocabulary},
    })
}

/// A text of these words.
pub(crate) fn text(words: &[usize]) -> String {
    words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
}

/// The expected token ids and token types of a pair.
pub(crate) fn pair(question: &[usize], passage: &[usize]) -> (Vec<u32>, Vec<u32>) {
    let ids = |words: &[usize]| words.iter().map(|word| (FIRST_WORD + word) as u32).collect::<Vec<u32>>();
    let first = [&[CLS], ids(question).as_slice(), &[SEP]].concat();
    let second = [ids(passage).as_slice(), &[SEP]].concat();
    let types = [vec![0; first.len()], vec![1; second.len()]].concat();
    ([first, second].concat(), types)
}

/// A folder for one test, deleted after it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("evidence-chat-reader-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..below`.
    pub(crate) fn below(&mut self, below: usize) -> usize {
        (self.next() % below as u64) as usize
    }

    /// Mean 0 and variance 1: the sum of twelve uniform numbers, minus its mean.
    fn normal(&mut self) -> f32 {
        let sixteen_bits = |bits: u64, part: u32| ((bits >> (16 * part)) & 0xffff) as f32 / 65_536.0;
        let sum: f32 = (0..3)
            .map(|_| {
                let bits = self.next();
                (0..4).map(|part| sixteen_bits(bits, part)).sum::<f32>()
            })
            .sum();
        sum - 6.0
    }

    /// `count` random words.
    pub(crate) fn words(&mut self, count: usize) -> Vec<usize> {
        (0..count).map(|_| self.below(WORDS)).collect()
    }
}
