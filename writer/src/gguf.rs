//! The header of a GGUF file, read from untrusted bytes while they arrive.
//!
//! candle has a reader too, but it needs the whole file at once, divides by an alignment of zero, and keeps a list of bytes
//! at many times its size. Here no count is believed before the file is known to be long enough for it, and only what the writer
//! uses is kept.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

use std::collections::BTreeMap;

use candle_core::quantized::GgmlDType;

use crate::ModelError;

/// Bytes before the weights. A vocabulary of 256,000 tokens with merges needs about half of it.
pub(crate) const MAX_HEADER_BYTES: usize = 32 << 20;
/// Entries of metadata; published models have about 40.
const MAX_METADATA: u64 = 4096;
/// Tensors; a model of 70 billion parameters has about 700.
const MAX_TENSORS: u64 = 16_384;
/// Bytes of one string of the metadata; chat templates have a few thousand.
const MAX_TEXT_BYTES: u64 = 1 << 20;
const MAX_NAME_BYTES: u64 = 256;
const MAX_DIMENSIONS: u32 = 4;
const MAX_ALIGNMENT: u64 = 1 << 16;
const DEFAULT_ALIGNMENT: u64 = 32;
/// Smallest sizes on disk: a name's length, a kind and one byte; a name's length, two counts and an offset.
const MIN_METADATA_BYTES: u64 = 13;
const MIN_TENSOR_BYTES: u64 = 24;

/// What is known before the weights.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) metadata: Metadata,
    /// In the order of the file's data, without overlaps.
    pub(crate) tensors: Vec<TensorInfo>,
}

/// A tensor of the file.
#[derive(Debug, Clone)]
pub(crate) struct TensorInfo {
    pub(crate) name: String,
    /// From the fastest-varying dimension: `[columns, rows]`.
    pub(crate) dimensions: Vec<usize>,
    pub(crate) kind: GgmlDType,
    /// The position of its first byte in the file.
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

/// The values that the writer uses, by name.
#[derive(Debug, Default)]
pub(crate) struct Metadata(BTreeMap<String, Value>);

#[derive(Debug)]
enum Value {
    Integer(i128),
    Float(f64),
    Text(String),
    Texts(Vec<String>),
    Integers(Vec<i32>),
    /// An array of another kind.
    Other,
}

impl Metadata {
    pub(crate) fn text(&self, key: &str) -> Result<&str, ModelError> {
        self.optional_text(key).ok_or_else(|| self.missing(key, "is not a text"))
    }

