//! From a folder of documents to a knowledge base: throughput compared with sentence-transformers, where the time goes, how
//! much memory it takes, and whether embedding headings helps.

mod headings;
mod memory;
mod pages;
mod program;
mod sync;
mod throughput;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::local::Stop;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use xtask::setup::ModelDir;
use xtask::{paths, setup, shell};

use self::program::{Limit, Run};
use crate::evaluation::EvaluationData;
use crate::folder;
use crate::report::Report;

const NOTES: &str = "\
throughput_ratio: passages per second, ours divided by those of sentence-transformers (PyTorch, f32), both on two threads, in
  turns; mix_…: passages and their sentences, which is what kb embeds; baseline_cosine_…: between its vectors and ours
embed_share, database_share: of the wall time of the first sync; both overlap, so they may add up to more than 1
resync_seconds_per_1000: includes the start of kb, which weighs more with fewer files
peak_memory_mib: peak resident memory of kb, the maximum of the runs below; the database is another process
heading_…: an evaluation set with the title of the article as the heading of its passages; heading_pages_…: the sample pages,
  with title and heading; recall by passage vectors alone, combined_…: by the mean of passage, sentence and words;
  first_gained, first_lost: questions whose passage ranks first only with headings, and only without them;
  separated: answerable questions that score above 98.5 % of the off-topic ones
first_…: first kb sync of a site of short pages on native Postgres
pages_…: kb sync of a large site that is stored already, because its rows were loaded without kb: nothing changed; changed: after an
  edit of 1 % of the pages; addresses: a plan for a list of as many addresses; peak: resident memory of kb
resume_repeated_documents: documents that a run wrote again although a killed run had published them";

#[derive(Args)]
pub(crate) struct Options {
    /// Measure only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Number of Markdown files to sync; each has about ten passages. 1000 take several minutes.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    files: u32,
    /// Number of pages of the large site. 100000 take about 2 GB of disk.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1000..))]
    pages: u32,
    /// Number of pages of the first sync: several minutes.
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(500..))]
    first_pages: u32,
    /// Folder with passages.jsonl, answerable.jsonl and off_topic.jsonl, for the headings.
    /// [default: squad in --eval-dir; without it, only the sample pages are measured]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationData,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Passages per second, compared with sentence-transformers; installs 5 GB of Python packages in the cache folder.
    Throughput,
    /// Retrieval with and without headings in the embedded text.
    Headings,
    /// `kb sync` into a local Supabase: time and memory of the first sync, of one without changes and of one with some.
    Sync,
    /// `kb sync` of a large site on native Postgres: time and memory to find what changed, and what killed
    /// runs repeat.
    Pages,
}

impl Part {
    /// Timings first, while the machine is quiet.
    const ALL: [Self; 4] = [Self::Throughput, Self::Headings, Self::Sync, Self::Pages];

    fn name(self) -> &'static str {
        match self {
            Self::Throughput => "the throughput of the embedder",
            Self::Headings => "the effect of headings",
            Self::Sync => "kb sync",
            Self::Pages => "kb sync of a large site",
        }
    }
}

/// Prints a table and writes `target/bench/ingest.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let bench = Workbench::prepare(options)?;
    let mut report = Report::new()?;
    let mut failed = Vec::new();
    for part in Part::ALL.into_iter().filter(|&part| options.wants(part)) {
        println!("• measuring {}", part.name());
        let part_started = Instant::now();
        let result = match part {
            Part::Throughput => throughput::measure(&bench, &mut report),
            Part::Headings => headings::measure(&bench, &mut report),
            Part::Sync => sync::measure(&bench, options.files, &mut report),
            Part::Pages => pages::measure(&bench, options.pages, options.first_pages, &mut report),
        };
        match result {
            Ok(()) => println!("✓ {} ({:.0} s)", part.name(), part_started.elapsed().as_secs_f32()),
            Err(error) => {
                bench.stop.check()?;
                println!("✗ {}: {error:#}", part.name());
                failed.push(part.name());
            }
        }
    }
    let file = folder()?.join("ingest.json");
    report.write(&file)?;
    report.print();
    println!("\n{NOTES}\n\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    if !failed.is_empty() {
        bail!("could not measure {}", failed.join(" and "));
    }
    Ok(())
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// What the parts measure with.
struct Workbench {
    /// Work folder, ignored by git and empty at the start.
    work: PathBuf,
    model: ModelDir,
    /// A set for the headings, if one was named.
    evaluation: Option<PathBuf>,
    stop: Stop,
}

impl Workbench {
    fn prepare(options: &Options) -> Result<Self> {
        let evaluation = match &options.data {
            Some(data) => Some(
                fs::canonicalize(data)
                    .with_context(|| format!("--data {}: no such folder", data.display()))?,
            ),
            None => options.evaluation.dir()?.map(|dir| dir.join("squad")).filter(|data| data.is_dir()),
        };
        let stop = Stop::on_signal()?;
        let model = setup::model()?;
        println!("• building kb and bench-ingest in release mode");
        shell::run(shell::cargo(&["build"]).args(["--release", "--quiet"]).args([
            "--package",
            "kb",
            "--package",
            "bench-ingest",
            "--bins",
        ]))?;
        let work = folder()?.join("ingest");
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot empty {}", work.display()))?;
        }
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        Ok(Self { work, model, evaluation, stop })
    }

    /// The program in `bench/ingest`.
    fn program(&self) -> Command {
        let mut command = shell::command(release_binary("bench-ingest"));
        command.arg("--model").arg(&self.model.0);
        command
    }

    /// Runs that program and returns its standard output.
    fn output(&self, command: &mut Command) -> Result<String> {
        self.run(command, None)?.output.context("the program was ended without a time limit")
    }

    fn run(&self, command: &mut Command, limit: Option<Limit>) -> Result<Run> {
        program::run(command, &self.work.join("programs.log"), &self.stop, limit)
    }
}

fn release_binary(name: &str) -> PathBuf {
    paths::cargo_target().join("release").join(name)
}
