//! Reads files in a separate process, which may run out of memory or time or crash without affecting its parent, and which has
//! no privileges that a file could abuse if it took over the process ([`mod@confine`]).
//!
//! The child gets the media type as its last argument, and on standard input the length of the file (8 bytes, little endian) and
//! the file. Standard input then stays open as long as the parent lives; when it is closed, the child exits. It writes the JSON
//! of `Result<Document, ExtractError>` to standard output.

mod confine;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use super::document::Document;
use super::{ExtractError, Format, MAX_FILE_BYTES, document};

pub use confine::{Layer, confine, hide_memory};

/// Address space of the child. The largest allowed text needs about a third of it.
const MAX_MEMORY_MIB: u64 = 400;
/// Larger files of simple formats are read in the child, too.
const MAX_IN_PROCESS_BYTES: usize = 256 * 1024;
/// Maximum output: the document as JSON.
const MAX_OUTPUT_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum part of standard error that is read; enough to know why the child ended.
const MAX_STDERR_BYTES: u64 = 4096;
/// Interval of checks whether a child that closed its output has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Starts one process per file.
#[derive(Debug, Clone)]
pub struct Sandbox {
    program: PathBuf,
    arguments: Vec<OsString>,
    time: Duration,
}

impl Sandbox {
    /// `program`, started with `arguments` and one more, must call [`run_worker`] with its last argument.
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments, time: Duration::from_secs(60) }
    }

    /// Sets the wall-clock limit per file; 60 seconds by default. Only for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_time(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Reads a file; blocks until done.
    ///
    /// # Errors
    /// As for [`document()`], and if reading takes too much time or memory or crashes.
    pub fn read(&self, bytes: &[u8], format: Format) -> Result<Document, ExtractError> {
        let is_simple = matches!(format, Format::Markdown | Format::PlainText | Format::Csv);
        if bytes.len() as u64 > MAX_FILE_BYTES || (is_simple && bytes.len() <= MAX_IN_PROCESS_BYTES) {
            return document(bytes, format);
        }
        let mut child = self.start(format).map_err(|error| sandbox_error(&error))?;
        let answer = self.exchange(&mut child, bytes);
        // Leave no process behind, whatever happened.
        let _ = child.kill();
        let _ = child.wait();
        answer
    }

    fn start(&self, format: Format) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(format.content_type());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The environment may contain secrets. glibc reserves address space per thread unless limited to one heap.
        command.env_clear().env("MALLOC_ARENA_MAX", "1");
        if cfg!(windows) {
            // Programs do not start without this variable.
            command.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        }
        command.spawn()
    }

    fn exchange(&self, child: &mut Child, bytes: &[u8]) -> Result<Document, ExtractError> {
        let (Some(mut input), Some(output), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(sandbox_error(&io::Error::other("no pipes")));
        };
        let deadline = Instant::now() + self.time;
        thread::scope(|scope| {
            let (answer_sender, answer) = mpsc::channel();
            scope.spawn(move || answer_sender.send(read_bounded(output, MAX_OUTPUT_BYTES)));
            let stderr = scope.spawn(move || read_bounded(stderr, MAX_STDERR_BYTES));
            let (done, is_done) = mpsc::channel::<()>();
            scope.spawn(move || {
                // A child that ends early does not read the rest.
                let _ = input.write_all(&(bytes.len() as u64).to_le_bytes());
                let _ = input.write_all(bytes);
                let _ = input.flush();
                let _ = is_done.recv();
            });
            let answer = answer.recv_timeout(self.time);
            let result = match answer {
                Ok(Ok(answer)) => self.parse_answer(child, &answer, deadline),
                Ok(Err(error)) => Ok(Err(sandbox_error(&error))),
                Err(RecvTimeoutError::Timeout) => Ok(Err(self.timed_out())),
                Err(RecvTimeoutError::Disconnected) => Err(NoOutput { signal: None }),
            };
            // Ends the threads above, which wait for the child or for this signal.
            let _ = child.kill();
            drop(done);
            let stderr = stderr.join().ok().and_then(Result::ok).unwrap_or_default();
            result.unwrap_or_else(|end| Err(self.explain(end, &String::from_utf8_lossy(&stderr))))
        })
    }

    fn parse_answer(
        &self,
        child: &mut Child,
        answer: &[u8],
        deadline: Instant,
    ) -> Result<Result<Document, ExtractError>, NoOutput> {
        if answer.len() as u64 > MAX_OUTPUT_BYTES {
            return Ok(Err(ExtractError::too_much_text()));
        }
        if let Ok(result) = serde_json::from_slice(answer) {
            return Ok(result);
        }
        // The output is incomplete, so the child is about to exit.
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => {
                    return Ok(Err(sandbox_error(&io::Error::other("it gave no answer"))));
                }
                Ok(Some(status)) => return Err(NoOutput { signal: signal(status) }),
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL_INTERVAL),
                Ok(None) => return Ok(Err(self.timed_out())),
                Err(error) => return Ok(Err(sandbox_error(&error))),
            }
        }
    }

    fn explain(&self, NoOutput { signal }: NoOutput, stderr: &str) -> ExtractError {
        match signal {
            _ if stderr.contains("memory allocation of") => ExtractError::OutOfMemory(MAX_MEMORY_MIB),
            // Otherwise only the kernel sends this signal, when the machine runs out of memory.
            Some(SIGKILL) => ExtractError::OutOfMemory(MAX_MEMORY_MIB),
            Some(SIGXCPU) => self.timed_out(),
            _ => ExtractError::Crashed,
        }
    }

    fn timed_out(&self) -> ExtractError {
        ExtractError::TimedOut(self.time.as_secs())
    }
}

