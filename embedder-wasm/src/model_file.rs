//! The model file: quantised weights and the vocabulary in one safetensors file.
//!
//! `embedder-wasm/quantize` writes it, and its README describes it. This parser trusts nothing: it
//! checks the type and shape of every tensor before use, requires every float to be finite, and
//! allocates only what a model needs, whatever the file says.

use std::ops::Range;

use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};

use crate::EmbedderError;
use crate::kernels::{LargeWeight, Matrix};

/// Value of the metadata key `format`.
pub(crate) const FORMAT: &str = "evidence-chat-embedder/1";

/// Above the header of a model (19 kB). A longer header is not parsed: parsed JSON takes many times
/// its length.
const MAX_HEADER_BYTES: u64 = 65_536;

/// The byte that stands for the next of the exceptions.
const EXCEPTION: u8 = 0x80;

const VOCABULARY: &str = "tokenizer.vocabulary";

/// A model file with a valid header.
pub(crate) struct ModelFile {
    /// Without the tensors that were released.
    bytes: Vec<u8>,
    header: Metadata,
    /// Offset of the tensors.
    start: usize,
}

impl ModelFile {
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, EmbedderError> {
        if let Some(length) = bytes.first_chunk().map(|length| u64::from_le_bytes(*length))
            && length > MAX_HEADER_BYTES
        {
            return Err(EmbedderError::Damaged(format!(
                "its header has {length} bytes, expected at most {MAX_HEADER_BYTES}"
            )));
        }
        let damaged = |error| EmbedderError::Damaged(format!("it is not a safetensors file ({error})"));
        let (length, header) = SafeTensors::read_metadata(&bytes).map_err(damaged)?;
        let file = Self { bytes, header, start: size_of::<u64>() + length };
        file.expect_metadata("format", Some(FORMAT))?;
        Ok(file)
    }

    /// Rejects a model of another kind, even if its tensors fit.
    pub(crate) fn expect_kind(&self, kind: Option<&str>) -> Result<(), EmbedderError> {
        self.expect_metadata("kind", kind)
    }

    fn expect_metadata(&self, key: &str, expected: Option<&str>) -> Result<(), EmbedderError> {
        let actual = self.header.metadata().as_ref().and_then(|metadata| metadata.get(key));
        if actual.map(String::as_str) == expected {
            return Ok(());
        }
        Err(EmbedderError::Damaged(format!("its {key} is {actual:?}, expected {expected:?}")))
    }

