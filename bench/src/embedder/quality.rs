//! How well the vectors rank sentence pairs, and the native programs that compute the vectors.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use xtask::{paths, shell};

use super::{Workbench, sts_benchmark};
use crate::evaluation::REMEDY;
use crate::report::Report;

const DIMENSIONS: usize = 384;

/// Adds `stsb_spearman`: Spearman's rank correlation of cosine and human score over the STS benchmark's test set.
pub(super) fn measure(bench: &Workbench, report: &mut Report) -> Result<()> {
    let Some(evaluation) = &bench.evaluation else {
        println!("  skipping the STS benchmark, which needs stsb-en-test.csv: {REMEDY}");
        return Ok(());
    };
    let file = evaluation.join("stsb-en-test.csv");
    let csv = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let pairs = sts_benchmark::parse(&csv)?;
    let texts: Vec<_> = pairs.iter().flat_map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect();
    let vectors = embed(bench, &texts)?;
    let cosines: Vec<_> = vectors.chunks_exact(2).map(|pair| cosine(&pair[0], &pair[1])).collect();
    let scores: Vec<_> = pairs.iter().map(|pair| pair.score).collect();
    report.add("stsb_spearman", sts_benchmark::spearman(&cosines, &scores), "correlation");
    report.context("stsb_pairs", pairs.len());
    Ok(())
}

/// Builds a program of `bench/native` in release mode and returns its path.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    let mut build = shell::cargo(&["build"]);
    build.args(["--release", "--quiet", "--package", "bench-native", "--bin", name]);
    shell::run(&mut build)?;
    Ok(paths::cargo_target().join("release").join(name))
}

/// The vectors of texts without line breaks.
fn embed(bench: &Workbench, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
    let input = bench.dir.join("texts.txt");
    fs::write(&input, texts.join("\n"))?;
    let output = shell::command(program("embed_lines")?)
        .arg(&bench.model.0)
        .stdin(File::open(input)?)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "embed_lines failed ({})", output.status);
    let numbers: Vec<_> = output
        .stdout
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    ensure!(
        numbers.len() == texts.len() * DIMENSIONS,
        "embed_lines returned {} numbers for {} texts",
        numbers.len(),
        texts.len()
    );
    Ok(numbers.chunks_exact(DIMENSIONS).map(<[f32]>::to_vec).collect())
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot =
        |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum() };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
