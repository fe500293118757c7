//! The Worker in workerd on this computer: what it adds to its calls of Supabase, how soon an answer begins, what many
//! users at once get, and what it weighs.

mod faults;
mod program;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use super::folder;
use super::report::Report;
use crate::local::{Service, Stop, Supabase, ports};
use crate::setup::ModelDir;
use crate::{build, paths, setup, shell};

/// How long the stand-in for Supabase waits before each answer, in milliseconds.
const LATENCY_MS: u32 = 5;

#[derive(Args)]
pub(crate) struct Options {
    /// Measure only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// How many users ask at once.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    users: u32,
    /// For how long they do.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// How many questions each of them may ask in a minute.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Measure the Worker as it is built already.
    #[arg(long)]
    no_build: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// What the Worker adds to its calls of Supabase.
    Overhead,
    /// Time to the first byte of an answer on the local Supabase.
    Ttfb,
    /// Many users at once on the local Supabase.
    Load,
    /// The compressed Worker.
    Size,
}

impl Part {
    /// The load last, since it leaves the database large.
    const ALL: [Self; 4] = [Self::Size, Self::Overhead, Self::Ttfb, Self::Load];

    fn name(self) -> &'static str {
        match self {
            Self::Overhead => "the Worker's own time",
            Self::Ttfb => "the time to the first byte",
            Self::Load => "many users at once",
            Self::Size => "the size of the Worker",
        }
    }
}

/// Prints a table and writes `target/bench/edge.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::on_signal()?;
    let (tools, model) = setup::for_running()?;
    if !options.no_build {
        build::run(&[build::Part::Kb, build::Part::Worker], &tools)?;
    }
    let bed = Bed::prepare(model, stop.clone())?;
    let mut report = Report::new()?;
    let mut broken = Vec::new();
    for part in
        Part::ALL.into_iter().filter(|part| options.only.is_empty() || options.only.contains(part))
    {
        println!("• measuring {}", part.name());
        let part_started = Instant::now();
        match bed.measure(part, options, &mut report) {
            Ok(()) => println!("✓ {} ({:.0} s)", part.name(), part_started.elapsed().as_secs_f32()),
            Err(error) => {
                stop.check()?;
                println!("✗ {}: {error:#}", part.name());
                broken.push(part.name());
            }
        }
    }
    let faults = faults::load()?;
    if let Some(faults) = &faults {
        report.context("faults", faults.clone());
    }
    let file = folder()?.join("edge.json");
    report.write(&file)?;
    report.print();
    println!(
        "\noverhead: the client's time less the time its calls took in a stand-in for Supabase; overhead_direct_call: what \
         client and stand-in take of it;\nttfb: without the embedding of the question, which is made in the browser; load: \
         PGlite, one session on one core, sets its pace and its times"
    );
    faults::print(faults.as_ref());
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    if !broken.is_empty() {
        bail!("could not measure {}", broken.join(" and "));
    }
    Ok(())
}

/// A local Supabase with the sample knowledge base, and questions to it.
struct Bed {
    work: PathBuf,
    questions: PathBuf,
    supabase: Supabase,
    stop: Stop,
}

impl Bed {
    fn prepare(model: ModelDir, stop: Stop) -> Result<Self> {
        let work = folder()?.join("edge");
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot empty {}", work.display()))?;
        }
        fs::create_dir_all(&work)?;
        let supabase = Supabase::start(&work.join("supabase"), &work, &stop)?;
        supabase.ingest(&paths::repo().join("supabase/sample-kb"), &model)?;
        let bed = Self { questions: work.join("questions.json"), work, supabase, stop };
        let mut prepare = bed.program("prepare.mjs");
        prepare.env("KB_BINARY", paths::kb_binary()).env("EVIDENCE_MODEL_DIR", &model.0);
        program::run(&mut prepare, &bed.stop)?;
        Ok(bed)
    }

    fn measure(&self, part: Part, options: &Options, report: &mut Report) -> Result<()> {
        match part {
            Part::Overhead => self.overhead(report),
            Part::Ttfb => self.ttfb(report),
            Part::Load => self.load(options, report),
            Part::Size => program::report(&mut self.program("size.mjs"), &self.stop, report),
        }
    }

    fn overhead(&self, report: &mut Report) -> Result<()> {
        let stand_in = Service::start(
            "stand-in",
            self.program("stand-in.mjs").env("LATENCY_MS", LATENCY_MS.to_string()),
            ports::free_from(54421)?,
            &self.work,
            &self.stop,
        )?;
        let worker = self.worker("worker-overhead", &stand_in.url, &[])?;
        report.context("stand_in_latency_ms", LATENCY_MS);
        let mut overhead = self.program("overhead.mjs");
        overhead
            .env("WORKER_URL", &worker.url)
            .env("STAND_IN_URL", &stand_in.url)
            .env("JWT_SECRET", &self.supabase.keys.jwt_secret);
        program::report(&mut overhead, &self.stop, report)
    }

    fn ttfb(&self, report: &mut Report) -> Result<()> {
        let worker = self.worker("worker-ttfb", self.supabase.url(), &[])?;
        program::report(self.program("ttfb.mjs").env("WORKER_URL", &worker.url), &self.stop, report)
    }

    fn load(&self, options: &Options, report: &mut Report) -> Result<()> {
        let limit = options.limit.to_string();
        let worker = self.worker("worker-load", self.supabase.url(), &[("CHAT_RATE_LIMIT", &limit)])?;
        let mut load = self.program("load.mjs");
        load.env("WORKER_URL", &worker.url)
            .env("WORKER_PID", worker.id().to_string())
            .env("USERS", options.users.to_string())
            .env("SECONDS", options.seconds.to_string())
            .env("LIMIT", limit);
        program::report(&mut load, &self.stop, report)
    }

    /// A program of `tests/bench/edge` that knows where Supabase and the questions are.
    fn program(&self, name: &str) -> Command {
        let mut program = shell::command("node");
        program
            .arg(paths::repo().join("tests/bench/edge").join(name))
            .env("SUPABASE_URL", self.supabase.url())
            .env("SUPABASE_PUBLISHABLE_KEY", &self.supabase.keys.publishable_key)
            .env("SUPABASE_SECRET_KEY", &self.supabase.keys.secret_key)
            .env("QUESTIONS", &self.questions);
        program
    }

    /// A Worker of its own for a part: what one part leaves in it must not touch the next.
    fn worker(
        &self,
        name: &'static str,
        supabase_url: &str,
        variables: &[(&str, &str)],
    ) -> Result<Service> {
        Service::start(
            name,
            shell::command("node")
                .arg("edge-chat/local/server.mjs")
                .env("DATA_DIR", self.work.join(name))
                .env("SUPABASE_URL", supabase_url)
                .env("SUPABASE_PUBLISHABLE_KEY", &self.supabase.keys.publishable_key)
                .env("SUPABASE_JWT_SECRET", &self.supabase.keys.jwt_secret)
                .envs(variables.iter().copied()),
            ports::free_from(8787)?,
            &self.work,
            &self.stop,
        )
    }
}
