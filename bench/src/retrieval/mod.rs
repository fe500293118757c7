//! Fills knowledge bases with evaluation documents and asks them questions with the program `bench-retrieval`.

mod figures;
mod sets;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use crate::local::{Stop, Supabase};
use anyhow::{Context, Result, ensure};
use clap::Args;
use xtask::setup::ModelDir;
use xtask::{build, paths, shell};

use crate::evaluation::EvaluationData;
use crate::folder;
use crate::report::Report;
use figures::FiguresOfSet;
use sets::Set;

#[derive(Args)]
#[command(after_long_help = SETS_AND_FIGURES)]
pub(crate) struct Options {
    /// Folder of a set; may be given several times.
    /// [default: bench/retrieval/shop and the sets of --eval-dir]
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Also write the results: a line of JSON for each question, with its set, kind, documents that answer it, accepted
    /// answers, and the rows of match_chunks. Use it to study ranking and thresholds without a database.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// Measure the results that --dump wrote, with the current code for answers, instead of asking a database.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "dump"])]
    from: Option<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationData,
}

const SETS_AND_FIGURES: &str = r#"A set is a folder; its name is the name of the folder. Its questions are in answerable.jsonl, unanswerable_near.jsonl and
off_topic.jsonl, each of which is optional: a line is {"question", "passage", "answers"} and, if more than one passage answers
it, "also": [...]; for unanswerable questions, {"question"}. Its documents are either passages.jsonl ({"id", "title", "text"} and
optionally "language"), and the "passage" of a question is an id, or the folder that set.json names, as in
{"documents": "relative/path"}, and the "passage" is a path in that folder. Optional are second questions of dialogues in
dialogues.jsonl: {"previous", "question", "kind"}, for answerable ones also "passage", "answers" and "also"; the kind is pronoun,
ellipsis, substitution or comparison for a follow-up, which also has a "rewrite" that can be understood without the question
before it, same_topic or new_topic for a question that stands alone, and aside for thanks and small talk.

Figures of a set are named <set>__<figure> (with _ for -), and their means over the sets that have them macro__<figure>; with a
single set, also <figure>. A figure without questions or answers is left out. "Answered" means at default settings. A sentence
is a statement with its chain.

  recall_n               the passage that answers is among the first n found
  answer_in_n            an accepted answer is in the first n quoted sentences, if every question is answered
  first_is_answer        of all answerable questions: answered, and the first quoted sentence contains an accepted answer
  noise                  mean number of quoted sentences that contain no part of an accepted answer. A sentence is a part if
                         it contains an accepted answer, or is three words or more of one
  sentences              mean number of quoted sentences of an answer
  coherent               of the answers: all quotes are from one section of one document, or each quote from elsewhere names
                         its place
  citation_correct       of the answers: a document that answers the question is quoted
  answered_answerable, answered_near, answered_offtopic
                         questions of that kind that are answered
  hedged_answerable, hedged_near
                         of those: marked as perhaps not answering the question
  answered_answer_in_n   of the answers: an accepted answer is in the first n quoted sentences
  gold_of_strong, gold_of_good, gold_of_partial
                         of the quoted passages of that strength: of a document that answers the question
  follow_up_right        of the follow-ups that have an answer: answered, and an accepted answer is quoted
  follow_up_alone_right, follow_up_rewrite_right
                         the same if the question is asked without the one before it, and if its rewrite is asked
  follow_up_none_answered, follow_up_none_rewrite_answered
                         follow-ups without an answer in the documents that are answered, and so for their rewrites
  second_harmed          of the labelled second questions that stand alone: right alone, and not right after the question
                         before it
  second_gained          of the same: right only after it
  aside_answered         of the thanks, greetings and small talk after a question: answered
  paired_harmed, paired_gained
                         the same for the answerable questions, each asked after another one of the set: every second one
                         after one about the same document
  paired_near_answered, paired_offtopic_answered
                         questions of that kind that are answered after an answerable one
  search_…               the same without the reader
  plain_…                the same for a plain vector search that answers with the first sentences of the best passage if its
                         cosine is 0.35 or more

noise, sentences, coherent, citation_correct and gold_of_… cover the answers to answerable questions."#;

/// Prints a table and writes `target/bench/retrieval.json` and a calibration plot next to it.
pub(crate) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let mut report = Report::new()?;
    let found = match &options.from {
        Some(file) => {
            report.context("from", file.file_name().unwrap_or_default().to_string_lossy());
            vec![existing(file)?]
        }
        None => ask(&sets_to_measure(options)?, &mut report)?,
    };
    if let Some(file) = &options.dump {
        concatenate(&found, file)?;
    }
    let plot = folder()?.join("calibration.svg");
    let mut arguments: Vec<&OsStr> = found.iter().map(|file| file.as_os_str()).collect();
    arguments.extend(["--plot".as_ref(), plot.as_os_str()]);
    let output = offline("measure", &arguments)?;
    let sets: Vec<FiguresOfSet> =
        serde_json::from_str(&output).context("the output of bench-retrieval is not a list of figures")?;
    figures::add(&mut report, &sets);
    let file = folder()?.join("retrieval.json");
    report.write(&file)?;
    figures::print(&sets);
    report.print_verdicts(&figures::prefixes(&sets));
    println!(
        "\nwhat each figure means: cargo xtask bench retrieval --help\nwritten: {} and {} ({:.0} s)",
        file.display(),
        plot.display(),
        started.elapsed().as_secs_f32()
    );
    Ok(())
}

