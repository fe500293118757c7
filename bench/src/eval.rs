//! `cargo xtask eval`: numbers of the product that are fitted to evaluation data.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::retrieval;

#[derive(Subcommand)]
pub(crate) enum Eval {
    /// Fit the evidence model and print its constants, for `chat-core/src/evidence/calibration.rs`.
    Fit(Fit),
}

#[derive(Args)]
pub(crate) struct Fit {
    /// Folder of a set to fit to, as for `bench retrieval`; may be given several times.
    /// [default: the sets of `bench retrieval` but those that are for measuring only: shop and govuk]
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Folder of a set that is reported on and not fitted to; may be given several times.
    /// [default: without --data, the other sets of `bench retrieval`]
    #[arg(long, value_name = "DIR")]
    report: Vec<PathBuf>,
}

pub(crate) fn run(eval: &Eval) -> Result<()> {
    match eval {
        Eval::Fit(Fit { data, report }) => retrieval::fit(data, report),
    }
}
