//! Runs a program to its end or until it is killed, and records its peak memory and its standard error.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::local::Stop;
use anyhow::{Context, Result, ensure};

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
    /// Standard error.
    pub(super) errors: Vec<String>,
}

/// When a program is killed.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    After(Duration),
    /// After as many lines of standard error that begin with a text.
    AfterLines(&'static str, usize),
}

impl Limit {
    fn is_over(self, elapsed: Duration, lines: &[String]) -> bool {
        match self {
            Self::After(limit) => elapsed > limit,
            Self::AfterLines(start, count) => {
                lines.iter().filter(|line| line.starts_with(start)).count() >= count
            }
        }
    }
}

/// Runs the program and appends its standard error to `log`. A failure of the program is an error. Kills it on Ctrl-C.
pub(super) fn run(command: &mut Command, log: &Path, stop: &Stop, limit: Option<Limit>) -> Result<Run> {
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
    let lines = Arc::new(Mutex::new(Vec::new()));
    let follower = thread::spawn({
        let lines = Arc::clone(&lines);
        move || follow(stderr, log, &lines)
    });
    let lines = || lines.lock().unwrap_or_else(PoisonError::into_inner);
    let mut memory = PeakMemory::new(child.id());
    let status = loop {
        memory.poll();
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if stop.is_requested() || limit.is_some_and(|limit| limit.is_over(started.elapsed(), &lines())) {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(POLL_INTERVAL);
    };
    let seconds = started.elapsed().as_secs_f64();
    stop.check()?;
    let output = output.join().ok().context("the thread that reads its output panicked")??;
    follower.join().ok().context("the thread that reads its errors panicked")?;
    let errors = std::mem::take(&mut *lines());
    if let Some(status) = status {
        let last = errors.get(errors.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        ensure!(status.success(), "{name} failed ({status}):\n{}", last.join("\n"));
    }
    let peak_memory_mib =
        memory.mib().with_context(|| format!("cannot read the memory of {name} from /proc"))?;
    Ok(Run { output: status.map(|_| output), seconds, peak_memory_mib, errors })
}

/// Copies lines to the log and to `lines`, and shows some of them.
fn follow(stderr: impl Read, mut log: File, lines: &Mutex<Vec<String>>) {
    let mut shown = Instant::now();
    for text in BufReader::new(stderr).lines().map_while(Result::ok) {
        // The measurement does not depend on the log.
        let _ = writeln!(log, "{text}");
        if shown.elapsed() > SHOW_INTERVAL {
            println!("  {text}");
            shown = Instant::now();
        }
        lines.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}
