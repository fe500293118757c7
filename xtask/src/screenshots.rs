//! `cargo xtask screenshots`: takes the screenshots in `web/docs` and `docs` from the running product.

use anyhow::Result;
use clap::Args;
use xtask::{build, paths, setup, shell};

#[derive(Args)]
pub(crate) struct Options {
    /// Only these states, by the names of their files, separated by commas; `animation` is one.
    #[arg(value_delimiter = ',')]
    only: Vec<String>,
    /// Use the existing build.
    #[arg(long)]
    prebuilt: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let model = if options.prebuilt {
        build::check_outputs(build::Extent::Whole)?;
        setup::node()?;
        setup::model()?
    } else {
        build::run(&build::Part::ALL)?
    };
    let chromium = setup::browser()?;
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
