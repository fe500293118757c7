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

/// What is evaluated, and how.
#[derive(Args)]
#[command(after_long_help = SETS_AND_FIGURES)]
pub(crate) struct Evaluation {
    /// Folder of a set; may be given several times.
    /// [default: tests/bench/retrieval/shop and the sets of ../shared/eval]
    #[arg(long, value_name = "DIR")]
    pub(super) data: Vec<PathBuf>,
    /// Also write what was found: a line of JSON for each question, with its set, kind, documents that answer it, accepted
    /// answers, and the rows of match_chunks as they came. For studying ranking and gates without a database.
    #[arg(long, value_name = "FILE")]
    pub(super) dump: Option<PathBuf>,
    /// Measure what --dump wrote, with the answers of the code as it is now, rather than ask a database.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "dump"])]
    pub(super) from: Option<PathBuf>,
    /// Also let a reader (made by `quantize-model reader`) rank anew what was found, for figures next to those without it.
    #[arg(long, value_name = "FILE")]
    pub(super) reader: Option<PathBuf>,
}

const SETS_AND_FIGURES: &str = r#"A set is a folder, and its name is the folder's. Its questions are in answerable.jsonl, unanswerable_near.jsonl and
off_topic.jsonl, as far as there are any: a line is {"question", "passage", "answers"} and, if more than one passage answers
it, "also": [...]; of unanswerable questions, {"question"}. Its documents are either passages.jsonl ({"id", "title", "text"} and,
if it is known, "language"), where the "passage" of a question is an id, or the folder that set.json names, as in
{"documents": "relative/path"}, where it is a path in that folder.

Figures of a set are called <set>__<figure> (with _ for -), their means over the sets that have them macro__<figure>; of a
single set, also <figure>. A figure of no question or no answer is left out. "Answered" is at default settings. A sentence that
is quoted only because the next one needs it (Role::Context) is neither one of the first n nor a hit, and it is noise if that
one is. A list item and the line that introduces its list are one sentence.

  recall_n               the passage that answers is among the first n that are found
  answer_in_n            an accepted answer is in the first n quoted sentences, if every question is answered
  first_is_answer        of all answerable questions: answered, and the first quoted sentence holds an accepted answer
  noise                  quoted sentences of an answer that hold no part of an accepted answer, on average. A part: the
                         sentence holds an accepted answer, or is three words or more of one
  sentences              quoted sentences of an answer, on average
  coherent               of the answers: all quotes are from one section of one document, or each from elsewhere names its place
  citation_correct       of the answers: a document that answers the question is quoted
  answered_answerable, answered_near, answered_offtopic
                         questions of that kind that are answered
  hedged_answerable, hedged_near
                         of those: marked as perhaps not answering the question
  answered_answer_in_n   of the answers: an accepted answer is in the first n quoted sentences
  gold_of_strong, gold_of_good, gold_of_partial
                         of the quoted passages of that strength: of a document that answers the question
  plain_…                the same of a plain vector search whose answer is the first sentences of the best passage, given
                         if its cosine is 0.35 or more
  reader_recall_1, reader_answer_in_1, reader_ms
                         with --reader: recall_1 of the five passages ranked by the reader, the best sentence by the reader
                         among those of its two best passages, and its time for a question on one core

noise, sentences, coherent, citation_correct and gold_of_… are of the answers to answerable questions."#;

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
