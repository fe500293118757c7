//! Writes the model file: safetensors with a fixed order of keys in the header, which the `safetensors` crate does not
//! guarantee for metadata.

use anyhow::{Result, ensure};

/// Value of the metadata key `format`; the embedder rejects others.
const FORMAT: &str = "evidence-chat-embedder/1";
/// In the bytes of a weight matrix, stands for the next of the `exceptions`.
const EXCEPTION: i8 = i8::MIN;
/// Upper bound of the sum of a row's magnitudes, so that its product with 14-bit activations fits in i32.
const MAX_ROW_SUM: u32 = 262_000;

/// The tensors of a model file, in the order in which they were added.
pub(crate) struct Container {
    /// Keys and values, ascending by key.
    metadata: Vec<(&'static str, String)>,
    tensors: Vec<Tensor>,
}

struct Tensor {
    name: String,
    dtype: &'static str,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Container {
    /// For the embedder's weights, from the float32 model of this SHA-256.
    pub(crate) fn embedder(source_sha256: &str) -> Self {
        let metadata = vec![
            ("format", FORMAT.to_owned()),
            ("license", "Apache-2.0".to_owned()),
            ("source", "sentence-transformers/all-MiniLM-L6-v2".to_owned()),
            ("source_sha256", source_sha256.to_owned()),
        ];
        Self { metadata, tensors: Vec::new() }
    }

    /// For the weights of a reader, from the checkpoint of this SHA-256.
    pub(crate) fn reader(source_sha256: &str) -> Self {
        let metadata = vec![
            ("format", FORMAT.to_owned()),
            ("kind", "reader".to_owned()),
            ("source_sha256", source_sha256.to_owned()),
        ];
        Self { metadata, tensors: Vec::new() }
    }

    pub(crate) fn add_floats(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        self.add(name, "F32", shape, values.iter().flat_map(|value| value.to_le_bytes()).collect());
    }

    pub(crate) fn add_bytes(&mut self, name: &str, shape: &[usize], values: &[i8]) {
        self.add(name, "I8", shape, values.iter().map(|value| value.cast_unsigned()).collect());
    }

    pub(crate) fn add_integers(&mut self, name: &str, values: &[i16]) {
        self.add(name, "I16", &[values.len()], values.iter().flat_map(|value| value.to_le_bytes()).collect());
    }

    pub(crate) fn add_text(&mut self, name: &str, text: &str) {
        self.add(name, "U8", &[text.len()], text.as_bytes().to_vec());
    }

    /// Adds a weight matrix as `.weight` (bytes) and `.exceptions` (values outside of ±127, in row-major order).
    ///
    /// # Errors
    /// If a value does not fit in i16, or a row could overflow the engine's sums.
    pub(crate) fn add_matrix(&mut self, layer: &str, columns: usize, integers: &[i32]) -> Result<()> {
        let mut bytes = Vec::with_capacity(integers.len());
        let mut exceptions: Vec<i16> = Vec::new();
        for (index, row) in integers.chunks_exact(columns).enumerate() {
            let sum: u32 = row.iter().map(|value| value.unsigned_abs()).fold(0, u32::saturating_add);
            ensure!(sum < MAX_ROW_SUM, "row {index} of {layer} has magnitudes of {sum} in total");
            for &value in row {
                if let Some(byte) = i8::try_from(value).ok().filter(|byte| *byte != EXCEPTION) {
                    bytes.push(byte);
                } else {
                    bytes.push(EXCEPTION);
                    let fits = i16::try_from(value);
                    ensure!(fits.is_ok(), "row {index} of {layer} has {value}, which is not an i16");
                    exceptions.extend(fits);
                }
            }
        }
        self.add_bytes(&format!("{layer}.weight"), &[integers.len() / columns, columns], &bytes);
        self.add_integers(&format!("{layer}.exceptions"), &exceptions);
        Ok(())
    }

    fn add(&mut self, name: &str, dtype: &'static str, shape: &[usize], bytes: Vec<u8>) {
        self.tensors.push(Tensor { name: name.to_owned(), dtype, shape: shape.to_vec(), bytes });
    }

