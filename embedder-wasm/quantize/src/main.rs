//! `quantize-model`: makes model files for the crate `embedder`.
//!
//! `embedder MODEL.safetensors tokenizer.json OUT` makes the embedder's from the float32 weights of all-MiniLM-L6-v2,
//! `reader --checkpoint FILE --model MODEL.safetensors --out FILE` the reader's from what `training/reader/train.py` saved.
//!
//! The output has the same bytes on every machine: float operations have one fixed order, none is fused, and only basic
//! operations are used.

#![allow(clippy::print_stdout, reason = "a command line program prints to its user")]

mod calibration;
mod container;
mod embeddings;
mod gptq;
mod layers;
mod reader;
mod recipe;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;

use crate::calibration::Calibration;
use crate::container::Container;

#[derive(Parser)]
#[command(about = "Make model files for the embedding engine", version)]
enum Command {
    /// Make the embedder's model file from the float32 weights of all-MiniLM-L6-v2.
    Embedder {
        /// The float32 weights, `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2.
        model: PathBuf,
        /// `tokenizer.json` of the same model.
        tokenizer: PathBuf,
        /// Path of the model file. Replaces an existing file.
        out: PathBuf,
    },
    /// Make the reader's model file from a checkpoint of `training/reader/train.py`.
    Reader {
        /// The trained weights, a safetensors file.
        #[arg(long, value_name = "FILE")]
        checkpoint: PathBuf,
        /// The float32 weights, `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2.
        #[arg(long, value_name = "FILE")]
        model: PathBuf,
        /// Path of the model file. Replaces an existing file.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Embedder { model, tokenizer, out } => write(&out, &embedder(&model, &tokenizer)?),
        Command::Reader { checkpoint, model, out } => {
            write(&out, &reader::convert(&read(&checkpoint)?, &read(&model)?)?)
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(out: &Path, file: &[u8]) -> Result<()> {
    fs::write(out, file).with_context(|| format!("cannot write {}", out.display()))?;
    println!("  SHA-256 {}, {} bytes", source::sha256(file), file.len());
    Ok(())
}

/// Makes the embedder's model file.
fn embedder(model: &Path, tokenizer: &Path) -> Result<Vec<u8>> {
    let model = read(model)?;
    source::check("the weights", &model, source::MODEL_SHA256)?;
    let tokenizer = read(tokenizer)?;
    source::check("the contents of tokenizer.json", &tokenizer, source::TOKENIZER_SHA256)?;

    let weights = source::Weights::parse(&model)?;
    let vocabulary = source::vocabulary(&tokenizer)?;
    let mut container = Container::embedder(source::MODEL_SHA256);
    let calibration = Calibration::load()?;
    embeddings::quantize(&weights, &vocabulary, &calibration, &mut container)?;
    layers::quantize(&weights, &calibration, &mut container)?;
    container.add_text("tokenizer.vocabulary", &vocabulary);
    container.into_bytes()
}
