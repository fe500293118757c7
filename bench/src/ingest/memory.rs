//! The resident memory of a process and its descendants, as Linux counts it.

use std::collections::HashMap;
use std::fs;

pub(super) struct PeakMemory {
    process: u32,
    /// Peaks by process, in KiB. Linux keeps the peak, so polling misses only growth between the last poll and the end.
    peaks: HashMap<u32, u64>,
}

impl PeakMemory {
    pub(super) fn new(process: u32) -> Self {
        Self { process, peaks: HashMap::new() }
    }

    /// Reads the peaks so far.
    pub(super) fn poll(&mut self) {
        let mut pending = vec![self.process];
        while let Some(process) = pending.pop() {
            if let Some(peak) = peak_kib(process) {
                self.peaks.insert(process, peak);
            }
            pending.extend(children(process));
        }
    }

    /// The sum of all peaks; `None` if no process could be read.
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

/// Linux lists the children of each thread separately.
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
    fn the_memory_of_child_processes_is_included() {
        let mut child =
            Command::new("sh").args(["-c", "sleep 30 & wait"]).stdout(Stdio::null()).spawn().unwrap();
        let mut memory = PeakMemory::new(child.id());
        let deadline = Instant::now() + Duration::from_secs(10);
        while memory.peaks.len() < 2 && Instant::now() < deadline {
            memory.poll();
        }
        let alone = peak_kib(child.id()).unwrap() as f64 / 1024.0;
        // The parent may have grown since the first poll.
        memory.poll();
        assert!(memory.mib().unwrap() > alone);
        for process in memory.peaks.keys() {
            assert!(Command::new("kill").arg(process.to_string()).status().unwrap().success());
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_has_ended_has_no_memory() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let mut memory = PeakMemory::new(child.id());
        memory.poll();
        assert_eq!(memory.mib(), None);
    }
}
