//! Makes `calibration.safetensors`, and checks that it is current. Needs the model (`cargo xtask setup model`).
//!
//! For each input of linear layers, and for the gradient of the embeddings (`embeddings`), the file has a factor model of the
//! covariance: `.loadings` (I8 [columns, factors], with a `.loadings.scale` per factor) and `.specific_variance`. Inputs also
//! have a `.mean` and `.wide_columns`: the columns with the largest magnitudes.
//!
//! After a change of the calibration set or of the measurement, run this test with `EVIDENCE_UPDATE_CALIBRATION=1` to
//! measure again. The last bits depend on the processor, so the model file changes with each new measurement.

mod factors;
mod model;
mod sequences;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use factors::Factors;
use model::{GRADIENT, LAYERS, Model, Statistics};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use sequences::{Sequence, sequences};
use sha2::{Digest, Sha256};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/calibration.safetensors");
/// The metadata: SHA-256 of what was measured.
const KEY: &str = "measured_sha256";
/// One input column in this many is wide: it gets 14 bits instead of 7.
const WIDE: usize = 24;

#[test]
fn the_calibration_file_is_current() {
    let dir = embedder::model_dir();
    let (model, sequences) = (Model::load(&dir), sequences(&vocabulary(&dir)));
    let measured = digest(&dir, &sequences);
    if std::env::var_os("EVIDENCE_UPDATE_CALIBRATION").is_some() {
        let statistics = model.measure(&sequences, LAYERS).unwrap();
        let figures: Vec<_> = statistics.iter().flat_map(|(name, of)| figures(name, of)).collect();
        let views = figures.iter().map(|(name, figures)| (name, figures.view()));
        let metadata = HashMap::from([(KEY.to_owned(), measured.clone())]);
        fs::write(FILE, safetensors::serialize(views, Some(metadata)).unwrap()).unwrap();
    }
    let file = fs::read(FILE).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
    let stored = &metadata.metadata().as_ref().unwrap()[KEY];
    assert_eq!(*stored, measured, "run this test with EVIDENCE_UPDATE_CALIBRATION=1");

    // Measures one input again: all of them take minutes.
    let file = SafeTensors::deserialize(&file).unwrap();
    for (name, statistics) in model.measure(&sequences, 0).unwrap() {
        for (name, figures) in figures(&name, &statistics) {
            let stored = file.tensor(&name).unwrap();
            assert_eq!((stored.dtype(), stored.shape()), (figures.dtype, &figures.shape[..]), "{name}");
            // The last bits of a sum may differ on another processor.
            let pairs = values(stored.dtype(), stored.data()).zip(values(figures.dtype, &figures.data));
            let (close, all) = pairs.fold((0, 0), |(close, all), (stored, measured)| {
                (close + usize::from((stored - measured).abs() <= 0.01 * measured.abs()), all + 1)
            });
            assert!(close * 10 >= all * 9, "{name}: {close} of {all} figures are close");
        }
    }
}

/// The numbers of a tensor.
fn values(dtype: Dtype, data: &[u8]) -> impl Iterator<Item = f32> {
    data.chunks_exact(dtype.bitsize() / 8).map(move |bytes| match *bytes {
        [byte] => f32::from(byte.cast_signed()),
        [a, b] => f32::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
        _ => panic!("{dtype:?}"),
    })
}

/// SHA-256 of the weights and the sequences, hex.
fn digest(dir: &Path, sequences: &[Sequence]) -> String {
    let mut hasher = Sha256::new_with_prefix(fs::read(dir.join("model.safetensors")).unwrap());
    for Sequence { ids, share, direction } in sequences {
        hasher.update(format!("{ids:?} {share:e} {direction:?}"));
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tokens in the order of their ids, one per line.
fn vocabulary(dir: &Path) -> String {
    let tokenizer = fs::read(dir.join("tokenizer.json")).unwrap();
    let tokenizer: serde_json::Value = serde_json::from_slice(&tokenizer).unwrap();
    let mut tokens: Vec<_> = tokenizer["model"]["vocab"].as_object().unwrap().iter().collect();
    tokens.sort_by_key(|(_, id)| id.as_u64());
    tokens.into_iter().map(|(token, _)| token.as_str()).collect::<Vec<_>>().join("\n")
}

/// How many factors describe the covariance of so many columns.
fn factors(columns: usize) -> usize {
    if columns == 384 { 64 } else { 16 }
}

/// The tensors of an input, or of the gradient.
fn figures(name: &str, Statistics { mean, squares, max }: &Statistics) -> Vec<(String, Figures)> {
    let mean: Vec<f64> = mean.to_vec1().unwrap();
    let max: Vec<f32> = max.to_vec1().unwrap();
    let mut covariance: Vec<f64> = squares.flatten_all().unwrap().to_vec1().unwrap();
    let is_input = name != GRADIENT;
    if is_input {
        for (row, a) in covariance.chunks_exact_mut(mean.len()).zip(&mean) {
            row.iter_mut().zip(&mean).for_each(|(covariance, b)| *covariance -= a * b);
        }
    }
    let Factors { loadings, scales, specific_variance } =
        Factors::new(&covariance, mean.len(), factors(mean.len()));
    let floats = |values: Vec<f32>| {
        Figures::new(Dtype::F32, &[values.len()], values.iter().flat_map(|value| value.to_le_bytes()))
    };
    let bytes = loadings.iter().map(|loading| loading.cast_unsigned());
    let shape = [mean.len(), scales.len()];
    let mut figures = vec![
        ("loadings", Figures::new(Dtype::I8, &shape, bytes)),
        ("loadings.scale", floats(scales)),
        ("specific_variance", floats(specific_variance)),
    ];
    if is_input {
        let wide = wide_columns(&max);
        let bytes = wide.iter().flat_map(|&column| (column as i16).to_le_bytes());
        figures.push(("wide_columns", Figures::new(Dtype::I16, &[wide.len()], bytes)));
        figures.push(("mean", floats(mean.iter().map(|&mean| mean as f32).collect())));
    }
    figures.into_iter().map(|(suffix, figures)| (format!("{name}.{suffix}"), figures)).collect()
}

/// The columns with the largest magnitudes, ascending.
fn wide_columns(max: &[f32]) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..max.len()).collect();
    columns.sort_by(|&a, &b| max[b].total_cmp(&max[a]));
    columns.truncate(max.len() / WIDE);
    columns.sort_unstable();
    columns
}

/// A tensor of the file.
struct Figures {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl Figures {
    fn new(dtype: Dtype, shape: &[usize], bytes: impl Iterator<Item = u8>) -> Self {
        Self { dtype, shape: shape.to_vec(), data: bytes.collect() }
    }

    fn view(&self) -> TensorView<'_> {
        TensorView::new(self.dtype, self.shape.clone(), &self.data).unwrap()
    }
}