/// Prints the constants of the evidence model, fitted to some sets and reported on others.
pub(crate) fn fit(data: &[PathBuf], report: &[PathBuf], eval_dir: Option<&Path>) -> Result<()> {
    let (fit_to, reported) = sets::to_fit(data, report, eval_dir)?;
    let fitted = fit_to.len();
    let sets: Vec<Set> = fit_to.into_iter().chain(reported).collect();
    let found = ask(&sets, &mut Report::new()?)?;
    let mut arguments: Vec<&OsStr> = Vec::new();
    for (number, file) in found.iter().enumerate() {
        if number >= fitted {
            arguments.push("--report".as_ref());
        }
        arguments.push(file.as_os_str());
    }
    print!("{}", offline("fit", &arguments)?);
    Ok(())
}

/// Prints the constants with which search and reader decide together.
pub(crate) fn fit_reader(from: &Path) -> Result<()> {
    print!("{}", offline("gate", &[existing(from)?.as_os_str()])?);
    Ok(())
}

fn existing(file: &Path) -> Result<PathBuf> {
    fs::canonicalize(file).with_context(|| format!("cannot read {}", file.display()))
}

fn sets_to_measure(options: &Options) -> Result<Vec<Set>> {
    if options.data.is_empty() {
        sets::default_sets(options.evaluation.dir()?.as_deref())
    } else {
        sets::open_all(&options.data)
    }
}

/// Asks the questions of each set, one set after the other. Returns the files with the results, in the order of the sets.
fn ask(sets: &[Set], report: &mut Report) -> Result<Vec<PathBuf>> {
    let stop = Stop::on_signal()?;
    let model = build::run(&[build::Part::Kb])?;
    let bench = Workbench { program: program()?, model, stop };
    let mut files = Vec::new();
    for (number, set) in sets.iter().enumerate() {
        println!("• set {} of {}: {}", number + 1, sets.len(), set.name);
        let Asked { found, sync_seconds, seconds } =
            bench.ask(set).with_context(|| format!("the set {} could not be measured", set.name))?;
        println!("✓ {}: {sync_seconds:.0} s for the documents, {seconds:.0} s for the questions", set.name);
        report.context(&format!("sync_seconds_{}", sets::key(&set.name)), sync_seconds.round());
        report.context(&format!("ask_seconds_{}", sets::key(&set.name)), seconds.round());
        files.push(found);
    }
    report.context("data", sets.iter().map(|set| set.name.as_str()).collect::<Vec<_>>().join(" "));
    Ok(files)
}

struct Workbench {
    program: PathBuf,
    model: ModelDir,
    stop: Stop,
}

/// The outcome of one set.
struct Asked {
    /// The file with the results.
    found: PathBuf,
    sync_seconds: f64,
    /// Time of the questions.
    seconds: f64,
}

impl Workbench {
    /// Starts a new database for the set, fills it and asks it every question.
    fn ask(&self, set: &Set) -> Result<Asked> {
        let work = folder()?.join("retrieval").join(&set.name);
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot empty {}", work.display()))?;
        }
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        let documents = set.documents(&work)?;
        let supabase = Supabase::start(&work.join("supabase"), &work, &self.stop)?;
        let started = Instant::now();
        supabase.sync(&documents, &self.model)?;
        self.stop.check()?;
        let sync_seconds = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let found = work.join("found.jsonl");
        let mut ask = supabase.command(&self.program, &self.model);
        shell::run(ask.arg("ask").arg("--data").arg(&set.folder).arg("--out").arg(&found))?;
        self.stop.check()?;
        Ok(Asked { found, sync_seconds, seconds: started.elapsed().as_secs_f64() })
    }
}

/// Builds `bench-retrieval` with the features of the whole workspace, as `kb`, with which it shares most of its code.
fn program() -> Result<PathBuf> {
    shell::run(shell::cargo(&["build"]).args(["--workspace", "--bin", "bench-retrieval", "--quiet"]))?;
    Ok(paths::cargo_target().join("debug/bench-retrieval"))
}

/// Runs a command of the program that needs no knowledge base, and returns its output.
fn offline(command: &str, arguments: &[&OsStr]) -> Result<String> {
    let mut run = shell::command(program()?);
    let output = run.arg(command).args(arguments).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "bench-retrieval {command} failed ({})", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn concatenate(parts: &[PathBuf], file: &Path) -> Result<()> {
    let write = || -> Result<()> {
        let mut whole = File::create(file)?;
        for part in parts {
            io::copy(&mut File::open(part)?, &mut whole)?;
        }
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}