/// Signal numbers, equal on Linux and macOS.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// The child ended without output.
struct NoOutput {
    signal: Option<i32>,
}

#[cfg(unix)]
fn signal(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: std::process::ExitStatus) -> Option<i32> {
    None
}

/// Reads at most one byte more than `limit`.
fn read_bounded(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn sandbox_error(error: &io::Error) -> ExtractError {
    ExtractError::Sandbox(error.to_string())
}

/// The child: drops its privileges, limits memory and time, reads a file from standard input, and writes the result to standard
/// output. `media_type` is the argument that [`Sandbox`] added.
pub fn run_worker(media_type: &str) -> ExitCode {
    // A panic is reported as a result; its message is not needed.
    std::panic::set_hook(Box::new(|_| {}));
    match work(media_type) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn work(media_type: &str) -> io::Result<()> {
    let format = Format::from_content_type(media_type).ok_or_else(|| io::Error::other("unknown format"))?;
    limit_resources()?;
    // Before another thread starts, because it applies only to this thread and its children.
    confine(Layer::Files)?;
    let mut input = io::stdin().lock();
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length =
        usize::try_from(u64::from_le_bytes(length).min(MAX_FILE_BYTES + 1)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    drop(input);
    end_with_parent()?;
    // Last, because afterwards no thread can start and no limit can be set.
    confine(Layer::Limits)?;
    confine(Layer::Calls)?;
    let mut output = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut output, &document(&bytes, format))?;
    output.flush()
}

/// Limits address space, processor time and core files; the parent limits wall-clock time.
#[cfg(unix)]
fn limit_resources() -> io::Result<()> {
    use rlimit::Resource;

    /// Longer than the parent waits, in case the parent is gone.
    const PROCESSOR_SECONDS: u64 = 120;
    let bytes = MAX_MEMORY_MIB * 1024 * 1024;
    Resource::CORE.set(0, 0)?;
    Resource::CPU.set(PROCESSOR_SECONDS, PROCESSOR_SECONDS)?;
    // On macOS this limit does not exist; the time limit still applies.
    match Resource::AS.set(bytes, bytes) {
        Err(error) if cfg!(target_os = "linux") => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn limit_resources() -> io::Result<()> {
    Ok(())
}

/// Exits when standard input is closed, to which the parent never writes again.
fn end_with_parent() -> io::Result<()> {
    let (sender, is_watching) = mpsc::channel();
    let watch = move || {
        // The thread has finished its start-up, whose system calls are refused from here on.
        let _ = sender.send(());
        let mut byte = [0];
        let _ = io::stdin().lock().read(&mut byte);
        std::process::exit(1);
    };
    thread::Builder::new().stack_size(64 * 1024).spawn(watch)?;
    is_watching.recv().map_err(io::Error::other)
}
