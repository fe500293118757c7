//! The package in Chromium compared with Transformers.js: one thread, in a Web Worker.

mod baseline;
mod plan;

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask::shell;

use super::Workbench;
use crate::report::Report;

/// The package of this repository.
const PACKAGE: &str = "package";
/// Transformers.js with its q8 model and its smallest WebAssembly file, which is its fastest configuration.
const BASELINE: &str = "baseline";
/// Transformers.js with its q8 model as installed.
const BASELINE_DEFAULT: &str = "baseline_default";

const TOKENS: [usize; 6] = [8, 16, 32, 64, 128, 256];

/// Adds everything that is measured in the browser.
pub(super) fn measure(bench: &Workbench, report: &mut Report) -> Result<()> {
    let texts = check_reference(bench)?;
    let baseline = match &bench.baseline {
        Some(source) => Some(baseline::prepare(source, &bench.dir)?),
        None => {
            println!("  no --baseline DIR: measuring without Transformers.js and the ratios to it");
            None
        }
    };
    let (plan_file, result_file) = (bench.dir.join("plan.json"), bench.dir.join("browser.json"));
    let plan = plan::plan(bench, baseline.as_deref(), &result_file)?;
    fs::write(&plan_file, plan.to_string())?;
    shell::run(
        shell::command("node")
            .arg("bench/browser/run.mjs")
            .arg(&plan_file)
            .env("CHROMIUM_PATH", &bench.chromium),
    )?;
    let result: Value = serde_json::from_slice(&fs::read(&result_file)?)?;

    report.context("chromium", result["chromium"].clone());
    report.context("reference_texts", texts);
    report.context("transformers_js", baseline.as_deref().and_then(baseline::version));
    add_speed(&result["speed"], report)?;
    add_load(&result["load"], report)?;
    add_memory(&result["load"], report)?;
    add_accuracy(&result["accuracy"], report)
}

/// Renderer CPU time for one text and for 32: the minimum of all rounds.
fn add_speed(speed: &Value, report: &mut Report) -> Result<()> {
    let best = |id: &str, test: &str| numbers(&speed[id][test]).map(|times| minimum(&times));
    for tokens in TOKENS {
        let test = tokens.to_string();
        let (name, baseline_name) = (format!("cpu_ms_{tokens}"), format!("baseline_cpu_ms_{tokens}"));
        add_compared(
            report,
            &format!("ratio_cpu_{tokens}"),
            (&name, best(PACKAGE, &test)),
            (&baseline_name, best(BASELINE, &test)),
        )?;
    }
    // Transformers.js pads a batch to its longest text, so one call for each text may be faster.
    let baseline = best(BASELINE, "batch").and_then(|batch| Ok(batch.min(best(BASELINE, "one by one")?)));
    add_compared(
        report,
        "ratio_batch32",
        ("batch32_cpu_ms", best(PACKAGE, "batch")),
        ("baseline_batch32_cpu_ms", baseline),
    )
}

/// Time from the worker's first line to the first vector, with an empty profile (cold) and with filled caches (warm).
fn add_load(load: &Value, report: &mut Report) -> Result<()> {
    for kind in ["cold", "warm"] {
        let middle = |id: &str| readings(&load[id], &format!("{kind}Ms")).map(|times| median(&times));
        let default = middle(BASELINE_DEFAULT);
        if let Ok(milliseconds) = default {
            report.add(format!("baseline_default_{kind}_ms"), milliseconds, "ms");
        }
        let baseline = middle(BASELINE).and_then(|smallest| Ok(smallest.min(default?)));
        let (name, baseline_name) = (format!("{kind}_ms"), format!("baseline_{kind}_ms"));
        add_compared(report, &format!("ratio_{kind}"), (&name, middle(PACKAGE)), (&baseline_name, baseline))?;
        let bytes = readings(&load[PACKAGE], &format!("{kind}Bytes"))?;
        report.add(format!("{kind}_served_mb"), median(&bytes) / 1e6, "MB");
    }
    Ok(())
}

