//! What can be asked of `cargo xtask bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Speed, size, memory and accuracy of the embedder, beside Transformers.js and ONNX Runtime.
    Embedder(Options),
    /// How often the right passage is found, the right sentence quoted, and the rest refused.
    Retrieval(Evaluation),
    /// Time and storage of match_chunks on native Postgres and on PGlite.
    Search(super::search::Options),
    /// The Worker in workerd: its own time, time to the first byte, many users at once, its size.
    Edge(super::edge::Options),
    /// From documents to passages: throughput beside sentence-transformers, time and memory of kb sync, the use of headings.
    Ingest(super::ingest::Options),
    /// The widget in Chromium: its size, the time to the first word, what it costs the page around it.
    Widget(super::widget::Options),
}

/// The data that answers are evaluated on.
#[derive(Args)]
pub(crate) struct Evaluation {
    /// Folder with passages.jsonl, answerable.jsonl, off_topic.jsonl and, if there are any, unanswerable_near.jsonl.
    /// [default: ../shared/eval/squad]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Options {
    /// Texts with token ids and f32 vectors to compare with; the form of ../shared/bench-peer/reference.json.
    #[arg(long, value_name = "FILE")]
    pub(super) reference: Option<PathBuf>,
    /// Measure only these parts, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Measure the package as it is built already.
    #[arg(long)]
    pub(super) no_build: bool,
}

impl Options {
    pub(super) fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Time of the native build, beside ONNX Runtime.
    Native,
    /// Speed, load, memory and accuracy in Chromium, beside Transformers.js.
    Browser,
    /// The STS benchmark, natively.
    Quality,
    /// What a visitor downloads.
    Size,
}

impl Part {
    /// Timings first, while the machine is quiet.
    pub(super) const ALL: [Self; 4] = [Self::Native, Self::Browser, Self::Quality, Self::Size];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Native => "the native embedder",
            Self::Browser => "the embedder in Chromium",
            Self::Quality => "the quality of the vectors",
            Self::Size => "the size of the download",
        }
    }
}
