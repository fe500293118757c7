//! `kb watch`.

use std::process::ExitCode;
use std::time::Duration;

use super::{connect, defaults, sandboxed};
use crate::cli::WatchArgs;
use crate::output::print_json;
use crate::progress::Progress;
use crate::source::{Source, SourceName};
use crate::sync::{LeaseTimes, Options};
use crate::text_embedder::load_model;
use crate::watch::{Watch, WatchedSource, remembering_failures};

/// Another run of the same collection usually ends soon; if not, the next round tries again.
const MAX_WAIT_FOR_OTHER_RUN: Duration = Duration::from_secs(120);

/// Rounds begin at any time, also while a program replaces a folder.
const MISSING_FOR: Duration = Duration::from_secs(10);

pub(super) async fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    let sources = args.sources.iter().map(|name| watched(name, &args)).collect::<anyhow::Result<Vec<_>>>()?;
    let knowledge_base = connect(&args.server)?;
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
            if args.json && printed.is_ok() {
                printed = print_json(round);
            }
        })
        .await?;
    printed?;
    Ok(if args.once && has_failures { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn watched(argument: &str, args: &WatchArgs) -> anyhow::Result<WatchedSource> {
    let name = SourceName::parse(argument)?;
    if matches!(name, SourceName::Sitemap(_) | SourceName::AddressList(_)) {
        anyhow::bail!(
            "kb watch reads its sources every minute, which is too often for a web site; run `kb sync {argument}` every night"
        );
    }
    let options = Options {
        collection: name.collection()?,
        defaults: defaults(&args.defaults)?,
        dry_run: false,
        keeps_originals: true,
        force: false,
        missing_for: MISSING_FOR,
        extract: remembering_failures(sandboxed()?),
        lease_times: LeaseTimes { max_wait: MAX_WAIT_FOR_OTHER_RUN, ..LeaseTimes::default() },
    };
    Ok(WatchedSource { name: argument.to_owned(), source: Source::open(&name)?, options })
}
