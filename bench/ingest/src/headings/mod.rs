//! Is a passage found more often if its headings are part of the embedded text?
//!
//! Searches in memory: by passage vectors alone, and by the mean of passage, best sentence and words, as `match_chunks`
//! ranks. In both arrangements the words of the headings count, as in the database, and sentences are embedded without
//! headings.

mod dataset;
mod index;
mod words;

use std::path::Path;

use anyhow::Result;
use embedder::Embedder;
use rayon::prelude::*;

use crate::embed;
use dataset::Dataset;
use index::{Index, Scores};

/// The share of off-topic questions that may score higher than an answerable one that counts as separated.
const OFF_TOPIC_SHARE: f64 = 0.015;

type Figures = Vec<(String, f64)>;

/// `[[name, value], …]`.
pub(crate) fn measure(
    model: &Path,
    data: Option<&Path>,
    pages: &Path,
    questions: &Path,
) -> Result<serde_json::Value> {
    let embedder = Embedder::from_dir(model)?;
    let mut figures = Figures::new();
    if let Some(data) = data {
        add(&mut figures, "heading", &Dataset::from_evaluation_set(data)?, &embedder);
    }
    add(&mut figures, "heading_pages", &Dataset::from_pages(pages, questions)?, &embedder);
    Ok(serde_json::json!(figures))
}

fn add(figures: &mut Figures, prefix: &str, dataset: &Dataset, embedder: &Embedder) {
    let [with, without] = [true, false].map(|with_headings| Found::new(dataset, with_headings, embedder));
    let kinds: [(&str, ScoresOf); 2] =
        [("", |scores| &scores.vectors), ("combined_", |scores| &scores.combined)];
    for (kind, scores) in kinds {
        let mut add = |name: &str, value| figures.push((format!("{prefix}_{kind}{name}"), value));
        for (arrangement, found) in [("with", &with), ("without", &without)] {
            for first in [1, 5] {
                let recall = share(found.ranks(dataset, scores).map(|rank| rank < first));
                add(&format!("recall_{first}_{arrangement}"), recall);
            }
            if !dataset.off_topic.is_empty() {
                add(&format!("separated_{arrangement}"), found.separated(scores));
            }
        }
        let is_first =
            |found: &Found| -> Vec<bool> { found.ranks(dataset, scores).map(|rank| rank == 0).collect() };
        let both = || is_first(&with).into_iter().zip(is_first(&without));
        add("first_gained", share(both().map(|(with, without)| with && !without)));
        add("first_lost", share(both().map(|(with, without)| !with && without)));
    }
}

type ScoresOf = fn(&Scores) -> &[f64];

/// The scores of all passages, for each question.
struct Found {
    answerable: Vec<Scores>,
    off_topic: Vec<Scores>,
}

impl Found {
    fn new(dataset: &Dataset, with_headings: bool, embedder: &Embedder) -> Self {
        let index = Index::new(&dataset.passages, with_headings, embedder);
        let ask = |questions: &[String]| -> Vec<Scores> {
            let vectors = embed::vectors(embedder, questions);
            questions
                .par_iter()
                .zip(&vectors)
                .map(|(question, vector)| index.scores(question, vector))
                .collect()
        };
        let answerable: Vec<_> = dataset.answerable.iter().map(|question| question.text.clone()).collect();
        Self { answerable: ask(&answerable), off_topic: ask(&dataset.off_topic) }
    }

    /// For each answerable question, how many passages score higher than the one that answers it.
    fn ranks(&self, dataset: &Dataset, scores: ScoresOf) -> impl Iterator<Item = usize> {
        self.answerable.iter().zip(&dataset.answerable).map(move |(found, question)| {
            let scores = scores(found);
            scores.iter().filter(|score| **score > scores[question.passage]).count()
        })
    }

    /// The share of answerable questions whose best score is above those of nearly all off-topic ones.
    fn separated(&self, scores: ScoresOf) -> f64 {
        let best = |found: &Scores| scores(found).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut off_topic: Vec<_> = self.off_topic.iter().map(best).collect();
        off_topic.sort_by(|a, b| b.total_cmp(a));
        let bound = off_topic[(OFF_TOPIC_SHARE * off_topic.len() as f64) as usize];
        share(self.answerable.iter().map(|found| best(found) > bound))
    }
}

fn share(hits: impl Iterator<Item = bool>) -> f64 {
    let (mut yes, mut all) = (0_u32, 0_u32);
    for hit in hits {
        yes += u32::from(hit);
        all += 1;
    }
    f64::from(yes) / f64::from(all.max(1))
}
