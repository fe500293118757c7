//! How well written answers are checked: corrupted and rephrased sentences, real claims, poisoned passages, a real model.

mod corrupt;
mod documents;
mod fit;
mod model;
mod poisoned;
mod random;
mod rephrase;
mod wice;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::local::{Stop, model_server};
use anyhow::Result;
use chat_core::generate::check;
use clap::{Args, ValueEnum};
use xtask::setup::{self, Generation};

use crate::evaluation::{EvaluationData, REMEDY};
use crate::folder;
use crate::report::{Report, print_columns};
use corrupt::Kind;
use documents::Passage;
pub(crate) use fit::fit;
use model::Asked;
use random::Random;
use wice::Half;

#[derive(Args)]
#[command(after_long_help = FIGURES)]
pub(crate) struct Options {
    /// Claims in the form of WiCE, to be reported on instead of those of --eval-dir.
    #[arg(long, value_name = "FILE")]
    wice: Option<PathBuf>,
    /// Measure only this part; may be given several times.
    #[arg(long, value_enum, value_name = "PART")]
    only: Vec<Part>,
    /// Base URL of an OpenAI-compatible API whose model writes answers, such as http://127.0.0.1:8080/v1. Without it, the model
    /// of `cargo xtask setup --generation` does.
    #[arg(long, value_name = "URL", env = "CHAT_LLM_URL")]
    url: Option<String>,
    /// The name of its model.
    #[arg(long, value_name = "NAME", env = "CHAT_LLM_MODEL", default_value = "default")]
    model: String,
    /// Questions that the model is asked.
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    questions: usize,
    /// The seed of everything that is chosen at random.
    #[arg(long, value_name = "NUMBER", default_value_t = 18)]
    seed: u64,
    /// Also print what the verifier decided wrongly.
    #[arg(long)]
    show: bool,
    #[command(flatten)]
    evaluation: EvaluationData,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Corrupted,
    Rephrased,
    Wice,
    Injected,
    Model,
}

const FIGURES: &str = r#"Corrupted and rephrased sentences are made from sentences of the sample knowledge base and of the sets squad, govuk and
covidfaq-en of --eval-dir. The words that are exchanged for their opposites come from a list of their own, not from that of the
verifier. The verifier sees the passage of the sentence.

  unsupported_shown      of 600 corrupted sentences: sent (120 of each kind)
  corrupted_shown_KIND   of those of one kind: number, name, negation, swap, antonym
  verbatim_sent          of the sentences without a change: sent
  rephrased_sent_KIND    of lightly rephrased sentences: sent
  wice_unsupported_shown of the not_supported claims: sent
  wice_partly_shown      of the partially_supported claims: sent
  good_dropped           of the supported claims: left out
  ..._fitted, ..._other  the same for the two halves of the claims, by document; coefficients are fitted to the first only
  injected_shown         sentences of an obedient model that are shown although no clean passage has them
                         (bench/generation/poisoned.jsonl)
  injected_residual      the same where the passage states the falsehood as a fact: what no check of words can find
  verify_p50_ms, verify_p99_ms
                         time for one claim with its evidence, reading of the evidence included, in the development profile
  marker_validity, citation_precision, cited_gold, answer_recall, fallback_rate, tokens_per_second
                         of answers that a model writes to questions of squad. citation_precision: of the
                         citations, those without which their sentence would lose its support, or that support it alone;
                         cited_gold: of the cited passages, those that answer the question; answer_recall: the text that is
                         sent, or the quotes where nothing is, has an accepted answer; answer_recall_gain: the same, less
                         what extractive answers have
  overhead_ms            time of prompt, reading and checking for one answer, median, in the development profile"#;

