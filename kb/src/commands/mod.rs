//! The commands, from options to output.

mod ask;
mod assistants;
mod doctor;
mod documents;
mod embed;
mod reembed;
mod retain;
mod sync;
mod watch;
mod worker_secret;

use std::process::ExitCode;
use std::sync::Arc;

use crate::cli::{Cli, Command, DefaultsArgs, ServerArgs};
use crate::knowledge_base::KnowledgeBase;
use crate::output::printable_lines;
use crate::source::SourceName;
use crate::supabase::{Backoff, Client};
use crate::sync::{Extract, Settings};

/// Runs a command. The exit code is 1 if a document or passage failed, or if `kb doctor` found a problem.
///
/// # Errors
/// If the command failed, with a message for the user.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    execute(cli).map_err(|error| anyhow::Error::msg(printable_lines(&error.to_string())))
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Sync(args) => block_on(sync::run(args)),
        Command::Watch(args) => block_on(watch::run(args)),
        Command::List(args) => block_on(documents::list(args)),
        Command::Show(args) => block_on(documents::show(args)),
        Command::Enable(args) => block_on(documents::set_enabled(args, true)),
        Command::Disable(args) => block_on(documents::set_enabled(args, false)),
        Command::Remove(args) => block_on(documents::remove(args)),
        Command::Reembed(args) => block_on(reembed::run(args)),
        Command::Assistants(args) => block_on(assistants::run(args)),
        Command::Retain(args) => block_on(retain::run(args)),
        Command::WorkerSecret(args) => block_on(worker_secret::run(args)),
        Command::Doctor(args) => block_on(doctor::run(args)),
        Command::Embed(args) => embed::run(&args),
        Command::Ask(args) => block_on(ask::run(args)),
        // Without a runtime, whose open files the sandbox would have to close.
        Command::ExtractWorker { media_type } => Ok(extract::sandbox::run_worker(&media_type)),
    }
}

fn block_on(command: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
}

fn connect(server: &ServerArgs) -> anyhow::Result<KnowledgeBase> {
    let client = Client::new(server.url()?, &server.secret_key()?, Backoff::default())?;
    Ok(KnowledgeBase::new(client))
}

/// Checks the audience before anything is read: the database would refuse each document.
fn settings(source: &SourceName, args: &DefaultsArgs, originals: Option<bool>) -> anyhow::Result<Settings> {
    let entries = args.audience.iter().map(String::as_str);
    let audience = (!args.audience.is_empty()).then(|| extract::audience(entries)).transpose();
    let audience =
        audience.map_err(|error| anyhow::anyhow!("--audience: {error}; write for example team:sales"))?;
    Ok(Settings { language: args.language.clone(), audience, originals, ..Settings::of(source) })
}

/// Extracts formats whose parsers may crash or hang in another process of this program.
fn sandboxed() -> anyhow::Result<Arc<Extract>> {
    let sandbox = extract::sandbox::Sandbox::new(std::env::current_exe()?, vec!["extract-worker".into()]);
    Ok(Arc::new(move |bytes, format| sandbox.read(bytes, format)))
}
