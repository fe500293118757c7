//! `kb ask`.

use std::process::ExitCode;

use chat_core::evidence::{Background, EvidenceThresholds};

use super::connect;
use crate::ask::{self, PassageReader, Settings, ask};
use crate::cli::AskArgs;
use crate::model_files::{load_model, load_reader};
use crate::output::{print, print_json, printable};

pub(super) async fn run(args: AskArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let calibration = knowledge_base.calibration().await?;
    // A calibration measured with another model is not comparable.
    let calibration = calibration.filter(|calibration| calibration.model == embedder::fingerprint());
    let thresholds = EvidenceThresholds {
        similarity: args.threshold,
        confidence: args.confidence,
        background: calibration.map_or_else(Background::default, |calibration| calibration.background()),
    };
    let settings = Settings {
        match_count: args.match_count,
        thresholds,
        assistant: args.assistant,
        previous: args.previous,
    };
    let mut embedder = load_model(&args.model.model_dir)?;
    let mut reader = load_reader(&embedder, &args.model.model_dir);
    if let Err(error) = &reader {
        eprintln!("The search decides alone, without the reader: {}", printable(&error.to_string()));
    }
    let reader = reader.as_mut().ok().map(|reader| reader as &mut dyn PassageReader);
    let model = embedder::fingerprint();
    let asked = ask(&args.question, &knowledge_base, model, &mut embedder, reader, &settings).await?;
    if args.common.json {
        print_json(&ask::report(&asked))?
    } else if args.explain {
        print(&format!("{}\n\n{}", ask::explanation(&asked), ask::reply(&asked)))?
    } else {
        print(&ask::reply(&asked))?
    }
    Ok(ExitCode::SUCCESS)
}
