//! `cargo xtask bench`: what is measured rather than checked. Nothing here passes or fails.

mod browser;
mod edge;
mod ingest;
mod native;
mod onnxruntime;
mod options;
mod program;
mod python;
mod quality;
mod report;
pub(crate) mod retrieval;
mod search;
mod size;
mod sts_benchmark;
mod target;
mod texts;
mod timer;
mod widget;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};

pub(crate) use options::Bench;
use options::{Options, Part};
use report::Report;

use crate::setup::ModelDir;
use crate::{build, paths, setup};

/// What the parts measure with, and where they put their results.
struct Bed {
    /// Work folder, git-ignored.
    dir: PathBuf,
    model: ModelDir,
    chromium: PathBuf,
    /// Texts with token ids and f32 vectors.
    reference: PathBuf,
    /// The peer library and its models; `None` where the folder is not beside the checkout.
    peer: Option<PathBuf>,
    /// Data sets; `None` likewise.
    evaluation: Option<PathBuf>,
}

/// Runs one bench.
pub(crate) fn run(bench: &Bench) -> Result<()> {
    match bench {
        Bench::Embedder(options) => embedder(options),
        Bench::Retrieval(evaluation) => retrieval::measure(evaluation),
        Bench::Search(options) => search::measure(options),
        Bench::Edge(options) => edge::measure(options),
        Bench::Ingest(options) => ingest::measure(options),
        Bench::Widget(options) => widget::measure(options),
    }
}

/// Measures the embedder, prints a table and writes `target/bench/embedder.json`.
fn embedder(options: &Options) -> Result<()> {
    let bed = prepare(options)?;
    let started = Instant::now();
    let mut report = Report::new()?;
    report.context("reference", bed.reference.file_name().unwrap_or_default().to_string_lossy());
    let mut broken = Vec::new();
    for part in Part::ALL.into_iter().filter(|&part| options.wants(part)) {
        let part_started = Instant::now();
        println!("• measuring {}", part.name());
        let result = match part {
            Part::Native => native::measure(&bed, &mut report),
            Part::Browser => browser::measure(&bed, &mut report),
            Part::Quality => quality::measure(&bed, &mut report),
            Part::Size => size::measure(&mut report),
        };
        match result {
            Ok(()) => println!("✓ {} ({:.0} s)", part.name(), part_started.elapsed().as_secs_f32()),
            Err(error) => {
                println!("✗ {}: {error:#}", part.name());
                broken.push(part.name());
            }
        }
    }
    let file = bed.dir.join("embedder.json");
    report.write(&file)?;
    report.print();
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    if !broken.is_empty() {
        bail!("could not measure {}", broken.join(" and "));
    }
    Ok(())
}

fn prepare(options: &Options) -> Result<Bed> {
    let (tools, model, chromium) = setup::everything()?;
    if !options.no_build {
        build::run(&[build::Part::Embedder], &tools)?;
    }
    let dir = folder()?;
    let shared = paths::repo().with_file_name("shared");
    let beside = |name: &str| Some(shared.join(name)).filter(|path| path.is_dir());
    let reference = match &options.reference {
        Some(file) => fs::canonicalize(file).with_context(|| format!("cannot read {}", file.display()))?,
        None => shared.join("bench-peer/reference.json"),
    };
    Ok(Bed { dir, model, chromium, reference, peer: beside("bench-peer"), evaluation: beside("eval") })
}

/// Where results and work files go, git-ignored.
fn folder() -> Result<PathBuf> {
    let dir = paths::repo().join("target/bench");
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}
