//! How long a run still takes.
//!
//! The *work* of a document is the length of the texts that are embedded for it. It is known once the document is prepared;
//! before, it is predicted from the size of its file by the ratio among documents of the same kind. The time has two parts: waiting for
//! documents (a slow site, a slow disk) grows with their number, everything else with the work.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use extract::Format;

use super::plan::{Change, Write};

/// Shortest time from which speeds are measured.
const MIN_WINDOW: Duration = Duration::from_secs(60);

/// Number of samples from which every other one is dropped.
const MAX_SAMPLES: usize = 1024;

/// The weight of an assumption, as a number of documents whose work is known: before the first is known, it decides alone.
const ASSUMED_DOCUMENTS: f64 = 0.5;

/// Assumed work of a document of unknown size, such as a page of a web site.
const ASSUMED_WORK: f64 = 12_000.0;

/// Assumed share of the documents that have changed, of those that are read to find out. New documents come before them.
const ASSUMED_CHANGED: f64 = 0.05;

/// Documents whose work is predicted alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    format: Option<&'static str>,
    /// It may turn out to be unchanged.
    is_uncertain: bool,
    has_size: bool,
}

/// A document as it was planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) kind: Kind,
    /// Size in bytes, or 1 if the source does not tell the size.
    size: f64,
}

impl Planned {
    pub(super) fn new(write: &Write) -> Self {
        let size = write.item.size;
        let kind = Kind {
            format: write.item.format.map(Format::content_type),
            is_uncertain: write.change == Change::Unknown,
            has_size: size > 0,
        };
        Self { kind, size: size.max(1) as f64 }
    }
}

/// The documents of one kind.
#[derive(Debug, Default)]
struct Totals {
    planned: usize,
    planned_size: f64,
    /// Size of those whose work is known.
    known_size: f64,
    known_work: f64,
}

impl Totals {
    /// Work of the documents whose work is not known yet.
    fn predicted(&self, kind: Kind) -> f64 {
        let assumed_size = ASSUMED_DOCUMENTS * self.planned_size / self.planned.max(1) as f64;
        let assumed_work = assumed_size * assumed_ratio(kind);
        let ratio =
            (self.known_work + assumed_work) / (self.known_size + assumed_size).max(f64::MIN_POSITIVE);
        (self.planned_size - self.known_size).max(0.0) * ratio
    }
}

/// Work by size before any document of the kind is known. Each text is embedded with its passage and with its sentence, both under
/// their headings; the other formats contain more than text.
fn assumed_ratio(kind: Kind) -> f64 {
    let share = if kind.is_uncertain { ASSUMED_CHANGED } else { 1.0 };
    share * assumed_ratio_if_written(kind)
}

fn assumed_ratio_if_written(kind: Kind) -> f64 {
    if !kind.has_size {
        return ASSUMED_WORK;
    }
    let is = |format: Format| kind.format == Some(format.content_type());
    if is(Format::Pdf) {
        0.3
    } else if is(Format::Docx) || is(Format::Html) {
        1.0
    } else {
        2.5
    }
}

/// Sums at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    /// Since the start.
    at: Duration,
    work: f64,
    documents: usize,
    waited: Duration,
}

/// Estimates from what has been done how long the rest takes.
#[derive(Debug)]
pub(super) struct Estimator {
    kinds: BTreeMap<Kind, Totals>,
    /// Work of prepared documents.
    known_work: f64,
    now: Sample,
    /// The oldest first.
    samples: VecDeque<Sample>,
    all_documents: usize,
}

impl Estimator {
    pub(super) fn new(planned: impl Iterator<Item = Planned>) -> Self {
        let mut kinds: BTreeMap<Kind, Totals> = BTreeMap::new();
        let mut all_documents = 0;
        for document in planned {
            let totals = kinds.entry(document.kind).or_default();
            totals.planned += 1;
            totals.planned_size += document.size;
            all_documents += 1;
        }
        let samples = VecDeque::from([Sample::default()]);
        Self { kinds, known_work: 0.0, now: Sample::default(), samples, all_documents }
    }

    /// The work of a document is known; 0 if it need not be written.
    pub(super) fn know(&mut self, document: Planned, work: u64) {
        let totals = self.kinds.entry(document.kind).or_default();
        totals.known_size += document.size;
        totals.known_work += work as f64;
        self.known_work += work as f64;
        self.now.documents += 1;
    }

