//! A child process that reports when it is ready and stops with its parent.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Stop;
use xtask::shell;

const READY: &str = "ready ";
const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Service {
    name: &'static str,
    pub(crate) url: String,
    log: PathBuf,
    /// Bytes in the log of earlier runs.
    earlier: usize,
    /// `None` after it has ended.
    child: Option<Child>,
    id: u32,
}

impl Service {
    /// Starts `command` with `PORT` set and waits until it prints `ready URL`. Its output goes to a log file.
    pub(crate) fn start(
        name: &'static str,
        command: &mut Command,
        port: u16,
        logs: &Path,
        stop: &Stop,
    ) -> Result<Self> {
        let started = Instant::now();
        let log = logs.join(format!("{name}.log"));
        // Appends, because an earlier run on the same data may have written the log.
        let file = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| format!("cannot write {}", log.display()))?;
        let earlier = usize::try_from(file.metadata()?.len())?;
        let mut child = command
            .env("PORT", port.to_string())
            // Open as long as this process lives. The service exits at the end of its input, so it does not outlive a
            // parent that was killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file.try_clone()?)
            // A separate process group: Ctrl-C reaches only the parent, which stops the services in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let ready = follow_output(&mut child, file);
        let id = child.id();
        let mut service = Self { name, url: String::new(), log, earlier, child: Some(child), id };
        service.url = loop {
            match ready.recv_timeout(Duration::from_millis(100)) {
                Ok(url) => break url,
                Err(mpsc::RecvTimeoutError::Timeout) if started.elapsed() < START_TIMEOUT => stop.check()?,
                Err(_) => bail!("{name} did not start:\n{}", service.last_log_lines()),
            }
        };
        xtask::say!("✓ {name}: {} ({:.1} s)", service.url, started.elapsed().as_secs_f32());
        Ok(service)
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Kills processes that the service started and did not stop, such as workerd.
    fn kill_descendants(&self) {
        let group = format!("-{}", self.id);
        let _ = shell::command("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }

    fn last_log_lines(&self) -> String {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(log.get(self.earlier..).unwrap_or_default());
        let lines: Vec<&str> = log.lines().collect();
        lines.get(lines.len().saturating_sub(15)..).unwrap_or_default().join("\n")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else { return };
        // std can only kill. SIGTERM lets the service close its database.
        let _ = shell::run(shell::command("kill").args(["-TERM", &self.id.to_string()]));
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return self.kill_descendants();
            }
            thread::sleep(Duration::from_millis(20));
        }
        println!("! {} did not stop in {} s, killing it", self.name, STOP_TIMEOUT.as_secs());
        let _ = child.kill();
        let _ = child.wait();
        self.kill_descendants();
    }
}

/// Copies the output of the child to the log, and sends the address in its `ready` line.
fn follow_output(child: &mut Child, mut log: File) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix(READY) {
                    let _ = sender.send(url.trim().to_owned());
                }
                let _ = writeln!(log, "{line}");
            }
        });
    }
    receiver
}
