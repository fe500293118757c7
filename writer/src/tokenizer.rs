//! Byte-level BPE from the tokens and merges of a GGUF file.

use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{
    Model as _, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, SplitDelimiterBehavior,
};

use crate::ModelError;
use crate::gguf::Metadata;

/// How Llama 3 splits a text before BPE.
const LLAMA_3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Kinds of tokens in GGUF that are no text.
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const UNUSED: i32 = 5;
/// A kind whose text is not in the alphabet of bytes.
const USER_DEFINED: i32 = 4;

pub(crate) struct Tokenizer {
    bpe: BPE,
    pre_tokenizers: Vec<Box<dyn PreTokenizer + Send + Sync>>,
    /// The bytes of all tokens, one after the other.
    bytes: Vec<u8>,
    /// Where the bytes of each token end.
    ends: Vec<usize>,
    /// The tokens that end a text, such as `<|im_end|>`.
    ends_of_text: Vec<u32>,
}

impl Tokenizer {
    pub(crate) fn new(metadata: &mut Metadata) -> Result<Self, ModelError> {
        let model = metadata.text("tokenizer.ggml.model")?;
        if model != "gpt2" {
            return Err(ModelError::Tokenizer(model.to_owned()));
        }
        let splitting = metadata.text("tokenizer.ggml.pre")?.to_owned();
        let tokens = metadata.take_texts("tokenizer.ggml.tokens")?;
        let merges = metadata.take_texts("tokenizer.ggml.merges")?;
        let kinds = metadata.integers("tokenizer.ggml.token_type").unwrap_or_default();

        let alphabet = Alphabet::new();
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(tokens.len()));
        for (at, token) in tokens.iter().enumerate() {
            match kinds.get(at) {
                Some(&(UNKNOWN | CONTROL | UNUSED)) => {}
                Some(&USER_DEFINED) => bytes.extend_from_slice(token.as_bytes()),
                _ => alphabet.decode(token, &mut bytes),
            }
            ends.push(bytes.len());
        }

        let names = ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"];
        let named = names.iter().filter_map(|name| tokens.iter().position(|token| token == name));
        let keys = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"];
        let ends_of_text: Vec<u32> = named
            .filter_map(|token| u32::try_from(token).ok())
            .chain(keys.iter().filter_map(|key| metadata.token(key)))
            .collect();
        if ends_of_text.is_empty() {
            return Err(ModelError::Vocabulary("no token ends a text".to_owned()));
        }

        let merges = merges.iter().map(|merge| {
            let (left, right) = merge.split_once(' ')?;
            Some((left.to_owned(), right.to_owned()))
        });
        let merges: Option<Vec<_>> = merges.collect();
        let merges = merges.ok_or_else(|| ModelError::Vocabulary("a merge is not a pair".to_owned()))?;
        let bpe = BPE::builder()
            .vocab_and_merges(
                (0..).zip(tokens).map(|(id, token)| (token, id)).collect::<Vocabulary>(),
                merges,
            )
            .ignore_merges(splitting == "llama-bpe")
            .cache_capacity(0)
            .build()
            .map_err(|error| ModelError::Vocabulary(error.to_string()))?;
        Ok(Self { bpe, pre_tokenizers: pre_tokenizers(&splitting)?, bytes, ends, ends_of_text })
    }

    pub(crate) fn tokens(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn id(&self, token: &str) -> Option<u32> {
        self.bpe.token_to_id(token)
    }

    /// Adds the tokens of a text. Nothing in the text becomes a control token.
    pub(crate) fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), ModelError> {
        let failed = |error: tokenizers::Error| ModelError::Vocabulary(error.to_string());
        let mut text = PreTokenizedString::from(text);
        for pre_tokenizer in &self.pre_tokenizers {
            pre_tokenizer.pre_tokenize(&mut text).map_err(failed)?;
        }
        text.tokenize(|part| self.bpe.tokenize(part.get())).map_err(failed)?;
        for (_, _, tokens) in text.get_splits(OffsetReferential::Original, OffsetType::Byte) {
            ids.extend(tokens.iter().flatten().map(|token| token.id));
        }
        Ok(())
    }

    /// The bytes that a token stands for; none for a control token. They may be a part of a character.
    pub(crate) fn bytes(&self, id: u32) -> &[u8] {
        let at = id as usize;
        let end = self.ends.get(at).copied().unwrap_or_default();
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.bytes.get(start..end).unwrap_or_default()
    }

    pub(crate) fn ends_text(&self, id: u32) -> bool {
        self.ends_of_text.contains(&id)
    }
}

type Vocabulary = tokenizers::models::bpe::Vocab;

fn pre_tokenizers(splitting: &str) -> Result<Vec<Box<dyn PreTokenizer + Send + Sync>>, ModelError> {
    Ok(match splitting {
        "smollm" => vec![Box::new(Digits::new(true)), Box::new(ByteLevel::new(false, false, true))],
        "gpt-2" => vec![Box::new(ByteLevel::new(false, false, true))],
        "llama-bpe" => {
            let pattern = SplitPattern::Regex(LLAMA_3.to_owned());
            let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false)
                .map_err(|error| ModelError::Vocabulary(error.to_string()))?;
            vec![Box::new(split), Box::new(ByteLevel::new(false, false, false))]
        }
        _ => return Err(ModelError::Tokenizer(splitting.to_owned())),
    })
}

/// The characters that stand for bytes: printable ones for themselves, those from U+0100 for the others in order.
struct Alphabet(Vec<(char, u8)>);

impl Alphabet {
    fn new() -> Self {
        let mut others = 0x100_u32..;
        let mut characters: Vec<_> = (0..=u8::MAX)
            .map(|byte| {
                let is_itself = matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
                let other = if is_itself { None } else { others.next().and_then(char::from_u32) };
                (other.unwrap_or(char::from(byte)), byte)
            })
            .collect();
        characters.sort_unstable();
        Self(characters)
    }

    /// A character outside the alphabet stands for itself.
    fn decode(&self, token: &str, bytes: &mut Vec<u8>) {
        for character in token.chars() {
            let place = self.0.binary_search_by_key(&character, |(character, _)| *character);
            match place.ok().and_then(|place| self.0.get(place)) {
                Some((_, byte)) => bytes.push(*byte),
                None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }
}
