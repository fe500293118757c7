//! The embedder: its speed, size, memory and accuracy next to Transformers.js and ONNX Runtime.

mod browser;
mod native;
mod onnxruntime;
mod quality;
mod size;
mod sts_benchmark;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
pub(crate) use quality::program as native_program;
use xtask::setup::ModelDir;
use xtask::{build, paths, setup};

use crate::evaluation::{EvaluationData, REMEDY};
use crate::folder;
use crate::report::Report;

#[derive(Args)]
pub(crate) struct Options {
    /// Texts with token ids and f32 vectors to compare with.
    /// [default: embedder-wasm/tests/reference.json]
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Folder of a page that runs Transformers.js with its q8 model (package-lock.json, build.mjs, corpus.json, adapters/,
    /// models/). Without it, Transformers.js and ONNX Runtime q8 are left out.
    #[arg(long, value_name = "DIR", env = "EVIDENCE_CHAT_BASELINE_DIR", hide_env_values = true)]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationData,
    /// Measure only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Measure the existing build.
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
    /// Time of the native build, compared with ONNX Runtime.
    Native,
    /// Speed, load time, memory and accuracy in Chromium, compared with Transformers.js.
    Browser,
    /// The STS benchmark, natively; needs --eval-dir.
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

/// What the parts measure with, and where they write.
struct Workbench {
    /// Work folder, ignored by git.
    dir: PathBuf,
    model: ModelDir,
    chromium: PathBuf,
    /// Texts with token ids and f32 vectors.
    reference: PathBuf,
    /// Transformers.js and its models, if `--baseline` names them.
    baseline: Option<PathBuf>,
    /// Evaluation data, if a folder was named.
    evaluation: Option<PathBuf>,
}

/// Prints a table and writes `target/bench/embedder.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let bench = prepare(options)?;
    let started = Instant::now();
    let mut report = Report::new()?;
    report.context("reference", bench.reference.file_name().unwrap_or_default().to_string_lossy());
    let mut failed = Vec::new();
    for part in Part::ALL.into_iter().filter(|&part| options.wants(part)) {
        let part_started = Instant::now();
        println!("• measuring {}", part.name());
        let result = match part {
            Part::Native => native::measure(&bench, &mut report),
            Part::Browser => browser::measure(&bench, &mut report),
            Part::Quality => quality::measure(&bench, &mut report),
            Part::Size => size::measure(&mut report),
        };
        match result {
            Ok(()) => println!("✓ {} ({:.0} s)", part.name(), part_started.elapsed().as_secs_f32()),
            Err(error) => {
                println!("✗ {}: {error:#}", part.name());
                failed.push(part.name());
            }
        }
    }
    let file = bench.dir.join("embedder.json");
    report.write(&file)?;
    report.print();
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    if !failed.is_empty() {
        bail!("could not measure {}", failed.join(" and "));
    }
    Ok(())
}

fn prepare(options: &Options) -> Result<Workbench> {
    // Checked before setup and build, which take minutes.
    let evaluation = options.evaluation.dir()?;
    ensure!(
        evaluation.is_some() || !options.only.contains(&Part::Quality),
        "the STS benchmark needs stsb-en-test.csv: {REMEDY}"
    );
    let default_reference = paths::repo().join("embedder-wasm/tests/reference.json");
    let reference = existing(options.reference.as_ref().unwrap_or(&default_reference))?;
    let baseline = options.baseline.as_deref().map(existing).transpose()?;
    let model = build::run_unless(options.no_build, &[build::Part::Embedder])?;
    let chromium = setup::browser()?;
    Ok(Workbench { dir: folder()?, model, chromium, reference, baseline, evaluation })
}

fn existing(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).with_context(|| format!("cannot read {}", path.display()))
}
