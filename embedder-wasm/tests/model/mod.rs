//! Parses the real model file, so that tests can change it and write it again. Needs the model (`cargo xtask setup`).

#![allow(dead_code, reason = "no test uses all of it")]

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
        let (header, data) = real_file()[8..].split_at(header_length(real_file()));
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

    /// A reader with the weights of the embedder's layers; the tensors that only a reader has are random.
    pub(crate) fn reader() -> Self {
        let mut model = Self::real();
        model.metadata["kind"] = json!("reader");
        model.metadata["layers"] = json!("6");
        model.metadata["positions"] = json!("256");
        for linear in ["query", "key", "value", "dense"] {
            let names: Vec<(String, u64)> = model
                .tensors
                .iter()
                .filter_map(|tensor| {
                    let layer = tensor.name.strip_suffix(".weight")?;
                    layer
                        .ends_with(&format!(".{linear}"))
                        .then(|| (format!("{layer}.scale"), tensor.shape[0]))
                })
                .collect();
            for (name, channels) in names {
                let scale = model.tensor(&name);
                scale.shape = vec![channels];
                scale.data = scale.data.repeat(channels as usize);
            }
        }
        let mut random = 7_u32;
        let mut add = |name: &str, shape: &[u64], magnitude: f32| {
            let count: u64 = shape.iter().product();
            let values = (0..count).flat_map(|_| {
                // The generator of Numerical Recipes: its upper bits are random enough here.
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (((random >> 8) as f32 / 8_388_608.0 - 1.0) * magnitude).to_le_bytes()
            });
            let data = values.collect();
            model.add(name, "F32", shape, data);
        };
        add("embeddings.token_type_embeddings.weight", &[2, 384], 0.1);
        add("pooler.dense.weight", &[384, 384], 0.1);
        add("pooler.dense.bias", &[384], 0.1);
        add("classifier.weight", &[1, 384], 0.2);
        add("classifier.bias", &[1], 0.2);
        model
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

pub(crate) fn header_length(file: &[u8]) -> usize {
    u64::from_le_bytes(*file.first_chunk().unwrap()) as usize
}