    /// Work was done until now, a time since the start, of which the embedder waited for documents.
    pub(super) fn advance(&mut self, now: Duration, work: u64, waited: Duration) {
        self.now.at = now;
        self.now.work += work as f64;
        self.now.waited += waited;
        self.samples.push_back(self.now);
        if self.samples.len() > MAX_SAMPLES {
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// Share of the work that is done, from 0 to 1.
    pub(super) fn share_done(&self) -> f64 {
        let all = self.now.work + self.work_left();
        if all > 0.0 {
            self.now.work / all
        } else {
            self.now.documents as f64 / self.all_documents.max(1) as f64
        }
    }

    /// Time left; `None` before anything was done.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let overall = self.time_left_since(Sample::default())?;
        // What the machine and the network did for as long as the rest takes says most about the rest.
        let window = overall.max(MIN_WINDOW);
        let Some(start) = self.now.at.checked_sub(window) else { return Some(overall) };
        let after = self.samples.partition_point(|sample| sample.at <= start);
        let since = after.checked_sub(1).and_then(|last| self.samples.get(last));
        since.and_then(|since| self.time_left_since(*since)).or(Some(overall))
    }

    /// Time left at the speeds since a moment.
    fn time_left_since(&self, start: Sample) -> Option<Duration> {
        let elapsed = self.now.at.checked_sub(start.at)?.as_secs_f64();
        let waited = self.now.waited.saturating_sub(start.waited).as_secs_f64().min(elapsed);
        let (work, documents) = (self.now.work - start.work, self.now.documents - start.documents);
        if elapsed <= 0.0 || (work <= 0.0 && documents == 0) {
            return None;
        }
        let documents_left = self.all_documents.saturating_sub(self.now.documents) as f64;
        // A large document can take all of the time.
        let by_documents = |seconds: f64| seconds / documents.max(1) as f64 * documents_left;
        let by_work = |seconds: f64| seconds / work * self.work_left();
        let working = if work > 0.0 { by_work(elapsed - waited) } else { by_documents(elapsed - waited) };
        Duration::try_from_secs_f64(by_documents(waited) + working).ok()
    }

    fn work_left(&self) -> f64 {
        let predicted: f64 = self.kinds.iter().map(|(kind, totals)| totals.predicted(*kind)).sum();
        predicted + (self.known_work - self.now.work).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document of a simulated run.
    #[derive(Clone, Copy)]
    struct Document {
        planned: Planned,
        work: u64,
        /// Time until it is loaded, in seconds.
        load: f64,
    }

    fn kind(format: Option<Format>, is_uncertain: bool) -> Kind {
        Kind { format: format.map(Format::content_type), is_uncertain, has_size: format.is_some() }
    }

    /// Numbers that are distributed like the sizes of pages: half below 3,000 bytes, one in a hundred above 40,000.
    struct Sizes(u64);

    impl Sizes {
        fn share(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn next(&mut self) -> f64 {
            // The sum of twelve shares less six is about normal.
            let normal: f64 = (0..12).map(|_| self.share()).sum::<f64>() - 6.0;
            3000.0 * (1.1 * normal).exp()
        }
    }

    /// Markdown pages with this work for each byte.
    fn pages(count: usize, seed: u64, density: f64) -> Vec<Document> {
        let mut sizes = Sizes(seed);
        let page = |size: f64| Document {
            planned: Planned { kind: kind(Some(Format::Markdown), false), size },
            work: (size * density) as u64 + 100,
            load: 0.0,
        };
        (0..count).map(|_| page(sizes.next())).collect()
    }

    /// Bytes that the simulated machine embeds in a second, by time in seconds.
    type Speed = fn(f64) -> f64;

    const STEADY: Speed = |_| 100_000.0;

    /// Runs the documents one by one, each in batches, and returns (time, estimate of the time left) after each batch, and the
    /// whole time.
    fn run(documents: &[Document], speed: Speed) -> (Vec<(f64, Option<f64>)>, f64) {
        let mut estimator = Estimator::new(documents.iter().map(|document| document.planned));
        let (mut now, mut estimates) = (0.0, Vec::new());
        for document in documents {
            now += document.load;
            estimator.know(document.planned, document.work);
            let (mut left, mut waited) = (document.work, document.load);
            loop {
                let batch = left.min(50_000);
                now += batch as f64 / speed(now);
                left -= batch;
                estimator.advance(Duration::from_secs_f64(now), batch, Duration::from_secs_f64(waited));
                estimates.push((now, estimator.time_left().map(|time| time.as_secs_f64())));
                waited = 0.0;
                if left == 0 {
                    break;
                }
            }
        }
        (estimates, now)
    }

    /// The largest error of the time left, relative to the truth, between these shares of the whole time.
    fn worst_error(documents: &[Document], speed: Speed, from: f64, to: f64) -> f64 {
        let (estimates, whole) = run(documents, speed);
        let during = estimates.into_iter().filter(|(at, _)| (whole * from..whole * to).contains(at));
        let error =
            |(at, left): (f64, Option<f64>)| (left.unwrap_or(f64::INFINITY) / (whole - at) - 1.0).abs();
        during.map(error).fold(0.0, f64::max)
    }

    fn sorted(mut documents: Vec<Document>, descending: bool) -> Vec<Document> {
        documents.sort_by(|a, b| a.planned.size.total_cmp(&b.planned.size));
        if descending {
            documents.reverse();
        }
        documents
    }

    #[test]
    fn after_a_tenth_the_estimate_is_within_a_tenth_whatever_the_order_of_the_sizes() {
        let pages = pages(3000, 1, 2.4);
        for documents in [pages.clone(), sorted(pages.clone(), false), sorted(pages, true)] {
            let error = worst_error(&documents, STEADY, 0.1, 0.9);
            assert!(error < 0.1, "{error}");
        }
    }

    #[test]
    fn a_few_very_large_documents_are_weighed_by_their_size() {
        let mut documents = pages(2000, 2, 2.4);
        for at in [1200, 1900] {
            documents[at].planned.size = 5e6;
            documents[at].work = 12_000_000;
        }
        // Two documents are more than half of the work.
        let error = worst_error(&documents, STEADY, 0.1, 0.95);
        assert!(error < 0.1, "{error}");
    }

    #[test]
    fn formats_that_contain_less_text_are_predicted_by_their_own_ratio() {
        let mut documents = pages(2000, 3, 2.4);
        for document in documents.iter_mut().step_by(10) {
            // Pictures: 2 MB for 100 kB of text.
            let planned = Planned { kind: kind(Some(Format::Pdf), false), size: 2e6 };
            *document = Document { planned, work: 100_000, load: 0.0 };
        }
        let error = worst_error(&documents, STEADY, 0.1, 0.9);
        assert!(error < 0.15, "{error}");
    }

    #[test]
    fn the_pages_of_a_slow_site_are_counted_if_few_of_them_changed() {
        let page = |changed: bool| Document {
            planned: Planned { kind: kind(None, true), size: 1.0 },
            work: if changed { 20_000 } else { 0 },
            load: 0.2,
        };
        let documents: Vec<_> = (0..2000).map(|at| page(at % 100 == 99)).collect();
        let error = worst_error(&documents, STEADY, 0.1, 0.9);
        assert!(error < 0.1, "{error}");
    }

    #[test]
    fn pages_of_a_site_are_estimated_also_before_the_first_of_those_that_may_have_changed() {
        let page = |is_new: bool, changed: bool| Document {
            planned: Planned { kind: kind(None, !is_new), size: 1.0 },
            work: if changed { 20_000 } else { 0 },
            load: 0.2,
        };
        let new = (0..1000).map(|_| page(true, true));
        let others = (0..1000).map(|at| page(false, at % 20 == 19));
        let error = worst_error(&new.chain(others).collect::<Vec<_>>(), STEADY, 0.1, 0.9);
        assert!(error < 0.2, "{error}");
    }

    #[test]
    fn pages_of_unknown_size_take_as_long_as_those_before() {
        let mut documents = pages(2000, 4, 2.4);
        for document in &mut documents {
            document.planned = Planned { kind: kind(None, false), size: 1.0 };
            document.load = 0.05;
        }
        let error = worst_error(&documents, STEADY, 0.1, 0.7);
        assert!(error < 0.2, "{error}");
    }

    #[test]
    fn one_large_document_alone_has_an_estimate() {
        let mut documents = pages(1, 5, 2.4);
        documents[0].planned.size = 5e6;
        documents[0].work = 12_000_000;
        let error = worst_error(&documents, STEADY, 0.01, 0.9);
        assert!(error < 0.05, "{error}");
    }

    #[test]
    fn the_estimate_follows_a_machine_that_becomes_slower() {
        const SLOWER: Speed = |seconds| if seconds < 100.0 { 100_000.0 } else { 40_000.0 };
        let documents = pages(4000, 6, 2.4);
        let whole = run(&documents, SLOWER).1;
        assert!(whole > 400.0, "{whole}");
        let error = worst_error(&documents, SLOWER, 0.7, 0.95);
        assert!(error < 0.15, "{error}");
    }

    #[test]
    fn nothing_done_has_no_estimate_and_everything_done_takes_no_time() {
        let documents = pages(100, 7, 2.4);
        let estimator = Estimator::new(documents.iter().map(|document| document.planned));
        assert_eq!((estimator.time_left(), estimator.share_done()), (None, 0.0));
        let (estimates, _) = run(&documents, STEADY);
        assert_eq!(estimates.last().and_then(|(_, left)| *left), Some(0.0));
    }

    #[test]
    fn a_long_run_keeps_few_samples() {
        let mut estimator = Estimator::new(std::iter::empty());
        for second in 1..100_000 {
            estimator.advance(Duration::from_secs(second), 1, Duration::ZERO);
        }
        assert!(estimator.samples.len() <= MAX_SAMPLES);
        assert_eq!(estimator.samples.front().map(|sample| sample.at), Some(Duration::ZERO));
    }
}
