//! `quantize-model MODEL.safetensors tokenizer.json OUT`: makes the embedder's model file.
//!
//! The same bytes come out on every machine and with any number of threads: float operations have one fixed order,
//! none is fused, `exp` and `erf` are those of the `libm` crate, and threads only share out independent results.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its user")]

mod activations;
mod calibration;
mod container;
mod embeddings;
mod forward;
mod gptq;
mod kernels;
mod layers;
mod linear_algebra;
mod matrix;
mod moments;
mod recipe;
mod sensitivity;
mod source;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;

use crate::container::Container;

#[derive(Parser)]
#[command(about = "Make the embedder's model file from the float32 weights of all-MiniLM-L6-v2", version)]
struct Arguments {
    /// The float32 weights, `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2.
    model: PathBuf,
    /// `tokenizer.json` of the same model.
    tokenizer: PathBuf,
    /// Where the model file goes; an existing file is replaced.
    out: PathBuf,
}

fn main() -> Result<()> {
    let Arguments { model, tokenizer, out } = Arguments::parse();
    let read = |path: &PathBuf| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let model = read(&model)?;
    source::check("the weights", &model, source::MODEL_SHA256)?;
    let tokenizer = read(&tokenizer)?;
    source::check("the contents of tokenizer.json", &tokenizer, source::TOKENIZER_SHA256)?;

    let weights = source::Weights::parse(&model)?;
    let vocabulary = source::vocabulary(&tokenizer)?;
    let bytes = quantize(&weights, &vocabulary)?;
    fs::write(&out, &bytes).with_context(|| format!("cannot write {}", out.display()))?;
    println!("  SHA-256 {}, {} bytes", source::sha256(&bytes), bytes.len());
    Ok(())
}

/// The whole model file.
fn quantize(weights: &source::Weights, vocabulary: &str) -> Result<Vec<u8>> {
    let mut container = Container::new(source::MODEL_SHA256);
    let batch = calibration::Batch::of_texts(vocabulary)?;
    println!("  calibrating with {} tokens", batch.tokens());
    let embeddings = embeddings::quantize(weights, vocabulary, &batch)?;
    embeddings.store(&mut container);
    layers::quantize(weights, &embeddings, &batch, &mut container)?;
    container.add_text("tokenizer.vocabulary", vocabulary);
    container.into_bytes()
}