/// Resident memory of the renderer, minus that of the same page while it was blank.
fn add_memory(load: &Value, report: &mut Report) -> Result<()> {
    for (id, prefix) in [(PACKAGE, ""), (BASELINE, "baseline_")] {
        let Ok(blank) = readings(&load[id], "blankMib") else { continue };
        let above_blank = |name: &str| -> Result<Vec<f64>> {
            Ok(readings(&load[id], name)?.iter().zip(&blank).map(|(memory, blank)| memory - blank).collect())
        };
        let (loaded, used) = (above_blank("loadedMib")?, above_blank("usedMib")?);
        // Idle memory: the larger of just loaded, and after texts of all lengths and a batch.
        let at_rest: Vec<_> = loaded.iter().zip(&used).map(|(loaded, used)| loaded.max(*used)).collect();
        report.add(format!("{prefix}renderer_mib"), median(&at_rest), "MiB");
        report.add(format!("{prefix}renderer_loaded_mib"), median(&loaded), "MiB");
        report.add(format!("{prefix}renderer_peak_mib"), median(&above_blank("peakMib")?), "MiB");
    }
    Ok(())
}

fn add_accuracy(accuracy: &Value, report: &mut Report) -> Result<()> {
    for (id, prefix) in [(PACKAGE, ""), (BASELINE, "baseline_")] {
        let Ok(cosines) = numbers(&accuracy[id]["cosines"]) else { continue };
        let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
        report.add(format!("{prefix}cosine_mean"), mean, "cosine");
        report.add(format!("{prefix}cosine_min"), minimum(&cosines), "cosine");
        let same = accuracy[id]["sameIds"].as_array().context("no token ids")?;
        let others: Vec<_> = (0..same.len()).filter(|&index| same[index] != json!(true)).collect();
        let share = (same.len() - others.len()) as f64 / same.len() as f64;
        report.add(format!("{prefix}ids_equal"), 100.0 * share, "%");
        report.context(&format!("{prefix}texts_with_other_ids"), others);
    }
    Ok(())
}

/// Adds our figure in milliseconds and, where the baseline was measured, the baseline's and the ratio.
fn add_compared(
    report: &mut Report,
    ratio: &str,
    (name, ours): (&str, Result<f64>),
    (baseline_name, baseline): (&str, Result<f64>),
) -> Result<()> {
    let ours = ours?;
    report.add(name, ours, "ms");
    if let Ok(baseline) = baseline {
        report.add(baseline_name, baseline, "ms");
        report.add_ratio(ratio, ours, baseline);
    }
    Ok(())
}

/// Checks the form of the reference set and returns the number of its texts.
fn check_reference(bench: &Workbench) -> Result<usize> {
    let name = bench.reference.display();
    let json = fs::read(&bench.reference).with_context(|| format!("cannot read {name}"))?;
    let reference: Value = serde_json::from_slice(&json).with_context(|| format!("{name} is not JSON"))?;
    let items = reference["items"].as_array().map_or(&[][..], Vec::as_slice);
    ensure!(!items.is_empty(), "{name} has no items");
    for (index, item) in items.iter().enumerate() {
        let is_whole = item["text"].is_string()
            && item["ids"].is_array()
            && item["embedding"].as_array().is_some_and(|vector| vector.len() == 384);
        ensure!(is_whole, "{name}: item {index} needs text, ids and an embedding of 384 numbers");
    }
    Ok(items.len())
}

/// One field of each load.
fn readings(loads: &Value, field: &str) -> Result<Vec<f64>> {
    let loads = loads.as_array().context("not measured")?;
    numbers(&loads.iter().map(|load| load[field].clone()).collect())
}

fn numbers(array: &Value) -> Result<Vec<f64>> {
    let numbers: Vec<_> = array.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    ensure!(!numbers.is_empty(), "not measured");
    Ok(numbers)
}

fn minimum(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}
