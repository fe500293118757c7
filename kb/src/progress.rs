//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{approximate_duration, printable};

/// Interval between lines of progress where there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Length of a whole bar.
const BAR_LENGTH: f64 = 1000.0;

pub struct Progress {
    bar: ProgressBar,
    output: Output,
    run: Mutex<Option<Counted>>,
    states: Mutex<States>,
}

/// Lines about a state, of this round and the one before.
#[derive(Default)]
struct States {
    current: HashSet<String>,
    previous: HashSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Terminal,
    Lines,
    Nothing,
}

struct Counted {
    started: Instant,
    last_line: Instant,
    documents: usize,
    all_documents: usize,
    chunks: usize,
}

impl Progress {
    /// A bar or lines, depending on whether standard error is a terminal.
    pub fn on_stderr() -> Self {
        Self::new(if std::io::stderr().is_terminal() { Output::Terminal } else { Output::Lines })
    }

    pub fn hidden() -> Self {
        Self::new(Output::Nothing)
    }

    fn new(output: Output) -> Self {
        Self { bar: ProgressBar::hidden(), output, run: Mutex::new(None), states: Mutex::default() }
    }

    /// Starts counting the documents to be written.
    pub fn start(&self, documents: usize) {
        let now = Instant::now();
        if let Ok(mut run) = self.run.lock() {
            *run = Some(Counted {
                started: now,
                last_line: now,
                documents: 0,
                all_documents: documents,
                chunks: 0,
            });
        }
        if self.output == Output::Terminal {
            self.bar.reset();
            self.bar.set_length(BAR_LENGTH as u64);
            let style = ProgressStyle::with_template("{bar:30} {msg}");
            self.bar.set_style(style.unwrap_or(ProgressStyle::default_bar()));
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Counts a document that is done, and the chunks written for it.
    pub fn document_done(&self, chunks: usize) {
        if let Ok(mut run) = self.run.lock()
            && let Some(run) = run.as_mut()
        {
            run.documents += 1;
            run.chunks += chunks;
        }
    }

    /// Shows which share of the work is done, from 0 to 1, and how long the rest takes, if that is known.
    pub fn estimate(&self, share_done: f64, left: Option<Duration>) {
        let Ok(mut run) = self.run.lock() else { return };
        let Some(run) = run.as_mut() else { return };
        match self.output {
            Output::Terminal => {
                self.bar.set_position((share_done * BAR_LENGTH) as u64);
                self.bar.set_message(run.line(share_done, left));
            }
            Output::Lines if run.last_line.elapsed() >= LINE_INTERVAL => {
                run.last_line = Instant::now();
                eprintln!("{}", run.line(share_done, left));
            }
            Output::Lines | Output::Nothing => {}
        }
    }

    pub fn line(&self, text: &str) {
        let text = printable(text);
        match self.output {
            Output::Terminal => self.bar.suspend(|| eprintln!("{text}")),
            Output::Lines => eprintln!("{text}"),
            Output::Nothing => {}
        }
    }

    /// A line about something that lasts, such as an unreadable file. A program that does the same again and again prints it only
    /// if the round before did not.
    pub fn state(&self, text: &str) {
        let is_new = self.states.lock().map_or(true, |mut states| {
            states.current.insert(text.to_owned()) && !states.previous.contains(text)
        });
        if is_new {
            self.line(text);
        }
    }

    /// Begins the next round.
    pub fn end_round(&self) {
        if let Ok(mut states) = self.states.lock() {
            states.previous = std::mem::take(&mut states.current);
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
        if let Ok(mut run) = self.run.lock() {
            *run = None;
        }
    }
}

impl Counted {
    fn line(&self, share_done: f64, left: Option<Duration>) -> String {
        let rate = self.chunks as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        progress_line(self.documents, self.all_documents, share_done, rate, left)
    }
}

fn progress_line(
    documents: usize,
    all: usize,
    share_done: f64,
    chunks_per_second: f64,
    left: Option<Duration>,
) -> String {
    let left = left.map_or_else(String::new, |left| format!(", about {} left", approximate_duration(left)));
    // A whole percentage is done only when everything is.
    let percent = (share_done * 100.0).floor();
    format!("{documents} of {all} documents, {percent} % of the text, {chunks_per_second:.1} chunks/s{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_progress_contains_documents_share_rate_and_remaining_time() {
        let line = |left| progress_line(12, 200, 0.0999, 4.25, left);
        assert_eq!(
            line(Some(Duration::from_secs(5430))),
            "12 of 200 documents, 9 % of the text, 4.2 chunks/s, about 1 h 31 min left"
        );
        assert_eq!(line(None), "12 of 200 documents, 9 % of the text, 4.2 chunks/s");
    }
}
