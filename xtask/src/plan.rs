//! Steps that run side by side, each as soon as the steps it needs have ended, with one line of progress each.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::paths;

/// Lines of a failed step's output that are printed.
const MAX_FAILURE_LINES: usize = 200;
/// Characters of the status line, which must not wrap.
const STATUS_COLUMNS: usize = 79;
/// How many steps run at a time, on two cores: some wait for the network or the disk.
const SIDE_BY_SIDE: f32 = 2.2;

thread_local! {
    /// Where the output of the step of this thread goes; `None` outside of steps.
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// What the macro `say!` does.
pub fn say(line: impl Display) {
    LOG.with_borrow_mut(|log| match log {
        // The output is only for people.
        Some(file) => writeln!(file, "{line}").unwrap_or_default(),
        None => println!("{line}"),
    });
}

/// The file for the output of commands; `None` outside of steps, where commands print to the terminal.
pub(crate) fn log() -> Option<File> {
    LOG.with_borrow(|log| log.as_ref().and_then(|file| file.try_clone().ok()))
}

/// Whether a question waits for its answer, which the status line would erase.
static IS_ASKING: AtomicBool = AtomicBool::new(false);

/// Asks a question on the terminal, without the status line.
pub(crate) fn ask<T>(question: impl FnOnce() -> T) -> T {
    IS_ASKING.store(true, Ordering::Relaxed);
    let answer = question();
    IS_ASKING.store(false, Ordering::Relaxed);
    answer
}

/// The result of a step, for the steps that need it.
pub struct Slot<T>(OnceLock<T>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Slot<T> {
    /// Keeps the first value.
    pub fn set(&self, value: T) {
        self.0.get_or_init(|| value);
    }

    /// # Errors
    /// If the step has not run.
    pub fn get(&self) -> Result<&T> {
        self.0.get().context("a step needs the result of another step that is not part of the plan")
    }

    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }
}

struct Step<'a> {
    name: &'static str,
    /// How long it takes the first time, on two cores that other steps use, too.
    seconds: f32,
    needs: &'static [&'static str],
    run: Box<dyn FnOnce() -> Result<()> + Send + 'a>,
}

/// Steps and what each needs.
#[derive(Default)]
pub struct Plan<'a> {
    steps: Vec<Step<'a>>,
}

