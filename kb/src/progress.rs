//! What a running command says on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far embedding has come.
pub struct Progress {
    bar: ProgressBar,
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Terminal,
    Lines,
    Nothing,
}

impl Progress {
    /// For people or log files, whichever standard error leads to.
    pub fn on_stderr() -> Self {
        let output = if std::io::stderr().is_terminal() { Output::Terminal } else { Output::Lines };
        Self { bar: ProgressBar::hidden(), output }
    }

    /// Says nothing.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), output: Output::Nothing }
    }

    /// Starts counting up to the `texts` to be embedded, which `description` names.
    pub fn start(&self, description: &str, texts: usize) {
        self.line(&format!("embedding {description}"));
        if self.output == Output::Terminal {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} texts  {per_sec}  {eta} left");
            self.bar.set_style(style.unwrap_or(ProgressStyle::default_bar()));
            self.bar.set_length(texts as u64);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// One text more is embedded.
    pub fn text_embedded(&self) {
        self.bar.inc(1);
    }

    /// Something worth a line of its own.
    pub fn line(&self, text: &str) {
        match self.output {
            Output::Terminal => self.bar.suspend(|| eprintln!("{text}")),
            Output::Lines => eprintln!("{text}"),
            Output::Nothing => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
