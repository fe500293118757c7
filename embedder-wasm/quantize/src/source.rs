//! The inputs of the model file: float32 weights and `tokenizer.json`.

use anyhow::{Context, Result, bail, ensure};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest, Sha256};

/// SHA-256 of the weights of sentence-transformers/all-MiniLM-L6-v2, hex.
pub(crate) const MODEL_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// SHA-256 of their `tokenizer.json`, hex.
pub(crate) const TOKENIZER_SHA256: &str = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037";

/// Rejects bytes that are not the expected file: the recipe was measured on these weights only.
pub(crate) fn check(what: &str, bytes: &[u8], expected: &str) -> Result<()> {
    let actual = sha256(bytes);
    if actual != expected {
        bail!(
            "{what} have SHA-256 {actual}, expected {expected}. Run `cargo xtask setup model` to fetch the right files"
        );
    }
    Ok(())
}

/// Lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Dense float32 values, row-major.
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f32>,
}

impl Matrix {
    pub(crate) fn from_values(rows: usize, columns: usize, values: Vec<f32>) -> Self {
        assert_eq!(values.len(), rows * columns, "a matrix of {rows} x {columns}");
        Self { rows, columns, values }
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..][..self.columns]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.columns)
    }
}

/// The tensors of a safetensors file.
pub(crate) struct Weights<'a>(SafeTensors<'a>);

impl<'a> Weights<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self> {
        Ok(Self(SafeTensors::deserialize(bytes).context("the weights are not a safetensors file")?))
    }

    /// A tensor of this shape.
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix> {
        Ok(Matrix::from_values(rows, columns, self.floats(name, &[rows, columns])?))
    }

    /// A tensor of one dimension and this length.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>> {
        self.floats(name, &[length])
    }

    pub(crate) fn floats(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>> {
        let tensor = self.tensor(name)?;
        let shape = tensor.shape();
        ensure!(shape == expected, "{name} has the shape {shape:?}, expected {expected:?}");
        let data = tensor.data();
        let values: Vec<f32> = match tensor.dtype() {
            Dtype::F32 => data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Dtype::F16 => data.as_chunks().0.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect(),
            other => bail!("{name} is {other:?}, expected F32 or F16"),
        };
        ensure!(values.iter().all(|value| value.is_finite()), "{name} has values that are not finite");
        Ok(values)
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<TensorView<'_>> {
        self.0.tensor(name).with_context(|| format!("the weights lack {name}"))
    }
}

/// The value of an IEEE 754 half-precision number. Exact.
fn half(bits: u16) -> f32 {
    let [exponent, fraction] = [u32::from(bits >> 10) & 0x1f, u32::from(bits) & 0x3ff];
    let magnitude = match exponent {
        0 => fraction as f32 / (1 << 24) as f32,
        0x1f if fraction == 0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The tokens of `tokenizer.json` in the order of their ids, one per line, without a final newline.
pub(crate) fn vocabulary(tokenizer_json: &[u8]) -> Result<String> {
    let tokenizer: serde_json::Value =
        serde_json::from_slice(tokenizer_json).context("the tokenizer is not JSON")?;
    let tokens =
        tokenizer["model"]["vocab"].as_object().context("the tokenizer has no vocabulary (model.vocab)")?;
    let mut by_id = vec![None; tokens.len()];
    for (token, id) in tokens {
        let place = id.as_u64().and_then(|id| by_id.get_mut(usize::try_from(id).ok()?));
        let place = place.with_context(|| format!("token {token:?} has the id {id} of {}", tokens.len()))?;
        ensure!(!token.contains('\n'), "token {token:?} contains a newline");
        ensure!(place.replace(token.as_str()).is_none(), "two tokens have the id {id}");
    }
    Ok(by_id.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_is_in_the_order_of_the_ids() {
        let json = br#"{"model": {"vocab": {"b": 1, "[PAD]": 0, "a": 2}}}"#;
        assert_eq!(vocabulary(json).unwrap(), "[PAD]\nb\na");
    }

    #[test]
    fn a_vocabulary_with_gaps_duplicates_or_newlines_is_rejected() {
        for (json, reason) in [
            (r#"{"model": {"vocab": {"a": 0, "b": 2}}}"#, "\"b\" has the id 2 of 2"),
            (r#"{"model": {"vocab": {"a": 0, "b": 0}}}"#, "two tokens have the id 0"),
            (r#"{"model": {"vocab": {"a\n": 0}}}"#, "contains a newline"),
            (r#"{"model": {"vocab": {"a": -1}}}"#, "has the id -1"),
            (r#"{"model": {}}"#, "has no vocabulary"),
            ("{", "is not JSON"),
        ] {
            let error = format!("{:#}", vocabulary(json.as_bytes()).unwrap_err());
            assert!(error.contains(reason), "{json}: {error}");
        }
    }

    #[test]
    fn other_files_are_rejected_and_the_error_names_the_remedy() {
        let error = check("the weights", b"abc", MODEL_SHA256).unwrap_err().to_string();
        assert!(error.contains("ba7816bf") && error.contains("cargo xtask setup model"), "{error}");
        assert!(
            check("abc", b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad").is_ok()
        );
    }

    #[test]
    fn half_precision_numbers_have_their_value() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x0001, 2.0_f32.powi(-24)),
            (0x03ff, 1023.0 * 2.0_f32.powi(-24)),
            (0x0400, 2.0_f32.powi(-14)),
            (0x3555, 0.333_251_95),
            (0xc000, -2.0),
            (0x7bff, 65_504.0),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan() && half(0x8000).is_sign_negative());
    }

    #[test]
    fn truncated_weights_are_rejected() {
        for length in [0, 4, 8, 20] {
            assert!(Weights::parse(&[7; 20][..length]).is_err());
        }
    }
}