    /// The whole file.
    ///
    /// The tensors are sorted by the size of their values, largest first, so that each is aligned.
    /// Tensors of one size stay in the order in which they were added: words, then layers, then the vocabulary, so that a loader can
    /// free them from the end.
    ///
    /// # Errors
    /// If two tensors have the same name, a name has an invalid character, or a shape does not fit its values.
    pub(crate) fn into_bytes(mut self) -> Result<Vec<u8>> {
        let width = |tensor: &Tensor| match tensor.dtype {
            "F32" => 4,
            "I16" => 2,
            _ => 1,
        };
        self.tensors.sort_by_key(|tensor| std::cmp::Reverse(width(tensor)));
        let metadata: Vec<String> =
            self.metadata.iter().map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
        let mut entries = vec![format!("\"__metadata__\":{{{}}}", metadata.join(","))];
        let mut offset = 0;
        for (index, tensor) in self.tensors.iter().enumerate() {
            let Tensor { name, dtype, shape, bytes } = tensor;
            ensure!(
                name.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c)),
                "a tensor named {name:?}"
            );
            ensure!(
                self.tensors[..index].iter().all(|other| other.name != *name),
                "two tensors named {name}"
            );
            let length = shape.iter().product::<usize>() * width(tensor);
            ensure!(
                length == bytes.len(),
                "{name} has {} bytes, its shape {shape:?} needs {length}",
                bytes.len()
            );
            let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
            entries.push(format!(
                "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"data_offsets\":[{offset},{}]}}",
                shape.join(","),
                offset + length
            ));
            offset += length;
        }
        let mut header = format!("{{{}}}", entries.join(","));
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        self.tensors.iter().for_each(|tensor| file.extend(&tensor.bytes));
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use safetensors::{Dtype, SafeTensors};

    use super::*;

    #[test]
    fn the_safetensors_crate_reads_what_was_written() {
        let mut container = Container::embedder("abc");
        container.add_text("text", "[PAD]\né");
        container.add_floats("floats", &[2, 1], &[1.5, -2.0]);
        container.add_bytes("bytes", &[3], &[1, -1, 127]);
        let file = container.into_bytes().unwrap();

        let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
        let metadata = metadata.metadata().as_ref().unwrap();
        assert_eq!((metadata["format"].as_str(), metadata["source_sha256"].as_str()), (FORMAT, "abc"));
        let tensors = SafeTensors::deserialize(&file).unwrap();
        assert_eq!(tensors.tensor("text").unwrap().data(), "[PAD]\né".as_bytes());
        assert_eq!(tensors.tensor("bytes").unwrap().data(), [1, 255, 127]);
        let floats = tensors.tensor("floats").unwrap();
        assert_eq!((floats.dtype(), floats.shape()), (Dtype::F32, &[2, 1][..]));
        assert_eq!(floats.data(), [0, 0, 192, 63, 0, 0, 0, 192]);
    }

    #[test]
    fn values_outside_of_a_byte_are_exceptions_in_row_major_order() {
        let mut container = Container::embedder("");
        container.add_matrix("layer", 3, &[127, -127, -128, 128, 5, -3000]).unwrap();
        let file = container.into_bytes().unwrap();
        let tensors = SafeTensors::deserialize(&file).unwrap();
        let weight = tensors.tensor("layer.weight").unwrap();
        assert_eq!((weight.shape(), weight.data()), (&[2, 3][..], &[127, 129, 128, 128, 5, 128][..]));
        let exceptions: Vec<i16> = tensors
            .tensor("layer.exceptions")
            .unwrap()
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|b| i16::from_le_bytes(*b))
            .collect();
        assert_eq!(exceptions, [-128, 128, -3000]);
    }

    #[test]
    fn weights_that_the_engine_cannot_compute_with_are_rejected() {
        let error = |integers: &[i32]| {
            Container::embedder("").add_matrix("layer", integers.len(), integers).unwrap_err().to_string()
        };
        assert!(error(&[0, 40_000]).contains("has 40000"));
        assert!(error(&[30_000; 9]).contains("magnitudes of 270000"));
        assert!(error(&[i32::MIN, 1]).contains("magnitudes of"));
    }

    #[test]
    fn duplicate_names_and_wrong_shapes_are_rejected() {
        let mut double = Container::embedder("");
        double.add_bytes("a", &[1], &[1]);
        double.add_floats("a", &[1], &[1.0]);
        assert!(double.into_bytes().unwrap_err().to_string().contains("two tensors named a"));
        let mut shape = Container::embedder("");
        shape.add_bytes("a", &[2, 2], &[1]);
        assert!(
            shape.into_bytes().unwrap_err().to_string().contains("has 1 bytes, its shape [2, 2] needs 4")
        );
    }
}
