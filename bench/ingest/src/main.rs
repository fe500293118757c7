//! The native program of `cargo xtask bench ingest`, built in release mode.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its caller")]

mod corpus;
mod embed;
mod headings;

use std::io::stdout;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

use corpus::Corpus;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Folder with the embedder's model file and tokenizer.json.
    #[arg(long, global = true, default_value = ".")]
    model: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    /// Write a folder of Markdown files, the same on every run.
    Corpus {
        /// Number of files.
        #[arg(long)]
        files: u32,
        /// Folder, which must not exist.
        folder: PathBuf,
    },
    /// Edit 1 % of the files of such a folder, move 1 % and remove 1 %, and print the numbers as JSON.
    Change {
        /// Number of files that were written.
        #[arg(long)]
        files: u32,
        /// Folder to change.
        folder: PathBuf,
    },
    /// Write a large site of short Markdown pages of skewed sizes, the same on every run, and print a line for each: its path and the
    /// content hash that kb stores for it.
    Site {
        /// Number of pages.
        #[arg(long)]
        pages: u32,
        /// Folder, which must not exist.
        folder: PathBuf,
    },
    /// Edit 1 % of the pages of such a site, and print their number.
    ChangeSite {
        /// Number of pages that were written.
        #[arg(long)]
        pages: u32,
        /// Folder to change.
        folder: PathBuf,
    },
    /// Write one long plain text file.
    LongText {
        /// Size in millions of bytes.
        #[arg(long)]
        megabytes: u32,
        /// The file.
        file: PathBuf,
    },
    /// Write the texts that kb embeds for such files as a JSON array, and print their number of tokens.
    Texts {
        /// Number of passages.
        #[arg(long)]
        passages: usize,
        /// Write the sentences of each passage after it.
        #[arg(long)]
        sentences: bool,
        /// The file.
        file: PathBuf,
    },
    /// Embed on request; each request is one line.
    Embed {
        /// Number of threads.
        #[arg(long)]
        threads: usize,
    },
    /// Print as JSON how often the right passage is found with and without headings in the embedded text.
    Headings {
        /// Folder with passages.jsonl, answerable.jsonl and off_topic.jsonl.
        #[arg(long)]
        data: Option<PathBuf>,
        /// Folder of Markdown pages.
        #[arg(long)]
        pages: PathBuf,
        /// Questions that sections of these pages answer.
        #[arg(long)]
        questions: PathBuf,
    },
}

fn main() -> Result<()> {
    let Cli { command, model } = Cli::parse();
    match command {
        Command::Corpus { files, folder } => Corpus::new(&model)?.write(&folder, files),
        Command::Change { files, folder } => {
            println!("{}", Corpus::new(&model)?.change(&folder, files)?);
            Ok(())
        }
        Command::Site { pages, folder } => Corpus::new(&model)?.write_site(&folder, pages, stdout().lock()),
        Command::ChangeSite { pages, folder } => {
            println!("{}", Corpus::new(&model)?.change_site(&folder, pages)?);
            Ok(())
        }
        Command::LongText { megabytes, file } => Corpus::new(&model)?.write_long_text(&file, megabytes),
        Command::Texts { passages, sentences, file } => {
            let texts = Corpus::new(&model)?.texts(passages, sentences);
            println!("{}", embed::write_texts(&model, &texts, &file)?);
            Ok(())
        }
        Command::Embed { threads } => embed::serve(&model, threads),
        Command::Headings { data, pages, questions } => {
            println!("{}", headings::measure(&model, data.as_deref(), &pages, &questions)?);
            Ok(())
        }
    }
}
