//! Fits the two constants with which search and reader decide together, `confidence_with_reader` of
//! `chat_core::evidence::calibration`.
//!
//! Of all pairs on a grid, the fit takes the one that answers the fewest near misses, among those that cost no set more than
//! [`MAX_LOSS`] of its answerable questions and [`MAX_GAIN`] of its off-topic ones, compared with the search alone.

use std::collections::BTreeMap;

use chat_core::DecidedBy;
use chat_core::evidence::{EvidenceThresholds, assess};

use crate::measure::decide;
use crate::results::{Found, Results};

/// The share of the answerable questions of a set that the reader may refuse although the search answers them.
const MAX_LOSS: f64 = 0.02;
/// The share of the off-topic questions of a set that may be answered in addition.
const MAX_GAIN: f64 = 0.01;
/// Sets of one kind of document are left out together.
const KINDS: [(&str, &str); 5] = [
    ("library", "help centre"),
    ("shop", "help centre"),
    ("squad", "encyclopaedia"),
    ("xquad-ar", "encyclopaedia"),
    ("xquad-de", "encyclopaedia"),
];

/// One question.
struct Example {
    /// The log-odds of the search; `None` if no passage may be quoted.
    search: Option<f64>,
    /// The largest z of a passage that may be quoted; `None` if none was read.
    z: Option<f64>,
}

/// The questions of one set: answerable, near misses, off-topic.
struct Set {
    name: String,
    kind: String,
    examples: [Vec<Example>; 3],
}

/// `SEARCH_ALLOWANCE` and `READER_MIDPOINT`.
type Gate = (f64, f64);

/// Prints the constants, and the figures of each kind of document with constants that were fitted without it.
pub(crate) fn print(results: &[Results]) {
    let sets: Vec<Set> = results.iter().map(Set::new).collect();
    let all: Vec<&Set> = sets.iter().collect();
    match fit(&all) {
        Some((allowance, midpoint)) => println!("{allowance} {midpoint:.1}\n"),
        None => println!("no constants keep within the limits\n"),
    }
    println!(
        "set, constants fitted without its kind; answered (by the search alone): answerable, near, off-topic"
    );
    let mut kinds: BTreeMap<&str, Vec<&Set>> = BTreeMap::new();
    for set in &sets {
        kinds.entry(&set.kind).or_default().push(set);
    }
    for (kind, left_out) in kinds {
        let others: Vec<&Set> = all.iter().copied().filter(|set| set.kind != kind).collect();
        let Some(gate) = fit(&others) else {
            println!("  {kind}: no constants keep within the limits");
            continue;
        };
        for set in left_out {
            let shares = set.examples.iter().map(|examples| {
                let search = share(examples, None).map_or(String::new(), |share| format!("({share:.3})"));
                share(examples, Some(gate)).map_or("–".to_owned(), |share| format!("{share:.3} {search}"))
            });
            let shares: Vec<String> = shares.collect();
            println!("  {:<24} {:<4} {:>4.1}   {}", set.name, gate.0, gate.1, shares.join("  "));
        }
    }
}

fn fit(sets: &[&Set]) -> Option<Gate> {
    let allowances = (1..=5).map(|step| f64::from(step) * 0.25);
    let gates =
        allowances.flat_map(|allowance| (5..=24).map(move |step| (allowance, -f64::from(step) * 0.1)));
    let keeps_within = |gate: &Gate| {
        sets.iter().all(|set| {
            let change = |kind: usize| {
                let examples = &set.examples[kind];
                share(examples, Some(*gate))
                    .zip(share(examples, None))
                    .map_or(0.0, |(with, alone)| with - alone)
            };
            change(0) >= -MAX_LOSS && change(2) <= MAX_GAIN
        })
    };
    let near = |gate: &Gate| -> f64 {
        let shares: Vec<f64> = sets.iter().filter_map(|set| share(&set.examples[1], Some(*gate))).collect();
        shares.iter().sum::<f64>() / shares.len().max(1) as f64
    };
    gates.filter(keeps_within).min_by(|a, b| near(a).total_cmp(&near(b)))
}

/// The share that is answered, by the search alone without a gate; `None` without questions.
fn share(examples: &[Example], gate: Option<Gate>) -> Option<f64> {
    let is_answered = |example: &Example| {
        example.search.is_some_and(|search| match (gate, example.z) {
            (Some((allowance, midpoint)), Some(z)) => (search + allowance).min(z - midpoint) >= 0.0,
            _ => search >= 0.0,
        })
    };
    crate::measure::share(examples.iter().map(is_answered))
}

impl Set {
    fn new(results: &Results) -> Self {
        let kind =
            KINDS.iter().find(|(set, _)| *set == results.set).map_or(results.set.as_str(), |(_, kind)| kind);
        Self {
            name: results.set.clone(),
            kind: kind.to_owned(),
            examples: [&results.answerable, &results.near, &results.off_topic]
                .map(|found| found.iter().map(Example::new).collect()),
        }
    }
}

impl Example {
    fn new(found: &Found) -> Self {
        let open = EvidenceThresholds { confidence: 0.0, ..found.thresholds() };
        let assessment = assess(&found.question, &found.rows, &open);
        let confidence = assessment.confidence.clamp(1e-9, 1.0 - 1e-9);
        let qualifies = |chunk_id| {
            assessment.passages.iter().any(|passage| passage.chunk_id == chunk_id && passage.qualifies)
        };
        // Some questions are not for the reader.
        let is_read = decide(found, &open).decided_by == DecidedBy::Reader;
        let read = found.reading.iter().filter(|_| is_read).flat_map(|reading| &reading.passages);
        let z = read.filter(|passage| qualifies(passage.chunk_id)).flat_map(|passage| &passage.z);
        Self {
            search: assessment.failed.is_none().then(|| (confidence / (1.0 - confidence)).ln()),
            z: z.flatten().copied().map(f64::from).reduce(f64::max),
        }
    }
}
