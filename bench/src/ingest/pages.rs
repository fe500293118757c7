//! `kb sync` of a large site: memory and time to find what changed, and what killed runs repeat.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::local::Supabase;
use anyhow::{Result, ensure};
use xtask::{setup, shell};

use super::program::{Limit, Run};
use super::sync::Synced;
use super::{Workbench, release_binary};
use crate::report::Report;

/// Pages of which the writing is killed again and again.
const KILLED_PAGES: u32 = 400;
/// After how many pages each run is killed. The next one waits up to a minute for the lease of a killed one.
const KILLED_AFTER: [usize; 2] = [1, 200];
/// How each line about a written page begins.
const ADDED: &str = "added ";

/// Adds the figures that begin with `first_`, `resume_` and `pages_`.
pub(super) fn measure(bench: &Workbench, pages: u32, first_pages: u32, report: &mut Report) -> Result<()> {
    setup::node_packages()?;
    let data = bench.work.join("native");
    fs::create_dir_all(&data)?;
    let supabase =
        Supabase::start_script("bench/ingest/native-supabase.mjs", &data, &bench.work, &bench.stop)?;
    let site = Site { bench, supabase };
    report.context("pages", pages);
    report.context("first_pages", first_pages);

    site.measure_resumption(report)?;
    let first = site.measure_first(first_pages, report)?;

    let large = site.write("site", pages)?;
    report.add("pages_load_seconds", site.load_rows("site", &data)?, "s");
    let unchanged = site.sync(&large)?;
    unchanged.expect("unchanged", pages)?;
    report.add("pages_unchanged_seconds", unchanged.run.seconds, "s");

    let changed = site.change(&large, pages)?;
    let changes = site.sync(&large)?;
    changes.expect("changed", changed)?;
    changes.expect("unchanged", pages - changed)?;
    report.add("pages_changed", f64::from(changed), "pages");
    report.add("pages_changed_seconds", changes.run.seconds, "s");

    let addresses = site.write_addresses(pages)?;
    let addresses = site.run(site.command(&addresses).arg("--dry-run"), None)?;

    let peaks = [
        ("first", first.run.peak_memory_mib),
        ("unchanged", unchanged.run.peak_memory_mib),
        ("changed", changes.run.peak_memory_mib),
        ("addresses", addresses.peak_memory_mib),
    ];
    report.add("pages_peak_memory_mib", peaks.iter().map(|(_, peak)| *peak).fold(0.0, f64::max), "MiB");
    for (run, peak) in peaks {
        report.add(format!("pages_{run}_peak_mib"), peak, "MiB");
    }
    Ok(())
}

struct Site<'a> {
    bench: &'a Workbench,
    supabase: Supabase,
}

impl Site<'_> {
    /// Writes a folder of pages, and the list of them that [`Self::load_rows`] reads.
    fn write(&self, name: &str, pages: u32) -> Result<PathBuf> {
        let folder = self.bench.work.join(name);
        let list = self.bench.output(self.program("site", pages).arg(&folder))?;
        fs::write(self.list(name), list)?;
        Ok(folder)
    }

    fn list(&self, name: &str) -> PathBuf {
        self.bench.work.join(format!("{name}.tsv"))
    }

    /// Edits pages and returns their number.
    fn change(&self, folder: &Path, pages: u32) -> Result<u32> {
        Ok(self.bench.output(self.program("change-site", pages).arg(folder))?.trim().parse()?)
    }

    fn program(&self, command: &str, pages: u32) -> Command {
        let mut program = self.bench.program();
        program.args([command, "--pages", &pages.to_string()]);
        program
    }

    /// A list of addresses, which a plan does not fetch.
    fn write_addresses(&self, pages: u32) -> Result<PathBuf> {
        let file = self.bench.work.join("addresses.txt");
        let address =
            |number| format!("https://docs.example.com/reference/section-{}/page-{number}\n", number / 100);
        fs::write(&file, (0..pages).map(address).collect::<String>())?;
        Ok(file)
    }

    /// Fills the database as a first sync of these pages would, and returns the seconds that it took.
    fn load_rows(&self, name: &str, data: &Path) -> Result<f64> {
        let mut load = shell::command("node");
        load.arg("bench/ingest/load-rows.mjs").arg(data.join("database.json")).arg(name);
        load.stdin(File::open(self.list(name))?);
        Ok(self.bench.output(&mut load)?.trim().parse()?)
    }

    fn command(&self, source: &Path) -> Command {
        let mut command = self.supabase.command(release_binary("kb"), &self.bench.model);
        command.arg("sync").arg(source).arg("--json");
        command
    }

    fn run(&self, command: &mut Command, limit: Option<Limit>) -> Result<Run> {
        self.bench.run(command, limit)
    }

    fn sync(&self, folder: &Path) -> Result<Synced> {
        Synced::new(self.run(&mut self.command(folder), None)?)
    }

    /// Kills runs and lets the last one finish.
    fn measure_resumption(&self, report: &mut Report) -> Result<()> {
        let folder = self.write("killed", KILLED_PAGES)?;
        let mut written = 0;
        for count in KILLED_AFTER {
            let run = self.run(&mut self.command(&folder), Some(Limit::AfterLines(ADDED, count)))?;
            ensure!(run.output.is_none(), "kb sync ended before it was killed");
            written += run.errors.iter().filter(|line| line.starts_with(ADDED)).count();
        }
        let last = self.sync(&folder)?;
        let (added, unchanged) = (last.number("added")?, last.number("unchanged")?);
        ensure!(added + unchanged == f64::from(KILLED_PAGES), "{added} added, {unchanged} unchanged");
        report.add("resume_killed_runs", KILLED_AFTER.len() as f64, "runs");
        report.add("resume_documents_before", unchanged, "documents");
        report.add("resume_repeated_documents", (written as f64 - unchanged).max(0.0), "documents");
        Ok(())
    }

    /// A first sync, with the real model.
    fn measure_first(&self, pages: u32, report: &mut Report) -> Result<Synced> {
        let first = self.sync(&self.write("first", pages)?)?;
        first.expect("added", pages)?;
        report.add("first_seconds", first.run.seconds, "s");
        report.add("first_chunks", first.number("chunks")?, "chunks");
        report.add("first_sentences", first.number("sentences")?, "sentences");
        report.add("first_pages_per_second", f64::from(pages) / first.run.seconds, "1/s");
        Ok(first)
    }
}
