//! `cargo xtask eval`: coefficients of the product that are fitted to evaluation data.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use crate::evaluation::{EvaluationData, REMEDY};
use crate::{generation, retrieval};

#[derive(Subcommand)]
pub(crate) enum Eval {
    /// Fit the evidence model and print its constants, for `chat-core/src/evidence/calibration.rs`.
    Fit(Fit),
    /// Fit the constants with which search and reader decide together and print them, for
    /// `chat-core/src/evidence/calibration.rs`; also the figures of each kind of document with constants fitted without it.
    FitReader {
        /// Results of all sets, as `bench retrieval --dump FILE` writes them.
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
    },
    /// Fit the score of written sentences to one half of WiCE and print its constants, for
    /// `chat-core/src/generate/verify/calibration.rs`.
    FitSupport(FitSupport),
}

#[derive(Args)]
pub(crate) struct FitSupport {
    /// Claims in the form of WiCE. [default: wice/dev.jsonl of --eval-dir]
    #[arg(long, value_name = "FILE")]
    wice: Option<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationData,
}

#[derive(Args)]
pub(crate) struct Fit {
    /// Folder of a set to fit to, as for `bench retrieval`; may be given several times.
    /// [default: bench/retrieval/fit/{library,devtool} and the sets of --eval-dir, except govuk]
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Folder of a set that is reported on and not fitted to; may be given several times.
    /// [default: without --data, bench/retrieval/shop and govuk of --eval-dir]
    #[arg(long, value_name = "DIR")]
    report: Vec<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationData,
}

pub(crate) fn run(eval: &Eval) -> Result<()> {
    match eval {
        Eval::Fit(Fit { data, report, evaluation }) => {
            retrieval::fit(data, report, evaluation.dir()?.as_deref())
        }
        Eval::FitReader { from } => retrieval::fit_reader(from),
        Eval::FitSupport(FitSupport { wice, evaluation }) => {
            let of_dir = |dir: PathBuf| dir.join("wice/dev.jsonl");
            let file = wice.clone().or(evaluation.dir()?.map(of_dir));
            generation::fit(&file.with_context(|| format!("no claims: pass --wice FILE, or {REMEDY}"))?)
        }
    }
}
