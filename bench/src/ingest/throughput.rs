//! The embedder as kb uses it compared with sentence-transformers: the same texts and number of threads, in turns.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use xtask::{python, shell};

use super::Workbench;
use crate::report::Report;
use crate::timer::Timer;

const REQUIREMENTS: &str = "bench/ingest/requirements.txt";
const THREADS: usize = 2;
/// The two take turns, so that a busy moment of the machine affects both.
const TURNS: usize = 5;
const DIMENSIONS: usize = 384;
/// Our weights have 8 bits, those of sentence-transformers 32. Vectors of another model have a far lower cosine.
const MIN_COSINE: f64 = 0.99;

/// Texts to embed.
struct Texts {
    prefix: &'static str,
    passages: usize,
    with_sentences: bool,
}

const PASSAGES: Texts = Texts { prefix: "", passages: 128, with_sentences: false };
/// About as many tokens as [`PASSAGES`].
const MIX: Texts = Texts { prefix: "mix_", passages: 64, with_sentences: true };

/// Adds `throughput_ratio`, the same of passages with their sentences, and the rates they are made of.
pub(super) fn measure(bench: &Workbench, report: &mut Report) -> Result<()> {
    let weights = bench.model.0.join("model.safetensors");
    ensure!(
        weights.is_file(),
        "sentence-transformers needs {}; `cargo xtask setup model` fetches it",
        weights.display()
    );
    let mut baseline = start_baseline(bench, report)?;
    let threads = THREADS.to_string();
    let mut embedder = Timer::start("bench-ingest", bench.program().args(["embed", "--threads", &threads]))?;
    report.context("threads", THREADS);
    for texts in [PASSAGES, MIX] {
        compare(bench, &texts, &mut embedder, &mut baseline, report)?;
    }
    Ok(())
}

fn start_baseline(bench: &Workbench, report: &mut Report) -> Result<Timer> {
    let python = python::with_packages("bench-ingest-venv", REQUIREMENTS).context(
        "sentence-transformers cannot be installed; it needs Python 3.10 or newer with its module venv, a Python package index, \
         and 5 GB in the cache folder",
    )?;
    let code =
        "import torch, sentence_transformers as s; print(s.__version__, 'on torch', torch.__version__)";
    report.context("sentence_transformers", shell::output(shell::command(&python).args(["-c", code])));
    Timer::start(
        "sentence-transformers",
        shell::command(python)
            // The model folder has all it needs.
            .env("HF_HUB_OFFLINE", "1")
            .env("HF_HUB_DISABLE_PROGRESS_BARS", "1")
            .arg("bench/ingest/encode.py")
            .arg(&bench.model.0)
            .arg(bench.work.join("sentence-transformers"))
            .arg(THREADS.to_string()),
    )
}

fn compare(
    bench: &Workbench,
    texts: &Texts,
    embedder: &mut Timer,
    baseline: &mut Timer,
    report: &mut Report,
) -> Result<()> {
    let file = bench.work.join(format!("{}texts.json", texts.prefix));
    let mut write = bench.program();
    write.args(["texts", "--passages", &texts.passages.to_string()]).arg(&file);
    if texts.with_sentences {
        write.arg("--sentences");
    }
    let tokens: f64 = bench.output(&mut write)?.trim().parse()?;
    let Texts { prefix, .. } = texts;

    let vectors = |timer: &mut Timer, name: &str| -> Result<Vec<f32>> {
        let output = bench.work.join(format!("{prefix}{name}.f32"));
        timer.request_numbers(&json!({ "do": "vectors", "texts": file, "output": output }).to_string())?;
        read_vectors(&output)
    };
    // This also warms up both.
    let cosines = cosines(&vectors(embedder, "embedder")?, &vectors(baseline, "baseline")?)?;
    let min = cosines.iter().copied().fold(f64::INFINITY, f64::min);
    ensure!(min > MIN_COSINE, "the vectors disagree: a cosine of {min:.4}");

    let request = json!({ "do": "time", "texts": file }).to_string();
    let time = |timer: &mut Timer| -> Result<f64> {
        let milliseconds = timer.request_numbers(&request)?;
        Ok(*milliseconds.first().context("no time")? / 1e3)
    };
    let mut times = Vec::new();
    for _ in 0..TURNS {
        bench.stop.check()?;
        times.push((time(embedder)?, time(baseline)?));
    }
    report.add(format!("{prefix}throughput_ratio"), median(times.iter().map(|(a, b)| b / a)), "ratio");
    let (embedder, baseline) = (median(times.iter().map(|(a, _)| *a)), median(times.iter().map(|(_, b)| *b)));
    let count = cosines.len() as f64;
    for (program, seconds) in [("", embedder), ("baseline_", baseline)] {
        report.add(format!("{prefix}{program}texts_per_second"), count / seconds, "1/s");
        report.add(format!("{prefix}{program}tokens_per_second"), tokens / seconds, "1/s");
    }
    report.add(format!("{prefix}tokens_per_text"), tokens / count, "tokens");
    report.add(format!("{prefix}baseline_cosine_mean"), cosines.iter().sum::<f64>() / count, "cosine");
    report.add(format!("{prefix}baseline_cosine_min"), min, "cosine");
    Ok(())
}

fn read_vectors(file: &Path) -> Result<Vec<f32>> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (numbers, []) = bytes.as_chunks::<4>() else {
        anyhow::bail!("{} ends in the middle of a number", file.display())
    };
    Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// Cosines of unit vectors.
fn cosines(a: &[f32], b: &[f32]) -> Result<Vec<f64>> {
    ensure!(a.len() == b.len() && !a.is_empty(), "{} and {} numbers in the vectors", a.len(), b.len());
    let cosine = |(a, b): (&[f32], &[f32])| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    Ok(a.chunks_exact(DIMENSIONS).zip(b.chunks_exact(DIMENSIONS)).map(cosine).collect())
}

/// The median of an odd number of values.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
