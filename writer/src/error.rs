/// Why the writer cannot load a model or write with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriterError {
    /// The file is not a model that the writer can run.
    #[error("the writer cannot run this model: {0}")]
    InvalidModel(#[from] ModelError),
    /// Memory for this many bytes could not be allocated.
    #[error("there is not enough memory: {bytes} more bytes are needed. Use a smaller model")]
    OutOfMemory {
        /// The allocation that failed.
        bytes: usize,
    },
    /// The prompt leaves no room for the answer.
    #[error("the prompt has {tokens} tokens, but only {limit} fit. Shorten the sources")]
    ContextTooLong {
        /// Tokens of the prompt.
        tokens: usize,
        /// The most that a prompt may have, given the tokens of the answer.
        limit: usize,
    },
    /// The caller passed something else than a chat.
    #[error("invalid input: {0}")]
    InvalidInput(String),
}

impl WriterError {
    /// The stable name of the kind of error, for JavaScript.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidModel(_) => "invalid_model",
            Self::OutOfMemory { .. } => "out_of_memory",
            Self::ContextTooLong { .. } => "context_too_long",
            Self::InvalidInput(_) => "invalid_input",
        }
    }
}

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file does not begin like a GGUF file.
    #[error("it is not a GGUF file. Use a file whose name ends in .gguf")]
    NotGguf,
    /// A version of GGUF that the writer does not read.
    #[error("its GGUF version is {0}; versions 2 and 3 can be read. Convert the model again")]
    Version(u32),
    /// The file ends too early.
    #[error("it ends after {received} bytes, but needs at least {needed}. Download it again")]
    Truncated {
        /// The bytes that there are.
        received: u64,
        /// The bytes that the file says it has.
        needed: u64,
    },
    /// More bytes came than the caller announced.
    #[error("it is longer than the {expected} bytes that were announced")]
    TooLong {
        /// The announced length.
        expected: u64,
    },
    /// The part before the weights contradicts itself or is absurdly large.
    #[error("its header is damaged: {0}. Download it again")]
    Header(String),
    /// A model of another family.
    #[error("its architecture is {0:?}. Use a model of the llama family")]
    Architecture(String),
    /// A variant of the family that the writer does not compute.
    #[error("it uses {0}, which the writer does not support. Use another model of the llama family")]
    Unsupported(String),
    /// The metadata lack a value or have one that cannot be right.
    #[error("its metadata {key:?} {problem}")]
    Metadata {
        /// The name of the value.
        key: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A tensor is missing or has the wrong shape or kind.
    #[error("its tensor {name:?} {problem}")]
    Tensor {
        /// The name of the tensor.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The text is split in a way that the writer does not know.
    #[error("its tokenizer is {0:?}. Use a model with byte-level BPE: smollm, llama-bpe or gpt-2")]
    Tokenizer(String),
    /// The tokens and merges do not make a tokenizer.
    #[error("its tokenizer is damaged: {0}. Download it again")]
    Vocabulary(String),
    /// The chat is written in a way that the writer does not know.
    #[error(
        "its chat template is neither ChatML nor that of Llama 3. Use an instruction-tuned model with one of them"
    )]
    ChatTemplate,
}

/// A vector of `length` copies of `value`, or an error where `vec!` would abort.
pub(crate) fn allocate<T: Copy>(length: usize, value: T) -> Result<Vec<T>, WriterError> {
    let mut values = reserve(length)?;
    values.resize(length, value);
    Ok(values)
}

/// An empty vector with room for `length` values.
pub(crate) fn reserve<T>(length: usize) -> Result<Vec<T>, WriterError> {
    let mut values = Vec::new();
    let bytes = length.saturating_mul(size_of::<T>());
    values.try_reserve_exact(length).map_err(|_| WriterError::OutOfMemory { bytes })?;
    Ok(values)
}
