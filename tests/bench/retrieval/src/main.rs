//! Measures retrieval, quoting and refusal against a knowledge base that `cargo xtask` has filled.

#![allow(clippy::print_stdout, reason = "a command line program talks to its caller")]

mod dataset;
mod fit;
mod measure;
mod plot;
mod search;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use kb::cli::{ModelArgs, ServerArgs};
use kb::knowledge_base::KnowledgeBase;
use kb::supabase::{Backoff, Client};
use serde_json::json;

use dataset::Dataset;
use measure::Results;
use search::Searcher;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Folder with passages.jsonl, answerable.jsonl, off_topic.jsonl and, if there are any, unanswerable_near.jsonl.
    #[arg(long, global = true, default_value = ".")]
    data: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    model: ModelArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Print the figures as JSON: [[name, value], …].
    Measure {
        /// Where to write the calibration plot.
        #[arg(long)]
        plot: PathBuf,
    },
    /// Fit the evidence model and print its constants.
    Fit {
        /// The share of off-topic questions that may be answered.
        #[arg(long, default_value_t = 0.015)]
        off_topic: f64,
    },
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let dataset = Dataset::read(&cli.data)?;
    let client = Client::new(&cli.server.supabase_url, &cli.server.secret_key, Backoff::default())?;
    let knowledge_base = KnowledgeBase::new(client);
    let searcher = Searcher::new(&knowledge_base, &cli.model.model_dir)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let results = runtime.block_on(ask_all(&dataset, &searcher))?;
    match cli.command {
        Command::Measure { plot } => {
            println!("{}", json!(measure::metrics(&dataset, &results)?));
            std::fs::write(&plot, plot::calibration(&results))
                .with_context(|| format!("cannot write {}", plot.display()))?;
        }
        Command::Fit { off_topic } => fit::print(&results, off_topic),
    }
    Ok(())
}

async fn ask_all(dataset: &Dataset, searcher: &Searcher<'_>) -> Result<Results> {
    let answerable = dataset.answerable.iter().map(|question| question.question.as_str());
    let off_topic = dataset.off_topic.iter().map(|question| question.question.as_str());
    let near = dataset.near.iter().map(|question| question.question.as_str());
    Ok(Results {
        answerable: searcher.ask("answerable", answerable).await?,
        off_topic: searcher.ask("off-topic", off_topic).await?,
        near: searcher.ask("near-unanswerable", near).await?,
    })
}
