//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::printable;

/// Interval between lines of progress where there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

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
        self.bar.set_length(documents as u64);
        self.bar.reset_elapsed();
        self.bar.reset_eta();
        if let Ok(mut run) = self.run.lock() {
            *run = Some(Counted { started: now, last_line: now, chunks: 0 });
        }
        if self.output == Output::Terminal {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} documents  {msg}  {eta} left");
            self.bar.set_style(style.unwrap_or(ProgressStyle::default_bar()));
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Counts a document that is done, and the chunks written for it.
    pub fn document_done(&self, chunks: usize) {
        let Ok(mut run) = self.run.lock() else { return };
        let Some(run) = run.as_mut() else { return };
        self.bar.inc(1);
        run.chunks += chunks;
        let rate =
            format!("{:.1} chunks/s", run.chunks as f64 / run.started.elapsed().as_secs_f64().max(0.001));
        if self.output == Output::Lines && run.last_line.elapsed() >= LINE_INTERVAL {
            run.last_line = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            eprintln!("{done} of {all} documents, {rate}, {} left", HumanDuration(self.bar.eta()));
        }
        self.bar.set_message(rate);
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
