//! Hostile model files: the real one with one change. Each is rejected with an error that says what is wrong. Needs the
//! model (`cargo xtask setup`).

mod model;

use std::path::Path;

use embedder::{Embedder, EmbedderError};
use model::{Model, header_length, real_file};
use serde_json::{Value, json};

const VOCABULARY: &str = "tokenizer.vocabulary";
const WORDS: &str = "embeddings.word_embeddings";
const LINEAR: &str = "encoder.layer.3.attention.output.dense";

/// The largest `sum |q|` of a row whose product with inputs of ±8191 fits in i32.
const MAX_ROW_SUM: i32 = i32::MAX / 8191;

#[test]
fn the_order_of_tensors_and_unknown_tensors_are_ignored() {
    let text = "Can I get my money back?";
    let expected = Embedder::new(real_file().to_vec()).unwrap().embed(text);
    let mut model = Model::real();
    model.tensors.reverse();
    model.add("unknown", "F64", &[1], vec![0xff; 8]);
    assert_eq!(Embedder::from_trusted(model.to_bytes()).unwrap().embed(text), expected);
    assert!(matches!(Embedder::new(model.to_bytes()), Err(EmbedderError::WrongFile { .. })));
}

#[test]
fn a_file_with_one_bit_flipped_is_rejected_by_its_checksum() {
    let mut bytes = real_file().to_vec();
    bytes[12_345_678] ^= 1;
    let error = Embedder::new(bytes).err().unwrap();
    assert!(matches!(error, EmbedderError::WrongFile { .. }));
    let message = error.to_string();
    assert!(message.contains(embedder::MODEL_FILE) && message.contains(embedder::MODEL_SHA256), "{message}");
}

#[test]
fn a_missing_file_is_named_in_the_error() {
    let error = Embedder::from_dir(Path::new("no-such-folder")).err().unwrap();
    assert!(matches!(error, EmbedderError::Io { .. }));
    let message = error.to_string();
    assert!(message.starts_with("cannot read ") && message.contains(embedder::MODEL_FILE), "{message}");
}

#[test]
fn a_truncated_or_extended_file_is_rejected() {
    let file = real_file();
    let data_start = 8 + header_length(file);
    let mut lengths: Vec<usize> = (0..=16).chain([data_start - 1, data_start, file.len() - 1]).collect();
    let tensor_ends = Model::real().tensors.into_iter().scan(data_start, |end, tensor| {
        *end += tensor.data.len();
        Some(*end)
    });
    lengths.extend(tensor_ends.filter(|end| *end < file.len()).step_by(10));
    for length in lengths {
        assert_damaged(file[..length].to_vec(), "it is not a safetensors file");
    }
    assert_damaged([file, &[0]].concat(), "it is not a safetensors file");
    assert_damaged([file, file].concat(), "it is not a safetensors file");
}

#[test]
fn a_wrong_header_length_is_rejected() {
    let right = header_length(real_file()) as u64;
    let file_length = real_file().len() as u64;
    for wrong in [0, 1, right - 1, right + 1, right + 8, 65_536] {
        assert_damaged(with_header_length(wrong), "it is not a safetensors file");
    }
    for huge in
        [65_537, file_length - 8, file_length, 100_000_000, 1 << 32, i64::MAX as u64, u64::MAX - 7, u64::MAX]
    {
        assert_damaged(with_header_length(huge), &format!("its header has {huge} bytes"));
    }
}

/// Parsed JSON may take many times its length, so a long header must not be parsed.
#[test]
fn a_header_above_the_limit_is_rejected() {
    let model = Model::real();
    let padded = |length: usize| {
        let mut header = model.header().to_string();
        header.extend(std::iter::repeat_n(' ', length - header.len()));
        model.to_bytes_with_header(header.as_bytes())
    };
    assert!(Embedder::from_trusted(padded(65_536)).is_ok());
    assert_damaged(padded(65_537), "its header has 65537 bytes, expected at most 65536");
}

#[test]
fn an_invalid_header_is_rejected() {
    let nested = "[".repeat(60_000);
    let duplicate = r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"#.repeat(2);
    for header in
        ["", "{}", "[]", "null", "{", "\0", "{\"a\":1}", "{\"__metadata__\":{}}", &nested, &duplicate]
    {
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        let error = load_error(bytes);
        assert!(matches!(error, EmbedderError::Damaged(_)), "{header:.20}: {error}");
    }
    assert_damaged(Model::real().to_bytes_with_header(b"\xff\xfe"), "it is not a safetensors file");
}

