//! The reader: its speed natively and in Chromium, the size of its file, how long it loads and what memory it takes.

use std::time::Instant;

use crate::local::Stop;
use anyhow::{Context, Result};
use clap::Args;
use xtask::{build, paths, setup, shell};

use crate::report::Report;
use crate::{embedder, folder, program};

const NOTES: &str = "\
browser_…: the npm package in its Web Worker, as the page waits for it; native_…: the crate on one thread
…_read_…: the passages of bench/reader/passages.txt, for questions of 15 to 17 tokens; …_embed_…: the same questions, each right
  before; …_read_ratio: of the medians
longest_task_reading_ms: CPU time of the longest task of the page's thread meanwhile, which other programs do not lengthen
reader_file_…: uncompressed; served: as it is downloaded
reader_cold_ms, reader_warm_ms: from the call of loadReader until it is loaded, with the embedder loaded before: downloaded from this
  computer, from the browser's cache
renderer_…: resident memory of the page's process; before: with the embedder; loaded: and the reader; used: after ten questions; peak:
  at most until then
passage_tokens: without the question, which is read with each passage";

#[derive(Args)]
pub(crate) struct Options {
    /// Measure the existing build.
    #[arg(long)]
    no_build: bool,
}

/// Prints a table and writes `target/bench/reader.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::on_signal()?;
    let model = build::run_unless(options.no_build, &[build::Part::Embedder])?;
    let mut report = Report::new()?;
    let mut bench = shell::command("node");
    bench
        .arg(paths::repo().join("bench/reader/run.mjs"))
        .env("TIME_READ", embedder::native_program("time_read")?)
        .env("EVIDENCE_MODEL_DIR", &model.0)
        .env("CHROMIUM_PATH", setup::browser()?);
    program::add_to(&mut bench, &stop, &mut report).context("the bench of the reader failed")?;
    let file = folder()?.join("reader.json");
    report.write(&file)?;
    report.print();
    println!("\n{NOTES}");
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    Ok(())
}
