//! `kb watch`.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use super::{connect, sandboxed, settings};
use crate::cli::WatchArgs;
use crate::model_files::load_model;
use crate::output::print_json;
use crate::progress::Progress;
use crate::source::{Source, SourceName};
use crate::sync::{LeaseTimes, Options};
use crate::watch::{Watch, WatchedSource};

/// Another run of the same collection usually ends soon; if not, the next round tries again.
const MAX_WAIT_FOR_OTHER_RUN: Duration = Duration::from_secs(120);

/// Rounds begin at any time, also while a program replaces a folder.
const MISSING_FOR: Duration = Duration::from_secs(10);

pub(super) async fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let sources = args.sources.iter().map(|name| watched(name, &args)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut names = HashMap::new();
    for WatchedSource { name, options, .. } in &sources {
        let collection = &options.collection;
        if let Some(other) = names.insert(collection, name) {
            anyhow::bail!(
                "{other} and {name} are both the collection {collection}, and would remove each other's documents; name one of them: NAME={name}"
            );
        }
    }
    let knowledge_base = connect(&args.common.server)?;
    // Loaded now, so that a missing model is an error at the start.
    let embedder = load_model(&args.model.model_dir)?;
    let progress = Progress::on_stderr();
    let watch = Watch {
        knowledge_base: &knowledge_base,
        sources: &sources,
        interval: (!args.once).then(|| Duration::from_secs(args.interval)),
        embedder: &embedder,
        model: embedder::fingerprint(),
        progress: &progress,
    };
    // Until a round has ended.
    let mut has_failures = true;
    let mut printed = Ok(());
    watch
        .run(|round| {
            has_failures = round.has_failures();
            if args.common.json && printed.is_ok() {
                printed = print_json(round);
            }
        })
        .await?;
    printed?;
    Ok(if args.once && has_failures { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn watched(argument: &str, args: &WatchArgs) -> anyhow::Result<WatchedSource> {
    let (collection, source) = match argument.split_once('=') {
        Some((collection, source)) if !collection.contains(['/', '\\']) => (Some(collection), source),
        _ => (None, argument),
    };
    let name = SourceName::parse(source)?;
    if matches!(name, SourceName::Sitemap(_) | SourceName::AddressList(_)) {
        anyhow::bail!(
            "kb watch reads its sources every minute, which is too often for a web site; run `kb sync {source}` every night"
        );
    }
    let options = Options {
        collection: collection.map_or_else(|| name.collection(), |collection| name.checked(collection))?,
        settings: settings(&name, &args.defaults, None)?,
        change_settings: false,
        dry_run: false,
        force: false,
        missing_for: MISSING_FOR,
        extract: sandboxed()?,
        lease_times: LeaseTimes { max_wait: MAX_WAIT_FOR_OTHER_RUN, ..LeaseTimes::default() },
    };
    Ok(WatchedSource { name: argument.to_owned(), source: Source::open(&name)?, options })
}