impl<'a> Plan<'a> {
    /// Adds a step unless a step of this name is there. It runs after those of the steps it `needs` that are part of the plan.
    /// `seconds`: how long it takes the first time.
    pub fn add(
        &mut self,
        name: &'static str,
        seconds: f32,
        needs: &'static [&'static str],
        run: impl FnOnce() -> Result<()> + Send + 'a,
    ) {
        if self.steps.iter().all(|step| step.name != name) {
            self.steps.push(Step { name, seconds, needs, run: Box::new(run) });
        }
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// That of the first step that failed. The steps that were running then have ended; no other has begun.
    pub fn run(self) -> Result<()> {
        let logs = paths::cargo_target().join("steps");
        fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
        let mut waiting = self.steps;
        for step in &mut waiting {
            // What has run before does little, unless its inputs have changed: nobody can tell.
            if marker_of(step.name).exists() {
                step.seconds = 0.0;
            }
        }
        let mut progress = Progress::start(&waiting);
        let mut failure = None;
        thread::scope(|scope| {
            let (ended, events) = mpsc::channel();
            let mut running = Vec::new();
            loop {
                while failure.is_none()
                    && let Some(index) = first_ready(&waiting, &running)
                {
                    let step = waiting.remove(index);
                    running.push(step.name);
                    progress.begin(step.name, step.seconds);
                    let (ended, log) = (ended.clone(), log_of(step.name));
                    scope.spawn(move || {
                        let result = run_step(step.run, &log);
                        if result.is_ok() {
                            // Without it, only the next estimate is wrong.
                            let _ = File::create(marker_of(step.name));
                        }
                        // The receiver lives until all steps have ended.
                        ended.send((step.name, log, result)).unwrap_or_default();
                    });
                }
                if running.is_empty() {
                    break;
                }
                let (name, log, result) = match events.recv_timeout(Duration::from_secs(1)) {
                    Ok(event) => event,
                    Err(RecvTimeoutError::Timeout) => {
                        progress.draw();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                running.retain(|running| *running != name);
                match result {
                    Ok(took) => progress.end(name, took),
                    Err(error) => {
                        progress.fail(name, &error, &log);
                        failure.get_or_insert(error);
                    }
                }
            }
        });
        progress.clear();
        if let Some(error) = failure {
            return Err(error);
        }
        if let Some(step) = waiting.first() {
            bail!("the step {:?} needs a step that needs it", step.name);
        }
        Ok(())
    }
}

/// The first step that needs no step which waits or runs.
fn first_ready(waiting: &[Step<'_>], running: &[&str]) -> Option<usize> {
    let is_pending = |need: &&str| running.contains(need) || waiting.iter().any(|step| step.name == *need);
    waiting.iter().position(|step| !step.needs.iter().any(is_pending))
}

fn log_of(name: &str) -> PathBuf {
    paths::cargo_target().join("steps").join(format!("{}.log", file_name(name)))
}

/// The file that says that a step has ended well before.
fn marker_of(name: &str) -> PathBuf {
    log_of(name).with_extension("done")
}

/// The name of a step for files, without extension.
pub(crate) fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn run_step(run: Box<dyn FnOnce() -> Result<()> + Send + '_>, log: &PathBuf) -> Result<Duration> {
    let started = Instant::now();
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    LOG.set(Some(file));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(anyhow!("a step panicked")))?;
    Ok(started.elapsed())
}

/// What is printed while steps run.
struct Progress {
    /// Steps in all, and the steps that have ended.
    steps: usize,
    ended: usize,
    /// Whether a step has never run here, so that its time is known.
    is_first_time: bool,
    /// Seconds of the steps that have not begun.
    waiting_seconds: f32,
    /// When each began, and the seconds it is expected to take.
    running: Vec<(&'static str, Instant, f32)>,
    /// Whether a status line can be drawn again.
    is_terminal: bool,
}

impl Progress {
    fn start(steps: &[Step<'_>]) -> Self {
        let waiting_seconds = steps.iter().map(|step| step.seconds).sum();
        let progress = Self {
            steps: steps.len(),
            ended: 0,
            is_first_time: waiting_seconds > 0.0,
            waiting_seconds,
            running: Vec::new(),
            is_terminal: io::stdout().is_terminal(),
        };
        if progress.is_first_time && steps.len() > 1 {
            println!("{} steps{} the first time", steps.len(), progress.left(", "));
        }
        progress
    }

    fn begin(&mut self, name: &'static str, seconds: f32) {
        self.waiting_seconds -= seconds;
        self.running.push((name, Instant::now(), seconds));
        self.draw();
    }

    fn end(&mut self, name: &str, took: Duration) {
        self.running.retain(|(running, ..)| *running != name);
        self.ended += 1;
        self.clear();
        let left = if self.is_terminal { String::new() } else { self.left(" · left: ") };
        println!("✓ [{}/{}] {name} ({:.1} s){left}", self.ended, self.steps, took.as_secs_f32());
        self.draw();
    }

    /// At once, with the output: other steps may run for minutes.
    fn fail(&mut self, name: &str, error: &anyhow::Error, log: &PathBuf) {
        self.running.retain(|(running, ..)| *running != name);
        self.clear();
        let output = fs::read(log).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let lines: Vec<_> = output.lines().collect();
        for line in &lines[lines.len().saturating_sub(MAX_FAILURE_LINES)..] {
            println!("  {line}");
        }
        println!("✗ {name}: {error:#}");
    }

    /// The time that is left, after these words; nothing if nobody can tell, or at the end.
    fn left(&self, words: &str) -> String {
        if !self.is_first_time || self.ended == self.steps {
            return String::new();
        }
        format!("{words}{}", about(self.seconds_left()))
    }

    /// Steps share the cores, and a step that takes longer than expected still takes a moment.
    fn seconds_left(&self) -> f32 {
        let running: Vec<f32> = self
            .running
            .iter()
            .map(|(_, began, seconds)| (seconds - began.elapsed().as_secs_f32()).max(1.0))
            .collect();
        let longest = running.iter().copied().fold(0.0, f32::max);
        longest.max((self.waiting_seconds + running.iter().sum::<f32>()) / SIDE_BY_SIDE)
    }

    /// The status line: which steps run, and how long everything still takes.
    fn draw(&self) {
        if !self.is_terminal || self.running.is_empty() || IS_ASKING.load(Ordering::Relaxed) {
            return;
        }
        let names: Vec<_> = self.running.iter().map(|(name, ..)| *name).collect();
        let left = self.left(" left: ");
        let line = format!("[{}/{}]{left} · {}", self.ended, self.steps, names.join(", "));
        let line: String = line.chars().take(STATUS_COLUMNS).collect();
        print!("\r\x1b[2K{line}");
        let _ = io::stdout().flush();
    }

    fn clear(&self) {
        if self.is_terminal && !IS_ASKING.load(Ordering::Relaxed) {
            print!("\r\x1b[2K");
            let _ = io::stdout().flush();
        }
    }
}

/// A time that is only an estimate.
fn about(seconds: f32) -> String {
    match seconds {
        ..100.0 => format!("about {:.0} s", (seconds / 5.0).ceil().max(1.0) * 5.0),
        _ => format!("about {:.0} min", (seconds / 60.0).round().max(2.0)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_step_runs_after_the_steps_it_needs_and_needs_outside_of_the_plan_are_met() {
        let order = Mutex::new(Vec::new());
        let mut plan = Plan::default();
        let note = |name| {
            order.lock().unwrap().push(name);
            Ok(())
        };
        plan.add("test last", 1.0, &["test first", "test middle"], || note("last"));
        plan.add("test middle", 1.0, &["test first", "not in this plan"], || note("middle"));
        plan.add("test first", 1.0, &[], || {
            thread::sleep(Duration::from_millis(20));
            note("first")
        });
        plan.add("test first", 1.0, &[], || note("twice"));
        plan.run().unwrap();
        assert_eq!(*order.lock().unwrap(), ["first", "middle", "last"]);
    }

    #[test]
    fn steps_that_need_nothing_run_at_the_same_time() {
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        let mut plan = Plan::default();
        plan.add("test left", 1.0, &[], move || {
            to_second.send(())?;
            Ok(from_second.recv()?)
        });
        plan.add("test right", 1.0, &[], move || {
            to_first.send(())?;
            Ok(from_first.recv()?)
        });
        plan.run().unwrap();
    }

    #[test]
    fn after_a_failure_no_step_begins_and_the_running_ones_end() {
        let ended = Slot::default();
        let mut plan = Plan::default();
        plan.add("test fails", 1.0, &[], || bail!("is broken"));
        plan.add("test slow", 1.0, &[], || {
            thread::sleep(Duration::from_millis(50));
            ended.set(());
            Ok(())
        });
        plan.add("test never", 1.0, &["test fails", "test slow"], || panic!("must not run"));
        assert_eq!(plan.run().unwrap_err().to_string(), "is broken");
        assert!(ended.get().is_ok());
    }

    #[test]
    fn a_panic_and_a_circle_are_errors() {
        let mut plan = Plan::default();
        plan.add("test panics", 1.0, &[], || panic!("a defect"));
        assert!(plan.run().unwrap_err().to_string().contains("panicked"));
        let mut plan = Plan::default();
        plan.add("test a", 1.0, &["test b"], || Ok(()));
        plan.add("test b", 1.0, &["test a"], || Ok(()));
        assert!(plan.run().unwrap_err().to_string().contains("needs a step that needs it"));
    }

    #[test]
    fn lines_of_a_step_go_to_its_file() {
        let mut plan = Plan::default();
        plan.add("test says", 1.0, &[], || {
            say("downloading");
            crate::shell::run(crate::shell::command("echo").arg("from a command"))
        });
        plan.run().unwrap();
        assert_eq!(fs::read_to_string(log_of("test says")).unwrap(), "downloading\nfrom a command\n");
    }

    #[test]
    fn an_estimate_has_few_digits() {
        assert_eq!(about(0.2), "about 5 s");
        assert_eq!(about(41.0), "about 45 s");
        assert_eq!(about(119.0), "about 2 min");
        assert_eq!(about(500.0), "about 8 min");
    }
}
