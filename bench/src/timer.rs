//! Programs that time the embedder on request. Each request and each response is one line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A running program that answers each line with one line. Killed when dropped.
pub(super) struct Timer {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Timer {
    /// Starts the program and waits until it prints `ready`.
    pub(super) fn start(name: &'static str, command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut timer = Self { name, child, input, output };
        match timer.read()?.as_str() {
            "ready" => Ok(timer),
            other => bail!("{name} printed {other:?} instead of ready"),
        }
    }

    /// Sends one line and returns the response.
    pub(super) fn request(&mut self, line: &str) -> Result<String> {
        writeln!(self.input, "{line}").with_context(|| format!("cannot write to {}", self.name))?;
        self.read()
    }

    /// Sends one line and returns the numbers of the response.
    pub(super) fn request_numbers(&mut self, line: &str) -> Result<Vec<f64>> {
        let answer = self.request(line)?;
        let numbers = answer.split_whitespace().map(str::parse).collect::<Result<_, _>>();
        numbers.with_context(|| format!("{} answered {answer:?}", self.name))
    }

    fn read(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("{} ended early ({})", self.name, self.child.wait()?);
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // It may already have ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
