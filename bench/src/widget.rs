//! The widget in Chromium, on the running demo: its size, the time to the first word of an answer, how long it blocks the
//! page's thread, also on a phone, and what it costs a page that only contains the tag.

use std::env;
use std::ffi::OsString;
use std::time::Instant;

use crate::local::Stop;
use anyhow::{Context, Result};
use clap::Args;
use xtask::{build, paths, setup, shell};

use crate::report::Report;
use crate::{folder, program};

const NOTES: &str = "\
…_brotli_kb: compressed with brotli; launcher: loaded with the page; widget: what a question and its answer load in addition,
  with texts and without the embedder; references: the export of references, loaded when it is opened; instant_results: loaded when
  a visitor types
first_word_…: from Enter to the frame that shows the answer's first word, with the model loaded, on the local stack; the reader reads
  as soon as it is loaded too, after the first answer; without_reader: with reader=\"off\"
instant_results_…: from a key to the frame that shows the results of the text, typed with 200 ms between keys on average; searches:
  requests while a question is typed
restore_200_…: from the click on a conversation in the history to the frame that shows all its 200 messages
render_50_citations_…: an answer with 50 markers and 50 citations, parsed, inserted and laid out
longest_task_…: CPU time of the longest task of the page's thread, which other programs do not lengthen, without the change of the page
  itself; embedding: from a question to its answer; first_use: from the visit to the first answer
phone_…: in a second browser whose page thread is four times slower (its workers are not), over 4G, with a small screen; first_use, second_use:
  from the tap on the launcher to the first word of the answer to a question that is asked at once, with nothing cached and with
  everything cached; answer: of a later question; idle_wake_ups: timers, frames and requests of page and worker in 5 s after the widget
  was closed
memory_…: what a first visit adds to the resident memory of the page's process, with panel, worker and the browser's own code:
  without_model: at most until panel and worker wait for the model; loading_peak: at most until it is loaded; model_peak: the difference;
  peak: at most until the first answer; answered: 2 s after it; of_model: as a multiple of the model's size
page_…: an otherwise empty page with the tag, minus the same page without it; medians, measured in turns";

#[derive(Args)]
pub(crate) struct Options {
    /// Number of questions for the time to the first word.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(5..=1000))]
    questions: u32,
    /// Measure the existing build.
    #[arg(long)]
    no_build: bool,
}

/// Prints a table and writes `target/bench/widget.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::on_signal()?;
    let model = build::run_unless(options.no_build, &build::Part::ALL)?;
    let chromium = setup::browser()?;
    let mut report = Report::new()?;
    let mut bench = shell::command("node");
    bench
        .arg(paths::repo().join("bench/widget/run.mjs"))
        .env("QUESTIONS", options.questions.to_string())
        .env("EVIDENCE_MODEL_DIR", &model.0)
        .env("CHROMIUM_PATH", &chromium)
        .env("KB_BINARY", paths::kb_binary())
        .env("XTASK_BINARY", xtask_binary()?);
    program::add_to(&mut bench, &stop, &mut report).context("the bench of the widget failed")?;
    let file = folder()?.join("widget.json");
    report.write(&file)?;
    report.print();
    println!("\n{NOTES}");
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    Ok(())
}

/// The `cargo xtask` that started this program; it starts the demo.
fn xtask_binary() -> Result<OsString> {
    env::var_os("XTASK_BINARY").context("XTASK_BINARY is not set; run `cargo xtask bench widget` instead")
}