#[test]
fn another_format_is_rejected_and_named() {
    let mut model = Model::real();
    let mut with_metadata = |metadata: Value| {
        model.metadata = metadata;
        model.to_bytes()
    };
    let other = with_metadata(json!({"format": "evidence-chat-embedder/2"}));
    assert_damaged(
        other,
        r#"its format is Some("evidence-chat-embedder/2"), expected Some("evidence-chat-embedder/1")"#,
    );
    assert_damaged(with_metadata(json!({"format": "pt"})), "its format is");
    assert_damaged(with_metadata(json!({"license": "Apache-2.0"})), "its format is None");
    assert_damaged(with_metadata(Value::Null), "its format is None");
    assert_damaged(with_metadata(json!({"format": 1})), "it is not a safetensors file");
}

#[test]
fn a_missing_tensor_is_rejected() {
    // All layers have the same tensors: one layer is enough.
    let names = Model::real().tensors.into_iter().map(|tensor| tensor.name);
    for name in names.filter(|name| !name.contains("layer.") || name.contains("layer.1.")) {
        let mut model = Model::real();
        model.tensors.retain(|tensor| tensor.name != name);
        assert_damaged(model.to_bytes(), &format!("{name} is missing"));
    }
}

#[test]
fn a_tensor_of_the_wrong_type_is_rejected() {
    for (name, wrong) in [
        (VOCABULARY.to_owned(), "I8"),
        (format!("{WORDS}.weight"), "U8"),
        (format!("{WORDS}.scale"), "I32"),
        ("embeddings.LayerNorm.weight".to_owned(), "U32"),
        (format!("{LINEAR}.weight"), "BOOL"),
        (format!("{LINEAR}.scale"), "U32"),
        (format!("{LINEAR}.bias"), "I32"),
        (format!("{LINEAR}.exceptions"), "F16"),
        ("encoder.layer.5.output.LayerNorm.bias".to_owned(), "I32"),
    ] {
        let mut model = Model::real();
        model.tensor(&name).dtype = wrong.to_owned();
        assert_damaged(model.to_bytes(), &format!("{name} is "));
    }
    let mut model = Model::real();
    model.tensor(&format!("{LINEAR}.weight")).dtype = "I9".to_owned();
    assert_damaged(model.to_bytes(), "it is not a safetensors file");
}

#[test]
fn a_tensor_of_the_wrong_shape_is_rejected() {
    let (words, weight, bias) =
        (format!("{WORDS}.weight"), format!("{LINEAR}.weight"), format!("{LINEAR}.bias"));
    for (name, shape) in [
        (&words, vec![384, 30_522]), // the right number of elements
        (&words, vec![30_522 * 384]),
        (&words, vec![30_522, 384, 1]),
        (&weight, vec![192, 768]),
        (&weight, vec![147_456]),
        (&bias, vec![1, 384]),
        (&bias, vec![384, 1, 1, 1, 1, 1, 1, 1]),
        (&format!("{LINEAR}.scale"), vec![]),
        (&format!("{LINEAR}.scale"), vec![1, 1]),
    ] {
        let mut model = Model::real();
        model.tensor(name).shape.clone_from(&shape);
        assert_damaged(model.to_bytes(), &format!("{name} is "));
        assert_damaged(model.to_bytes(), &format!("{shape:?}"));
    }
    for (name, shape) in [
        (&words, vec![30_521, 384]),
        (&words, vec![30_523, 384]),
        (&words, vec![0, 384]),
        (&weight, vec![384, 383]),
        (&weight, vec![0]),
        (&weight, vec![385, 384]),
        (&bias, vec![385]),
        (&bias, vec![0]),
        (&format!("{LINEAR}.scale"), vec![384]),
    ] {
        let mut model = Model::real();
        let tensor = model.tensor(name);
        let bytes_per_element = if tensor.dtype == "F32" { 4 } else { 1 };
        tensor.data.resize(shape.iter().product::<u64>() as usize * bytes_per_element, 0);
        tensor.shape = shape;
        assert_damaged(model.to_bytes(), &format!("{name} is "));
    }
    let mut model = Model::real();
    let exceptions = model.tensor(&format!("{LINEAR}.exceptions"));
    exceptions.shape.push(1);
    assert_damaged(model.to_bytes(), &format!("{LINEAR}.exceptions is not a list of i16"));
}

