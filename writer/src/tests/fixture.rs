//! Small models with made-up weights, as GGUF files.

use std::collections::BTreeMap;
use std::io::Cursor;

use candle_core::quantized::gguf_file::{Value, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

use crate::{Loader, Message, Model, Role, WriterError};

pub(super) const CONTEXT: usize = 160;
pub(super) const CHAT_ML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'}}{% endfor %}";
const CONTROL: [&str; 3] = ["<|endoftext|>", "<|im_end|>", "<|im_start|>"];
const LAYERS: usize = 2;

/// A model before it is a file.
pub(super) struct Fixture {
    pub(super) metadata: BTreeMap<String, Value>,
    /// Shape `[rows, columns]`, or one length.
    pub(super) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    pub(super) kind: GgmlDType,
}

impl Fixture {
    /// A model whose layers have this width, with weights of this kind.
    pub(super) fn new(width: usize, kind: GgmlDType) -> Self {
        let tokens = tokens();
        let merges = [("t", "h"), ("th", "e"), ("Ġ", "the")];
        let texts = |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::String).collect());
        let number = |value: usize| Value::U32(value as u32);
        let text = |value: &str| Value::String(value.to_owned());
        let kinds =
            tokens.iter().map(|token| Value::I32(if token.starts_with("<|") { 3 } else { 1 })).collect();
        let merges: Vec<_> = merges.iter().map(|(left, right)| format!("{left} {right}")).collect();
        let metadata = [
            ("general.architecture", text("llama")),
            ("general.name", text("Made up")),
            ("llama.block_count", number(LAYERS)),
            ("llama.context_length", number(CONTEXT)),
            ("llama.embedding_length", number(width)),
            ("llama.feed_forward_length", number(2 * width)),
            ("llama.attention.head_count", number(4)),
            ("llama.attention.head_count_kv", number(2)),
            ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
            ("llama.rope.freq_base", Value::F32(10_000.0)),
            ("llama.rope.dimension_count", number(width / 4)),
            ("tokenizer.ggml.model", text("gpt2")),
            ("tokenizer.ggml.pre", text("smollm")),
            ("tokenizer.ggml.tokens", texts(&tokens)),
            ("tokenizer.ggml.token_type", Value::Array(kinds)),
            ("tokenizer.ggml.merges", texts(&merges)),
            ("tokenizer.ggml.eos_token_id", number(1)),
            ("tokenizer.chat_template", text(CHAT_ML)),
        ];
        let metadata = metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let mut fixture = Self { metadata, tensors: BTreeMap::new(), kind };
        let mut random = Random(1);
        fixture.add("token_embd.weight", &[tokens.len(), width], &mut random);
        fixture.add("output.weight", &[tokens.len(), width], &mut random);
        // An answer never ends by chance.
        if let Some((_, output)) = fixture.tensors.get_mut("output.weight") {
            output[..CONTROL.len() * width].fill(0.0);
        }
        fixture.add("output_norm.weight", &[width], &mut random);
        for layer in 0..LAYERS {
            for (name, rows, columns) in [
                ("attn_q", width, width),
                ("attn_k", width / 2, width),
                ("attn_v", width / 2, width),
                ("attn_output", width, width),
                ("ffn_gate", 2 * width, width),
                ("ffn_up", 2 * width, width),
                ("ffn_down", width, 2 * width),
            ] {
                fixture.add(&format!("blk.{layer}.{name}.weight"), &[rows, columns], &mut random);
            }
            for name in ["attn_norm", "ffn_norm"] {
                fixture.add(&format!("blk.{layer}.{name}.weight"), &[width], &mut random);
            }
        }
        fixture
    }

    pub(super) fn small() -> Self {
        Self::new(32, GgmlDType::Q8_0)
    }

    fn add(&mut self, name: &str, shape: &[usize], random: &mut Random) {
        let count = shape.iter().product();
        // Norms are about 1; the other weights keep the size of what they are multiplied with, whatever the width.
        let (middle, spread) = match shape {
            [_, columns] => (0.0, 1.7 / (*columns as f32).sqrt()),
            _ => (1.0, 0.1),
        };
        let values = (0..count).map(|_| middle + spread * random.next()).collect();
        self.tensors.insert(name.to_owned(), (shape.to_vec(), values));
    }

    pub(super) fn with(mut self, key: &str, value: Value) -> Self {
        self.metadata.insert(key.to_owned(), value);
        self
    }

    pub(super) fn without(mut self, key: &str) -> Self {
        assert!(self.metadata.remove(key).is_some() || self.tensors.remove(key).is_some(), "{key}");
        self
    }

    pub(super) fn file(&self) -> Vec<u8> {
        self.write(false)
    }

    /// The same model with floats for weights, of the values that they have after quantisation.
    pub(super) fn file_of_floats(&self) -> Vec<u8> {
        self.write(true)
    }

    fn write(&self, as_floats: bool) -> Vec<u8> {
        let tensors: Vec<_> = self
            .tensors
            .iter()
            .map(|(name, (shape, values))| {
                let tensor = Tensor::from_slice(values, shape.as_slice(), &Device::Cpu).unwrap();
                let kind = if shape.len() == 1 { GgmlDType::F32 } else { self.kind };
                let quantised = QTensor::quantize(&tensor, kind).unwrap();
                let floats =
                    || QTensor::quantize(&quantised.dequantize(&Device::Cpu).unwrap(), GgmlDType::F32);
                (name.as_str(), if as_floats { floats().unwrap() } else { quantised })
            })
            .collect();
        let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
        let metadata: Vec<_> = self.metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
        let mut file = Cursor::new(Vec::new());
        write(&mut file, &metadata, &tensors).unwrap();
        file.into_inner()
    }

    pub(super) fn load(&self) -> Result<Model, WriterError> {
        load(&self.file())
    }

    pub(super) fn error(&self) -> String {
        self.load().err().expect("an error").to_string()
    }
}

pub(super) fn load(file: &[u8]) -> Result<Model, WriterError> {
    let mut loader = Loader::new(file.len() as u64);
    loader.push(file)?;
    loader.finish()
}

pub(super) fn chat(text: &str) -> Vec<Message> {
    vec![
        Message { role: Role::System, content: "Be short.".to_owned() },
        Message { role: Role::User, content: text.to_owned() },
    ]
}

pub(super) fn answer(model: &Model, text: &str, max_tokens: usize) -> String {
    let mut session = model.start(&chat(text), max_tokens).unwrap();
    let mut answer = String::new();
    while let Some(piece) = session.next() {
        answer += &piece;
    }
    answer
}

/// The control tokens, a character for each byte, and what the merges make.
pub(super) fn tokens() -> Vec<String> {
    let control = CONTROL.map(str::to_owned);
    let is_itself = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut others = ('\u{100}'..).take(256);
    let bytes: Vec<String> = (0..=255_u8)
        .map(|byte| if is_itself(byte) { char::from(byte) } else { others.next().unwrap() }.to_string())
        .collect();
    let merged = ["th", "the", "Ġthe"].map(str::to_owned);
    control.into_iter().chain(bytes).chain(merged).collect()
}

/// Numbers from -1 to 1, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        // Knuth's linear congruential generator, of which the highest bits are used.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}
