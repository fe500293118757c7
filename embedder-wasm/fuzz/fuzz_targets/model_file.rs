//! Hostile model files: arbitrary bytes, and the real file with changes. A file is rejected or loads
//! as an embedder that runs; neither panics or allocates more than the model needs.

#![no_main]

use std::borrow::Cow;
use std::sync::OnceLock;

use arbitrary::Arbitrary;
use embedder::{DIMENSIONS, Embedder};
use embedder_fuzz::{real_model, within};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// Memory of a loaded model in bytes: weights, working memory and vocabulary, without the file itself.
const MAX_LOADED_BYTES: usize = 32 << 20;

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    Bytes(&'a [u8]),
    Header { header: &'a [u8], length: Option<u64>, data: u8 },
    Model { changes: Vec<Change<'a>>, header: HeaderChange<'a>, cut: Option<u32>, text: &'a str },
}

/// A change of one tensor.
#[derive(Debug, Arbitrary)]
struct Change<'a> {
    tensor: u8,
    what: What<'a>,
}

#[derive(Debug, Arbitrary)]
enum What<'a> {
    Drop,
    Rename(&'a str),
    Dtype(u8),
    Shape(Vec<u64>),
    /// Another shape, with matching bytes.
    Resize(u16, u16),
    Offsets(u64, u64),
    Bytes {
        at: u32,
        bytes: &'a [u8],
    },
    Float {
        at: u16,
        value: f32,
    },
    FillFloats(f32),
    Integers(Vec<i16>),
}

#[derive(Debug, Arbitrary)]
enum HeaderChange<'a> {
    None,
    Format(&'a str),
    Insert { at: u16, text: &'a str },
    Replace { at: u16, byte: u8 },
    Length(u64),
    Padding(u32),
}

fuzz_target!(|input: Input<'_>| {
    match input {
        // Inputs of the fuzzer are too short to be a model, and must not be accepted as the beginning of one.
        Input::Bytes(bytes) => assert!(within(4 << 20, || Embedder::from_trusted(bytes.to_vec())).is_err()),
        Input::Header { header, length, data } => {
            let length = length.unwrap_or(header.len() as u64).to_le_bytes();
            let bytes = [&length, header, &vec![0; data.into()]].concat();
            assert!(within(4 << 20, || Embedder::from_trusted(bytes)).is_err());
        }
        Input::Model { changes, header, cut, text } => {
            let mut model = Model::good();
            for change in changes.iter().take(8) {
                model.apply(change);
            }
            let mut bytes = model.to_bytes(&header);
            if let Some(cut) = cut {
                bytes.truncate(bytes.len().saturating_sub(cut as usize));
            }
            let unchanged =
                changes.is_empty() && cut.is_none_or(|cut| cut == 0) && matches!(header, HeaderChange::None);
            let loaded = within(MAX_LOADED_BYTES, || Embedder::from_trusted(bytes));
            assert!(loaded.is_ok() || !unchanged, "a good model is rejected: {:?}", loaded.err());
            if let Ok(mut embedder) = loaded {
                let short: String = text.chars().take(20).collect();
                for embedding in within(1 << 20, || embedder.embed_batch(&["", &short])) {
                    assert_eq!(embedding.vector.len(), DIMENSIONS);
                }
            }
        }
    }
});

struct Tensor {
    name: String,
    dtype: &'static str,
    shape: Vec<u64>,
    offsets: Option<(u64, u64)>,
    data: Cow<'static, [u8]>,
}

/// Name, type, shape and bytes.
type GoodTensor = (String, &'static str, Vec<u64>, Vec<u8>);

struct Model {
    tensors: Vec<Tensor>,
}

const DTYPES: [&str; 16] = [
    "I8", "U8", "F32", "I16", "I32", "U32", "F16", "BF16", "F64", "I64", "U64", "BOOL", "U16", "F8_E4M3",
    "F4", "Q8",
];

impl Model {
    /// The tensors of the real file, read once.
    fn good() -> Self {
        static GOOD: OnceLock<Vec<GoodTensor>> = OnceLock::new();
        let share = |(name, dtype, shape, data): &'static GoodTensor| Tensor {
            name: name.clone(),
            dtype,
            shape: shape.clone(),
            offsets: None,
            data: Cow::Borrowed(data),
        };
        Self { tensors: GOOD.get_or_init(good_tensors).iter().map(share).collect() }
    }

    fn apply(&mut self, change: &Change<'_>) {
        if self.tensors.is_empty() {
            return;
        }
        let index = usize::from(change.tensor) % self.tensors.len();
        let tensor = &mut self.tensors[index];
        match &change.what {
            What::Drop => drop(self.tensors.remove(index)),
            What::Rename(name) => tensor.name = (*name).to_owned(),
            What::Dtype(dtype) => tensor.dtype = DTYPES[usize::from(*dtype) % DTYPES.len()],
            What::Shape(shape) => tensor.shape.clone_from(shape),
            What::Resize(rows, columns) => {
                let (rows, columns) = (u64::from(*rows), u64::from(*columns % 2048));
                let elements = (rows * columns).min(1 << 20);
                tensor.shape = vec![elements / columns.max(1), columns];
                let width = if tensor.dtype == "F32" { 4 } else { 1 };
                tensor.data.to_mut().resize((tensor.shape[0] * columns) as usize * width, 1);
            }
            What::Offsets(start, end) => tensor.offsets = Some((*start, *end)),
            What::Bytes { at, bytes } => {
                let at = *at as usize % (tensor.data.len() + 1);
                let end = tensor.data.len().min(at + bytes.len());
                tensor.data.to_mut()[at..end].copy_from_slice(&bytes[..end - at]);
            }
            What::Float { at, value } => {
                let (floats, _) = tensor.data.to_mut().as_chunks_mut::<4>();
                if !floats.is_empty() {
                    floats[usize::from(*at) % floats.len()] = value.to_le_bytes();
                }
            }
            What::FillFloats(value) if tensor.dtype == "F32" => {
                tensor.data.to_mut().as_chunks_mut::<4>().0.fill(value.to_le_bytes());
            }
            What::FillFloats(_) => {}
            What::Integers(values) => {
                tensor.dtype = "I16";
                tensor.shape = vec![values.len() as u64];
                tensor.data = values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>().into();
            }
        }
    }

    fn to_bytes(&self, change: &HeaderChange<'_>) -> Vec<u8> {
        let mut header = Map::new();
        let format =
            if let HeaderChange::Format(format) = change { format } else { "evidence-chat-embedder/1" };
        header.insert("__metadata__".to_owned(), json!({"format": format}));
        let mut start = 0;
        for Tensor { name, dtype, shape, offsets, data } in &self.tensors {
            let end = start + data.len() as u64;
            let offsets = offsets.unwrap_or((start, end));
            header.insert(name.clone(), json!({"dtype": dtype, "shape": shape, "data_offsets": offsets}));
            start = end;
        }
        let mut header = Value::from(header).to_string().into_bytes();
        let mut length = None;
        match change {
            HeaderChange::None | HeaderChange::Format(_) => {}
            HeaderChange::Insert { at, text } => {
                let at = usize::from(*at) % (header.len() + 1);
                header.splice(at..at, text.bytes());
            }
            HeaderChange::Replace { at, byte } => {
                let at = usize::from(*at) % header.len();
                header[at] = *byte;
            }
            HeaderChange::Length(wrong) => length = Some(*wrong),
            HeaderChange::Padding(spaces) => header.resize(header.len() + *spaces as usize % 100_000, b' '),
        }
        let length = length.unwrap_or(header.len() as u64).to_le_bytes();
        let data = self.tensors.iter().map(|tensor| &*tensor.data);
        [&length, header.as_slice()].into_iter().chain(data).collect::<Vec<_>>().concat()
    }
}

/// The tensors of the real file.
fn good_tensors() -> Vec<GoodTensor> {
    let file = real_model().expect("the model file; run `cargo xtask setup model`");
    let length = u64::from_le_bytes(*file.first_chunk().unwrap()) as usize;
    let (header, data) = file[8..].split_at(length);
    let header: Map<String, Value> = serde_json::from_slice(header).unwrap();
    let tensor = |(name, tensor): (&String, &Value)| {
        let [start, end] = [0, 1].map(|i| tensor["data_offsets"][i].as_u64().unwrap() as usize);
        let dtype = DTYPES.iter().find(|dtype| tensor["dtype"] == **dtype).unwrap();
        let shape = serde_json::from_value(tensor["shape"].clone()).unwrap();
        (name.clone(), *dtype, shape, data[start..end].to_vec())
    };
    header.iter().filter(|(name, _)| *name != "__metadata__").map(tensor).collect()
}
