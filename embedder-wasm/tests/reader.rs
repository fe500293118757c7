//! The reader: hostile files, truncation of pairs, and that a score depends only on its pair.
//!
//! The reader here is made up from the embedder's file; `quantize/tests/reader` compares scores with candle's BERT. Needs
//! the model (`cargo xtask setup`).

mod model;

use std::path::Path;
use std::sync::OnceLock;

use embedder::{Embedder, EmbedderError, Reader, ReaderError, VocabularyError};
use model::{Model, real_file};
use proptest::prelude::*;
use serde_json::json;
use tokenizers::{Tokenizer, TruncationParams, TruncationStrategy};

const QUESTION: &str = "Can I get my money back?";
const PASSAGE: &str = "Returns are free within 30 days of delivery.";
const LINEAR: &str = "encoder.layer.3.attention.output.dense";

#[test]
fn reader_and_embedder_reject_files_of_the_other_kind() {
    let error = load_error(real_file().to_vec());
    assert!(matches!(error, ReaderError::NotAReader { kind: None }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("the embedder's") && message.contains("quantize-model reader"), "{message}");

    let error = Embedder::from_trusted(reader_file().to_vec()).err().unwrap();
    assert!(matches!(&error, EmbedderError::WrongKind { actual } if actual.as_deref() == Some("reader")));
    let message = error.to_string();
    assert!(message.contains("\"reader\"") && message.contains(embedder::MODEL_FILE), "{message}");

    let mut model = Model::reader();
    model.metadata["kind"] = json!("translator");
    let error = load_error(model.to_bytes());
    assert!(matches!(&error, ReaderError::NotAReader { kind } if kind.as_deref() == Some("translator")));
    assert!(error.to_string().contains("translator"), "{error}");
}

#[test]
fn a_missing_file_is_named_in_the_error() {
    let error = Reader::from_file(Path::new("no-such-folder/reader.safetensors")).err().unwrap();
    assert!(matches!(error, ReaderError::Io { .. }));
    assert!(error.to_string().contains("no-such-folder/reader.safetensors"), "{error}");
}

#[test]
fn a_truncated_or_extended_file_is_rejected() {
    let file = reader_file();
    for length in [0, 7, 8, 9, 1000, file.len() / 2, file.len() - 1] {
        assert_damaged(file[..length].to_vec(), "it is not a safetensors file");
    }
    assert_damaged([file, &[0]].concat(), "it is not a safetensors file");
}

#[test]
fn layers_and_positions_must_be_numbers_that_the_engine_can_run() {
    for (key, wrong) in [
        (
            "layers",
            vec![
                json!("0"),
                json!("13"),
                json!("-1"),
                json!("six"),
                json!(""),
                json!("99999999999999999999"),
            ],
        ),
        ("positions", vec![json!("2"), json!("513"), json!("256.0")]),
    ] {
        for value in wrong {
            let mut model = Model::reader();
            model.metadata[key] = value;
            assert_damaged(model.to_bytes(), &format!("its {key} are "));
        }
        let mut model = Model::reader();
        model.metadata.as_object_mut().unwrap().remove(key);
        assert_damaged(model.to_bytes(), &format!("its {key} are None"));
    }
    let with = |key: &str, value: &str| {
        let mut model = Model::reader();
        model.metadata[key] = json!(value);
        model.to_bytes()
    };
    assert_damaged(with("layers", "7"), "encoder.layer.6.attention.self.wide_columns is missing");
    assert_damaged(with("positions", "255"), "embeddings.position_embeddings.weight is F32 [256, 384]");
    assert!(Reader::from_bytes(with("layers", "2")).is_ok());
}

#[test]
fn a_reader_of_12_layers_and_512_positions_is_accepted() {
    let mut model = Model::reader();
    let layers: Vec<(String, String, Vec<u64>, Vec<u8>)> = model
        .tensors
        .iter()
        .filter_map(|tensor| {
            let (layer, rest) = tensor.name.strip_prefix("encoder.layer.")?.split_once('.')?;
            let name = format!("encoder.layer.{}.{rest}", layer.parse::<usize>().unwrap() + 6);
            Some((name, tensor.dtype.clone(), tensor.shape.clone(), tensor.data.clone()))
        })
        .collect();
    layers.into_iter().for_each(|(name, dtype, shape, data)| model.add(&name, &dtype, &shape, data));
    let positions = model.tensor("embeddings.position_embeddings.weight");
    positions.data = positions.data.repeat(2);
    positions.shape = vec![512, 384];
    (model.metadata["layers"], model.metadata["positions"]) = (json!("12"), json!("512"));
    let mut reader = Reader::from_bytes(model.to_bytes()).unwrap();
    assert_eq!(reader.max_tokens(), 512);
    let long = "refund ".repeat(600);
    assert_eq!(reader.token_ids(QUESTION, &long).len(), 512);
    assert!(reader.score(QUESTION, &long).is_finite());
}

/// The working memory has one row per position, a number that need not be a multiple of what kernels process at once.
#[test]
fn every_number_of_positions_has_room_for_full_pairs() {
    for count in [3_u64, 4, 31, 33, 65, 100, 255] {
        let mut model = Model::reader();
        let positions = model.tensor("embeddings.position_embeddings.weight");
        positions.data.truncate(count as usize * 384 * 4);
        positions.shape = vec![count, 384];
        model.metadata["positions"] = json!(count.to_string());
        let mut reader = Reader::from_bytes(model.to_bytes()).unwrap();
        let long = "refund ".repeat(300);
        assert_eq!(reader.token_ids(&long, &long).len() as u64, count);
        let scores = reader.score_batch(&long, &[&long, "", "free"]);
        assert!(scores.iter().all(|score| score.is_finite()), "{count} positions: {scores:?}");
    }
}

#[test]
fn a_missing_tensor_is_rejected() {
    // All layers have the same tensors: one layer is enough.
    let names = Model::reader().tensors.into_iter().map(|tensor| tensor.name);
    for name in names.filter(|name| !name.contains("layer.") || name.contains("layer.1.")) {
        let mut model = Model::reader();
        model.tensors.retain(|tensor| tensor.name != name);
        assert_damaged(model.to_bytes(), &format!("{name} is missing"));
    }
}

#[test]
fn a_tensor_of_the_wrong_type_or_shape_is_rejected() {
    let types = "embeddings.token_type_embeddings.weight".to_owned();
    let (scale, pooler) = (format!("{LINEAR}.scale"), "pooler.dense.weight".to_owned());
    for (name, shape) in [
        (&types, vec![1, 384]),
        (&types, vec![384, 2]),
        (&types, vec![768]),
        (&scale, vec![1]), // as the embedder's
        (&scale, vec![385]),
        (&pooler, vec![384, 383]),
        (&pooler, vec![147_456]),
        (&"pooler.dense.bias".to_owned(), vec![1, 384]),
        (&"classifier.weight".to_owned(), vec![2, 384]),
        (&"classifier.weight".to_owned(), vec![384]),
        (&"classifier.bias".to_owned(), vec![2]),
        (&"classifier.bias".to_owned(), vec![0]),
    ] {
        let mut model = Model::reader();
        let tensor = model.tensor(name);
        tensor.data.resize(shape.iter().product::<u64>() as usize * 4, 0);
        tensor.shape.clone_from(&shape);
        assert_damaged(model.to_bytes(), &format!("{name} is F32 {shape:?}, expected"));
    }
    for name in [types, scale, pooler] {
        let mut model = Model::reader();
        model.tensor(&name).dtype = "I32".to_owned();
        assert_damaged(model.to_bytes(), &format!("{name} is I32"));
    }
}

#[test]
fn floats_must_be_finite() {
    for name in ["embeddings.token_type_embeddings.weight", "pooler.dense.weight", "classifier.bias"] {
        for value in [f32::NAN, f32::INFINITY] {
            let mut model = Model::reader();
            model.tensor(name).data[..4].copy_from_slice(&value.to_le_bytes());
            assert_damaged(model.to_bytes(), &format!("{name} has values that are not finite"));
        }
    }
}

/// Finite, but far from those of a model. There is no right score.
#[test]
fn extreme_floats_do_not_panic() {
    for name in ["pooler.dense.weight", "classifier.weight", "embeddings.token_type_embeddings.weight"] {
        for value in [f32::MAX, f32::MIN, 1e30, f32::MIN_POSITIVE / 2.0, 0.0] {
            let mut model = Model::reader();
            model.tensor(name).data.as_chunks_mut::<4>().0.fill(value.to_le_bytes());
            let mut reader = Reader::from_bytes(model.to_bytes()).unwrap();
            assert_eq!(reader.score_batch(QUESTION, &["", PASSAGE]).len(), 2, "{name} {value}");
        }
    }
}

#[test]
fn another_vocabulary_is_rejected() {
    let mut model = Model::reader();
    let vocabulary = model.tensor("tokenizer.vocabulary");
    vocabulary.data.extend(b"\nmore");
    vocabulary.shape = vec![vocabulary.data.len() as u64];
    let error = load_error(model.to_bytes());
    assert!(
        matches!(error, ReaderError::Vocabulary(VocabularyError::TokenCount { actual: 30_523 })),
        "{error:?}"
    );
}

#[test]
fn a_pair_is_cls_question_sep_passage_sep() {
    let reader = load();
    let (question, passage) = (ids_of_text(QUESTION), ids_of_text(PASSAGE));
    assert_eq!(reader.token_ids(QUESTION, PASSAGE), [question.as_slice(), &passage[1..]].concat());
    assert_eq!(reader.token_ids("", ""), [101, 102, 102]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// sentence-transformers' `CrossEncoder` truncates pairs "longest first" with the `tokenizers` crate.
    #[test]
    fn pairs_are_truncated_like_the_reference(question in 0_usize..600, passage in 0_usize..600) {
        let (question, passage) = ("hello ".repeat(question), "world ".repeat(passage));
        prop_assert_eq!(load().token_ids(&question, &passage), reference_ids(&question, &passage));
    }
}

#[test]
fn pairs_around_the_limit_are_truncated_like_the_reference() {
    let near = [0, 1, 125, 126, 127, 128, 129, 252, 253, 254, 255, 256, 600];
    for (question, passage) in near.into_iter().flat_map(|a| near.map(|b| (a, b))) {
        let (question, passage) = ("hello ".repeat(question), "world ".repeat(passage));
        assert_eq!(load().token_ids(&question, &passage), reference_ids(&question, &passage));
    }
}

#[test]
fn truncated_text_does_not_change_the_score() {
    let mut reader = load().clone();
    let room = 256 - reader.token_ids(QUESTION, "").len();
    // Each of these words is one token.
    let ending = |last: &str, rest: &str| format!("{} {last} {rest}", "hello ".repeat(room - 1));
    let full = reader.score(QUESTION, &ending("policy", ""));
    assert_eq!(reader.token_ids(QUESTION, &ending("policy", "")).len(), 256);
    assert_eq!(reader.score(QUESTION, &ending("policy", "not read any more")), full);
    assert_ne!(reader.score(QUESTION, &ending("apple", "")), full);
}

#[test]
fn a_score_depends_only_on_its_pair() {
    let mut reader = load().clone();
    let long = format!("{PASSAGE} ").repeat(40);
    let passages = [PASSAGE, "", &long, "Shipping is free.", PASSAGE, &long[..300], "中", "a b c"];
    let alone: Vec<f32> = passages.iter().map(|passage| load().clone().score(QUESTION, passage)).collect();
    assert_eq!(alone[0], alone[4]);
    assert_eq!(reader.score_batch(QUESTION, &passages), alone);
    assert_eq!(passages.map(|passage| reader.score(QUESTION, passage)).to_vec(), alone);
    let many = passages.repeat(20);
    assert_eq!(reader.score_batch(QUESTION, &many), alone.repeat(20));
    assert!(reader.score_batch::<&str>(QUESTION, &[]).is_empty());
}

#[test]
fn swapping_question_and_passage_changes_the_score() {
    let mut reader = load().clone();
    assert_ne!(reader.score(QUESTION, PASSAGE), reader.score(PASSAGE, QUESTION));
    // Each of the two token types affects the score.
    for token_type in [0, 1] {
        let mut model = Model::reader();
        let types = model.tensor("embeddings.token_type_embeddings.weight").data.as_chunks_mut::<4>().0;
        types[token_type * 384..][..384].fill(0.5_f32.to_le_bytes());
        types[token_type * 384] = 0_f32.to_le_bytes();
        let mut other = Reader::from_bytes(model.to_bytes()).unwrap();
        assert_ne!(
            other.score(QUESTION, PASSAGE),
            reader.score(QUESTION, PASSAGE),
            "token type {token_type}"
        );
    }
}

fn reader_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| Model::reader().to_bytes())
}

