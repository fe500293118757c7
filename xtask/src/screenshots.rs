//! `cargo xtask screenshots`: the pictures of `web/docs`, taken from the running product.

use anyhow::Result;
use clap::Args;
use xtask::{build, paths, setup, shell};

#[derive(Args)]
pub(crate) struct Options {
    /// Only these states, by the names of their pictures, separated by commas; `animation` is one.
    #[arg(value_delimiter = ',')]
    only: Vec<String>,
    /// Use what was built before instead of building again.
    #[arg(long)]
    prebuilt: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (tools, model, chromium) = setup::everything()?;
    if !options.prebuilt {
        build::run(&[], &tools)?;
    }
    let mut pictures = shell::command("node");
    pictures
        .arg(paths::repo().join("tests/screenshots/run.mjs"))
        .env("EVIDENCE_MODEL_DIR", &model.0)
        .env("CHROMIUM_PATH", &chromium)
        .env("KB_BINARY", paths::kb_binary())
        .env("XTASK_BINARY", std::env::current_exe()?);
    if !options.only.is_empty() {
        pictures.env("ONLY", options.only.join(","));
    }
    shell::run(&mut pictures)
}