    /// Floats of exactly this shape, all finite.
    pub(crate) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedderError> {
        let (chunks, _) = self.data(name, Dtype::F32, shape)?.as_chunks::<4>();
        let values: Vec<f32> = chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(EmbedderError::Damaged(format!("{name} has values that are not finite")))
        }
    }

    /// One finite float.
    pub(crate) fn float(&self, name: &str) -> Result<f32, EmbedderError> {
        self.floats(name, &[1])?.first().copied().ok_or_else(|| missing(name))
    }

    /// The position in the file of an i8 tensor of exactly this shape.
    pub(crate) fn range(&self, name: &str, shape: &[usize]) -> Result<Range<usize>, EmbedderError> {
        Ok(self.place(self.shaped(name, Dtype::I8, shape)?))
    }

    /// The integers of a weight matrix.
    ///
    /// Rejects a row whose product with inputs of ±`max_input` could overflow i32.
    pub(crate) fn matrix(
        &self,
        layer: &str,
        channels: usize,
        depth: usize,
        max_input: i16,
    ) -> Result<Matrix<'_>, EmbedderError> {
        let damaged = |what: &str| EmbedderError::Damaged(format!("{layer} has {what}"));
        let bytes = self.data(&format!("{layer}.weight"), Dtype::I8, &[channels, depth])?;
        let exceptions = format!("{layer}.exceptions");
        let mut values = self.integers(&exceptions)?;
        let mut large = Vec::new();
        for index in memchr::memchr_iter(EXCEPTION, bytes) {
            let weight = values.next().ok_or_else(|| damaged("too few exceptions"))?;
            large.push(LargeWeight { channel: index / depth, column: index % depth, weight });
        }
        if values.next().is_some() {
            return Err(damaged("too many exceptions"));
        }
        let matrix = Matrix { depth, bytes, large };
        let max_sum = i32::MAX.unsigned_abs() / u32::from(max_input.unsigned_abs());
        if matrix.rows().any(|row| row.exceeds(max_sum)) {
            return Err(damaged("weights too large"));
        }
        Ok(matrix)
    }

    /// At most `count` column indexes, each below `count`.
    pub(crate) fn columns(&self, name: &str, count: usize) -> Result<Vec<usize>, EmbedderError> {
        if self.integers(name)?.count() > count {
            return Err(EmbedderError::Damaged(format!("{name} has more than {count} columns")));
        }
        let column = |index: i16| usize::try_from(index).ok().filter(|index| *index < count);
        let columns: Option<Vec<usize>> = self.integers(name)?.map(column).collect();
        columns
            .ok_or_else(|| EmbedderError::Damaged(format!("{name} has a column that is not in 0..{count}")))
    }

    fn integers(&self, name: &str) -> Result<impl Iterator<Item = i16>, EmbedderError> {
        let tensor = self.tensor(name)?;
        if tensor.dtype != Dtype::I16 || tensor.shape.len() != 1 {
            return Err(EmbedderError::Damaged(format!("{name} is not a list of i16")));
        }
        let (pairs, _) = self.contents(name, tensor)?.as_chunks::<2>();
        Ok(pairs.iter().map(|bytes| i16::from_le_bytes(*bytes)))
    }

    /// The vocabulary: tokens in the order of their ids, one per line.
    pub(crate) fn vocabulary(&self) -> Result<&[u8], EmbedderError> {
        let tensor = self.tensor(VOCABULARY)?;
        if tensor.dtype != Dtype::U8 {
            return Err(EmbedderError::Damaged(format!("{VOCABULARY} is not text")));
        }
        self.contents(VOCABULARY, tensor)
    }

    /// Frees the memory of the vocabulary, like [`Self::release`].
    pub(crate) fn release_vocabulary(&mut self) {
        self.release(VOCABULARY);
    }

    /// Frees the memory of a tensor if it is at the end of what is left of the file. It can no
    /// longer be read.
    ///
    /// Called for each matrix once it is unpacked, the last one first: then the next ones are
    /// unpacked into the memory of those before, and that of WebAssembly, which never shrinks,
    /// stays small. It relies on the order in which `quantize` writes the tensors; with another
    /// order, less is freed.
    pub(crate) fn release(&mut self, name: &str) {
        // Tensors follow each other without gaps: the parser of safetensors rejects other files.
        if let Ok(tensor) = self.tensor(name)
            && self.place(tensor).end == self.bytes.len()
        {
            self.truncate(self.place(tensor).start);
        }
    }

    /// The bytes of the file up to `end`.
    pub(crate) fn into_bytes(mut self, end: usize) -> Vec<u8> {
        self.truncate(end);
        self.bytes
    }

    fn truncate(&mut self, end: usize) {
        self.bytes.truncate(end);
        self.bytes.shrink_to_fit();
    }

    fn data(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&[u8], EmbedderError> {
        self.contents(name, self.shaped(name, dtype, shape)?)
    }

    fn contents(&self, name: &str, tensor: &TensorInfo) -> Result<&[u8], EmbedderError> {
        self.bytes.get(self.place(tensor)).ok_or_else(|| missing(name))
    }

    fn shaped(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&TensorInfo, EmbedderError> {
        let tensor = self.tensor(name)?;
        if tensor.dtype != dtype || tensor.shape != shape {
            return Err(EmbedderError::Damaged(format!(
                "{name} is {:?} {:?}, expected {dtype:?} {shape:?}",
                tensor.dtype, tensor.shape
            )));
        }
        Ok(tensor)
    }

    fn tensor(&self, name: &str) -> Result<&TensorInfo, EmbedderError> {
        self.header.info(name).ok_or_else(|| missing(name))
    }

    /// Within the file as it was: `read_metadata` has checked that the tensors fill it exactly.
    fn place(&self, tensor: &TensorInfo) -> Range<usize> {
        let (start, end) = tensor.data_offsets;
        self.start + start..self.start + end
    }
}

fn missing(name: &str) -> EmbedderError {
    EmbedderError::Damaged(format!("{name} is missing"))
}