fn load() -> &'static Reader {
    static READER: OnceLock<Reader> = OnceLock::new();
    READER.get_or_init(|| Reader::from_bytes(reader_file().to_vec()).unwrap())
}

fn ids_of_text(text: &str) -> Vec<u32> {
    static EMBEDDER: OnceLock<Embedder> = OnceLock::new();
    EMBEDDER.get_or_init(|| Embedder::new(real_file().to_vec()).unwrap()).token_ids(text)
}

/// The ids of the `tokenizers` crate with the model's own tokenizer.json.
fn reference_ids(question: &str, passage: &str) -> Vec<u32> {
    static REFERENCE: OnceLock<Tokenizer> = OnceLock::new();
    let reference = REFERENCE.get_or_init(|| {
        let file = embedder::model_dir().join("tokenizer.json");
        let mut tokenizer =
            Tokenizer::from_file(file).expect("tokenizer.json; run `cargo xtask setup model`");
        let truncation = TruncationParams {
            max_length: 256,
            strategy: TruncationStrategy::LongestFirst,
            ..TruncationParams::default()
        };
        tokenizer.with_padding(None).with_truncation(Some(truncation)).unwrap();
        tokenizer
    });
    reference.encode((question, passage), true).unwrap().get_ids().to_vec()
}

fn load_error(bytes: Vec<u8>) -> ReaderError {
    Reader::from_bytes(bytes).err().expect("the file should have been rejected")
}

fn assert_damaged(bytes: Vec<u8>, what: &str) {
    let error = load_error(bytes);
    assert!(matches!(error, ReaderError::Damaged(_)), "{error:?}, expected one about {what:?}");
    let message = error.to_string();
    assert!(message.contains(what), "{message:?}, expected one about {what:?}");
    assert!(message.contains("quantize-model reader"), "{message:?} does not say what to do");
}