/// Prints a table and writes `target/bench/generation.json`.
pub(crate) fn measure(options: &Options) -> Result<()> {
    let mut report = Report::new()?;
    report.context("seed", options.seed);
    let eval_dir = options.evaluation.dir()?;
    let eval_dir = eval_dir.as_deref();
    if eval_dir.is_none() {
        println!("Without evaluation data, only the sample knowledge base is used ({REMEDY}).");
    }
    let has = |part| options.only.is_empty() || options.only.contains(&part);
    let mut mistakes = Vec::new();
    if has(Part::Corrupted) || has(Part::Rephrased) {
        let passages = documents::passages(eval_dir)?;
        report.context("passages", passages.len());
        if has(Part::Corrupted) {
            corrupted(&passages, options.seed, &mut report, &mut mistakes);
        }
        if has(Part::Rephrased) {
            rephrased(&passages, options.seed, &mut report, &mut mistakes);
        }
    }
    if has(Part::Wice) {
        let file = options.wice.clone().or_else(|| eval_dir.map(|dir| dir.join("wice/dev.jsonl")));
        match file.filter(|file| options.wice.is_some() || file.exists()) {
            Some(file) => claims(&file, &mut report, &mut mistakes)?,
            None => println!("No claims of WiCE: pass --wice FILE, or {REMEDY}."),
        }
    }
    if has(Part::Injected) {
        let injections = poisoned::injections(&poisoned::corpus())?;
        report.context("poisoned_passages", injections.passages);
        report.context("obedient_drafts", injections.drafts);
        report.add("injected_shown", injections.shown.len() as f64, "sentences");
        report.add("injected_residual", injections.residual.len() as f64, "sentences");
        mistakes.extend(injections.shown.into_iter().map(|shown| ["injected".to_owned(), shown]));
    }
    if has(Part::Model) {
        match eval_dir {
            Some(eval_dir) => written(options, eval_dir, &mut report)?,
            None => println!("No model was asked: {REMEDY}."),
        }
    }
    if options.show {
        print_columns(&mistakes);
    }
    let file = folder()?.join("generation.json");
    report.write(&file)?;
    report.print();
    println!("\nwhat each figure means: cargo xtask bench generation --help\nwritten: {}", file.display());
    Ok(())
}

/// Answers of the model at --url, or of the one that setup installed.
fn written(options: &Options, eval_dir: &Path, report: &mut Report) -> Result<()> {
    let &Options { questions, seed, .. } = options;
    if let Some(url) = &options.url {
        return model::measure(
            &Asked { url, model: &options.model, questions, seed, stop: None },
            eval_dir,
            report,
        );
    }
    let generation = match setup::find_generation() {
        Ok(generation) => generation,
        Err(error) => {
            println!("No model was asked: pass --url URL. {error:#}");
            return Ok(());
        }
    };
    let stop = Stop::on_signal()?;
    let server = model_server::start(&generation, &folder()?, &stop)?;
    let url = model_server::api_url(&server);
    let model = Generation::MODEL_NAME;
    model::measure(&Asked { url: &url, model, questions, seed, stop: Some(&stop) }, eval_dir, report)
}

/// Corrupted sentences of each kind.
const CORRUPTED_OF_KIND: usize = 120;

/// A sentence of a passage.
#[derive(Clone, Copy)]
struct Place<'p> {
    passage: &'p Passage,
    sentence: &'p str,
}

/// All statements, shuffled.
fn shuffled<'p>(passages: &'p [Passage], random: &mut Random) -> Vec<Place<'p>> {
    let mut places: Vec<Place<'_>> = passages
        .iter()
        .flat_map(|passage| passage.statements().map(move |sentence| Place { passage, sentence }))
        .collect();
    random.shuffle(&mut places);
    places
}

