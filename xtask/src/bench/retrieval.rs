//! A knowledge base of evaluation passages, and the program that asks it questions.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::report::Report;
use super::{Evaluation, folder};
use crate::local::{Stop, Supabase};
use crate::setup::ModelDir;
use crate::{build, paths, setup, shell};

/// Prints a table and writes `target/bench/retrieval.json` and a calibration plot beside it.
pub(crate) fn measure(evaluation: &Evaluation) -> Result<()> {
    let started = Instant::now();
    let plot = folder()?.join("calibration.svg");
    let bed = Bed::prepare(evaluation)?;
    let output = bed.ask("measure", &["--plot".as_ref(), plot.as_os_str()])?;
    let figures: Vec<(String, f64)> =
        serde_json::from_str(&output).context("bench-retrieval printed something else than figures")?;
    let mut report = Report::new()?;
    for (name, value) in figures {
        report.add(name, value, "share");
    }
    report.context("data", bed.data.file_name().unwrap_or_default().to_string_lossy());
    report.context("sync_seconds", bed.sync_seconds);
    let file = folder()?.join("retrieval.json");
    report.write(&file)?;
    report.print();
    println!(
        "\nanswer_in_n: shares of all answerable questions, of what is quoted with the gates open; answered_…: at default \
         settings;\ncitation_correct and answered_answer_in_n: of the answerable questions that are answered then"
    );
    println!("written: {} and {} ({:.0} s)", file.display(), plot.display(), started.elapsed().as_secs_f32());
    Ok(())
}

/// Prints the constants of the evidence model, fitted to the data.
pub(crate) fn fit(evaluation: &Evaluation) -> Result<()> {
    print!("{}", Bed::prepare(evaluation)?.ask("fit", &[])?);
    Ok(())
}

struct Bed {
    data: PathBuf,
    program: PathBuf,
    model: ModelDir,
    supabase: Supabase,
    sync_seconds: f64,
}

impl Bed {
    /// Starts a database of its own and fills it with one document for each passage.
    fn prepare(evaluation: &Evaluation) -> Result<Self> {
        let data = match &evaluation.data {
            Some(data) => fs::canonicalize(data)
                .with_context(|| format!("--data {}: no such folder", data.display()))?,
            None => paths::repo().with_file_name("shared").join("eval/squad"),
        };
        if !data.join("passages.jsonl").is_file() {
            bail!("{} has no passages.jsonl; name a folder of evaluation data with --data", data.display());
        }
        let stop = Stop::on_signal()?;
        let (tools, model) = setup::for_running()?;
        build::run(&[build::Part::Kb], &tools)?;
        let program = program()?;

        let work = folder()?.join("retrieval");
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot empty {}", work.display()))?;
        }
        let documents = work.join("documents");
        write_documents(&data.join("passages.jsonl"), &documents)?;
        let supabase = Supabase::start(&work.join("supabase"), &work, &stop)?;
        let started = Instant::now();
        supabase.sync(&documents, &model)?;
        stop.check()?;
        Ok(Self { data, program, model, supabase, sync_seconds: started.elapsed().as_secs_f64() })
    }

    /// What the program prints.
    fn ask(&self, command: &str, options: &[&std::ffi::OsStr]) -> Result<String> {
        let mut ask = self.supabase.command(&self.program, &self.model);
        let output =
            ask.arg(command).arg("--data").arg(&self.data).args(options).stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "bench-retrieval {command} failed ({})", output.status);
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// Built like `kb`, whose code it shares.
fn program() -> Result<PathBuf> {
    shell::run(shell::cargo().args(["build", "--workspace", "--bin", "bench-retrieval", "--quiet"]))?;
    Ok(paths::cargo_target().join("debug/bench-retrieval"))
}

/// Passage number `n`, from 0, becomes the document `n.md` under its title.
fn write_documents(passages: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (number, line) in BufReader::new(File::open(passages)?).lines().enumerate() {
        let passage: Value = serde_json::from_str(&line?)
            .with_context(|| format!("{}, line {}", passages.display(), number + 1))?;
        let field = |name: &str| {
            passage[name]
                .as_str()
                .with_context(|| format!("{}, line {}: no {name}", passages.display(), number + 1))
        };
        fs::write(
            folder.join(format!("{number}.md")),
            format!("# {}\n\n{}\n", field("title")?, field("text")?),
        )?;
    }
    Ok(())
}