#[test]
fn shapes_that_do_not_match_the_bytes_are_rejected() {
    let max = u64::MAX;
    for shape in [
        vec![1],
        vec![384, 385],
        vec![max],
        vec![max, max],
        vec![1 << 32, 1 << 32],
        vec![1 << 63, 2],
        vec![1 << 61, 8],
        vec![0, max, max],
        vec![1; 5000],
    ] {
        for name in [format!("{LINEAR}.weight"), format!("{LINEAR}.bias"), VOCABULARY.to_owned()] {
            let mut model = Model::real();
            model.tensor(&name).shape.clone_from(&shape);
            assert_damaged(model.to_bytes(), "it is not a safetensors file");
        }
    }
    for shape in [json!([-1]), json!([1.5]), json!(["384"]), json!(null), json!([1e40])] {
        let (model, name) = (Model::real(), format!("{LINEAR}.weight"));
        let mut header = model.header();
        header[&name]["shape"] = shape;
        assert_damaged(
            model.to_bytes_with_header(header.to_string().as_bytes()),
            "it is not a safetensors file",
        );
    }
}

#[test]
fn tensors_that_overlap_or_exceed_the_file_are_rejected() {
    let (model, name) = (Model::real(), format!("{LINEAR}.weight"));
    let header = model.header();
    let [start, end] = [0, 1].map(|i| header[&name]["data_offsets"][i].as_u64().unwrap());
    for offsets in [
        [start - 8, end - 8],
        [start + 8, end + 8],
        [0, end - start],
        [end, start],
        [start, end - 1],
        [start, u64::MAX],
        [u64::MAX - (end - start), u64::MAX],
        [1 << 62, (1 << 62) + end - start],
    ] {
        let mut header = header.clone();
        header[&name]["data_offsets"] = json!(offsets);
        assert_damaged(
            model.to_bytes_with_header(header.to_string().as_bytes()),
            "it is not a safetensors file",
        );
    }
}

#[test]
fn floats_must_be_finite() {
    for name in [
        format!("{WORDS}.scale"),
        "embeddings.LayerNorm.bias".to_owned(),
        format!("{LINEAR}.scale"),
        format!("{LINEAR}.bias"),
        "encoder.layer.5.output.LayerNorm.weight".to_owned(),
    ] {
        let last = Model::real().tensor(&name).data.len() / 4 - 1;
        for (index, value) in [(0, f32::NAN), (last, f32::INFINITY), (last / 2, f32::NEG_INFINITY)] {
            let mut model = Model::real();
            model.tensor(&name).data[4 * index..][..4].copy_from_slice(&value.to_le_bytes());
            assert_damaged(model.to_bytes(), &format!("{name} has values that are not finite"));
        }
    }
}

/// Finite, but far from those of a model: the sums inside overflow to infinity. There is no right vector.
#[test]
fn extreme_floats_do_not_panic() {
    for name in [
        format!("{WORDS}.scale"),
        format!("{LINEAR}.scale"),
        "encoder.layer.0.output.LayerNorm.weight".into(),
    ] {
        for value in [f32::MAX, f32::MIN, 1e30, f32::MIN_POSITIVE / 2.0, 0.0] {
            let mut model = Model::real();
            model.tensor(&name).data.as_chunks_mut::<4>().0.fill(value.to_le_bytes());
            let mut embedder = Embedder::from_trusted(model.to_bytes()).unwrap();
            for embedding in embedder.embed_batch(&["", "Can I get my money back?"]) {
                assert_eq!(embedding.vector.len(), embedder::DIMENSIONS, "{name} {value}");
            }
        }
    }
}

