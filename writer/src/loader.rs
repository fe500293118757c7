//! Loads a model while its file arrives.

use crate::chat::Template;
use crate::error::reserve;
use crate::gguf::{Header, MAX_HEADER_BYTES, TensorInfo, is_gguf, read_header, tensor_error};
use crate::model::{Config, Target, Weights};
use crate::tokenizer::Tokenizer;
use crate::{Model, ModelError, WriterError};

/// Bytes after which reading the header is tried first; then at each doubling, so that it is read a few times at most.
const FIRST_ATTEMPT: usize = 64 << 10;

/// Takes the bytes of a GGUF file in order and keeps only what they become: weights of eight bits with their scales, 9 bytes
/// for 8 of them, and the tokenizer.
pub struct Loader {
    file_bytes: u64,
    received: u64,
    state: State,
}

enum State {
    Header { bytes: Vec<u8>, next_attempt: usize },
    Tensors(Box<Tensors>),
    Failed(WriterError),
}

/// The tensors, as their bytes arrive.
struct Tensors {
    config: Config,
    tokenizer: Tokenizer,
    template: Template,
    weights: Weights,
    /// In the order of the file; the first is the next one.
    tensors: std::vec::IntoIter<TensorInfo>,
    current: Option<Current>,
    /// The position of the next byte in the file.
    position: u64,
    /// The beginning of a row.
    row: AlignedBytes,
}

struct Current {
    info: TensorInfo,
    row_bytes: usize,
    row_columns: usize,
    rows_left: usize,
}

impl Loader {
    /// Prepares to load a file of this length.
    pub fn new(file_bytes: u64) -> Self {
        Self {
            file_bytes,
            received: 0,
            state: State::Header { bytes: Vec::new(), next_attempt: FIRST_ATTEMPT },
        }
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// As soon as the bytes show that the file is not a model that can be run, and for every later call.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), WriterError> {
        self.received = self.received.saturating_add(bytes.len() as u64);
        let result = if self.received > self.file_bytes {
            Err(ModelError::TooLong { expected: self.file_bytes }.into())
        } else {
            self.take(bytes)
        };
        if let Err(error) = &result {
            self.state = State::Failed(error.clone());
        }
        result
    }

