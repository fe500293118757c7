//! Reads files in a process of its own, which may run out of memory, of time, or crash, without harm to its parent; and
//! which has no rights that would be of use to a file that takes it over ([`confine`]).
//!
//! The child gets the format as its last argument, the length of the file (8 bytes, little endian) and the file on its
//! standard input, which then stays open for as long as the parent lives: its end tells the child to end. It answers
//! with the JSON of `Result<Extracted, ExtractError>` on its standard output.

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

use super::{ExtractError, Extracted, Format, MAX_FILE_BYTES, composer, extract};

pub use confine::{Layer, confine, hide_memory};

/// Address space of the child. The largest text that is kept needs about a third of it.
const MEMORY_MIB: u64 = 400;
/// Files of formats that are simple to read are sent to the child from this size on.
const MAX_IN_PROCESS_BYTES: usize = 256 * 1024;
/// The longest answer: text, and its blocks as JSON.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Of what the child says on its standard error, enough to know why it ended.
const MAX_COMPLAINT_BYTES: u64 = 4096;
/// How often a child that closed its output is asked whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// Starts a process per file.
#[derive(Debug, Clone)]
pub struct Sandbox {
    program: PathBuf,
    arguments: Vec<OsString>,
    time: Duration,
}

impl Sandbox {
    /// A program that calls [`run_worker`] with its last argument if it is started with `arguments` and one more.
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments, time: Duration::from_secs(60) }
    }

    /// How long a file may take, by the clock; 60 seconds unless told otherwise.
    #[must_use]
    pub fn with_time(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Reads the bytes of a file; waits until that is done.
    ///
    /// # Errors
    /// As [`extract`], and where reading takes too much time or memory or crashes.
    pub fn extract(&self, bytes: &[u8], format: Format) -> Result<Extracted, ExtractError> {
        let is_simple = matches!(format, Format::Markdown | Format::PlainText | Format::Csv);
        if bytes.len() as u64 > MAX_FILE_BYTES || (is_simple && bytes.len() <= MAX_IN_PROCESS_BYTES) {
            return extract(bytes, format);
        }
        let mut child = self.start(format).map_err(|error| sandbox_error(&error))?;
        let answer = self.exchange(&mut child, bytes);
        // Whatever happened, nothing is left behind.
        let _ = child.kill();
        let _ = child.wait();
        answer
    }

    fn start(&self, format: Format) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(name(format));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Nothing secret for a process that reads what strangers wrote; and glibc reserves address space for each thread
        // unless told that one heap is enough.
        command.env_clear().env("MALLOC_ARENA_MAX", "1");
        if cfg!(windows) {
            // Programs do not start without it.
            command.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        }
        command.spawn()
    }

    fn exchange(&self, child: &mut Child, bytes: &[u8]) -> Result<Extracted, ExtractError> {
        let (Some(mut input), Some(output), Some(complaints)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(sandbox_error(&io::Error::other("no pipes")));
        };
        let deadline = Instant::now() + self.time;
        thread::scope(|scope| {
            let (answer_sender, answer) = mpsc::channel();
            scope.spawn(move || answer_sender.send(read_bounded(output, MAX_ANSWER_BYTES)));
            let complaint = scope.spawn(move || read_bounded(complaints, MAX_COMPLAINT_BYTES));
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
                Ok(Ok(answer)) => self.understand(child, &answer, deadline),
                Ok(Err(error)) => Err(Failure::Final(sandbox_error(&error))),
                Err(RecvTimeoutError::Timeout) => Err(Failure::Final(self.timed_out())),
                Err(RecvTimeoutError::Disconnected) => Err(Failure::Ended { signal: None }),
            };
            // Ends the threads above, which wait for the child or for this.
            let _ = child.kill();
            drop(done);
            let complaint = complaint.join().ok().and_then(Result::ok).unwrap_or_default();
            result.map_err(|failure| self.explain(failure, &String::from_utf8_lossy(&complaint)))
        })
    }

    fn understand(&self, child: &mut Child, answer: &[u8], deadline: Instant) -> Result<Extracted, Failure> {
        if answer.len() as u64 > MAX_ANSWER_BYTES {
            return Err(Failure::Final(composer::too_much_text()));
        }
        match serde_json::from_slice::<Result<Extracted, ExtractError>>(answer) {
            Ok(result) => result.map_err(Failure::Final),
            Err(_) => Err(self.how_it_ended(child, deadline)),
        }
    }

    /// The output ended before the answer did, so the child is about to end.
    fn how_it_ended(&self, child: &mut Child, deadline: Instant) -> Failure {
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => {
                    return Failure::Final(sandbox_error(&io::Error::other("it gave no answer")));
                }
                Ok(Some(status)) => return Failure::Ended { signal: signal(status) },
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
                Ok(None) => return Failure::Final(self.timed_out()),
                Err(error) => return Failure::Final(sandbox_error(&error)),
            }
        }
    }

    fn explain(&self, failure: Failure, complaint: &str) -> ExtractError {
        match failure {
            Failure::Final(error) => error,
            Failure::Ended { .. } if complaint.contains("memory allocation of") => {
                ExtractError::OutOfMemory { mib: MEMORY_MIB }
            }
            // Nobody else kills it so, except a machine that runs out of memory.
            Failure::Ended { signal: Some(SIGKILL) } => ExtractError::OutOfMemory { mib: MEMORY_MIB },
            Failure::Ended { signal: Some(SIGXCPU) } => self.timed_out(),
            Failure::Ended { .. } => ExtractError::Crashed,
        }
    }

    fn timed_out(&self) -> ExtractError {
        ExtractError::TimedOut { seconds: self.time.as_secs() }
    }
}

