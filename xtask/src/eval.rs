//! `cargo xtask eval`: numbers of the product that are fitted to evaluation data.

use anyhow::Result;
use clap::Subcommand;

use crate::bench::{Evaluation, retrieval};

#[derive(Subcommand)]
pub(crate) enum Eval {
    /// Fit the evidence model and print its constants, for `chat-core/src/evidence/calibration.rs`.
    Fit(Evaluation),
}

pub(crate) fn run(eval: &Eval) -> Result<()> {
    match eval {
        Eval::Fit(evaluation) => retrieval::fit(evaluation),
    }
}
