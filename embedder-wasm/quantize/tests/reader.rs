//! `quantize-model reader`: the engine reads the file, and checkpoints of another shape are rejected. The weights are made up;
//! `embedder-wasm/tests/reader.rs` compares a trained reader with what the training code says. Needs the model (`cargo xtask
//! setup model`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use embedder::{Embedder, Reader};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, serialize};

/// Tensors by name: shape and the bits of half-precision numbers.
type Tensors = BTreeMap<String, (Vec<usize>, Vec<u16>)>;

#[test]
fn the_engine_loads_the_file_and_the_bytes_are_always_the_same() {
    let folder = Folder::new("converted");
    let file = folder.convert(&checkpoint());
    assert!(file.len() < 8_000_000, "{} bytes", file.len());
    assert!(folder.convert(&checkpoint()) == file);
    let embedder = Embedder::from_dir(&embedder::model_dir()).expect("run `cargo xtask setup model`");
    let mut reader = Reader::from_trusted(&embedder, file).unwrap();
    let z = reader.read("When do I get it?", "Refunds", &["Returns are free.", "It takes five days."]);
    assert!(z.len() == 2 && z.iter().all(|z| z.is_some_and(f32::is_finite)), "{z:?}");
}

#[test]
fn each_head_and_layer_changes_the_file() {
    let folder = Folder::new("changed");
    let file = folder.convert(&checkpoint());
    // All layers have the same tensors: one layer is enough.
    for name in checkpoint().keys().filter(|name| !name.contains("layers.") || name.contains("layers.4.")) {
        let mut changed = checkpoint();
        // 0.5, which no other value is.
        changed.get_mut(name).unwrap().1[0] = 0x3800;
        assert!(folder.convert(&changed) != file, "{name}");
    }
}

#[test]
fn other_checkpoints_are_rejected_with_the_reason() {
    let folder = Folder::new("rejected");
    type Change = fn(&mut Tensors);
    let cases: [(Change, &str); 5] = [
        (|t| drop(t.remove("sent.weight")), "the weights lack sent.weight"),
        (|t| drop(t.remove("layers.5.ln2.bias")), "the weights lack layers.5.ln2.bias"),
        (
            |t| drop(t.insert("passage.weight".into(), (vec![2, 384], vec![0; 768]))),
            "passage.weight has the shape [2, 384], expected [1, 384]",
        ),
        (
            |t| drop(t.insert("layers.2.qkv.bias".into(), (vec![384], vec![0; 384]))),
            "layers.2.qkv.bias has the shape [384], expected [1152]",
        ),
        (|t| t.get_mut("sent.bias").unwrap().1[0] = 0x7e00, "sent.bias has values that are not finite"),
    ];
    for (change, reason) in cases {
        let mut tensors = checkpoint();
        change(&mut tensors);
        folder.assert_rejected(&bytes_of(&tensors), reason);
    }
    folder.assert_rejected(b"not weights", "the weights are not a safetensors file");

    std::fs::write(folder.path("checkpoint"), bytes_of(&checkpoint())).unwrap();
    let output = folder.run(&folder.path("checkpoint"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("cargo xtask setup model"), "{message}");
}

/// Small values that repeat, in the shape of a trained reader.
fn checkpoint() -> Tensors {
    let mut tensors = Tensors::new();
    let mut add = |name: String, shape: &[usize]| {
        // ±0.004 to ±0.007
        let value = |i: usize| (0x1c00 + (i % 777) as u16) | (((i % 2) as u16) << 15);
        tensors.insert(name, (shape.to_vec(), (0..shape.iter().product()).map(value).collect()));
    };
    let linears = [("qkv", 1152, 384), ("o", 384, 384), ("up", 1536, 384), ("down", 384, 1536)];
    for layer in 2..6 {
        for (name, rows, columns) in linears {
            add(format!("layers.{layer}.{name}.weight"), &[rows, columns]);
            add(format!("layers.{layer}.{name}.bias"), &[rows]);
        }
        for name in ["ln1.weight", "ln1.bias", "ln2.weight", "ln2.bias"] {
            add(format!("layers.{layer}.{name}"), &[384]);
        }
    }
    for head in ["sent", "passage"] {
        add(format!("{head}.weight"), &[1, 384]);
        add(format!("{head}.bias"), &[1]);
    }
    tensors
}

fn bytes_of(tensors: &Tensors) -> Vec<u8> {
    let data: Vec<(&String, &Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(name, (shape, bits))| (name, shape, bits.iter().flat_map(|bits| bits.to_le_bytes()).collect()))
        .collect();
    let views = data
        .iter()
        .map(|(name, shape, data)| (name, TensorView::new(Dtype::F16, shape.to_vec(), data).unwrap()));
    serialize(views, None).unwrap()
}

/// A folder for one test, deleted after it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("evidence-chat-reader-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn convert(&self, tensors: &Tensors) -> Vec<u8> {
        std::fs::write(self.path("checkpoint"), bytes_of(tensors)).unwrap();
        let output = self.run(&embedder::model_dir().join("model.safetensors"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read(self.path("out")).unwrap()
    }

    fn assert_rejected(&self, checkpoint: &[u8], reason: &str) {
        std::fs::write(self.path("checkpoint"), checkpoint).unwrap();
        let output = self.run(&embedder::model_dir().join("model.safetensors"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(reason), "{message:?}, expected {reason:?}");
    }

    fn run(&self, model: &Path) -> Output {
        Command::new(env!("CARGO_BIN_EXE_quantize-model"))
            .arg("reader")
            .args(["--checkpoint".as_ref(), self.path("checkpoint").as_os_str()])
            .args(["--model".as_ref(), model.as_os_str()])
            .args(["--out".as_ref(), self.path("out").as_os_str()])
            .output()
            .unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}