/// The numbers that Linux and macOS share.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

enum Failure {
    Final(ExtractError),
    /// Without an answer.
    Ended {
        signal: Option<i32>,
    },
}

#[cfg(unix)]
fn signal(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: std::process::ExitStatus) -> Option<i32> {
    None
}

/// At most one byte more than `limit`, and no more is kept in memory.
fn read_bounded(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn sandbox_error(error: &io::Error) -> ExtractError {
    ExtractError::Sandbox { reason: error.to_string() }
}

/// What the child does: reads a file of the format from standard input under limits of memory and time and without rights,
/// and writes the answer to standard output. `format` is the argument that [`Sandbox`] added.
pub fn run_worker(format: impl AsRef<str>) -> ExitCode {
    // A panic is an answer; its message is none.
    std::panic::set_hook(Box::new(|_| {}));
    match work(format.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn work(format: &str) -> io::Result<()> {
    let format = Format::ALL.into_iter().find(|known| format == name(*known));
    let format = format.ok_or_else(|| io::Error::other("unknown format"))?;
    limit_resources()?;
    // Before another thread starts, which it would not include.
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
    // Last: no thread can be started from here on, and limits cannot be set after the second.
    confine(Layer::Limits)?;
    confine(Layer::Calls)?;
    let mut output = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut output, &extract(&bytes, format))?;
    output.flush()
}

/// Address space, processor time and core files; time by the clock is the parent's business.
#[cfg(unix)]
fn limit_resources() -> io::Result<()> {
    use rlimit::Resource;

    /// Beyond what the parent waits for, in case it waits no more.
    const PROCESSOR_SECONDS: u64 = 120;
    let bytes = MEMORY_MIB * 1024 * 1024;
    Resource::CORE.set(0, 0)?;
    Resource::CPU.set(PROCESSOR_SECONDS, PROCESSOR_SECONDS)?;
    // Where it is no limit of the system (macOS), the time still is one.
    match Resource::AS.set(bytes, bytes) {
        Err(error) if cfg!(target_os = "linux") => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn limit_resources() -> io::Result<()> {
    Ok(())
}

/// The parent holds the other end of standard input, and never writes to it again.
fn end_with_parent() -> io::Result<()> {
    let (sender, is_watching) = mpsc::channel();
    let watch = move || {
        // What a thread needs to start it has done by now; the same is refused after this.
        let _ = sender.send(());
        let mut byte = [0];
        let _ = io::stdin().lock().read(&mut byte);
        std::process::exit(1);
    };
    thread::Builder::new().stack_size(64 * 1024).spawn(watch)?;
    is_watching.recv().map_err(io::Error::other)
}

/// As an argument.
fn name(format: Format) -> &'static str {
    match format {
        Format::Markdown => "markdown",
        Format::PlainText => "plain-text",
        Format::Html => "html",
        Format::Pdf => "pdf",
        Format::Docx => "docx",
        Format::Csv => "csv",
    }
}
