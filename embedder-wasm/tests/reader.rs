//! The reader: scores like those of the model in f32, hostile files, and that a score depends only on question and passage.
//!
//! `tests/reader.json` has what the training code says (`training/reader/golden.py`). Needs the model (`cargo xtask setup`)
//! and the reader's file.

mod model;

use std::path::Path;
use std::sync::OnceLock;

use embedder::{Embedder, EmbedderError, Passage, Reader};
use model::{Model, golden_readings, reader_file, real_file};
use proptest::prelude::*;
use serde_json::json;

const QUESTION: &str = "Can I get my money back?";
const HEADING: &str = "Refunds and returns › Return period";
const STATEMENTS: [&str; 3] = [
    "You can return any unused item and get your money back within 30 days of delivery.",
    "The return period starts on the day the parcel is delivered.",
    "Orders placed in December can be returned until 31 January.",
];
const LINEAR: &str = "encoder.layer.3.attention.output.dense";

/// Upper bounds of the error of z.
const MAX_MEAN_ERROR: f32 = 0.1;
const MAX_ERROR: f32 = 0.6;
/// Lower bound of the share of passages whose first statement is the exact first one, or within [`TIE`] of it.
const MIN_FIRST: f64 = 0.98;
const TIE: f32 = 0.1;

#[test]
fn the_file_is_the_one_that_this_version_requires() {
    let file = reader_file();
    assert_eq!(file.len(), embedder::READER_BYTES, "run training/reader/publish.sh");
    assert!(file.len() <= 8_000_000, "{} bytes", file.len());
    let folder = std::env::temp_dir().join(format!("evidence-chat-reader-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(embedder::READER_FILE), file).unwrap();
    let mut reader = Reader::from_dir(embedder(), &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(reader.read(QUESTION, HEADING, &STATEMENTS), read(&STATEMENTS));
}

/// With `EVIDENCE_READER_GOLDEN`, of another file that golden.py wrote.
#[test]
fn scores_follow_the_f32_model_in_value_and_order() {
    let golden = golden_readings();
    let checkpoint = Model::parse(reader_file()).metadata["source_sha256"].clone();
    assert_eq!(golden["checkpoint"], checkpoint, "of other weights; run training/reader/publish.sh");
    let mut reader = load().clone();
    let (mut errors, mut first, mut first_or_tie, mut passages) = (Vec::new(), 0, 0, 0);
    for item in golden["items"].as_array().unwrap() {
        let text = |key: &str| item[key].as_str().unwrap();
        let statements: Vec<String> = serde_json::from_value(item["statements"].clone()).unwrap();
        let exact: Vec<Option<f32>> = serde_json::from_value(item["z"].clone()).unwrap();
        let actual = reader.read(text("question"), text("heading"), &statements);
        assert_eq!(actual.len(), exact.len());
        for (actual, exact) in actual.iter().zip(&exact) {
            assert_eq!(actual.is_some(), exact.is_some(), "{:?}", text("question"));
            errors.extend(actual.zip(*exact).map(|(actual, exact)| (actual - exact).abs()));
        }
        let exact: Vec<f32> = exact.into_iter().flatten().collect();
        let best = actual.iter().flatten().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        if let Some((best, _)) = best {
            let behind = exact.iter().copied().fold(f32::MIN, f32::max) - exact[best];
            passages += 1;
            first += usize::from(behind == 0.0);
            first_or_tie += usize::from(behind <= TIE);
        }
    }
    errors.sort_by(f32::total_cmp);
    let mean = errors.iter().sum::<f32>() / errors.len() as f32;
    let quantile = |share: f64| errors[(share * (errors.len() - 1) as f64) as usize];
    let share = |count: usize, of: usize| count as f64 / of as f64;
    eprintln!(
        "{} statements: error of z {mean:.4} (mean), {:.4} (median), {:.4} (99 %), {:.4} (max), {:.4} within 0.1; \
         {passages} passages: {:.4} with the exact first statement, {:.4} or within {TIE}",
        errors.len(),
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
        share(errors.partition_point(|error| *error <= 0.1), errors.len()),
        share(first, passages),
        share(first_or_tie, passages),
    );
    assert!(mean <= MAX_MEAN_ERROR && quantile(1.0) <= MAX_ERROR);
    assert!(share(first_or_tie, passages) >= MIN_FIRST);
}

#[test]
fn reader_and_embedder_reject_files_of_the_other_kind() {
    let error = load_error(real_file().to_vec()).to_string();
    assert!(error.contains("its kind is None, expected Some(\"reader\")"), "{error}");
    let error = Embedder::from_trusted(reader_file().to_vec()).err().unwrap().to_string();
    assert!(error.contains("its kind is Some(\"reader\"), expected None"), "{error}");
    let mut model = reader();
    model.metadata["kind"] = json!("translator");
    let error = load_error(model.to_bytes()).to_string();
    assert!(error.contains("translator"), "{error}");
}

#[test]
fn a_file_with_one_bit_flipped_is_rejected_by_its_checksum() {
    let mut bytes = reader_file().to_vec();
    bytes[1_234_567] ^= 1;
    let error = Reader::new(embedder(), bytes).err().unwrap();
    assert!(matches!(error, EmbedderError::WrongFile { .. }));
    let message = error.to_string();
    assert!(
        message.contains(embedder::READER_FILE) && message.contains(embedder::READER_SHA256),
        "{message}"
    );
}

#[test]
fn a_missing_file_is_named_in_the_error() {
    let error = Reader::from_dir(embedder(), Path::new("no-such-folder")).err().unwrap();
    assert!(matches!(error, EmbedderError::Io { .. }));
    let message = error.to_string();
    assert!(message.starts_with("cannot read ") && message.contains(embedder::READER_FILE), "{message}");
}

#[test]
fn a_missing_tensor_is_rejected() {
    // All layers have the same tensors: one layer is enough.
    let names = reader().tensors.into_iter().map(|tensor| tensor.name);
    let names: Vec<String> =
        names.filter(|name| !name.contains("layer.") || name.contains("layer.5.")).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let mut model = reader();
        model.tensors.retain(|tensor| tensor.name != name);
        assert_damaged(model.to_bytes(), &format!("{name} is missing"));
    }
}

#[test]
fn a_tensor_of_the_wrong_type_or_shape_is_rejected() {
    let types = "embeddings.token_type_difference".to_owned();
    let (scale, head) = (format!("{LINEAR}.scale"), "statement.weight".to_owned());
    for (name, shape) in [
        (&types, vec![1, 384]),
        (&types, vec![768]),
        (&scale, vec![1]), // as the embedder's
        (&scale, vec![385]),
        (&head, vec![1, 384]),
        (&head, vec![383]),
        (&"nothing.weight".to_owned(), vec![0]),
        (&"nothing.bias".to_owned(), vec![2]),
        (&"statement.bias".to_owned(), vec![0]),
    ] {
        let mut model = reader();
        let tensor = model.tensor(name);
        tensor.data.resize(shape.iter().product::<u64>() as usize * 4, 0);
        tensor.shape.clone_from(&shape);
        assert_damaged(model.to_bytes(), &format!("{name} is F32 {shape:?}, expected"));
    }
    for name in [types, scale, head] {
        let mut model = reader();
        model.tensor(&name).dtype = "I32".to_owned();
        assert_damaged(model.to_bytes(), &format!("{name} is I32"));
    }
}

/// Values that are finite, but far from the values of a reader. There is no right score.
#[test]
fn extreme_floats_do_not_panic() {
    let scale = format!("{LINEAR}.scale");
    for name in ["statement.weight", "nothing.weight", "embeddings.token_type_difference", &scale] {
        for value in [f32::MAX, f32::MIN, 1e30, f32::MIN_POSITIVE / 2.0, 0.0] {
            let mut model = reader();
            model.tensor(name).data.as_chunks_mut::<4>().0.fill(value.to_le_bytes());
            let mut reader = Reader::from_trusted(embedder(), model.to_bytes()).unwrap();
            assert_eq!(reader.read(QUESTION, HEADING, &STATEMENTS).len(), 3, "{name} {value}");
        }
    }
}

#[test]
fn token_types_and_marker_change_the_score() {
    for name in ["embeddings.token_type_difference", "embeddings.marker"] {
        let mut model = reader();
        model.tensor(name).data.fill(0);
        let mut other = Reader::from_trusted(embedder(), model.to_bytes()).unwrap();
        assert_ne!(other.read(QUESTION, HEADING, &STATEMENTS), read(&STATEMENTS), "{name}");
    }
}

#[test]
fn a_statement_that_does_not_fit_has_no_score_and_changes_no_other() {
    // Each of these words is one token.
    let long = "order ".repeat(150);
    let read = |statements: &[&str]| load().clone().read(QUESTION, "", statements);
    let fitting = read(&[STATEMENTS[0], &long]);
    assert!(fitting.iter().all(Option::is_some));
    let cut = read(&[&long, &long, STATEMENTS[0], ""]);
    assert_eq!(cut.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false]);
    // The end of the second one is not read.
    let longer = format!("{long} {}", STATEMENTS[1].repeat(1000));
    assert_eq!(read(&[&long, &longer, STATEMENTS[0], ""]), cut);
    assert_eq!(read(&[&long, &longer]), cut[..2]);
}

#[test]
fn a_passage_without_statements_has_no_scores() {
    let mut reader = load().clone();
    assert!(reader.read::<&str>(QUESTION, HEADING, &[]).is_empty());
    assert!(reader.read_batch::<&str>(QUESTION, &[]).is_empty());
    let passages =
        [&STATEMENTS[..0], &STATEMENTS, &[]].map(|statements| Passage { heading: HEADING, statements });
    assert_eq!(reader.read_batch(QUESTION, &passages), [vec![], read(&STATEMENTS), vec![]]);
}

#[test]
fn a_score_depends_only_on_question_and_passage() {
    let mut reader = load().clone();
    let long = format!("{} ", STATEMENTS[0]).repeat(40);
    let statements: [&[&str]; 7] = [
        &STATEMENTS,
        &[""],
        &[&long, STATEMENTS[0]],
        &["Shipping is free."],
        &STATEMENTS,
        &[&long[..300], "中", STATEMENTS[2]],
        &["a", "b", "c"],
    ];
    let alone: Vec<_> =
        statements.iter().map(|statements| load().clone().read(QUESTION, HEADING, statements)).collect();
    assert_eq!(alone[0], alone[4]);
    let passages = statements.map(|statements| Passage { heading: HEADING, statements });
    assert_eq!(reader.read_batch(QUESTION, &passages), alone);
    let one_by_one: Vec<_> =
        statements.iter().map(|statements| reader.read(QUESTION, HEADING, statements)).collect();
    assert_eq!(one_by_one, alone);
    assert_eq!(reader.read_batch(QUESTION, &passages.repeat(20)), vec![alone; 20].concat());
}

#[test]
fn reading_does_not_change_vectors() {
    let mut embedder = embedder().clone();
    let texts = [QUESTION, HEADING, "", &STATEMENTS.join(" ").repeat(20)];
    let before = embedder.embed_batch(&texts);
    let mut reader = Reader::from_trusted(&embedder, reader_file().to_vec()).unwrap();
    for text in texts {
        reader.read(text, HEADING, &STATEMENTS);
        assert_eq!(embedder.embed_batch(&texts), before);
    }
    drop(reader);
    assert_eq!(embedder.embed_batch(&texts), before);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_texts_are_read(
        question in any::<String>(),
        heading in "\\PC{0,80}",
        statements in prop::collection::vec("\\PC{0,300}", 0..12),
    ) {
        let z = load().clone().read(&question, &heading, &statements);
        prop_assert_eq!(z.len(), statements.len());
        prop_assert!(z.iter().flatten().all(|z| z.is_finite() && z.abs() < 100.0));
        prop_assert!(z.is_sorted_by_key(Option::is_none));
    }
}

fn embedder() -> &'static Embedder {
    static EMBEDDER: OnceLock<Embedder> = OnceLock::new();
    EMBEDDER.get_or_init(|| Embedder::from_trusted(real_file().to_vec()).unwrap())
}

fn load() -> &'static Reader {
    static READER: OnceLock<Reader> = OnceLock::new();
    READER.get_or_init(|| Reader::from_trusted(embedder(), reader_file().to_vec()).unwrap())
}

fn read(statements: &[&str]) -> Vec<Option<f32>> {
    load().clone().read(QUESTION, HEADING, statements)
}

fn reader() -> Model {
    Model::parse(reader_file())
}

fn load_error(bytes: Vec<u8>) -> EmbedderError {
    Reader::from_trusted(embedder(), bytes).err().expect("the file should have been rejected")
}

fn assert_damaged(bytes: Vec<u8>, what: &str) {
    let error = load_error(bytes);
    assert!(matches!(error, EmbedderError::Damaged(_)), "{error:?}, expected one about {what:?}");
    let message = error.to_string();
    assert!(message.contains(what), "{message:?}, expected one about {what:?}");
    assert!(message.contains("Download it again"), "{message:?} does not say what to do");
}
