//! `quantize-model embedder` on the real weights. Needs the model (`cargo xtask setup model`).

use std::process::Command;

#[test]
fn the_model_file_has_the_bytes_that_the_engine_accepts() {
    let dir = embedder::model_dir();
    let out = std::env::temp_dir().join(format!("quantize-embedder-{}.safetensors", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_quantize-model"))
        .arg("embedder")
        .args([dir.join("model.safetensors"), dir.join("tokenizer.json"), out.clone()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_file(&out).unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains(embedder::MODEL_SHA256), "{printed}");
}