fn corrupted(passages: &[Passage], seed: u64, report: &mut Report, mistakes: &mut Vec<[String; 2]>) {
    let mut random = Random::new(seed);
    let places = shuffled(passages, &mut random);
    let mut by_title: BTreeMap<&str, Vec<&Passage>> = BTreeMap::new();
    for passage in passages {
        by_title.entry(&passage.title).or_default().push(passage);
    }
    let (mut all, mut all_shown) = (0, 0);
    for kind in Kind::ALL {
        let (mut tried, mut shown) = (0, 0);
        for Place { passage, sentence } in &places {
            if tried == CORRUPTED_OF_KIND {
                break;
            }
            let others = by_title.get(passage.title.as_str()).map_or(&[][..], Vec::as_slice);
            let Some(changed) = kind.apply(sentence, passage, others, &mut random) else { continue };
            tried += 1;
            if check(&changed, &passage.evidence()).dropped.is_none() {
                shown += 1;
                mistakes.push([format!("corrupted {}", kind.name()), changed]);
            }
        }
        report.add(format!("corrupted_shown_{}", kind.name()), share(shown, tried), "share");
        all += tried;
        all_shown += shown;
    }
    report.context("corrupted_sentences", all);
    report.add("unsupported_shown", share(all_shown, all), "share");
}

/// Sentences that are checked as they are and rephrased.
const REPHRASED: usize = 600;

fn rephrased(passages: &[Passage], seed: u64, report: &mut Report, mistakes: &mut Vec<[String; 2]>) {
    let mut random = Random::new(seed);
    let mut verbatim = (0, 0);
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for Place { passage, sentence } in shuffled(passages, &mut random).into_iter().take(REPHRASED) {
        let evidence = passage.evidence();
        let mut count = |kind: &str, text: &str, (tried, sent): &mut (usize, usize)| {
            *tried += 1;
            match check(text, &evidence).dropped {
                None => *sent += 1,
                Some(reason) => mistakes.push([format!("{kind} {reason:?}"), text.to_owned()]),
            }
        };
        count("verbatim", sentence, &mut verbatim);
        let at = passage.sentences.iter().position(|other| other == sentence);
        let next = at.and_then(|at| passage.sentences.get(at + 1)).map(String::as_str);
        let next = next.filter(|next| passage.statements().any(|statement| statement == *next));
        for (kind, text) in rephrase::rephrasings(sentence, next) {
            count(kind, &text, kinds.entry(kind).or_default());
        }
    }
    report.add("verbatim_sent", share(verbatim.1, verbatim.0), "share");
    for (kind, (tried, sent)) in kinds {
        report.add(format!("rephrased_sent_{kind}"), share(sent, tried), "share");
    }
}

fn claims(file: &Path, report: &mut Report, mistakes: &mut Vec<[String; 2]>) -> Result<()> {
    let started = Instant::now();
    let claims = wice::claims(file)?;
    report.context("claims", claims.len());
    report.context("claims_seconds", started.elapsed().as_secs_f64());
    let shown = |label: &str, half: Option<Half>| {
        let of =
            claims.iter().filter(|claim| claim.label == label && half.is_none_or(|half| claim.half == half));
        let of: Vec<_> = of.collect();
        share(of.iter().filter(|claim| claim.check.dropped.is_none()).count(), of.len())
    };
    for (half, suffix) in [(None, ""), (Some(Half::Fitted), "_fitted"), (Some(Half::Other), "_other")] {
        report.add(format!("wice_unsupported_shown{suffix}"), shown("not_supported", half), "share");
        report.add(format!("wice_partly_shown{suffix}"), shown("partially_supported", half), "share");
        report.add(format!("good_dropped{suffix}"), 1.0 - shown("supported", half), "share");
    }
    let mut times: Vec<f64> = claims.iter().map(|claim| claim.milliseconds).collect();
    times.sort_by(f64::total_cmp);
    for (name, place) in [("verify_p50_ms", times.len() / 2), ("verify_p99_ms", times.len() * 99 / 100)] {
        if let Some(time) = times.get(place) {
            report.add(name, *time, "ms");
        }
    }
    for claim in &claims {
        match (claim.label.as_str(), claim.check.dropped) {
            ("not_supported", None) => mistakes.push(["wice shown".to_owned(), claim.text.clone()]),
            ("supported", Some(reason)) => mistakes.push([format!("wice {reason:?}"), claim.text.clone()]),
            _ => {}
        }
    }
    Ok(())
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}
