//! The Worker in workerd on this computer: the time it adds to its calls of Supabase, the time to the first byte of an
//! answer, the load of many concurrent users, memory, and size.

mod faults;
pub(crate) mod soak;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::local::{Service, Stop, Supabase, model_server, ports};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use xtask::setup::ModelDir;
use xtask::{build, paths, shell};

use self::faults::Faults;
use crate::report::Report;
use crate::{folder, program};

/// How long the stand-in for Supabase waits before each response, in milliseconds.
const LATENCY_MS: u32 = 5;

/// The limit of questions per minute of [`Part::Crowd`]: so low that all users reach it within one minute.
const CROWD_LIMIT: &str = "2";

/// How long questions of a crowd may wait, in milliseconds: they queue for the processor.
const CROWD_TIMEOUT_MS: &str = "20000";

/// A limit in questions per minute that no measurement reaches.
const NO_LIMIT: &str = "10000";

/// A limit of tokens a day that no measurement reaches.
const NO_TOKEN_LIMIT: &str = "1000000000";

const NOTES: &str = "\
overhead_…: the client's time minus the time of its calls in a stand-in for Supabase; _last_byte: minus both calls;
  _direct_call: the same without the Worker, which is what the client and the stand-in add; _of_baseline: another build (--baseline),
  which answers in turns with this one
ttfb_…: one user after another, without embedding the question, which the browser does; _with_reading: in turns, with what the
  reader says of the passages
search_…: a search while a question is typed, one user after another, without the embedding; question_places_taken: how many questions
  of the limit it cost, which must be 0
load_…: times under load are those of the local database, one session on one core; the users leave it idle for 30 % of the time,
  because beyond that questions only queue. Eager users ask more than the limit allows, the others a few questions. With --write,
  faults of the model are among them: answers take up to 2 s longer, and none may be lost or doubled
crowd_…: users who all ask at once, one question after another, until they are beyond their limit; last_byte is mostly waiting for the
  processor, which the clients and the stand-in use too; _lost: not in the history, although the user was told so, unlike _unsaved
memory_…: resident memory of workerd once its caches are full; _constant_worker: the same requests to a Worker that makes the
  same calls and answers with a constant; _largest: above idle, while 32 clients read the largest pages and outcomes without a
  pause; _wasm: the whole WebAssembly memory, with all that the Worker's Rust code allocates, after the questions and, in
  memory_largest_wasm_mib, after the largest; load_memory_…: from its start, while caches fill";

#[derive(Args)]
pub(crate) struct Options {
    /// Measure only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Number of concurrent users.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    users: u32,
    /// The edge-chat/build of another version of the Worker, whose overhead is measured in turns with that of this one.
    #[arg(long, value_name = "DIR")]
    baseline: Option<PathBuf>,
    /// Number of requests during which memory must stay flat.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
    memory_requests: u32,
    /// Number of users of the crowd.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    crowd: u32,
    /// Duration of the load.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Limit of questions per user and minute.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Let a scripted language model write the answers of the load, with a fault every few answers.
    #[arg(long)]
    write: bool,
    /// Measure the existing build.
    #[arg(long)]
    no_build: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Time that the Worker adds to its calls of Supabase.
    Overhead,
    /// Time to the first byte of an answer on the local Supabase.
    Ttfb,
    /// Time of a search while a question is typed.
    Search,
    /// Whether memory stays flat over thousands of requests.
    Memory,
    /// A thousand users at once, each beyond the limit, against a stand-in for Supabase.
    Crowd,
    /// Many concurrent users on the local Supabase.
    Load,
    /// The size of the compressed Worker.
    Size,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Overhead => "the overhead of the Worker",
            Self::Ttfb => "the time to the first byte",
            Self::Search => "searches while a question is typed",
            Self::Memory => "the memory of workerd",
            Self::Crowd => "a crowd",
            Self::Load => "many concurrent users",
            Self::Size => "the size of the Worker",
        }
    }
}

type Measure = fn(&Workbench, &Options, &mut Report) -> Result<()>;

