//! `quantize-model reader`: compares converted checkpoints with candle's BERT in f32, and checks that checkpoints which the
//! engine cannot run are rejected.
//!
//! Needs no model: the weights are random, in the shape of the published cross-encoders.

mod checkpoint;
mod oracle;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use checkpoint::{Checkpoint, Folder, Random, pair, text, tokens};
use embedder::Reader;
use oracle::Oracle;
use serde_json::json;

/// Lower bound of the correlation between exact and converted scores.
const MIN_CORRELATION: f64 = 0.999;
/// Upper bound of the error of a score, in standard deviations of the exact scores.
const MAX_ERROR: f64 = 0.15;

#[test]
fn scores_follow_the_f32_model_in_value_and_order() {
    let checkpoint = Checkpoint::random(6, 512, 1);
    let folder = checkpoint.save("parity");
    let (mut reader, oracle) = (convert(&folder), Oracle::new(&checkpoint));

    let mut random = Random(2);
    let mut pairs = Vec::new();
    for length in (4..180).step_by(4) {
        let question = 1 + random.below(20);
        pairs.push((random.words(question), random.words(length)));
    }
    assert!(pairs.len() >= 40);
    let exact: Vec<f64> =
        pairs.iter().map(|(question, passage)| f64::from(oracle.score(&pair(question, passage)))).collect();
    let scores: Vec<f64> = pairs
        .iter()
        .map(|(question, passage)| f64::from(reader.score(&text(question), &text(passage))))
        .collect();

    let (deviation, error) = (standard_deviation(&exact), max_error(&exact, &scores));
    let correlation = correlation(&exact, &scores);
    eprintln!(
        "{} pairs: correlation {correlation:.6}, largest error {error:.5}, exact scores deviate by {deviation:.5}",
        pairs.len()
    );
    assert!(correlation >= MIN_CORRELATION, "{correlation}");
    assert!(error <= MAX_ERROR * deviation, "{error}, the scores deviate by {deviation}");
    // Errors may only swap pairs with similar scores.
    for (a, b) in (0..pairs.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        if (exact[a] - exact[b]).abs() > 2.0 * MAX_ERROR * deviation {
            assert_eq!(exact[a] > exact[b], scores[a] > scores[b], "pairs {a} and {b} change places");
        }
    }
}

#[test]
fn question_and_passage_have_their_own_token_types() {
    let checkpoint = Checkpoint::random(2, 64, 3);
    let folder = checkpoint.save("types");
    let (mut reader, oracle) = (convert(&folder), Oracle::new(&checkpoint));
    let mut random = Random(4);
    let (question, passage) = (random.words(5), random.words(12));

    let mut check = |first: &[usize], second: &[usize]| {
        let (ids, types) = pair(first, second);
        let exact = oracle.score(&(ids.clone(), types));
        let without_types = oracle.score(&(ids.clone(), vec![0; ids.len()]));
        assert_eq!(reader.token_ids(&text(first), &text(second)), ids);
        let score = reader.score(&text(first), &text(second));
        let (error, effect) = ((score - exact).abs(), (score - without_types).abs());
        assert!(error < effect / 5.0, "{score}, expected {exact}; without token types {without_types}");
        score
    };
    let (forwards, backwards) = (check(&question, &passage), check(&passage, &question));
    assert!((forwards - backwards).abs() > 0.01, "{forwards} both ways");
}

#[test]
fn a_pair_longer_than_the_positions_is_truncated() {
    let checkpoint = Checkpoint::random(2, 64, 5);
    let folder = checkpoint.save("truncation");
    let (mut reader, oracle) = (convert(&folder), Oracle::new(&checkpoint));
    assert_eq!(reader.max_tokens(), 64);
    let mut random = Random(6);
    // The longer text is truncated first, then both equally; 61 of 64 tokens belong to the texts.
    for ([question, passage], [in_question, in_passage]) in [
        ([10, 51], [10, 51]),
        ([10, 52], [10, 51]),
        ([10, 400], [10, 51]),
        ([400, 10], [51, 10]),
        ([90, 400], [30, 31]),
    ] {
        let (question, passage) = (random.words(question), random.words(passage));
        let read = pair(&question[..in_question], &passage[..in_passage]);
        assert_eq!(reader.token_ids(&text(&question), &text(&passage)), read.0);
        let score = reader.score(&text(&question), &text(&passage));
        assert_eq!(score, reader.score(&text(&question[..in_question]), &text(&passage[..in_passage])));
        assert!((score - oracle.score(&read)).abs() < 0.02, "{score}, expected {}", oracle.score(&read));
    }
}

