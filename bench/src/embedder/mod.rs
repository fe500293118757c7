//! The embedder: its speed, size, memory and accuracy next to Transformers.js and ONNX Runtime.

mod browser;
mod native;
mod onnxruntime;
mod quality;
mod size;
mod sts_benchmark;
mod texts;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use xtask::setup::ModelDir;
use xtask::{build, paths, setup};

use crate::folder;
use crate::report::Report;

#[derive(Args)]
pub(crate) struct Options {
    /// Texts with token ids and f32 vectors to compare with; the form of ../shared/bench-peer/reference.json.
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Measure only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Measure the package as it is built already.
    #[arg(long)]
    no_build: bool,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Time of the native build, beside ONNX Runtime.
    Native,
    /// Speed, load, memory and accuracy in Chromium, beside Transformers.js.
    Browser,
    /// The STS benchmark, natively.
    Quality,
    /// What a visitor downloads.
    Size,
}

impl Part {
    /// Timings first, while the machine is quiet.
    const ALL: [Self; 4] = [Self::Native, Self::Browser, Self::Quality, Self::Size];

    fn name(self) -> &'static str {
        match self {
            Self::Native => "the native embedder",
            Self::Browser => "the embedder in Chromium",
            Self::Quality => "the quality of the vectors",
            Self::Size => "the size of the download",
        }
    }
}

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

/// Prints a table and writes `target/bench/embedder.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
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