    /// Returns the model when all bytes of the file were taken.
    ///
    /// # Errors
    /// If the file is not a model that can be run, or bytes are missing.
    pub fn finish(self) -> Result<Model, WriterError> {
        let truncated = ModelError::Truncated { received: self.received, needed: self.file_bytes };
        match self.state {
            State::Failed(error) => Err(error),
            State::Header { bytes, .. } if !is_gguf(&bytes) => Err(ModelError::NotGguf.into()),
            State::Header { .. } => Err(truncated.into()),
            State::Tensors(_) if self.received < self.file_bytes => Err(truncated.into()),
            State::Tensors(tensors) => tensors.finish(),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), WriterError> {
        let (header, next_attempt) = match &mut self.state {
            State::Failed(error) => return Err(error.clone()),
            State::Tensors(tensors) => return tensors.take(bytes),
            State::Header { bytes, next_attempt } => (bytes, next_attempt),
        };
        // Only as much as a header may have, so that a hostile file is not collected here.
        let room = MAX_HEADER_BYTES.saturating_sub(header.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        header.try_reserve(first.len()).map_err(|_| WriterError::OutOfMemory { bytes: first.len() })?;
        header.extend_from_slice(first);
        let is_whole = self.received == self.file_bytes;
        if header.len() < *next_attempt && !is_whole && header.len() < MAX_HEADER_BYTES {
            return Ok(());
        }
        *next_attempt = header.len().saturating_mul(2);
        match read_header(header, self.file_bytes)? {
            None if is_whole => {
                let needed = self.file_bytes.saturating_add(1);
                Err(ModelError::Truncated { received: self.received, needed }.into())
            }
            None => Ok(()),
            Some(found) => {
                let collected = std::mem::take(header);
                let mut tensors = Box::new(Tensors::new(found)?);
                tensors.take(&collected)?;
                drop(collected);
                tensors.take(rest)?;
                self.state = State::Tensors(tensors);
                Ok(())
            }
        }
    }
}

impl Tensors {
    fn new(header: Header) -> Result<Self, WriterError> {
        let Header { mut metadata, tensors } = header;
        let config = Config::new(&metadata)?;
        let tokenizer = Tokenizer::new(&mut metadata)?;
        let template = Template::new(&metadata, &tokenizer)?;
        let weights = Weights::new(&config, tokenizer.tokens(), &tensors)?;
        let tensors = tensors.into_iter();
        let row = AlignedBytes::default();
        let mut this =
            Self { config, tokenizer, template, weights, tensors, current: None, position: 0, row };
        this.next_tensor()?;
        Ok(this)
    }

    fn next_tensor(&mut self) -> Result<(), WriterError> {
        self.current = None;
        if let Some(info) = self.tensors.next() {
            let columns = info.dimensions.first().copied().unwrap_or_default();
            // The shapes were compared with those of the model.
            let rows = info.dimensions.get(1).copied().unwrap_or(1);
            let row_bytes = columns / info.kind.block_size() * info.kind.type_size();
            self.row.reset(row_bytes)?;
            self.current = Some(Current { info, row_bytes, row_columns: columns, rows_left: rows });
        }
        Ok(())
    }

    /// Takes bytes of the file, from the position after the last ones.
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), WriterError> {
        while let Some(current) = &mut self.current {
            // Bytes before the tensor: the header, padding.
            let gap = current.info.start.saturating_sub(self.position);
            let gap = usize::try_from(gap).unwrap_or(usize::MAX).min(bytes.len());
            // The next byte of a tensor is at its start or, after that, wherever the last row ended.
            bytes = bytes.get(gap..).unwrap_or_default();
            self.position += gap as u64;
            if bytes.is_empty() {
                return Ok(());
            }
            let (taken, rest) = bytes.split_at((current.row_bytes - self.row.len()).min(bytes.len()));
            self.row.push(taken);
            self.position += taken.len() as u64;
            bytes = rest;
            if self.row.len() < current.row_bytes {
                return Ok(());
            }
            let numbers = current.numbers(self.row.bytes())?;
            match self.weights.target(&current.info.name) {
                Some(Target::Matrix(matrix)) => matrix.push_row(&numbers),
                Some(Target::Vector(vector)) => *vector = numbers,
                None => {}
            }
            self.row.clear();
            current.rows_left -= 1;
            if current.rows_left == 0 {
                self.next_tensor()?;
            }
        }
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn finish(self) -> Result<Model, WriterError> {
        match self.current {
            Some(current) => Err(tensor_error(&current.info.name, "ends too early").into()),
            None => Ok(Model::new(self.config, self.tokenizer, self.template, self.weights)),
        }
    }
}

impl Current {
    /// The row as floats, by candle. Its length is that of a whole number of blocks.
    fn numbers(&self, bytes: &[u8]) -> Result<Vec<f32>, WriterError> {
        let failed = || tensor_error(&self.info.name, "cannot be read");
        let numbers =
            self.info.kind.from_data(bytes.into()).dequantize(self.row_columns).map_err(|_| failed())?;
        match numbers {
            candle_core::CpuStorage::F32(numbers) => Ok(numbers),
            _ => Err(failed().into()),
        }
    }
}

/// Bytes at an address that is a multiple of [`ALIGNMENT`], which candle requires.
#[derive(Default)]
struct AlignedBytes {
    bytes: Vec<u8>,
    start: usize,
}

const ALIGNMENT: usize = 8;

impl AlignedBytes {
    /// Empties it and makes room for this many bytes.
    fn reset(&mut self, capacity: usize) -> Result<(), WriterError> {
        self.bytes = reserve(capacity.saturating_add(ALIGNMENT))?;
        self.start = self.bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(self.start, 0);
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.start)
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}
