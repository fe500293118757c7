//! Answers of a real model to questions whose answer is known.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use crate::local::Stop;
use anyhow::{Context, Result, bail, ensure};
use chat_core::answer::{Answer, Citation};
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::EvidenceThresholds;
use chat_core::generate::{Ending, Fallback, Generation, check};
use chat_core::sentences::sentences;
use chat_core::{Verdict, respond};
use serde_json::{Value, json};
use xtask::shell;

use super::documents::rows;
use super::poisoned::row;
use super::random::Random;
use crate::report::Report;

/// Tokens of an answer.
const MAX_TOKENS: u32 = 200;
/// Passages of the same document next to the one that answers.
const DISTRACTORS: usize = 2;
/// Seconds for one answer.
const TIMEOUT_SECONDS: &str = "120";

/// What is asked of which model.
pub(super) struct Asked<'a> {
    /// The base URL of the API.
    pub(super) url: &'a str,
    pub(super) model: &'a str,
    pub(super) questions: usize,
    pub(super) seed: u64,
    /// Whether to stop early.
    pub(super) stop: Option<&'a Stop>,
}

#[derive(Default)]
struct Counts {
    questions: usize,
    fallbacks: usize,
    sentences: usize,
    dropped: usize,
    markers: usize,
    valid_markers: usize,
    citations: usize,
    precise_citations: usize,
    cited_passages: usize,
    cited_gold: usize,
    recalled: usize,
    recalled_extractive: usize,
    tokens: u64,
    seconds: f64,
    checking_ms: Vec<f64>,
}

/// Adds the figures of the set squad.
pub(super) fn measure(asked: &Asked<'_>, eval_dir: &Path, report: &mut Report) -> Result<()> {
    let passages = rows(&eval_dir.join("squad/passages.jsonl"))?;
    let by_id: BTreeMap<&str, &Value> =
        passages.iter().filter_map(|passage| Some((passage["id"].as_str()?, passage))).collect();
    let mut questions = rows(&eval_dir.join("squad/answerable.jsonl"))?;
    let mut random = Random::new(asked.seed);
    random.shuffle(&mut questions);
    let mut counts = Counts::default();
    for question in questions.iter().take(asked.questions) {
        asked.stop.map_or(Ok(()), Stop::check)?;
        let gold = question["passage"]
            .as_str()
            .and_then(|id| by_id.get(id))
            .context("a question without passage")?;
        let others: Vec<&Value> = passages
            .iter()
            .filter(|other| other["title"] == gold["title"] && other["id"] != gold["id"])
            .collect();
        let mut found = vec![*gold];
        found.extend((0..DISTRACTORS).filter_map(|_| random.choose(&others).copied()));
        random.shuffle(&mut found);
        answer(asked, question, gold, &found, &mut counts)?;
    }
    let ratio = |part: usize, all: usize| part as f64 / all as f64;
    report.context("model", asked.model);
    report.context("model_questions", counts.questions);
    report.context("model_sentences_sent", counts.sentences);
    report.context("model_sentences_dropped", counts.dropped);
    report.add("marker_validity", ratio(counts.valid_markers, counts.markers), "share");
    report.add("citation_precision", ratio(counts.precise_citations, counts.citations), "share");
    report.add("cited_gold", ratio(counts.cited_gold, counts.cited_passages), "share");
    report.add("answer_recall", ratio(counts.recalled, counts.questions), "share");
    report.add("answer_recall_extractive", ratio(counts.recalled_extractive, counts.questions), "share");
    let gained = counts.recalled as f64 - counts.recalled_extractive as f64;
    report.add("answer_recall_gain", gained / counts.questions as f64, "share");
    report.add("fallback_rate", ratio(counts.fallbacks, counts.questions), "share");
    report.add("tokens_per_second", counts.tokens as f64 / counts.seconds, "1/s");
    counts.checking_ms.sort_by(f64::total_cmp);
    if let Some(median) = counts.checking_ms.get(counts.checking_ms.len() / 2) {
        report.add("overhead_ms", *median, "ms");
    }
    Ok(())
}

