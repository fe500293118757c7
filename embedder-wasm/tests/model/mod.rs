//! Parses the real model files, so that tests can change them and write them again. Needs the model (`cargo xtask setup`) and
//! the reader's file.

#![allow(dead_code, reason = "no test uses all of it")]

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

/// The parts of a model file, which need not be consistent.
pub(crate) struct Model {
    pub(crate) metadata: Value,
    pub(crate) tensors: Vec<Tensor>,
}

pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) data: Vec<u8>,
}

impl Model {
    pub(crate) fn real() -> Self {
        Self::parse(real_file())
    }

    pub(crate) fn parse(file: &[u8]) -> Self {
        let (header, data) = file[8..].split_at(header_length(file));
        let header: Map<String, Value> = serde_json::from_slice(header).unwrap();
        let mut tensors: Vec<(usize, Tensor)> = Vec::new();
        for (name, tensor) in header.iter().filter(|(name, _)| *name != "__metadata__") {
            let [start, end] = [0, 1].map(|i| tensor["data_offsets"][i].as_u64().unwrap() as usize);
            tensors.push((
                start,
                Tensor {
                    name: name.clone(),
                    dtype: tensor["dtype"].as_str().unwrap().to_owned(),
                    shape: serde_json::from_value(tensor["shape"].clone()).unwrap(),
                    data: data[start..end].to_vec(),
                },
            ));
        }
        tensors.sort_by_key(|(start, tensor)| (*start, tensor.data.len()));
        Self {
            metadata: header["__metadata__"].clone(),
            tensors: tensors.into_iter().map(|(_, tensor)| tensor).collect(),
        }
    }

    pub(crate) fn tensor(&mut self, name: &str) -> &mut Tensor {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap()
    }

    pub(crate) fn add(&mut self, name: &str, dtype: &str, shape: &[u64], data: Vec<u8>) {
        self.tensors.push(Tensor { name: name.into(), dtype: dtype.into(), shape: shape.into(), data });
    }

    pub(crate) fn set_integers(&mut self, name: &str, values: &[i16]) {
        let tensor = self.tensor(name);
        tensor.shape = vec![values.len() as u64];
        tensor.data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    }

    pub(crate) fn header(&self) -> Value {
        let mut header = Map::new();
        if !self.metadata.is_null() {
            header.insert("__metadata__".to_owned(), self.metadata.clone());
        }
        let mut start = 0;
        for tensor in &self.tensors {
            let end = start + tensor.data.len();
            let description =
                json!({"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, end]});
            header.insert(tensor.name.clone(), description);
            start = end;
        }
        header.into()
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_with_header(self.header().to_string().as_bytes())
    }

    pub(crate) fn to_bytes_with_header(&self, header: &[u8]) -> Vec<u8> {
        let data = self.tensors.iter().map(|tensor| tensor.data.as_slice());
        let length = (header.len() as u64).to_le_bytes();
        [&length, header].into_iter().chain(data).collect::<Vec<_>>().concat()
    }
}

/// The model file, read once.
pub(crate) fn real_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        std::fs::read(embedder::model_dir().join(embedder::MODEL_FILE))
            .expect("the model file; run `cargo xtask setup model`")
    })
}

/// The reader's file, read once.
pub(crate) fn reader_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/reader");
        std::fs::read(Path::new(folder).join(embedder::READER_FILE))
            .expect("the reader's file; make it with training/reader/publish.sh")
    })
}

/// What `training/reader/golden.py` wrote.
pub(crate) const GOLDEN_READINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reader.json");

/// [`GOLDEN_READINGS`], or the file that `EVIDENCE_READER_GOLDEN` names.
pub(crate) fn golden_readings() -> Value {
    let file = std::env::var("EVIDENCE_READER_GOLDEN").unwrap_or_else(|_| GOLDEN_READINGS.to_owned());
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

pub(crate) fn header_length(file: &[u8]) -> usize {
    u64::from_le_bytes(*file.first_chunk().unwrap()) as usize
}
