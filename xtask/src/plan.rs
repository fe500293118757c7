//! Steps that run side by side, each as soon as the steps it needs have ended, with one line of progress each.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::paths;

/// Lines of a failed step's output that are printed.
const MAX_FAILURE_LINES: usize = 200;
/// Characters of the status line, which must not wrap.
const STATUS_COLUMNS: usize = 79;

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
    needs: &'static [&'static str],
    run: Box<dyn FnOnce() -> Result<()> + Send + 'a>,
}

/// Steps and what each needs.
#[derive(Default)]
pub struct Plan<'a> {
    steps: Vec<Step<'a>>,
}

impl<'a> Plan<'a> {
    /// Adds a step unless a step of this name is there. It runs after the steps it `needs`, if they are part of the plan.
    pub fn add(
        &mut self,
        name: &'static str,
        needs: &'static [&'static str],
        run: impl FnOnce() -> Result<()> + Send + 'a,
    ) {
        if self.steps.iter().all(|step| step.name != name) {
            self.steps.push(Step { name, needs, run: Box::new(run) });
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
        let mut progress = Progress::new(waiting.len());
        let mut failure = None;
        thread::scope(|scope| {
            let (ended, events) = mpsc::channel();
            loop {
                while failure.is_none()
                    && let Some(index) = first_ready(&waiting, &progress.running)
                {
                    let step = waiting.remove(index);
                    progress.begin(step.name);
                    let (ended, log) = (ended.clone(), log_of(step.name));
                    scope.spawn(move || {
                        let result = run_step(step.run, &log);
                        // The receiver lives until all steps have ended.
                        ended.send((step.name, log, result)).unwrap_or_default();
                    });
                }
                if progress.running.is_empty() {
                    break;
                }
                // This function holds a sender, so the channel stays open.
                let Ok((name, log, result)) = events.recv() else { break };
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
    running: Vec<&'static str>,
    /// Whether a status line can be drawn again.
    is_terminal: bool,
}

impl Progress {
    fn new(steps: usize) -> Self {
        Self { steps, ended: 0, running: Vec::new(), is_terminal: io::stdout().is_terminal() }
    }

    fn begin(&mut self, name: &'static str) {
        self.running.push(name);
        self.draw();
    }

    fn end(&mut self, name: &str, took: Duration) {
        self.running.retain(|running| *running != name);
        self.ended += 1;
        self.clear();
        println!("✓ [{}/{}] {name} ({:.1} s)", self.ended, self.steps, took.as_secs_f32());
        self.draw();
    }

    /// At once, with the output: other steps may run for minutes.
    fn fail(&mut self, name: &str, error: &anyhow::Error, log: &PathBuf) {
        self.running.retain(|running| *running != name);
        self.clear();
        let output = fs::read(log).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let lines: Vec<_> = output.lines().collect();
        for line in &lines[lines.len().saturating_sub(MAX_FAILURE_LINES)..] {
            println!("  {line}");
        }
        println!("✗ {name}: {error:#}");
    }

    /// The status line: which steps run.
    fn draw(&self) {
        if !self.is_terminal || self.running.is_empty() || IS_ASKING.load(Ordering::Relaxed) {
            return;
        }
        let line = format!("[{}/{}] {}", self.ended, self.steps, self.running.join(", "));
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
        plan.add("test last", &["test first", "test middle"], || note("last"));
        plan.add("test middle", &["test first", "not in this plan"], || note("middle"));
        plan.add("test first", &[], || {
            thread::sleep(Duration::from_millis(20));
            note("first")
        });
        plan.add("test first", &[], || note("twice"));
        plan.run().unwrap();
        assert_eq!(*order.lock().unwrap(), ["first", "middle", "last"]);
    }

    #[test]
    fn steps_that_need_nothing_run_at_the_same_time() {
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        let mut plan = Plan::default();
        plan.add("test left", &[], move || {
            to_second.send(())?;
            Ok(from_second.recv()?)
        });
        plan.add("test right", &[], move || {
            to_first.send(())?;
            Ok(from_first.recv()?)
        });
        plan.run().unwrap();
    }

    #[test]
    fn after_a_failure_no_step_begins_and_the_running_ones_end() {
        let ended = Slot::default();
        let mut plan = Plan::default();
        plan.add("test fails", &[], || bail!("is broken"));
        plan.add("test slow", &[], || {
            thread::sleep(Duration::from_millis(50));
            ended.set(());
            Ok(())
        });
        plan.add("test never", &["test fails", "test slow"], || panic!("must not run"));
        assert_eq!(plan.run().unwrap_err().to_string(), "is broken");
        assert!(ended.get().is_ok());
    }

    #[test]
    fn a_panic_and_a_circle_are_errors() {
        let mut plan = Plan::default();
        plan.add("test panics", &[], || panic!("a defect"));
        assert!(plan.run().unwrap_err().to_string().contains("panicked"));
        let mut plan = Plan::default();
        plan.add("test a", &["test b"], || Ok(()));
        plan.add("test b", &["test a"], || Ok(()));
        assert!(plan.run().unwrap_err().to_string().contains("needs a step that needs it"));
    }

    #[test]
    fn lines_of_a_step_go_to_its_file() {
        let mut plan = Plan::default();
        plan.add("test says", &[], || {
            say("downloading");
            crate::shell::run(crate::shell::command("echo").arg("from a command"))
        });
        plan.run().unwrap();
        assert_eq!(fs::read_to_string(log_of("test says")).unwrap(), "downloading\nfrom a command\n");
    }
}
