//! The resident memory of a process and of those it starts, as Linux counts it.

use std::collections::HashMap;
use std::fs;

pub(super) struct PeakMemory {
    process: u32,
    /// Peaks by process, in KiB: Linux keeps them, so that nothing between two looks is missed but the very end.
    peaks: HashMap<u32, u64>,
}

impl PeakMemory {
    pub(super) fn of(process: u32) -> Self {
        Self { process, peaks: HashMap::new() }
    }

    /// Reads the peaks so far.
    pub(super) fn look(&mut self) {
        let mut waiting = vec![self.process];
        while let Some(process) = waiting.pop() {
            if let Some(peak) = peak_kib(process) {
                self.peaks.insert(process, peak);
            }
            waiting.extend(children(process));
        }
    }

    /// The sum of all peaks; `None` if there was nothing to see.
    pub(super) fn mib(&self) -> Option<f64> {
        (!self.peaks.is_empty()).then(|| self.peaks.values().sum::<u64>() as f64 / 1024.0)
    }
}

/// `None` once the process has ended.
fn peak_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Each thread has its own.
fn children(process: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).ok();
    let lists = threads.filter_map(Result::ok).filter_map(of_thread);
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn children_count() {
        let mut child =
            Command::new("sh").args(["-c", "sleep 30 & wait"]).stdout(Stdio::null()).spawn().unwrap();
        let mut memory = PeakMemory::of(child.id());
        let deadline = Instant::now() + Duration::from_secs(10);
        while memory.peaks.len() < 2 && Instant::now() < deadline {
            memory.look();
        }
        let alone = peak_kib(child.id()).unwrap() as f64 / 1024.0;
        // What was seen first may have grown since.
        memory.look();
        assert!(memory.mib().unwrap() > alone);
        for process in memory.peaks.keys() {
            assert!(Command::new("kill").arg(process.to_string()).status().unwrap().success());
        }
        child.wait().unwrap();
    }

    #[test]
    fn of_a_process_that_has_ended_nothing_is_known() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let mut memory = PeakMemory::of(child.id());
        memory.look();
        assert_eq!(memory.mib(), None);
    }
}