/// Measurements of running services. The load is last because it leaves the database large.
const ON_SERVICES: [(Part, Measure); 6] = [
    (Part::Overhead, Workbench::overhead),
    (Part::Ttfb, |bench, _, report| bench.ttfb(report)),
    (Part::Search, |bench, _, report| bench.search(report)),
    (Part::Memory, Workbench::memory),
    (Part::Crowd, Workbench::crowd),
    (Part::Load, Workbench::load),
];

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Prints a table and writes `target/bench/edge.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::on_signal()?;
    let model = build::run_unless(options.no_build, &[build::Part::Kb, build::Part::Worker])?;
    let mut report = Report::new()?;
    let mut failed = Vec::new();
    if options.wants(Part::Size) {
        println!("• measuring {}", Part::Size.name());
        program::add_to(&mut node("size.mjs"), &stop, &mut report)?;
    }
    let parts: Vec<_> = ON_SERVICES.into_iter().filter(|(part, _)| options.wants(*part)).collect();
    if !parts.is_empty() {
        let bench = Workbench::prepare("edge", &model, &stop)?;
        for (part, measure) in parts {
            println!("• measuring {}", part.name());
            let part_started = Instant::now();
            match measure(&bench, options, &mut report) {
                Ok(()) => println!("✓ {} ({:.0} s)", part.name(), part_started.elapsed().as_secs_f32()),
                Err(error) => {
                    stop.check()?;
                    println!("✗ {}: {error:#}", part.name());
                    failed.push(part.name());
                }
            }
        }
    }
    let faults = Faults::load()?;
    if let Some(faults) = &faults {
        faults.add_to(&mut report);
    }
    let file = folder()?.join("edge.json");
    report.write(&file)?;
    report.print();
    println!("\n{NOTES}");
    match faults {
        Some(faults) => faults.print(),
        None => {
            println!("\nno table of faults: run `node --test edge-chat/tests/faults.test.mjs` to make it");
        }
    }
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    if !failed.is_empty() {
        bail!("could not measure {}", failed.join(" and "));
    }
    Ok(())
}

/// A local Supabase with the sample knowledge base, and questions for it.
struct Workbench {
    work: PathBuf,
    questions: PathBuf,
    supabase: Supabase,
    stop: Stop,
}

impl Workbench {
    /// `name` is that of the folder for its data.
    fn prepare(name: &str, model: &ModelDir, stop: &Stop) -> Result<Self> {
        let work = folder()?.join(name);
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot empty {}", work.display()))?;
        }
        fs::create_dir_all(&work)?;
        let supabase = Supabase::start(&work.join("supabase"), &work, stop)?;
        supabase.sync(&paths::repo().join("supabase/sample-kb"), model)?;
        stop.check()?;
        let bench = Self { questions: work.join("questions.json"), work, supabase, stop: stop.clone() };
        let mut prepare = bench.program("prepare.mjs");
        prepare.env("KB_BINARY", paths::kb_binary()).env("EVIDENCE_MODEL_DIR", &model.0);
        program::run(&mut prepare, &bench.stop)?;
        Ok(bench)
    }

    fn overhead(&self, options: &Options, report: &mut Report) -> Result<()> {
        let stand_in = self.stand_in()?;
        let worker = self.worker("worker-overhead", &stand_in.url, &[])?;
        let build = options.baseline.as_ref().map(fs::canonicalize).transpose()?;
        let baseline = build.as_ref().map(|build| {
            let mut server = worker_server();
            server.env("WORKER_BUILD_DIR", build);
            self.service("worker-baseline", server, &stand_in.url, &[])
        });
        let baseline = baseline.transpose()?;
        report.context("stand_in_latency_ms", LATENCY_MS);
        let mut overhead = self.program("overhead.mjs");
        if let Some(baseline) = &baseline {
            overhead.env("BASELINE_URL", &baseline.url);
        }
        overhead.env("WORKER_URL", &worker.url).env("STAND_IN_URL", &stand_in.url);
        program::add_to(&mut overhead, &self.stop, report)
    }

    fn memory(&self, options: &Options, report: &mut Report) -> Result<()> {
        // Makes the largest outcomes answers with the maximum number of passages.
        let stand_in = self.stand_in_with(r#"{"match_count":50,"evidence_confidence":0}"#)?;
        let variables = [("CHAT_RATE_LIMIT", NO_LIMIT)];
        let worker = self.wrapped("measured-worker", &stand_in.url, &variables)?;
        let constant = self.wrapped("constant-worker", &stand_in.url, &variables)?;
        let mut memory = self.program("memory.mjs");
        memory
            .env("WORKER_URL", &worker.url)
            .env("WORKER_PID", worker.id().to_string())
            .env("CONSTANT_WORKER_URL", &constant.url)
            .env("CONSTANT_WORKER_PID", constant.id().to_string())
            .env("STAND_IN_URL", &stand_in.url)
            .env("REQUESTS", options.memory_requests.to_string());
        program::add_to(&mut memory, &self.stop, report)
    }

    fn ttfb(&self, report: &mut Report) -> Result<()> {
        let worker = self.worker("worker-ttfb", self.supabase.url(), &[])?;
        program::add_to(self.program("ttfb.mjs").env("WORKER_URL", &worker.url), &self.stop, report)
    }

    fn search(&self, report: &mut Report) -> Result<()> {
        let worker = self.worker("worker-search", self.supabase.url(), &[])?;
        program::add_to(self.program("search.mjs").env("WORKER_URL", &worker.url), &self.stop, report)
    }

    fn crowd(&self, options: &Options, report: &mut Report) -> Result<()> {
        let stand_in = self.stand_in()?;
        let variables = [("CHAT_RATE_LIMIT", CROWD_LIMIT), ("CHAT_UPSTREAM_TIMEOUT_MS", CROWD_TIMEOUT_MS)];
        let worker = self.worker("worker-crowd", &stand_in.url, &variables)?;
        let mut crowd = self.program("crowd.mjs");
        crowd
            .env("WORKER_URL", &worker.url)
            .env("WORKER_PID", worker.id().to_string())
            .env("STAND_IN_URL", &stand_in.url)
            .env("USERS", options.crowd.to_string())
            .env("LIMIT", CROWD_LIMIT);
        program::add_to(&mut crowd, &self.stop, report)
    }

    fn load(&self, options: &Options, report: &mut Report) -> Result<()> {
        let limit = options.limit.to_string();
        let mut variables = vec![("CHAT_RATE_LIMIT", limit.as_str())];
        let model = if options.write { Some(self.model()?) } else { None };
        let model_url = model.as_ref().map(model_server::api_url);
        if let Some(url) = &model_url {
            variables.extend([("CHAT_LLM_MODEL", "scripted"), ("CHAT_LLM_URL", url)]);
            variables.extend([("CHAT_LLM_FIRST_TOKEN_MS", "1000"), ("CHAT_LLM_TIMEOUT_MS", "2000")]);
            variables.extend([
                ("CHAT_LLM_DAILY_TOKENS_USER", NO_TOKEN_LIMIT),
                ("CHAT_LLM_DAILY_TOKENS_SITE", NO_TOKEN_LIMIT),
            ]);
        }
        let worker = self.worker("worker-load", self.supabase.url(), &variables)?;
        let mut load = self.program("load.mjs");
        load.env("WORKER_URL", &worker.url)
            .env("WORKER_PID", worker.id().to_string())
            .env("USERS", options.users.to_string())
            .env("SECONDS", options.seconds.to_string())
            .env("LIMIT", &limit)
            .env("ANSWER_MODE", if model.is_some() { "endpoint" } else { "extractive" });
        program::add_to(&mut load, &self.stop, report)
    }

    fn model(&self) -> Result<Service> {
        Service::start("model", &mut node("model.mjs"), ports::free_from(8788)?, &self.work, &self.stop)
    }

    fn stand_in(&self) -> Result<Service> {
        self.stand_in_with("{}")
    }

    /// A stand-in for Supabase with these settings of the assistant, as JSON.
    fn stand_in_with(&self, settings: &str) -> Result<Service> {
        Service::start(
            "stand-in",
            self.program("stand-in.mjs").env("LATENCY_MS", LATENCY_MS.to_string()).env("SETTINGS", settings),
            ports::free_from(54421)?,
            &self.work,
            &self.stop,
        )
    }

    /// A program of `bench/edge` that gets the addresses and keys of Supabase and the questions.
    fn program(&self, name: &str) -> Command {
        let mut program = node(name);
        program
            .env("SUPABASE_URL", self.supabase.url())
            .env("SUPABASE_PUBLISHABLE_KEY", &self.supabase.keys.publishable_key)
            .env("SUPABASE_SECRET_KEY", &self.supabase.keys.secret_key)
            .env("JWT_SECRET", &self.supabase.keys.jwt_secret)
            .env("WORKER_SECRET", &self.supabase.keys.worker_secret)
            .env("QUESTIONS", &self.questions);
        program
    }

    /// A Worker whose entry point is the module of `bench/edge` with this name.
    fn wrapped(&self, name: &'static str, supabase_url: &str, variables: &[(&str, &str)]) -> Result<Service> {
        let mut server = node("wrapped-service.mjs");
        server.env("ENTRY", format!("{name}.mjs"));
        self.service(name, server, supabase_url, variables)
    }

    /// A separate Worker for each part: the state that one part leaves must not affect the next.
    fn worker(&self, name: &'static str, supabase_url: &str, variables: &[(&str, &str)]) -> Result<Service> {
        self.service(name, worker_server(), supabase_url, variables)
    }

    fn service(
        &self,
        name: &'static str,
        mut program: Command,
        supabase_url: &str,
        variables: &[(&str, &str)],
    ) -> Result<Service> {
        Service::start(
            name,
            program
                .env("DATA_DIR", self.work.join(name))
                .env("SUPABASE_URL", supabase_url)
                .env("SUPABASE_PUBLISHABLE_KEY", &self.supabase.keys.publishable_key)
                .env("SUPABASE_JWT_SECRET", &self.supabase.keys.jwt_secret)
                .env("CHAT_WORKER_SECRET", &self.supabase.keys.worker_secret)
                .envs(variables.iter().copied()),
            ports::free_from(8787)?,
            &self.work,
            &self.stop,
        )
    }
}

/// The built Worker in workerd.
fn worker_server() -> Command {
    let mut server = shell::command("node");
    server.arg("local/worker/server.mjs");
    server
}

/// A Node.js program of `bench/edge`.
fn node(name: &str) -> Command {
    let mut node = shell::command("node");
    node.arg(paths::repo().join("bench/edge").join(name));
    node
}
