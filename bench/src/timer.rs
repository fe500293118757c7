//! Programs that time a forward pass on request, one line a request.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A running program that answers each line with one line. It ends when this is dropped.
pub(super) struct Timer {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Timer {
    /// Starts the program and waits until it has said `ready`.
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
            other => bail!("{name} said {other:?} instead of ready"),
        }
    }

    /// Sends one line and returns the answer.
    pub(super) fn ask(&mut self, line: &str) -> Result<String> {
        writeln!(self.input, "{line}").with_context(|| format!("{} does not read", self.name))?;
        self.read()
    }

    /// Sends one line and returns the numbers of the answer.
    pub(super) fn ask_for_numbers(&mut self, line: &str) -> Result<Vec<f64>> {
        let answer = self.ask(line)?;
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
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