#[test]
fn vocab_txt_replaces_a_missing_tokenizer_json_and_the_output_is_deterministic() {
    let folder = Checkpoint::random(2, 16, 7).save("vocabulary");
    convert(&folder);
    let first = fs::read(folder.path().join("out")).unwrap();
    convert(&folder);
    assert!(fs::read(folder.path().join("out")).unwrap() == first);
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    assert_rejected(&folder, "neither tokenizer.json nor vocab.txt");
    fs::write(folder.path().join("vocab.txt"), tokens().join("\n") + "\n").unwrap();
    convert(&folder);
    assert!(fs::read(folder.path().join("out")).unwrap() == first);
}

#[test]
fn checkpoints_that_the_engine_cannot_run_are_rejected_with_the_reason() {
    let good = || Checkpoint::random(2, 16, 8);
    let folder = good().save("rejected");
    type Change = fn(&mut Checkpoint);
    let cases: [(Change, &str); 7] = [
        (|c| drop(c.tensors.remove("bert.pooler.dense.weight")), "the weights lack bert.pooler.dense.weight"),
        (|c| drop(c.tensors.remove("classifier.bias")), "the weights lack classifier.bias"),
        (
            |c| drop(c.tensors.remove("bert.encoder.layer.1.output.LayerNorm.bias")),
            "the weights lack bert.encoder.layer.1.output.LayerNorm.bias",
        ),
        (
            |c| drop(c.tensors.insert("classifier.weight".into(), (vec![2, 384], vec![0.0; 768]))),
            "classifier.weight has the shape [2, 384], expected [1, 384]",
        ),
        (
            |c| {
                let name = "bert.embeddings.token_type_embeddings.weight";
                c.tensors.insert(name.into(), (vec![1, 384], vec![0.0; 384]));
            },
            "bert.embeddings.token_type_embeddings.weight has the shape [1, 384], expected [2, 384]",
        ),
        (
            |c| {
                let name = "bert.encoder.layer.0.attention.self.query.bias";
                c.tensors.insert(name.into(), (vec![1, 384], vec![0.0; 384]));
            },
            "query.bias has the shape [1, 384], expected [384]",
        ),
        (
            |c| c.tensors.get_mut("bert.pooler.dense.bias").unwrap().1[7] = f32::NAN,
            "bert.pooler.dense.bias has values that are not finite",
        ),
    ];
    for (change, reason) in cases {
        let mut checkpoint = good();
        change(&mut checkpoint);
        checkpoint.save_weights(&folder);
        assert_rejected(&folder, reason);
    }
    good().save_weights(&folder);
    convert(&folder);

    let mut config = good().config;
    config["hidden_size"] = json!(768);
    config["num_hidden_layers"] = json!(24);
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    assert_rejected(&folder, "hidden_size is 768, expected 384; num_hidden_layers is 24, expected 2 to 12");
    fs::write(folder.path().join("config.json"), good().config.to_string()).unwrap();

    fs::write(folder.path().join("model.safetensors"), b"not weights").unwrap();
    assert_rejected(&folder, "the weights are not a safetensors file");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    assert_rejected(&folder, "safe_serialization=True");
    fs::remove_file(folder.path().join("config.json")).unwrap();
    assert_rejected(&folder, "config.json");
}

#[test]
fn another_vocabulary_is_rejected() {
    let folder = Checkpoint::random(2, 16, 9).save("other-vocabulary");
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    fs::write(folder.path().join("vocab.txt"), tokens()[..30_000].join("\n")).unwrap();
    assert_rejected(&folder, "it has 30000 tokens, expected 30522");
}

/// Converts the checkpoint of a folder to `out` in it.
fn convert(folder: &Folder) -> Reader {
    let output = run(folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Reader::from_file(&folder.path().join("out")).unwrap()
}

fn assert_rejected(folder: &Folder, reason: &str) {
    let output = run(folder.path());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains(reason), "{message:?}, expected {reason:?}");
}

fn run(folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quantize-model"))
        .args(["reader", "--checkpoint"])
        .arg(folder)
        .arg("--out")
        .arg(folder.join("out"))
        .output()
        .unwrap()
}

fn standard_deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    mean_of(values.iter().map(|value| (value - mean) * (value - mean)), values.len()).sqrt()
}

fn max_error(exact: &[f64], actual: &[f64]) -> f64 {
    exact.iter().zip(actual).map(|(exact, actual)| (exact - actual).abs()).fold(0.0, f64::max)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let covariance = mean_of(a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)), a.len());
    covariance / (standard_deviation(a) * standard_deviation(b))
}

fn mean(values: &[f64]) -> f64 {
    mean_of(values.iter().copied(), values.len())
}

fn mean_of(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}
