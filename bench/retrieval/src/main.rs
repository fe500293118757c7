//! Measures retrieval, quotes and refusals on knowledge bases that `cargo xtask bench retrieval` has filled.
//!
//! Only `ask` needs a knowledge base. It writes its results to a file, which the other commands read.

#![allow(clippy::print_stdout, reason = "a command line program talks to its caller")]

mod dataset;
mod dialogue;
mod fit;
mod gate;
mod measure;
mod plot;
mod quoted;
mod reader;
mod results;
mod search;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use kb::cli::{ModelArgs, ServerArgs};
use kb::knowledge_base::KnowledgeBase;
use kb::supabase::{Backoff, Client};
use serde_json::json;

use dataset::Dataset;
use results::Results;
use search::Searcher;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Ask a knowledge base the questions of a set and write the results, a line of JSON for each question.
    Ask {
        /// Folder with passages.jsonl or set.json, and with any of answerable.jsonl, unanswerable_near.jsonl,
        /// off_topic.jsonl and dialogues.jsonl.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        server: ServerArgs,
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Let the reader of the model folder read the results again, and write them again.
    Read {
        /// Results that `ask` wrote.
        #[arg(required = true, value_name = "FILE")]
        found: Vec<PathBuf>,
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Print the figures of each set as JSON: [[set, [answerable, near, off-topic, second questions], [[name, value], …]], …].
    Measure {
        /// Results that `ask` wrote.
        #[arg(required = true, value_name = "FILE")]
        found: Vec<PathBuf>,
        /// Where to write the calibration plot of all sets together.
        #[arg(long, value_name = "FILE")]
        plot: PathBuf,
    },
    /// Fit the evidence model and print its constants.
    Fit {
        /// Results that `ask` wrote for the sets to fit to.
        #[arg(required = true, value_name = "FILE")]
        found: Vec<PathBuf>,
        /// Results for sets that are only reported on.
        #[arg(long, value_name = "FILE")]
        report: Vec<PathBuf>,
    },
    /// Fit the constants with which search and reader decide together, and print them.
    Gate {
        /// Results that `ask` wrote.
        #[arg(required = true, value_name = "FILE")]
        found: Vec<PathBuf>,
    },
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Ask { data, out, server, model } => {
            let dataset = Dataset::read(&data)?;
            let client = Client::new(server.url()?, &server.secret_key()?, Backoff::default())?;
            let knowledge_base = KnowledgeBase::new(client);
            let searcher = Searcher::new(&knowledge_base, &model.model_dir)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let mut results = runtime.block_on(searcher.ask_all(dataset))?;
            reader::read_all(&reader::load(&model.model_dir)?, &mut results);
            Results::write_all(&[results], &out)?;
        }
        Command::Read { found, model } => {
            let reader = reader::load(&model.model_dir)?;
            for file in found {
                let mut sets = Results::read(&file)?;
                sets.iter_mut().for_each(|set| reader::read_all(&reader, set));
                Results::write_all(&sets, &file)?;
            }
        }
        Command::Measure { found, plot } => {
            let mut sets = read_sets(&found)?;
            // With the reader now, because the next lines take the readings away.
            let plotted = plot::calibration(&sets);
            let figures_of = |set: &mut Results| {
                let figures = measure::all_figures(set).with_context(|| format!("the set {}", set.set))?;
                let questions =
                    [set.answerable.len(), set.near.len(), set.off_topic.len(), set.dialogues.len()];
                Ok((set.set.clone(), questions, figures))
            };
            println!("{}", json!(sets.iter_mut().map(figures_of).collect::<Result<Vec<_>>>()?));
            std::fs::write(&plot, plotted).with_context(|| format!("cannot write {}", plot.display()))?;
        }
        Command::Fit { found, report } => {
            fit::print(&Results::read_all(&found)?, &Results::read_all(&report)?);
        }
        Command::Gate { found } => gate::print(&read_sets(&found)?),
    }
    Ok(())
}

/// The sets of some files, which the reader of the product must have read.
fn read_sets(files: &[PathBuf]) -> Result<Vec<Results>> {
    let sets = Results::read_all(files)?;
    for set in &sets {
        ensure!(reader::is_read(set), "{}: read by another reader; run `bench-retrieval read`", set.set);
    }
    Ok(sets)
}
