//! `kb sync` of a made-up corpus into a local Supabase: the first time, without changes, with some; and its memory.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::local::Supabase;
use xtask::setup;

use super::program::Run;
use super::{Bed, release_binary};
use crate::report::Report;

/// How much larger the corpus is whose plan is made, to see whether memory grows with it.
const LARGER: u32 = 3;
/// Just below what kb takes.
const LONG_TEXT_MEGABYTES: u32 = 19;
/// By then it is read and cut; to embed all of it takes many minutes and no more memory.
const LONG_TEXT_LIMIT: Duration = Duration::from_secs(90);

/// Adds `embed_share`, `database_share`, `peak_memory_mib`, `resync_seconds_per_1000` and what is behind them.
pub(super) fn measure(bed: &Bed, files: u32, report: &mut Report) -> Result<()> {
    setup::node_packages()?;
    let documents = bed.work.join("corpus");
    bed.ask(bed.program().args(["corpus", "--files", &files.to_string()]).arg(&documents))?;
    let supabase = Supabase::start(&bed.work.join("supabase"), &bed.work, &bed.stop)?;
    let bench = SyncBench { bed, supabase };
    report.context("sync_files", files);

    let first = bench.sync(&documents)?;
    first.add_to(report)?;
    first.expect("added", files)?;
    let again = bench.sync(&documents)?;
    again.expect("unchanged", files)?;
    report.add("resync_seconds_per_1000", again.run.seconds * 1000.0 / f64::from(files), "s");
    let changes = bench.change(&documents, files, report)?;

    let plan = bench.plan_of_larger(files * LARGER)?;
    let long_text = bench.long_text()?;
    let peaks = [
        ("sync", first.run.peak_memory_mib),
        ("resync", again.run.peak_memory_mib),
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

struct SyncBench<'a> {
    bed: &'a Bed,
    supabase: Supabase,
}

impl SyncBench<'_> {
    fn command(&self, folder: &Path) -> Command {
        let mut command = self.supabase.command(release_binary("kb"), &self.bed.model);
        command.arg("sync").arg(folder).arg("--json");
        command
    }

    fn sync(&self, folder: &Path) -> Result<Synced> {
        Synced::new(self.bed.run(&mut self.command(folder), None)?)
    }

    /// Edits, moves and removes some files; adds the time that syncing them takes.
    fn change(&self, documents: &Path, files: u32, report: &mut Report) -> Result<Synced> {
        let mut change = self.bed.program();
        change.args(["change", "--files", &files.to_string()]).arg(documents);
        let expected: Value = serde_json::from_str(&self.bed.ask(&mut change)?)?;
        let changes = self.sync(documents)?;
        for (name, count) in expected.as_object().context("no counts of changes")? {
            let count = count.as_u64().context("no count")?;
            changes.expect(name, u32::try_from(count)?)?;
            report.add(format!("changes_{name}"), count as f64, "files");
        }
        report.add("changes_seconds", changes.run.seconds, "s");
        Ok(changes)
    }

    /// Reads and compares everything, and writes nothing.
    fn plan_of_larger(&self, files: u32) -> Result<Run> {
        let documents = self.bed.work.join("larger-corpus");
        let mut write = self.bed.program();
        self.bed.ask(write.args(["corpus", "--files", &files.to_string()]).arg(&documents))?;
        self.bed.run(self.command(&documents).arg("--dry-run"), None)
    }

    fn long_text(&self) -> Result<Run> {
        let folder = self.bed.work.join("long-text");
        std::fs::create_dir_all(&folder)?;
        let mut write = self.bed.program();
        write
            .args(["long-text", "--megabytes", &LONG_TEXT_MEGABYTES.to_string()])
            .arg(folder.join("long.txt"));
        self.bed.ask(&mut write)?;
        self.bed.run(&mut self.command(&folder), Some(LONG_TEXT_LIMIT))
    }
}

/// A sync to its end.
struct Synced {
    run: Run,
    /// What it printed.
    summary: Value,
}

impl Synced {
    fn new(run: Run) -> Result<Self> {
        let output = run.output.as_ref().context("it has no time limit")?;
        let summary = serde_json::from_str(output).context("kb sync printed something else than JSON")?;
        Ok(Self { run, summary })
    }

    fn number(&self, name: &str) -> Result<f64> {
        self.summary[name].as_f64().with_context(|| format!("kb sync printed no {name}"))
    }

    /// What was not synced as it should be has not been measured.
    fn expect(&self, name: &str, count: u32) -> Result<()> {
        let found = self.number(name)?;
        ensure!(found == f64::from(count), "kb sync counts {found} files as {name} and not {count}");
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
