//! Keeps a knowledge base current: embeds passages that were edited in the database, and syncs sources, again and again.

use std::time::Duration;

use serde::Serialize;

use crate::calibration::recalibrate;
use crate::knowledge_base::{KnowledgeBase, WatchEvent};
use crate::model_files::ModelError;
use crate::output::counted;
use crate::progress::Progress;
use crate::reembed::{reembed, survey};
use crate::source::Source;
use crate::stop::{StopFlag, stop_requested};
use crate::supabase::SupabaseError;
use crate::sync::{Counts, Options, Summary, SyncError, host, sync};
use crate::text_embedder::TextEmbedder;

/// Interval between reports to the database, on which `kb doctor` relies.
pub const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// A source that is synced in every round.
pub struct WatchedSource {
    /// As on the command line.
    pub name: String,
    pub source: Source,
    pub options: Options,
}

/// A watch and what it works on.
pub struct Watch<'a, E> {
    pub knowledge_base: &'a KnowledgeBase,
    pub sources: &'a [WatchedSource],
    /// Pause between two rounds; `None` for a single round.
    pub interval: Option<Duration>,
    pub embedder: &'a E,
    /// Fingerprint of its model.
    pub model: &'a str,
    pub progress: &'a Progress,
}

/// The result of a round.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Round {
    /// Passages that were embedded because they were edited, or had no vector of this model.
    pub reembedded: usize,
    /// The numbers of documents by outcome, for each sync.
    pub syncs: Vec<Counts>,
    /// Documents and passages that could not be read or written.
    pub failed: usize,
    /// Why steps failed as a whole; the next round repeats them.
    pub failures: Vec<String>,
}

impl Round {
    /// True if something could not be done.
    pub fn has_failures(&self) -> bool {
        self.failed > 0 || !self.failures.is_empty()
    }

    fn failure(&self) -> Option<String> {
        (!self.failures.is_empty()).then(|| self.failures.join("; "))
    }

    fn add(&mut self, summary: &Summary) {
        self.syncs.push(summary.counts);
        self.failed += summary.counts.failed;
        self.failures
            .extend(summary.stopped.iter().map(|stopped| format!("{}: {stopped}", summary.collection)));
    }
}

impl<E: TextEmbedder + 'static> Watch<'_, E> {
    /// Runs until somebody stops the program, or for a single round. Calls `on_round` after each round.
    ///
    /// # Errors
    /// If the knowledge base cannot be reached at the start, or is not one. Later failures are reported and the work is
    /// repeated in the next round.
    pub async fn run(&self, mut on_round: impl FnMut(&Round)) -> Result<(), SupabaseError> {
        self.report(WatchEvent::Running).await?;
        let stop = StopFlag::new();
        let rounds = async {
            loop {
                let Some(round) = self.round(&stop).await else { return };
                self.note(WatchEvent::Finished(round.failure().as_deref())).await;
                for failure in &round.failures {
                    self.progress.state(&format!("failed   {failure}"));
                }
                on_round(&round);
                self.progress.end_round();
                let Some(interval) = self.interval else { return };
                if stop.is_set() {
                    return;
                }
                tokio::select! {
                    () = tokio::time::sleep(interval) => {}
                    () = stop_requested() => return,
                }
            }
        };
        tokio::select! {
            () = rounds => {}
            () = self.keep_reporting() => {}
        }
        self.note(WatchEvent::Stopped).await;
        Ok(())
    }

    /// Runs a round; `None` if somebody stops the program.
    async fn round(&self, stop: &StopFlag) -> Option<Round> {
        let mut round = Round::default();
        // Nothing is lost if this is stopped, and a sync returns its lease first.
        let embedded = tokio::select! {
            embedded = self.embed_edited() => embedded,
            () = stop_requested() => return None,
        };
        match embedded {
            Ok((written, refused)) => {
                round.reembedded += written;
                round.failed += refused;
            }
            Err(error) => round.failures.push(format!("edited passages: {error}")),
        }
        for WatchedSource { name, source, options } in self.sources {
            if stop.is_set() {
                return None;
            }
            let load = || Ok::<_, ModelError>(self.embedder.clone());
            match sync(source, self.knowledge_base, options, self.model, load, self.progress).await {
                Ok(summary) => round.add(&summary),
                Err(SyncError::Interrupted) => return None,
                Err(error) => round.failures.push(format!("{name}: {error}")),
            }
        }
        // A sync has calibrated after its own changes.
        let load = || Ok::<_, ModelError>(self.embedder.clone());
        match recalibrate(self.knowledge_base, self.model, round.reembedded > 0, load, self.progress).await {
            Ok(Some(calibration)) => self.progress.line(&calibration.to_string()),
            Ok(None) => {}
            Err(error) => self.progress.state(&format!("warning: not calibrated: {error}")),
        }
        Some(round)
    }

    /// Returns the number of passages that were embedded, and of those that the database refused.
    async fn embed_edited(&self) -> Result<(usize, usize), SupabaseError> {
        let found = survey(self.knowledge_base, self.model).await?;
        if found.chunks == 0 {
            return Ok((0, 0));
        }
        let done =
            reembed(self.knowledge_base, self.embedder, self.model, None, Some(found.chunks), self.progress)
                .await?;
        if done.written > 0 {
            self.progress.line(&format!("embedded {}", counted(done.written as u64, "passage")));
        }
        for refused in &done.refused {
            let passage = format!("{}: passage {}", refused.source, refused.chunk_id);
            self.progress.state(&format!("failed   {passage}: {}", refused.reason));
        }
        Ok((done.written, done.refused.len()))
    }

    /// Reports until it is dropped, also while a round takes long.
    async fn keep_reporting(&self) {
        loop {
            tokio::time::sleep(REPORT_INTERVAL).await;
            self.note(WatchEvent::Running).await;
        }
    }

    /// Reports, unless the database cannot be reached: the work itself fails then, too.
    async fn note(&self, event: WatchEvent<'_>) {
        if let Err(error) = self.report(event).await {
            self.progress.state(&format!("warning: not reported: {error}"));
        }
    }

    async fn report(&self, event: WatchEvent<'_>) -> Result<(), SupabaseError> {
        let interval = self.interval.map(|interval| interval.as_secs());
        self.knowledge_base.report_watch(&names(self.sources), &host(), interval, event).await
    }
}

fn names(sources: &[WatchedSource]) -> String {
    sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_has_failed_if_a_step_or_a_document_has() {
        let mut round = Round::default();
        assert!(!round.has_failures() && round.failure().is_none());
        round.failed = 1;
        assert!(round.has_failures() && round.failure().is_none(), "kb_documents has its reason");
        round.failures = vec!["bucket: away".to_owned(), "docs: gone".to_owned()];
        assert_eq!(round.failure().as_deref(), Some("bucket: away; docs: gone"));
    }
}