fn answer(
    asked: &Asked<'_>,
    question: &Value,
    gold: &Value,
    found: &[&Value],
    counts: &mut Counts,
) -> Result<()> {
    let text = question["question"].as_str().context("a question without text")?;
    let accepted: Vec<String> = question["answers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|answer| Some(answer.as_str()?.to_lowercase()))
        .collect();
    let contains = |text: &str| accepted.iter().any(|answer| text.to_lowercase().contains(answer));
    let matched: Vec<MatchedChunk> = found
        .iter()
        .zip(1..)
        .map(|(passage, id)| {
            row(
                id,
                passage["title"].as_str().unwrap_or_default(),
                passage["text"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    let thresholds = EvidenceThresholds { similarity: 0.0, confidence: 0.0, ..EvidenceThresholds::default() };
    let response = respond(text, &matched, None, &thresholds, true);
    let Verdict::Answer(extractive) = response.verdict else { bail!("no evidence for {text}") };
    let mut checking = 0.0;
    let started = Instant::now();
    let mut generation =
        Generation::new(text, &matched, &response.assessment, Some(&extractive), true, asked.model);
    let messages = generation.messages("k3x9w2p7", 1.0);
    checking += started.elapsed().as_secs_f64();
    let started = Instant::now();
    let (output, tokens) = complete(asked, &json!(messages))?;
    counts.seconds += started.elapsed().as_secs_f64();
    counts.tokens += tokens;
    let started = Instant::now();
    generation.push(&output);
    generation.end(Ending::Whole);
    let (written, summary) = generation.finish(None);
    checking += started.elapsed().as_secs_f64();
    counts.checking_ms.push(checking * 1000.0);
    counts.questions += 1;
    counts.sentences += summary.sentences as usize;
    counts.dropped += summary.dropped.values().map(|dropped| *dropped as usize).sum::<usize>();
    counts.fallbacks +=
        usize::from(matches!(summary.fallback, Some(Fallback::Declined | Fallback::Unsupported)));
    counts.recalled_extractive += usize::from(contains(&extractive.deltas.concat()));
    if let Some(written) = &written {
        count_markers(written, counts);
        let gold =
            found.iter().position(|passage| passage["id"] == gold["id"]).map(|at| matched[at].chunk_id);
        count_citations(written, counts);
        counts.cited_passages += written.citations.len();
        counts.cited_gold +=
            written.citations.iter().filter(|citation| Some(citation.passage.chunk_id) == gold).count();
    }
    let quoted = extractive.deltas.concat();
    let text = written.map_or(quoted, |written| written.deltas.concat());
    counts.recalled += usize::from(contains(&text));
    Ok(())
}

/// Counts the markers of the text that is sent, and those that a citation explains.
fn count_markers(answer: &Answer, counts: &mut Counts) {
    let text = answer.deltas.concat();
    for marker in text.split('[').skip(1) {
        let Some((number, _)) = marker.split_once(']') else { continue };
        let Ok(number) = number.parse::<u32>() else { continue };
        counts.markers += 1;
        counts.valid_markers += usize::from(answer.citations.iter().any(|citation| citation.index == number));
    }
}

/// Counts the citations of each sentence. As in ALCE (Gao et al., 2023), one is imprecise if its passage alone does not support the
/// sentence although the others do without it.
fn count_citations(answer: &Answer, counts: &mut Counts) {
    for (at, delta) in answer.deltas.iter().enumerate() {
        let text = delta.split(" [").next().unwrap_or_default().trim().trim_start_matches("- ");
        let is_cited = |citation: &&Citation| {
            citation.supports.iter().any(|support| usize::try_from(support.sentence) == Ok(at))
        };
        let cited: Vec<&Citation> = answer.citations.iter().filter(is_cited).collect();
        let supports = |citations: &[&Citation]| {
            let parts = citations.iter().flat_map(|citation| {
                let ranges = sentences(&citation.passage.excerpt, 0..citation.passage.excerpt.len());
                ranges.into_iter().filter_map(|range| citation.passage.excerpt.get(range))
            });
            check(text, &parts.collect::<Vec<_>>()).dropped.is_none()
        };
        for citation in &cited {
            let others: Vec<&Citation> = cited
                .iter()
                .filter(|other| other.passage.chunk_id != citation.passage.chunk_id)
                .copied()
                .collect();
            let is_imprecise = !others.is_empty() && !supports(&[citation]) && supports(&others);
            counts.citations += 1;
            counts.precise_citations += usize::from(!is_imprecise);
        }
    }
}

/// The output of the model, and its tokens. curl is everywhere, and a model server needs no HTTP client of its own here.
fn complete(asked: &Asked<'_>, messages: &Value) -> Result<(String, u64)> {
    let body = json!({
        "model": asked.model, "messages": messages, "temperature": 0, "max_tokens": MAX_TOKENS, "stream": false,
    });
    let url = format!("{}/chat/completions", asked.url.trim_end_matches('/'));
    let mut curl = shell::command("curl");
    curl.args([
        "--silent",
        "--show-error",
        "--max-time",
        TIMEOUT_SECONDS,
        "--header",
        "content-type: application/json",
    ]);
    curl.args(["--data-binary", "@-", &url]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = curl.spawn().context("cannot start curl")?;
    running.stdin.take().context("curl has no input")?.write_all(body.to_string().as_bytes())?;
    let output = running.wait_with_output()?;
    ensure!(output.status.success(), "curl {url} failed ({})", output.status);
    let reply: Value = serde_json::from_slice(&output.stdout).context("the model's answer is not JSON")?;
    let text = reply["choices"][0]["message"]["content"].as_str();
    let text = text.with_context(|| format!("the model did not answer: {reply}"))?;
    Ok((text.to_owned(), reply["usage"]["completion_tokens"].as_u64().unwrap_or_default()))
}
