//! The writer in Chromium: time to load, to the first token and per token, and memory, compared with wllama (llama.cpp).

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use xtask::local::Stop;
use xtask::{build, paths, setup, shell};

use crate::report::Report;
use crate::{folder, program};

const NOTES: &str = "\
medians of the trials, each in a new browser; one thread, as on a page without cross-origin isolation
load_cold_ms, transferred_kb: with an empty profile, from a server on this computer; load_warm_ms: from the cache
first_token_ms, prompt_tokens_per_second: a prompt with a passage of 2,000 characters, after a short text; tokens_per_second:
  after the first token, of 64
text_cpu_ms: CPU time of the page's process for that text; loaded_mib, peak_mib: its memory";

#[derive(Args)]
pub(crate) struct Options {
    /// Number of trials.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    trials: u32,
    /// Also measure wllama: the folder `esm` of its npm package @wllama/wllama.
    #[arg(long, value_name = "DIR")]
    wllama: Option<PathBuf>,
    /// Measure the existing build.
    #[arg(long)]
    no_build: bool,
}

/// Prints a table and writes `target/bench/writer.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::on_signal()?;
    let chromium = setup::browser()?;
    let generation = setup::generation()?;
    if !options.no_build {
        build::run(&[build::Part::Writer])?;
    }
    let mut bench = shell::command("node");
    bench
        .arg(paths::repo().join("bench/writer/run.mjs"))
        .env("TRIALS", options.trials.to_string())
        .env("MODEL_FILE", &generation.model)
        .env("CHROMIUM_PATH", &chromium)
        .env_remove("WLLAMA_DIR");
    if let Some(folder) = &options.wllama {
        let folder = folder.canonicalize().with_context(|| format!("--wllama {}", folder.display()))?;
        bench.env("WLLAMA_DIR", folder);
    }
    let mut report = Report::new()?;
    program::add_to(&mut bench, &stop, &mut report).context("the bench of the writer failed")?;
    let file = folder()?.join("writer.json");
    report.write(&file)?;
    report.print();
    println!("\n{NOTES}");
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    Ok(())
}
