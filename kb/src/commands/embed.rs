//! `kb embed`.

use std::process::ExitCode;

use serde::Serialize;

use crate::cli::EmbedArgs;
use crate::model_files::load_model;
use crate::output::print_json;

#[derive(Serialize)]
struct PrintedEmbedding<'a> {
    model: &'a str,
    vector: &'a [f32],
    tokens: usize,
    truncated: bool,
}

pub(super) fn run(args: &EmbedArgs) -> anyhow::Result<ExitCode> {
    let embedding = load_model(&args.model.model_dir)?.embed(&args.text);
    print_json(&PrintedEmbedding {
        model: embedder::fingerprint(),
        vector: &embedding.vector,
        tokens: embedding.tokens,
        truncated: embedding.truncated,
    })?;
    Ok(ExitCode::SUCCESS)
}
