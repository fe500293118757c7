//! From a folder of documents to a knowledge base: how fast beside sentence-transformers, where the time goes, how much
//! memory it takes, and whether headings are worth embedding.

mod headings;
mod memory;
mod program;
mod sync;
mod throughput;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use xtask::local::Stop;
use xtask::setup::ModelDir;
use xtask::{paths, setup, shell};

use self::program::Run;
use crate::folder;
use crate::report::Report;

const NOTES: &str = "\
throughput_ratio: passages a second, ours by sentence-transformers' (PyTorch, f32), both on two threads, which take turns;
  mix_…: passages and their sentences, which is what kb embeds; peer_cosine_…: its vectors and ours
embed_share, database_share: of the wall time of the first sync; both go on at once, so that they may add up to more than 1
resync_seconds_per_1000: with the start of kb, which weighs more the fewer files there are
peak_memory_mib: resident memory of kb at its peak, the most of all runs below; the database is another process
heading_…: an evaluation set whose passages stand below the title of their article; heading_pages_…: the sample pages, below
  title and heading; recall by passage vectors alone, combined_…: by the mean of passage, sentence and words;
  first_gained, first_lost: questions whose passage comes first with headings only, and without them only;
  told_apart: answerable questions that score above 98.5 % of the off-topic ones";

#[derive(Args)]
pub(crate) struct Options {
    /// Measure only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// How many Markdown files are synced; each gives about ten passages. A thousand take several minutes.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    files: u32,
    /// Folder with passages.jsonl, answerable.jsonl and off_topic.jsonl, for the headings; left out if it is not there.
    /// [default: ../shared/eval/squad]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Passages a second, beside sentence-transformers; installs Python packages of 5 GB in the cache folder.
    Throughput,
    /// Retrieval with headings before what is embedded, and without.
    Headings,
    /// `kb sync` into a local Supabase: time, memory, and the same again without changes and with some.
    Sync,
}

impl Part {
    /// Timings first, while the machine is quiet.
    const ALL: [Self; 3] = [Self::Throughput, Self::Headings, Self::Sync];

    fn name(self) -> &'static str {
        match self {
            Self::Throughput => "the throughput of the embedder",
            Self::Headings => "what headings are worth",
            Self::Sync => "kb sync",
        }
    }
}

/// Prints a table and writes `target/bench/ingest.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let bed = Bed::prepare(options)?;
    let mut report = Report::new()?;
    let mut broken = Vec::new();
    for part in Part::ALL.into_iter().filter(|&part| options.wants(part)) {
        println!("• measuring {}", part.name());
        let part_started = Instant::now();
        let result = match part {
            Part::Throughput => throughput::measure(&bed, &mut report),
            Part::Headings => headings::measure(&bed, &mut report),
            Part::Sync => sync::measure(&bed, options.files, &mut report),
        };
        match result {
            Ok(()) => println!("✓ {} ({:.0} s)", part.name(), part_started.elapsed().as_secs_f32()),
            Err(error) => {
                bed.stop.check()?;
                println!("✗ {}: {error:#}", part.name());
                broken.push(part.name());
            }
        }
    }
    let file = folder()?.join("ingest.json");
    report.write(&file)?;
    report.print();
    println!("\n{NOTES}\n\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    if !broken.is_empty() {
        bail!("could not measure {}", broken.join(" and "));
    }
    Ok(())
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// What the parts measure with.
struct Bed {
    /// Work folder, git-ignored, empty at first.
    work: PathBuf,
    model: ModelDir,
    /// Evaluation data; `None` where it is not there and was not asked for.
    evaluation: Option<PathBuf>,
    stop: Stop,
}

impl Bed {
    fn prepare(options: &Options) -> Result<Self> {
        let evaluation = match &options.data {
            Some(data) => Some(
                fs::canonicalize(data)
                    .with_context(|| format!("--data {}: no such folder", data.display()))?,
            ),
            None => {
                Some(paths::repo().with_file_name("shared").join("eval/squad")).filter(|data| data.is_dir())
            }
        };
        let stop = Stop::on_signal()?;
        let model = setup::model()?;
        println!("• building kb and what measures it, optimised");
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

    /// The program of `bench/ingest`.
    fn program(&self) -> Command {
        let mut command = shell::command(release_binary("bench-ingest"));
        command.arg("--model").arg(&self.model.0);
        command
    }

    /// What a run of that program prints.
    fn ask(&self, command: &mut Command) -> Result<String> {
        self.run(command, None)?.output.context("it has no time limit")
    }

    fn run(&self, command: &mut Command, limit: Option<Duration>) -> Result<Run> {
        program::run(command, &self.work.join("programs.log"), &self.stop, limit)
    }
}

fn release_binary(name: &str) -> PathBuf {
    paths::cargo_target().join("release").join(name)
}