    pub(crate) fn optional_text(&self, key: &str) -> Option<&str> {
        match self.0.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A number from 1 to `max`.
    pub(crate) fn count(&self, key: &str, max: usize) -> Result<usize, ModelError> {
        match self.0.get(key) {
            Some(Value::Integer(value)) => usize::try_from(*value)
                .ok()
                .filter(|value| (1..=max).contains(value))
                .ok_or_else(|| self.missing(key, "is out of range")),
            _ => Err(self.missing(key, "is not a whole number")),
        }
    }

    pub(crate) fn token(&self, key: &str) -> Option<u32> {
        match self.0.get(key) {
            Some(Value::Integer(value)) => u32::try_from(*value).ok(),
            _ => None,
        }
    }

    pub(crate) fn float(&self, key: &str) -> Result<f32, ModelError> {
        match self.0.get(key) {
            Some(Value::Float(value)) if value.is_finite() && *value > 0.0 => Ok(*value as f32),
            _ => Err(self.missing(key, "is not a positive number")),
        }
    }

    /// Takes an array of texts out, because it is large.
    pub(crate) fn take_texts(&mut self, key: &str) -> Result<Vec<String>, ModelError> {
        match self.0.remove(key) {
            Some(Value::Texts(texts)) => Ok(texts),
            _ => Err(self.missing(key, "is not a list of texts")),
        }
    }

    pub(crate) fn integers(&self, key: &str) -> Option<&[i32]> {
        match self.0.get(key) {
            Some(Value::Integers(integers)) => Some(integers),
            _ => None,
        }
    }

    fn missing(&self, key: &str, problem: &'static str) -> ModelError {
        let problem = if self.has(key) { problem } else { "is missing" };
        ModelError::Metadata { key: key.to_owned(), problem }
    }
}

/// Why reading stopped.
enum Stop {
    /// The bytes so far are fine, but end too early.
    NeedsMore,
    Invalid(ModelError),
}

impl From<ModelError> for Stop {
    fn from(error: ModelError) -> Self {
        Self::Invalid(error)
    }
}

/// Reads the header from the first bytes of a file of `file_bytes`. `None` if more of them are needed.
pub(crate) fn read_header(bytes: &[u8], file_bytes: u64) -> Result<Option<Header>, ModelError> {
    let mut reader = Reader { bytes, position: 0, file_bytes };
    match reader.header() {
        Ok(header) => Ok(Some(header)),
        Err(Stop::NeedsMore) if bytes.len() >= MAX_HEADER_BYTES => {
            Err(damaged(format!("it has more than {MAX_HEADER_BYTES} bytes")))
        }
        Err(Stop::NeedsMore) => Ok(None),
        Err(Stop::Invalid(error)) => Err(error),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    file_bytes: u64,
}

impl<'a> Reader<'a> {
    fn header(&mut self) -> Result<Header, Stop> {
        if self.take(4)? != b"GGUF" {
            return Err(ModelError::NotGguf.into());
        }
        let version = self.u32()?;
        if !matches!(version, 2 | 3) {
            return Err(ModelError::Version(version).into());
        }
        let tensor_count = self.u64()?;
        let metadata_count = self.u64()?;
        if metadata_count > MAX_METADATA || tensor_count > MAX_TENSORS {
            return Err(damaged(format!("{tensor_count} tensors and {metadata_count} metadata")).into());
        }
        self.check_room(metadata_count * MIN_METADATA_BYTES + tensor_count * MIN_TENSOR_BYTES)?;
        let mut metadata = Metadata::default();
        for _ in 0..metadata_count {
            let key = self.name()?;
            let kind = self.u32()?;
            let value = self.value(&key, kind)?;
            if let Some(value) = value
                && metadata.0.insert(key.clone(), value).is_some()
            {
                return Err(damaged(format!("the metadata {key:?} are there twice")).into());
            }
        }
        let mut tensors = Vec::new();
        for _ in 0..tensor_count {
            tensors.push(self.tensor()?);
        }
        let alignment = match metadata.0.get("general.alignment") {
            None => DEFAULT_ALIGNMENT,
            Some(Value::Integer(value)) => u64::try_from(*value)
                .ok()
                .filter(|value| value.is_power_of_two() && *value <= MAX_ALIGNMENT)
                .ok_or_else(|| damaged(format!("an alignment of {value}")))?,
            Some(_) => return Err(damaged("an alignment that is not a number".to_owned()).into()),
        };
        let data_start = (self.position as u64).next_multiple_of(alignment);
        for tensor in &mut tensors {
            tensor.start = tensor
                .start
                .checked_add(data_start)
                .ok_or_else(|| tensor_error(&tensor.name, "lies outside the file"))?;
            let end = tensor.start.checked_add(tensor.bytes);
            let end = end.ok_or_else(|| tensor_error(&tensor.name, "lies outside the file"))?;
            if end > self.file_bytes {
                let error = ModelError::Truncated { received: self.file_bytes, needed: end };
                return Err(error.into());
            }
        }
        tensors.sort_by_key(|tensor| tensor.start);
        for pair in tensors.windows(2) {
            if let [first, second] = pair
                && first.start + first.bytes > second.start
            {
                return Err(tensor_error(&second.name, "overlaps another").into());
            }
        }
        Ok(Header { metadata, tensors })
    }

    /// `None` if the writer does not use it.
    fn value(&mut self, key: &str, kind: u32) -> Result<Option<Value>, Stop> {
        let is_used = ["general.architecture", "general.alignment", "llama.", "tokenizer."]
            .iter()
            .any(|prefix| key.starts_with(prefix));
        let value = match kind {
            8 => {
                let text = self.text(MAX_TEXT_BYTES)?;
                if !is_used {
                    return Ok(None);
                }
                Value::Text(String::from_utf8_lossy(text).into_owned())
            }
            9 => self.array(key)?,
            _ => self.scalar(kind)?,
        };
        Ok(is_used.then_some(value))
    }

    fn scalar(&mut self, kind: u32) -> Result<Value, Stop> {
        Ok(match kind {
            0 => Value::Integer(u8::from_le_bytes(self.array_of()?).into()),
            1 => Value::Integer(i8::from_le_bytes(self.array_of()?).into()),
            2 => Value::Integer(u16::from_le_bytes(self.array_of()?).into()),
            3 => Value::Integer(i16::from_le_bytes(self.array_of()?).into()),
            4 => Value::Integer(self.u32()?.into()),
            5 => Value::Integer(i32::from_le_bytes(self.array_of()?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array_of()?).into()),
            7 => Value::Integer(i128::from(u8::from_le_bytes(self.array_of()?) != 0)),
            10 => Value::Integer(self.u64()?.into()),
            11 => Value::Integer(i64::from_le_bytes(self.array_of()?).into()),
            12 => Value::Float(f64::from_le_bytes(self.array_of()?)),
            _ => return Err(damaged(format!("a value of the unknown kind {kind}")).into()),
        })
    }

    fn array(&mut self, key: &str) -> Result<Value, Stop> {
        let kind = self.u32()?;
        let count = self.u64()?;
        let item_bytes: u64 = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            // A string has at least its length.
            8 | 10..=12 => 8,
            _ => return Err(damaged(format!("a list of the unknown kind {kind}")).into()),
        };
        let bytes =
            count.checked_mul(item_bytes).ok_or_else(|| damaged(format!("a list of {count} values")))?;
        self.check_room(bytes)?;
        match (kind, key) {
            (8, "tokenizer.ggml.tokens" | "tokenizer.ggml.merges") => {
                let mut texts = Vec::new();
                for _ in 0..count {
                    let text = self.text(MAX_TEXT_BYTES)?;
                    texts.push(String::from_utf8_lossy(text).into_owned());
                }
                Ok(Value::Texts(texts))
            }
            (8, _) => {
                for _ in 0..count {
                    self.text(MAX_TEXT_BYTES)?;
                }
                Ok(Value::Other)
            }
            (5, "tokenizer.ggml.token_type") => {
                let (integers, _) = self.take_u64(bytes)?.as_chunks();
                Ok(Value::Integers(integers.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect()))
            }
            _ => {
                self.take_u64(bytes)?;
                Ok(Value::Other)
            }
        }
    }

    /// Its position is relative to the start of the data.
    fn tensor(&mut self) -> Result<TensorInfo, Stop> {
        let name = self.name()?;
        let count = self.u32()?;
        if !(1..=MAX_DIMENSIONS).contains(&count) {
            return Err(tensor_error(&name, &format!("has {count} dimensions")).into());
        }
        let mut dimensions = Vec::new();
        for _ in 0..count {
            let length = self.u64()?;
            let length = usize::try_from(length).ok().filter(|length| *length > 0);
            dimensions.push(length.ok_or_else(|| tensor_error(&name, "has an absurd shape"))?);
        }
        let number = self.u32()?;
        let kind = kind(number).ok_or_else(|| {
            let problem = format!(
                "is quantised in the unknown way {number}. Use Q4_0, Q4_1, Q4_K_M, Q5_K_M, Q6_K or Q8_0"
            );
            tensor_error(&name, &problem)
        })?;
        let start = self.u64()?;
        let elements =
            dimensions.iter().try_fold(1_u64, |product, length| product.checked_mul(*length as u64));
        let columns = dimensions.first().copied().unwrap_or_default();
        let bytes = elements
            .filter(|_| columns.is_multiple_of(kind.block_size()))
            .and_then(|elements| (elements / kind.block_size() as u64).checked_mul(kind.type_size() as u64))
            .ok_or_else(|| tensor_error(&name, "has an absurd shape"))?;
        Ok(TensorInfo { name, dimensions, kind, start, bytes })
    }

    fn name(&mut self) -> Result<String, Stop> {
        let name = self.text(MAX_NAME_BYTES)?;
        Ok(String::from_utf8_lossy(name).into_owned())
    }

    fn text(&mut self, max: u64) -> Result<&'a [u8], Stop> {
        let length = self.u64()?;
        self.check_room(length)?;
        if length > max {
            return Err(damaged(format!("a text of {length} bytes")).into());
        }
        self.take_u64(length)
    }

