//! `cargo xtask bench` and `cargo xtask eval`: what is measured rather than tested. Nothing here passes or fails.
//!
//! `cargo xtask` runs this program with its own arguments, so the command line below begins with `bench` or `eval`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its user")]

mod edge;
mod embedder;
mod eval;
mod ingest;
mod program;
mod python;
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
    /// Measure, beside what a user would pick instead.
    #[command(subcommand)]
    Bench(Bench),
    /// Fit to evaluation data what is fitted.
    #[command(subcommand)]
    Eval(eval::Eval),
}

#[derive(Subcommand)]
enum Bench {
    /// Speed, size, memory and accuracy of the embedder, beside Transformers.js and ONNX Runtime.
    Embedder(embedder::Options),
    /// How often the right passage is found, the right sentence quoted, and the rest refused.
    Retrieval(retrieval::Options),
    /// Time and storage of match_chunks on native Postgres and on PGlite.
    Search(search::Options),
    /// The Worker in workerd: its own time, time to the first byte, many users at once, its size.
    Edge(edge::Options),
    /// From documents to passages: throughput beside sentence-transformers, time and memory of kb sync, the use of headings.
    Ingest(ingest::Options),
    /// The widget in Chromium: its size, the time to the first word, what it costs the page around it.
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
        Command::Bench(Bench::Retrieval(options)) => retrieval::measure(options),
        Command::Bench(Bench::Search(options)) => search::measure(options),
        Command::Bench(Bench::Edge(options)) => edge::measure(options),
        Command::Bench(Bench::Ingest(options)) => ingest::measure(options),
        Command::Bench(Bench::Widget(options)) => widget::measure(options),
        Command::Eval(eval) => eval::run(eval),
    }
}

/// Where results and work files go, git-ignored.
fn folder() -> Result<PathBuf> {
    let dir = paths::repo().join("target/bench");
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}
