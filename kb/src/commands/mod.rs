//! The commands, from options to output.

mod ask;
mod doctor;
mod documents;
mod embed;
mod gaps;
mod reembed;
mod stats;
mod sync;

use std::process::ExitCode;

use crate::cli::{Cli, Command, ServerArgs};
use crate::knowledge_base::KnowledgeBase;
use crate::output::printable;
use crate::supabase::{Backoff, Client};

/// Runs a command; the exit code is 1 if a document failed, or if `kb doctor` found a problem.
///
/// # Errors
/// With what to tell the user, if the command could not be carried out.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    carry_out(cli).map_err(|error| anyhow::Error::msg(printable_lines(&error.to_string())))
}

fn carry_out(cli: Cli) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match cli.command {
        Command::Sync(args) => runtime.block_on(sync::run(args)),
        Command::List(args) => runtime.block_on(documents::list(args)),
        Command::Show(args) => runtime.block_on(documents::show(args)),
        Command::Enable(args) => runtime.block_on(documents::set_enabled(args, true)),
        Command::Disable(args) => runtime.block_on(documents::set_enabled(args, false)),
        Command::Remove(args) => runtime.block_on(documents::remove(args)),
        Command::Reembed(args) => runtime.block_on(reembed::run(args)),
        Command::Stats(args) => runtime.block_on(stats::run(args)),
        Command::Gaps(args) => runtime.block_on(gaps::run(args)),
        Command::Doctor(args) => runtime.block_on(doctor::run(args)),
        Command::Embed(args) => embed::run(&args),
        Command::Ask(args) => runtime.block_on(ask::run(args)),
        Command::ExtractWorker(args) => Ok(extract::sandbox::run_worker(args.format)),
    }
}

/// A message may contain names, and what a server said.
fn printable_lines(message: &str) -> String {
    message.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

fn connect(server: &ServerArgs) -> anyhow::Result<KnowledgeBase> {
    let client = Client::new(&server.supabase_url, &server.secret_key, Backoff::default())?;
    Ok(KnowledgeBase::new(client))
}