    fn u32(&mut self) -> Result<u32, Stop> {
        Ok(u32::from_le_bytes(self.array_of()?))
    }

    fn u64(&mut self) -> Result<u64, Stop> {
        Ok(u64::from_le_bytes(self.array_of()?))
    }

    fn array_of<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        self.take(N)?.first_chunk().copied().ok_or(Stop::NeedsMore)
    }

    fn take_u64(&mut self, count: u64) -> Result<&'a [u8], Stop> {
        self.take(usize::try_from(count).map_err(|_| Stop::NeedsMore)?)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Stop> {
        self.check_room(count as u64)?;
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let taken = rest.get(..count).ok_or(Stop::NeedsMore)?;
        self.position += count;
        Ok(taken)
    }

    /// Whether the file, once complete, has this many more bytes.
    fn check_room(&self, bytes: u64) -> Result<(), Stop> {
        let needed = (self.position as u64).saturating_add(bytes);
        if needed <= self.file_bytes {
            return Ok(());
        }
        // The first bytes tell a short file of another kind from a GGUF file that was cut off.
        if !is_gguf(self.bytes) {
            return Err(ModelError::NotGguf.into());
        }
        Err(ModelError::Truncated { received: self.file_bytes, needed }.into())
    }
}

/// Whether the first bytes of a file, if there are any, are those of a GGUF file.
pub(crate) fn is_gguf(bytes: &[u8]) -> bool {
    b"GGUF".starts_with(bytes.get(..4).unwrap_or(bytes))
}

/// The kinds that candle reads and that weights are stored in.
fn kind(number: u32) -> Option<GgmlDType> {
    Some(match number {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}

fn damaged(what: String) -> ModelError {
    ModelError::Header(what)
}

pub(crate) fn tensor_error(name: &str, problem: &str) -> ModelError {
    ModelError::Tensor { name: name.to_owned(), problem: problem.to_owned() }
}
