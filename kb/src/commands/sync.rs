//! `kb sync`.

use std::process::ExitCode;
use std::time::Duration;

use super::{connect, sandboxed, settings};
use crate::cli::SyncArgs;
use crate::model_files::load_model;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::source::{Source, SourceName};
use crate::sync::{LeaseTimes, Options, sync};

/// A checkout or an editor that replaces files needs less.
const MISSING_FOR: Duration = Duration::from_secs(2);

pub(super) async fn run(args: SyncArgs) -> anyhow::Result<ExitCode> {
    let name = SourceName::parse(&args.source)?;
    let collection = match &args.collection {
        Some(collection) => name.checked(collection)?,
        None => name.collection()?,
    };
    let options = Options {
        collection,
        settings: settings(&name, &args.defaults, args.no_originals.then_some(false))?,
        change_settings: args.change_settings,
        dry_run: args.dry_run,
        force: args.force,
        missing_for: MISSING_FOR,
        extract: sandboxed()?,
        lease_times: LeaseTimes::default(),
    };
    let source = Source::open(&name)?;
    let knowledge_base = connect(&args.common.server)?;
    let load = || load_model(&args.model.model_dir);
    let progress = Progress::on_stderr();
    let summary = sync(&source, &knowledge_base, &options, embedder::fingerprint(), load, &progress).await?;
    if args.common.json {
        print_json(&summary)?
    } else {
        print(&summary.to_string())?
    }
    Ok(if summary.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
