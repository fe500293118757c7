//! Runs a program to its end or to a time limit, and records its peak memory.

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
/// How often a line of the program's standard error is shown.
const SHOW_INTERVAL: Duration = Duration::from_secs(10);
/// How many lines of standard error an error shows.
const LAST_LINES: usize = 5;

pub(super) struct Run {
    /// Standard output; `None` if the program was ended at its time limit.
    pub(super) output: Option<String>,
    /// Wall time.
    pub(super) seconds: f64,
    /// Of the program and its descendants.
    pub(super) peak_memory_mib: f64,
}

/// Runs the program and appends its standard error to `log`. A failure of the program is an error. Kills it on Ctrl-C.
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
    let errors = thread::spawn(move || follow(stderr, log));
    let mut memory = PeakMemory::new(child.id());
    let status = loop {
        memory.poll();
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
    let output = output.join().ok().context("the thread that reads its output panicked")??;
    let errors = errors.join().ok().context("the thread that reads its errors panicked")?;
    if let Some(status) = status {
        ensure!(status.success(), "{name} failed ({status}):\n{}", errors.join("\n"));
    }
    let peak_memory_mib =
        memory.mib().with_context(|| format!("cannot read the memory of {name} from /proc"))?;
    Ok(Run { output: status.map(|_| output), seconds, peak_memory_mib })
}

/// Copies lines to the log, shows some of them, and returns the last ones.
fn follow(stderr: impl Read, mut log: File) -> Vec<String> {
    let mut last = VecDeque::new();
    let mut shown = Instant::now();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        // The measurement does not depend on the log.
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
