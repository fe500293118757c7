//! Runs a program to its end, or to a time limit, and keeps an eye on its memory.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use xtask::local::Stop;

use super::memory::PeakMemory;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// One of the lines that a program says while it works is shown this often.
const SHOW_INTERVAL: Duration = Duration::from_secs(10);
/// Shown if it fails.
const LAST_LINES: usize = 5;

pub(super) struct Run {
    /// Standard output; `None` if the program was ended at its time limit.
    pub(super) output: Option<String>,
    /// Wall time.
    pub(super) seconds: f64,
    /// Of the program and all that it started.
    pub(super) peak_memory_mib: f64,
}

/// An unsuccessful end is an error. Ends the program when this one is asked to stop. What it says on standard error is
/// added to `log`.
pub(super) fn run(command: &mut Command, log: &Path, stop: &Stop, limit: Option<Duration>) -> Result<Run> {
    let name = command.get_program().to_string_lossy().into_owned();
    let log = File::options().create(true).append(true).open(log)?;
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let stdout = child.stdout.take().context("no standard output")?;
    let stderr = child.stderr.take().context("no standard error")?;
    let output = thread::spawn(move || io::read_to_string(stdout));
    let said = thread::spawn(move || follow(stderr, log));
    let mut memory = PeakMemory::of(child.id());
    let status = loop {
        memory.look();
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if stop.is_requested() || limit.is_some_and(|limit| started.elapsed() > limit) {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(POLL_INTERVAL);
    };
    let seconds = started.elapsed().as_secs_f64();
    stop.check()?;
    let output = output.join().ok().context("nobody read its output")??;
    let said = said.join().ok().context("nobody read what it said")?;
    if let Some(status) = status {
        ensure!(status.success(), "{name} failed ({status}):\n{}", said.join("\n"));
    }
    let peak_memory_mib =
        memory.mib().with_context(|| format!("cannot read the memory of {name} from /proc"))?;
    Ok(Run { output: status.map(|_| output), seconds, peak_memory_mib })
}

/// Copies to the log and shows some lines; the last ones are returned.
fn follow(stderr: impl Read, mut log: File) -> Vec<String> {
    let mut last = VecDeque::new();
    let mut shown = Instant::now();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        // Without a log, the measurement is as good.
        let _ = writeln!(log, "{line}");
        if shown.elapsed() > SHOW_INTERVAL {
            println!("  {line}");
            shown = Instant::now();
        }
        if last.len() == LAST_LINES {
            last.pop_front();
        }
        last.push_back(line);
    }
    last.into()
}
