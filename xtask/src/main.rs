//! `cargo xtask`: sets up, builds, demonstrates and tests Evidence Chat.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its user")]

mod bench;
mod demo;
mod screenshots;
mod supply_chain;
mod test;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{build, paths, setup};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Set up, build, try and test Evidence Chat",
    version
)]
struct Cli {
    /// Install missing Debian packages with apt-get, as root, without asking.
    #[arg(long, global = true)]
    apt_install: bool,
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Find or install everything the build and the tests need. Idempotent.
    Setup {
        /// Set up only this part.
        #[arg(value_enum)]
        only: Option<setup::Part>,
        /// Also install what written answers need: llama.cpp's server and a small language model (130 MB).
        #[arg(long, conflicts_with = "only")]
        generation: bool,
    },
    /// Build the Worker, the browser packages and the kb command line.
    Build {
        /// What to build; everything if left out.
        #[arg(value_enum)]
        parts: Vec<build::Part>,
    },
    /// Write a software bill of materials (CycloneDX) for each product, as it is built.
    Sbom {
        /// Output folder.
        /// [default: target/sbom]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Start Supabase, the Worker and a demo page on this computer, and fill the knowledge base with documents.
    Demo(demo::Options),
    /// Take the screenshots in web/docs and docs from the running product.
    Screenshots(screenshots::Options),
    /// Run every check: format, lints, unit tests, end-to-end tests.
    Test {
        /// Which checks to run; all if left out.
        #[arg(value_enum)]
        suites: Vec<test::Suite>,
    },
    /// Measure speed, size, memory and quality, compared with the alternatives a user would pick.
    #[command(disable_help_flag = true)]
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        arguments: Vec<OsString>,
    },
    /// Fit coefficients of the product to evaluation data.
    #[command(disable_help_flag = true)]
    Eval {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.apt_install {
        setup::give_consent();
    }
    let result = match cli.command {
        Task::Setup { only: Some(part), .. } => setup::only(part),
        Task::Setup { only: None, generation } => set_up(generation),
        Task::Build { parts } => build(&parts),
        Task::Sbom { out } => {
            supply_chain::sbom::write(&out.unwrap_or_else(|| paths::repo().join("target/sbom")))
        }
        Task::Demo(options) => demo::run(&options),
        Task::Screenshots(options) => screenshots::run(&options),
        Task::Test { suites } => test::run(&suites),
        Task::Bench { arguments } => bench::run("bench", &arguments),
        Task::Eval { arguments } => bench::run("eval", &arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn build(parts: &[build::Part]) -> anyhow::Result<()> {
    let parts = if parts.is_empty() { &build::Part::ALL } else { parts };
    build::run(parts).map(|_| ())
}

fn set_up(with_generation: bool) -> anyhow::Result<()> {
    setup::node_packages()?;
    setup::wasm_toolchain()?;
    setup::model()?;
    setup::browser()?;
    setup::for_linting()?;
    if with_generation {
        setup::generation()?;
    }
    Ok(())
}