#[test]
fn a_wrong_number_of_exceptions_is_rejected() {
    let exceptions = format!("{LINEAR}.exceptions");
    let mut model = Model::real();
    model.set_linear(&[0, 0], &[0x80, 0x80], &[300, -300]);
    assert!(Embedder::from_trusted(model.to_bytes()).is_ok());
    for (values, what) in [
        (vec![], "too few exceptions"),
        (vec![300_i16], "too few exceptions"),
        (vec![300, -300, 1], "too many exceptions"),
        (vec![0; 100_000], "too many exceptions"),
    ] {
        model.set_integers(&exceptions, &values);
        assert_damaged(model.to_bytes(), &format!("{LINEAR} has {what}"));
    }
}

#[test]
fn wide_columns_must_exist_in_the_matrix() {
    let name = format!("{LINEAR}.wide_columns");
    let mut model = Model::real();
    for good in [vec![], vec![383, 0, 5, 5], (0..384).collect()] {
        model.set_integers(&name, &good);
        assert!(Embedder::from_trusted(model.to_bytes()).is_ok());
    }
    for bad in [384, 1535, i16::MAX, -1, i16::MIN] {
        model.set_integers(&name, &[0, bad]);
        assert_damaged(model.to_bytes(), &format!("{name} has a column that is not in 0..384"));
    }
    for count in [385, 1_000_000] {
        model.set_integers(&name, &vec![0; count]);
        assert_damaged(model.to_bytes(), &format!("{name} has more than 384 columns"));
    }
}

#[test]
fn a_row_of_weights_whose_sum_could_overflow_is_rejected() {
    let rest = (MAX_ROW_SUM - 8 * 32_768) as i16;
    for place in [0, 383] {
        let mut model = Model::real();
        let bytes = [0x80; 9];
        model.set_linear(&[place, 0], &bytes, &[[i16::MIN; 8].as_slice(), &[rest]].concat());
        assert!(Embedder::from_trusted(model.to_bytes()).is_ok());
        for too_large in [rest + 1, -rest - 1, i16::MIN, i16::MAX] {
            model.set_linear(&[place, 0], &bytes, &[[i16::MIN; 8].as_slice(), &[too_large]].concat());
            assert_damaged(model.to_bytes(), &format!("{LINEAR} has weights too large"));
        }
    }
}

#[test]
fn another_vocabulary_is_rejected() {
    let text = String::from_utf8(Model::real().tensor(VOCABULARY).data.clone()).unwrap();
    let lines: Vec<&str> = text.split('\n').collect();
    let with = |change: &dyn Fn(&mut Vec<&str>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        lines.join("\n").into_bytes()
    };
    for (bytes, reason) in [
        (with(&|lines| lines.truncate(30_521)), "it has 30521 tokens"),
        (vec![b'\n'; 5_000_000], "it has 5000000 tokens"),
        (with(&|lines| lines.swap(101, 102)), "token 101 is not [CLS]"),
        ([text.as_bytes(), b"\xc3"].concat(), "it is not UTF-8 from byte"),
    ] {
        let mut model = Model::real();
        let tensor = model.tensor(VOCABULARY);
        tensor.shape = vec![bytes.len() as u64];
        tensor.data = bytes;
        assert_damaged(model.to_bytes(), reason);
    }
}

impl Model {
    /// Sets the weights of [`LINEAR`] to zero, except `bytes` from this row and column on.
    fn set_linear(&mut self, &[row, column]: &[usize; 2], bytes: &[u8], exceptions: &[i16]) {
        let weight = &mut self.tensor(&format!("{LINEAR}.weight")).data;
        weight.fill(0);
        weight[row * 384 + column..][..bytes.len()].copy_from_slice(bytes);
        self.set_integers(&format!("{LINEAR}.exceptions"), exceptions);
    }
}

fn with_header_length(length: u64) -> Vec<u8> {
    [&length.to_le_bytes(), &real_file()[8..]].concat()
}

fn load_error(bytes: Vec<u8>) -> EmbedderError {
    Embedder::from_trusted(bytes).err().expect("the file should have been rejected")
}

fn assert_damaged(bytes: Vec<u8>, what: &str) {
    let error = load_error(bytes);
    assert!(matches!(error, EmbedderError::Damaged(_)), "{error:?}, expected one about {what:?}");
    let message = error.to_string();
    assert!(message.contains(what), "{message:?}, expected one about {what:?}");
    assert!(message.contains("Download it again"), "{message:?} does not say what to do");
}
