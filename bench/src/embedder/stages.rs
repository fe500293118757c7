//! Where the time of an embedding goes, and how close its products come to the peak of the machine.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask::{build, paths, shell};

use super::{Workbench, quality, texts};
use crate::report::Report;
use crate::timer::Timer;

const TOKENS: [usize; 3] = [8, 32, 256];
/// Parts that together are an embedding, in the order of their time.
const PARTS: [&str; 7] = ["linear", "attention", "rounding", "gelu", "norm", "words", "tokenizer"];
/// The whole, a part of attention, and the peak.
const OTHERS: [&str; 3] = ["whole", "softmax", "registers"];
/// Each figure is the minimum of so many turns of so many milliseconds.
const TURNS: usize = 20;
const TURN_MS: f64 = 15.0;

/// The time of one repeat, and its products of two integers.
#[derive(Clone, Copy)]
struct Timing {
    milliseconds: f64,
    products: f64,
}

/// Adds for each place (`native`, `browser`) and length the microseconds of each part, the rate of the products of the linear
/// layers, and their share of the rate on registers only, which is the peak.
pub(super) fn measure(bench: &Workbench, report: &mut Report) -> Result<()> {
    let (kernel, timings) = measure_natively(bench)?;
    report.context("native_kernel", kernel);
    add("native", &timings, report);
    let (kernel, timings) = measure_in_browser(bench)?;
    report.context("browser_kernel", kernel);
    add("browser", &timings, report);
    Ok(())
}

/// What to time, in the order of the timings.
fn requests() -> impl Iterator<Item = (usize, &'static str)> {
    let stages = || PARTS.into_iter().chain(OTHERS);
    TOKENS.into_iter().flat_map(move |tokens| stages().map(move |stage| (tokens, stage)))
}

fn measure_natively(bench: &Workbench) -> Result<(String, Vec<Timing>)> {
    let program = quality::program_with("time_stages", &["--features", "stages"])?;
    let mut timer = Timer::start("time_stages", shell::command(program).arg(&bench.model.0))?;
    let kernel = timer.request("kernel")?;
    let mut timings = Vec::new();
    for (tokens, stage) in requests() {
        let text = texts::with_tokens(tokens);
        let mut time = |repeats: f64| -> Result<Timing> {
            let numbers = timer.request_numbers(&format!("{repeats} {stage} {text}"))?;
            let [milliseconds, products] = numbers[..] else { anyhow::bail!("two numbers expected") };
            Ok(Timing { milliseconds, products })
        };
        let repeats = (TURN_MS / time(3.0)?.milliseconds).ceil();
        let mut best = time(repeats)?;
        for _ in 1..TURNS {
            let timing = time(repeats)?;
            if timing.milliseconds < best.milliseconds {
                best = timing;
            }
        }
        timings.push(best);
    }
    Ok((kernel, timings))
}

fn measure_in_browser(bench: &Workbench) -> Result<(String, Vec<Timing>)> {
    let wasm = bench.dir.join("stages");
    build::embedder_stages(&wasm)?;
    let (plan_file, result_file) = (bench.dir.join("stages-plan.json"), bench.dir.join("stages.json"));
    let requests: Vec<_> = requests()
        .map(|(tokens, stage)| json!({ "stage": stage, "text": texts::with_tokens(tokens) }))
        .collect();
    let plan = json!({
        "mounts": {
            "/embedder/": paths::repo().join("bench/browser"),
            "/embedder/stages/": wasm,
            "/embedder/model/": bench.model.0,
        },
        "adapter": "/embedder/stages-adapter.mjs",
        "requests": requests,
        "turns": TURNS,
        "turnMs": TURN_MS,
        "result": result_file,
    });
    fs::write(&plan_file, plan.to_string())?;
    let mut program = shell::command("node");
    program.arg("bench/browser/stages.mjs").arg(&plan_file).env("CHROMIUM_PATH", &bench.chromium);
    shell::run(&mut program)?;
    let result: Value = serde_json::from_slice(&fs::read(&result_file)?)?;
    let timings = result["timings"].as_array().context("no timings")?.iter();
    let timings = timings.map(|timing| {
        let [milliseconds, products] = [0, 1].map(|index| timing[index].as_f64());
        Ok(Timing {
            milliseconds: milliseconds.context("no time")?,
            products: products.context("no count of products")?,
        })
    });
    Ok((result["kernel"].as_str().context("no kernel")?.to_owned(), timings.collect::<Result<_>>()?))
}

fn add(place: &str, timings: &[Timing], report: &mut Report) {
    // 2 operations a product, as peaks are usually given.
    let rate = |timing: &Timing| 2.0 * timing.products / timing.milliseconds / 1e6;
    let peak = requests()
        .zip(timings)
        .filter(|((_, stage), _)| *stage == "registers")
        .map(|(_, timing)| rate(timing));
    let peak = peak.fold(0.0, f64::max);
    if peak > 0.0 {
        report.add(format!("{place}_peak_gops"), peak, "G operations/s");
    }
    for ((tokens, stage), timing) in requests().zip(timings).filter(|((_, stage), _)| *stage != "registers") {
        report.add(format!("{place}_us_{tokens}_{stage}"), timing.milliseconds * 1e3, "µs");
        if stage == "linear" && peak > 0.0 {
            report.add(format!("{place}_gops_{tokens}"), rate(timing), "G operations/s");
            report.add(format!("{place}_of_peak_{tokens}"), rate(timing) / peak, "of the peak");
        }
    }
}
