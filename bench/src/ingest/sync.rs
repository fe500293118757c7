//! `kb sync` of a generated corpus into a local Supabase: the first time, without changes and with some; and its memory.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::local::Supabase;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::setup;

use super::program::{Limit, Run};
use super::{Workbench, release_binary};
use crate::report::Report;

/// How many times as large the corpus of the dry run is, to see whether memory grows with it.
const DRY_RUN_FACTOR: u32 = 3;
/// Just below the limit of kb.
const LONG_TEXT_MEGABYTES: u32 = 19;
/// Enough to read and chunk the text; embedding all of it takes many minutes and no more memory.
const LONG_TEXT_LIMIT: Duration = Duration::from_secs(90);

/// Adds `embed_share`, `database_share`, `peak_memory_mib`, `resync_seconds_per_1000` and the figures they are made of.
pub(super) fn measure(bench: &Workbench, files: u32, report: &mut Report) -> Result<()> {
    setup::node_packages()?;
    let documents = bench.work.join("corpus");
    bench.output(bench.program().args(["corpus", "--files", &files.to_string()]).arg(&documents))?;
    let supabase = Supabase::start(&bench.work.join("supabase"), &bench.work, &bench.stop)?;
    let syncs = Syncs { bench, supabase };
    report.context("sync_files", files);

    let first = syncs.sync(&documents)?;
    first.add_to(report)?;
    first.expect("added", files)?;
    let unchanged = syncs.sync(&documents)?;
    unchanged.expect("unchanged", files)?;
    report.add("resync_seconds_per_1000", unchanged.run.seconds * 1000.0 / f64::from(files), "s");
    let changes = syncs.change(&documents, files, report)?;

    let plan = syncs.plan_larger(files * DRY_RUN_FACTOR)?;
    let long_text = syncs.long_text()?;
    let peaks = [
        ("sync", first.run.peak_memory_mib),
        ("resync", unchanged.run.peak_memory_mib),
        ("changes", changes.run.peak_memory_mib),
        ("larger_plan", plan.peak_memory_mib),
        ("long_text", long_text.peak_memory_mib),
    ];
    report.add("peak_memory_mib", peaks.iter().map(|(_, peak)| *peak).fold(0.0, f64::max), "MiB");
    for (run, peak) in peaks {
        report.add(format!("{run}_peak_memory_mib"), peak, "MiB");
    }
    Ok(())
}

struct Syncs<'a> {
    bench: &'a Workbench,
    supabase: Supabase,
}

impl Syncs<'_> {
    fn command(&self, folder: &Path) -> Command {
        let mut command = self.supabase.command(release_binary("kb"), &self.bench.model);
        command.arg("sync").arg(folder).arg("--json");
        command
    }

    fn sync(&self, folder: &Path) -> Result<Synced> {
        Synced::new(self.bench.run(&mut self.command(folder), None)?)
    }

    /// Edits, moves and removes some files, and adds the time of the sync that follows.
    fn change(&self, documents: &Path, files: u32, report: &mut Report) -> Result<Synced> {
        let mut change = self.bench.program();
        change.args(["change", "--files", &files.to_string()]).arg(documents);
        let expected: Value = serde_json::from_str(&self.bench.output(&mut change)?)?;
        let changes = self.sync(documents)?;
        for (name, count) in expected.as_object().context("no counts of changes")? {
            let count = count.as_u64().context("no count")?;
            changes.expect(name, u32::try_from(count)?)?;
            report.add(format!("changes_{name}"), count as f64, "files");
        }
        report.add("changes_seconds", changes.run.seconds, "s");
        Ok(changes)
    }

    /// Plans a sync of a larger corpus: reads and compares everything, writes nothing.
    fn plan_larger(&self, files: u32) -> Result<Run> {
        let documents = self.bench.work.join("larger-corpus");
        let mut write = self.bench.program();
        self.bench.output(write.args(["corpus", "--files", &files.to_string()]).arg(&documents))?;
        self.bench.run(self.command(&documents).arg("--dry-run"), None)
    }

    fn long_text(&self) -> Result<Run> {
        let folder = self.bench.work.join("long-text");
        std::fs::create_dir_all(&folder)?;
        let mut write = self.bench.program();
        write
            .args(["long-text", "--megabytes", &LONG_TEXT_MEGABYTES.to_string()])
            .arg(folder.join("long.txt"));
        self.bench.output(&mut write)?;
        self.bench.run(&mut self.command(&folder), Some(Limit::After(LONG_TEXT_LIMIT)))
    }
}

/// A sync that has ended.
pub(super) struct Synced {
    pub(super) run: Run,
    /// Its output.
    summary: Value,
}

impl Synced {
    pub(super) fn new(run: Run) -> Result<Self> {
        let output = run.output.as_ref().context("kb sync was ended without a time limit")?;
        let summary = serde_json::from_str(output).context("the output of kb sync is not JSON")?;
        Ok(Self { run, summary })
    }

    pub(super) fn number(&self, name: &str) -> Result<f64> {
        self.summary[name].as_f64().with_context(|| format!("kb sync printed no {name}"))
    }

    /// Fails unless `count` files had this result: a sync that went wrong is not a measurement.
    pub(super) fn expect(&self, name: &str, count: u32) -> Result<()> {
        let found = self.number(name)?;
        ensure!(found == f64::from(count), "kb sync counts {found} files as {name}, expected {count}");
        Ok(())
    }

    fn add_to(&self, report: &mut Report) -> Result<()> {
        let wall = self.number("seconds")?;
        let (chunks, sentences) = (self.number("chunks")?, self.number("sentences")?);
        report.add("embed_share", self.number("embedding_seconds")? / wall, "share");
        report.add("database_share", self.number("writing_seconds")? / wall, "share");
        report.add("sync_seconds", self.run.seconds, "s");
        report.add("sync_chunks", chunks, "chunks");
        report.add("sync_sentences", sentences, "sentences");
        report.add("sync_chunks_per_second", chunks / self.run.seconds, "1/s");
        report.add("sync_texts_per_second", (chunks + sentences) / self.run.seconds, "1/s");
        Ok(())
    }
}
