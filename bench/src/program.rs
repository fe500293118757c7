//! Runs the measurements that are Node.js programs.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::local::Stop;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::report::Report;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs a program and adds its output to the report: `{"figures": [[name, value], …], "context": {…}}`.
pub(super) fn add_to(program: &mut Command, stop: &Stop, report: &mut Report) -> Result<()> {
    let mut printed: Value = serde_json::from_str(&run(program, stop)?).context("its output is not JSON")?;
    let figures: Vec<(String, f64)> =
        serde_json::from_value(printed["figures"].take()).context("its output has no figures")?;
    for (name, value) in figures {
        let unit = unit(&name);
        report.add(name, value, unit);
    }
    for (name, value) in printed["context"].as_object().context("its output has no context")? {
        report.context(name, value.clone());
    }
    Ok(())
}

/// Runs a program and returns its standard output. Kills it on Ctrl-C.
pub(super) fn run(program: &mut Command, stop: &Stop) -> Result<String> {
    let mut child = program.stdout(Stdio::piped()).spawn().context("cannot start node")?;
    let mut stdout = child.stdout.take().context("no standard output")?;
    let output = thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stop.is_requested() {
            child.kill()?;
            child.wait()?;
            bail!("stopped");
        }
        thread::sleep(POLL_INTERVAL);
    };
    ensure!(status.success(), "the measurement failed ({status})");
    Ok(output.join().ok().context("the thread that reads its output panicked")??)
}

/// The unit, which the name of a figure ends in.
fn unit(name: &str) -> &'static str {
    const UNITS: [(&str, &str); 6] = [
        ("_ms", "ms"),
        ("_kb", "kB"),
        ("_mb", "MB"),
        ("_mib", "MiB"),
        ("_ratio", "ratio"),
        ("_per_second", "1/s"),
    ];
    UNITS.into_iter().find(|(suffix, _)| name.ends_with(suffix)).map_or("count", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn the_unit_follows_from_the_end_of_the_name() {
        assert_eq!(unit("ttfb_p50_ms"), "ms");
        assert_eq!(unit("memory_growth_mib"), "MiB");
        assert_eq!(unit("errors_5xx"), "count");
    }
}
