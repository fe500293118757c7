//! Measures retrieval, quotes and refusals on knowledge bases that `cargo xtask bench retrieval` has filled.
//!
//! Only `ask` needs a knowledge base. It writes its results to a file, which the other commands read.

#![allow(clippy::print_stdout, reason = "a command line program talks to its caller")]

mod dataset;
mod dialogue;
mod fit;
mod measure;
mod plot;
mod quoted;
mod reader;
mod results;
mod search;

use std::path::PathBuf;

use anyhow::{Context, Result};
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
    /// Let the reader read what was found, and write the results again.
    Read {
        /// Results that `ask` wrote.
        #[arg(required = true, value_name = "FILE")]
        found: Vec<PathBuf>,
        /// Folder of the reader's file.
        #[arg(long, value_name = "DIR")]
        reader_dir: PathBuf,
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
    /// Lab
    Lab { found: PathBuf, out: PathBuf },
    /// Fit the evidence model and print its constants.
    Fit {
        /// Results that `ask` wrote for the sets to fit to.
        #[arg(required = true, value_name = "FILE")]
        found: Vec<PathBuf>,
        /// Results for sets that are only reported on.
        #[arg(long, value_name = "FILE")]
        report: Vec<PathBuf>,
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
            Results::write_all(&[runtime.block_on(searcher.ask_all(dataset))?], &out)?;
        }
        Command::Read { found, reader_dir, model } => {
            let reader = reader::load(&model.model_dir, &reader_dir)?;
            for file in found {
                let mut sets = Results::read(&file)?;
                sets.iter_mut().for_each(|set| reader::read_all(&reader, set));
                Results::write_all(&sets, &file)?;
            }
        }
        Command::Measure { found, plot } => {
            let sets = Results::read_all(&found)?;
            let figures_of = |set: &Results| {
                let figures = measure::figures(set).with_context(|| format!("the set {}", set.set))?;
                let questions =
                    [set.answerable.len(), set.near.len(), set.off_topic.len(), set.dialogues.len()];
                Ok((set.set.clone(), questions, figures))
            };
            println!("{}", json!(sets.iter().map(figures_of).collect::<Result<Vec<_>>>()?));
            std::fs::write(&plot, plot::calibration(&sets))
                .with_context(|| format!("cannot write {}", plot.display()))?;
        }
        Command::Lab { found, out } => {
            use std::io::Write;
            let mut file = std::io::BufWriter::new(std::fs::File::create(out)?);
            for set in Results::read(&found)? {
                for (kind, all) in
                    [("answerable", &set.answerable), ("near", &set.near), ("off_topic", &set.off_topic)]
                {
                    for f in all {
                        let gold: Vec<bool> = f.rows.iter().map(|r| f.is_gold(r)).collect();
                        let mut v = chat_core::lab::dump(
                            &f.question,
                            &f.rows,
                            f.reading.as_ref(),
                            &f.thresholds(),
                            &|t| quoted::contains_any(t, &f.answers),
                        );
                        v["set"] = json!(set.set);
                        v["kind"] = json!(kind);
                        v["gold"] = json!(gold);
                        let open = chat_core::respond(&f.question, &f.rows, None, &f.open_thresholds(), true);
                        if let chat_core::Verdict::Answer(a) = open.verdict {
                            v["open1"] = json!(quoted::is_quoted(&a, 1, &f.answers));
                            v["open3"] = json!(quoted::is_quoted(&a, 3, &f.answers));
                        }
                        writeln!(file, "{v}")?;
                    }
                }
            }
        }
        Command::Fit { found, report } => {
            fit::print(&Results::read_all(&found)?, &Results::read_all(&report)?);
        }
    }
    Ok(())
}
