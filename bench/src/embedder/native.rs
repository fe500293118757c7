//! The native embedder beside ONNX Runtime, each on one thread of its own process.

use anyhow::{Result, ensure};
use xtask::shell;

use super::onnxruntime::OnnxRuntime;
use super::{Bed, quality, texts};
use crate::report::Report;
use crate::timer::Timer;

const TOKENS: [usize; 2] = [16, 128];
/// The processes take turns this often, so that a busy moment of the machine meets all alike.
const TURNS: usize = 40;
const EMBEDDINGS_PER_TURN: usize = 8;

/// ONNX Runtime with one form of the model.
struct Peer {
    form: &'static str,
    timer: Timer,
}

/// Adds `native_ratio_{fp32,q8}_{16,128}` and the times behind them: least of all turns.
pub(super) fn measure(bed: &Bed, report: &mut Report) -> Result<()> {
    let program = quality::program("time_embed")?;
    let mut ours = Timer::start("time_embed", shell::command(program).arg(&bed.model.0))?;
    let mut peers = start_peers(bed, report)?;
    for tokens in TOKENS {
        let (ours_ms, peers_ms) = take_turns(tokens, &mut ours, &mut peers)?;
        report.add(format!("native_ms_{tokens}"), ours_ms, "ms");
        for (Peer { form, .. }, peer_ms) in peers.iter().zip(peers_ms) {
            report.add(format!("onnxruntime_{form}_ms_{tokens}"), peer_ms, "ms");
            report.add_ratio(format!("native_ratio_{form}_{tokens}"), ours_ms, peer_ms);
        }
    }
    Ok(())
}

fn start_peers(bed: &Bed, report: &mut Report) -> Result<Vec<Peer>> {
    let runtime = OnnxRuntime::ensure()?;
    report.context("onnxruntime", runtime.version());
    let mut peers = Vec::new();
    let weights = bed.model.0.join("model.safetensors");
    if weights.exists() {
        let model = bed.dir.join("all-MiniLM-L6-v2.onnx");
        runtime.export(&weights, &model)?;
        peers.push(Peer { form: "fp32", timer: runtime.start("ONNX Runtime fp32", &model)? });
    } else {
        println!("  no {}: ONNX Runtime fp32 is left out", weights.display());
    }
    if let Some(peer) = &bed.peer {
        let model = peer.join("models/all-MiniLM-L6-v2/onnx/model_quantized.onnx");
        peers.push(Peer { form: "q8", timer: runtime.start("ONNX Runtime q8", &model)? });
    } else {
        println!("  no ../shared/bench-peer: ONNX Runtime q8 is left out");
    }
    Ok(peers)
}

/// Least milliseconds of ours and of each peer for a text of so many tokens.
fn take_turns(tokens: usize, ours: &mut Timer, peers: &mut [Peer]) -> Result<(f64, Vec<f64>)> {
    let text = texts::of(tokens);
    let ids = ours.ask(&format!("ids {text}"))?;
    ensure!(ids.split(' ').count() == tokens, "{text:?} has the token ids {ids}, not {tokens} of them");
    let request = format!("time {EMBEDDINGS_PER_TURN} {text}");
    let peer_request = format!("{EMBEDDINGS_PER_TURN} {ids}");
    let mut ours_best = f64::INFINITY;
    let mut peers_best = vec![f64::INFINITY; peers.len()];
    for _ in 0..TURNS {
        ours_best = ours_best.min(least(&ours.ask_for_numbers(&request)?));
        for (peer, best) in peers.iter_mut().zip(&mut peers_best) {
            *best = best.min(least(&peer.timer.ask_for_numbers(&peer_request)?));
        }
    }
    Ok((ours_best, peers_best))
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}
