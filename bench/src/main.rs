//! `cargo xtask bench` and `cargo xtask eval`: what is measured rather than tested. Nothing here passes or fails.
//!
//! `cargo xtask` runs this program with its own arguments, so the command line below begins with `bench` or `eval`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its user")]

mod edge;
mod embedder;
mod eval;
mod evaluation;
mod generation;
mod ingest;
mod insights;
mod local;
mod program;
mod reader;
mod report;
mod retrieval;
mod search;
mod target;
mod timer;
mod widget;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use xtask::{paths, setup};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    /// Install missing Debian packages with apt-get, as root, without asking.
    #[arg(long, global = true)]
    apt_install: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure speed, size, memory and quality, compared with the alternatives a user would pick.
    #[command(subcommand)]
    Bench(Bench),
    /// Fit coefficients of the product to evaluation data.
    #[command(subcommand)]
    Eval(eval::Eval),
}

#[derive(Subcommand)]
enum Bench {
    /// Speed, size, memory and accuracy of the embedder, compared with Transformers.js and ONNX Runtime.
    Embedder(embedder::Options),
    /// The reader: its speed natively and in Chromium, its file, how long it loads and what memory it takes.
    Reader(reader::Options),
    /// How often the right passage is found, the right sentence quoted, and an unanswerable question refused.
    Retrieval(retrieval::Options),
    /// Time and storage of the search (match_chunks) on native Postgres and on PGlite.
    Search(search::Options),
    /// The Worker in workerd: overhead, time to the first byte, load of many users, memory, size.
    Edge(edge::Options),
    /// The Worker for half an hour with faults at random: nothing lost, doubled or answered to the wrong user, memory over time.
    Soak(edge::soak::Options),
    /// Ingestion: throughput compared with sentence-transformers, time and memory of kb sync, the effect of headings.
    Ingest(ingest::Options),
    /// The insights with a year of conversations: the page in Chromium, the functions on native Postgres, and what counting costs
    /// a turn.
    Insights(insights::Options),
    /// Written answers: false sentences that are sent, good ones that are left out, injections, answers of a real model.
    Generation(generation::Options),
    /// The widget in Chromium: size, time to the first word, cost to the page that embeds it.
    Widget(widget::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.apt_install {
        setup::give_consent();
    }
    match run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<()> {
    match command {
        Command::Bench(Bench::Embedder(options)) => embedder::measure(options),
        Command::Bench(Bench::Reader(options)) => reader::measure(options),
        Command::Bench(Bench::Retrieval(options)) => retrieval::measure(options),
        Command::Bench(Bench::Search(options)) => search::measure(options),
        Command::Bench(Bench::Edge(options)) => edge::measure(options),
        Command::Bench(Bench::Soak(options)) => edge::soak::measure(options),
        Command::Bench(Bench::Ingest(options)) => ingest::measure(options),
        Command::Bench(Bench::Insights(options)) => insights::measure(options),
        Command::Bench(Bench::Generation(options)) => generation::measure(options),
        Command::Bench(Bench::Widget(options)) => widget::measure(options),
        Command::Eval(eval) => eval::run(eval),
    }
}

/// Folder of results and work files, ignored by git.
fn folder() -> Result<PathBuf> {
    let dir = paths::repo().join("target/bench");
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}
