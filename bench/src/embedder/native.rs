//! The native embedder compared with ONNX Runtime, each on one thread of its own process.

use anyhow::{Result, ensure};
use xtask::shell;

use super::onnxruntime::OnnxRuntime;
use super::{Workbench, quality, texts};
use crate::report::Report;
use crate::timer::Timer;

const TOKENS: [usize; 2] = [16, 128];
/// The processes take turns, so that a busy moment of the machine affects all of them.
const TURNS: usize = 40;
const EMBEDDINGS_PER_TURN: usize = 8;

/// ONNX Runtime with the model in one precision.
struct Baseline {
    precision: &'static str,
    timer: Timer,
}

/// Adds `native_ratio_{fp32,q8}_{16,128}` and the times that the ratios are made of: the minimum of all turns.
pub(super) fn measure(bench: &Workbench, report: &mut Report) -> Result<()> {
    let program = quality::program("time_embed")?;
    let mut ours = Timer::start("time_embed", shell::command(program).arg(&bench.model.0))?;
    let mut baselines = start_baselines(bench, report)?;
    for tokens in TOKENS {
        let (ours_ms, baselines_ms) = take_turns(tokens, &mut ours, &mut baselines)?;
        report.add(format!("native_ms_{tokens}"), ours_ms, "ms");
        for (Baseline { precision, .. }, baseline_ms) in baselines.iter().zip(baselines_ms) {
            report.add(format!("onnxruntime_{precision}_ms_{tokens}"), baseline_ms, "ms");
            report.add_ratio(format!("native_ratio_{precision}_{tokens}"), ours_ms, baseline_ms);
        }
    }
    Ok(())
}

fn start_baselines(bench: &Workbench, report: &mut Report) -> Result<Vec<Baseline>> {
    let runtime = OnnxRuntime::ensure()?;
    report.context("onnxruntime", runtime.version());
    let mut baselines = Vec::new();
    let weights = bench.model.0.join("model.safetensors");
    if weights.exists() {
        let model = bench.dir.join("all-MiniLM-L6-v2.onnx");
        runtime.export(&weights, &model)?;
        baselines.push(Baseline { precision: "fp32", timer: runtime.start("ONNX Runtime fp32", &model)? });
    } else {
        println!("  no {}: measuring without ONNX Runtime fp32", weights.display());
    }
    if let Some(baseline) = &bench.baseline {
        let model = baseline.join("models/all-MiniLM-L6-v2/onnx/model_quantized.onnx");
        baselines.push(Baseline { precision: "q8", timer: runtime.start("ONNX Runtime q8", &model)? });
    } else {
        println!("  no --baseline DIR: measuring without ONNX Runtime q8");
    }
    Ok(baselines)
}

/// The minimum time in milliseconds, ours and each baseline's, for a text of this many tokens.
fn take_turns(tokens: usize, ours: &mut Timer, baselines: &mut [Baseline]) -> Result<(f64, Vec<f64>)> {
    let text = texts::with_tokens(tokens);
    let ids = ours.request(&format!("ids {text}"))?;
    ensure!(ids.split(' ').count() == tokens, "{text:?} has the token ids {ids}: expected {tokens}");
    let request = format!("time {EMBEDDINGS_PER_TURN} {text}");
    let baseline_request = format!("{EMBEDDINGS_PER_TURN} {ids}");
    let mut ours_best = f64::INFINITY;
    let mut baselines_best = vec![f64::INFINITY; baselines.len()];
    for _ in 0..TURNS {
        ours_best = ours_best.min(minimum(&ours.request_numbers(&request)?));
        for (baseline, best) in baselines.iter_mut().zip(&mut baselines_best) {
            *best = best.min(minimum(&baseline.timer.request_numbers(&baseline_request)?));
        }
    }
    Ok((ours_best, baselines_best))
}

fn minimum(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}
