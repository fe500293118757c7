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
    /// Counts, and estimates the time left, also where it is not drawn.
    bar: ProgressBar,
    output: Output,
    last_line: Mutex<Instant>,
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

impl Progress {
    /// A bar or lines, depending on whether standard error is a terminal.
    pub fn on_stderr() -> Self {
        Self::new(if std::io::stderr().is_terminal() { Output::Terminal } else { Output::Lines })
    }

    pub fn hidden() -> Self {
        Self::new(Output::Nothing)
    }

    fn new(output: Output) -> Self {
        let bar = ProgressBar::hidden();
        // Nothing is counted before the start.
        bar.finish_and_clear();
        Self { bar, output, last_line: Mutex::new(Instant::now()), states: Mutex::default() }
    }

    /// Starts to count things, such as documents. `all` is their number, if it is known.
    pub fn start(&self, things: &'static str, all: Option<usize>) {
        self.bar.reset();
        self.bar.set_prefix(things);
        match all {
            Some(all) => self.bar.set_length(all as u64),
            None => self.bar.unset_length(),
        }
        if let Ok(mut last_line) = self.last_line.lock() {
            *last_line = Instant::now();
        }
        if self.output == Output::Terminal {
            let style = ProgressStyle::with_template("{bar:30} {elapsed} {msg}");
            self.bar.set_style(style.unwrap_or(ProgressStyle::default_bar()));
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Counts things that are done, and shows how many and how long the rest takes.
    pub fn advance(&self, done: usize) {
        if self.bar.is_finished() {
            return;
        }
        self.bar.inc(done as u64);
        match self.output {
            Output::Terminal => self.bar.set_message(self.counted()),
            Output::Lines => {
                let Ok(mut last_line) = self.last_line.lock() else { return };
                if last_line.elapsed() >= LINE_INTERVAL {
                    *last_line = Instant::now();
                    eprintln!("{}", self.counted());
                }
            }
            Output::Nothing => {}
        }
    }

    fn counted(&self) -> String {
        let (done, things) = (self.bar.position(), self.bar.prefix());
        match (self.bar.length(), self.bar.eta()) {
            (None, _) => format!("{done} {things}"),
            (Some(all), Duration::ZERO) => format!("{done} of {all} {things}"),
            (Some(all), left) => format!("{done} of {all} {things}, about {} left", HumanDuration(left)),
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_contains_what_is_done_and_the_time_left() {
        let progress = Progress::hidden();
        progress.start("documents", Some(200));
        assert_eq!(progress.counted(), "0 of 200 documents");
        std::thread::sleep(Duration::from_millis(20));
        progress.advance(12);
        let text = progress.counted();
        assert!(text.starts_with("12 of 200 documents, about ") && text.ends_with(" left"), "{text}");
        progress.finish();
        progress.advance(1);
        assert_eq!(progress.counted(), "200 of 200 documents", "later things are not counted");
        progress.start("passages", None);
        progress.advance(3);
        assert_eq!(progress.counted(), "3 passages");
    }
}
