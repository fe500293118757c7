//! `cargo xtask`: the one way to set up, build, try and test Evidence Chat.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its user")]

mod bench;
mod build;
mod demo;
mod eval;
mod local;
mod package;
mod paths;
mod screenshots;
mod setup;
mod shell;
mod test;
mod wasm_names;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Set up, build, try and test Evidence Chat",
    version
)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Find or install everything the build and the tests need. Safe to run again.
    Setup {
        /// Only this, rather than everything.
        #[arg(value_enum)]
        only: Option<setup::Thing>,
    },
    /// Fetch the model and make the embedder's model file from it; the same as `setup model`.
    Model,
    /// Build the Worker, the browser packages and the kb command line.
    Build {
        /// What to build; everything if left out.
        #[arg(value_enum)]
        parts: Vec<build::Part>,
    },
    /// Pack the embedder's npm package and print its sizes.
    Package,
    /// Start Supabase, the Worker and a demo page on this computer, filled with documents.
    Demo(demo::Options),
    /// Take the pictures of web/docs from the running product.
    Screenshots(screenshots::Options),
    /// Run every check: format, lints, unit tests, end-to-end tests.
    Test {
        /// Which checks to run; all if left out.
        #[arg(value_enum)]
        suites: Vec<test::Suite>,
    },
    /// Measure, beside what a user would pick instead.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Fit to evaluation data what is fitted.
    #[command(subcommand)]
    Eval(eval::Eval),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Task::Model | Task::Setup { only: Some(setup::Thing::Model) } => setup::model().map(|_| ()),
        Task::Setup { only: None } => setup::everything().map(|_| ()),
        Task::Build { parts } => setup::for_building().and_then(|tools| build::run(&parts, &tools)),
        Task::Package => package::run(),
        Task::Demo(options) => demo::run(&options),
        Task::Screenshots(options) => screenshots::run(&options),
        Task::Test { suites } => test::run(&suites),
        Task::Bench(bench) => bench::run(&bench),
        Task::Eval(eval) => eval::run(&eval),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
