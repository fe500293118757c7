//! Fits the coefficients of `chat_core::evidence::calibration`.
//!
//! Logistic regression by iteratively reweighted least squares (Newton's method), with a ridge so small that it only keeps
//! the matrix regular.

use chat_core::evidence::{Gates, Signals, assess};

use crate::results::{Found, Results};

/// Intercept, then one coefficient for each signal.
const TERMS: usize = 6;
const NAMES: [&str; TERMS] = ["INTERCEPT", "SENTENCE", "WINDOW", "MEAN_SIMILARITY", "LEAD", "MISSING_NAMES"];
const RIDGE: f64 = 1e-4;
const STEPS: usize = 50;
const FOLDS: usize = 10;

type Row = [f64; TERMS];

/// One question: its signals, and whether the knowledge base answers it.
struct Example {
    terms: Row,
    passes_floor: bool,
    is_answerable: bool,
}

/// Fits the model to some sets, prints the constants and what they would do, also to other sets. `off_topic_share` is the
/// share of questions about something else that may be answered.
pub(crate) fn print(fit_to: &[Results], _report: &[Results], off_topic_share: f64) {
    let answerable = fit_to.iter().flat_map(|set| examples(&set.answerable, true));
    let examples: Vec<_> =
        answerable.chain(fit_to.iter().flat_map(|set| examples_of(&set.off_topic))).collect();
    let coefficients = fit(examples.iter());
    let threshold =
        threshold(&examples, |example| probability(&coefficients, &example.terms), off_topic_share);
    println!("pub const DEFAULT_CONFIDENCE: f64 = {threshold:.2};\n");
    for (name, coefficient) in NAMES.iter().zip(coefficients) {
        println!("const {name}: f64 = {coefficient:.2};");
    }
    println!("\nanswered at a share of off-topic questions of …");
    let fitted = |example: &Example| probability(&coefficients, &example.terms);
    let held_out = held_out_probabilities(&examples);
    for share in [0.005, 0.01, 0.015, 0.02, 0.03, 0.05] {
        let in_sample = answered_at(&examples, &examples.iter().map(fitted).collect::<Vec<_>>(), share);
        println!(
            "  {:>4.1} %  {in_sample:.4} fitted on all, {:.4} in {FOLDS}-fold cross-validation",
            share * 100.0,
            answered_at(&examples, &held_out, share)
        );
    }
}

fn examples_of(found: &[Found]) -> Vec<Example> {
    examples(found, false)
}

fn examples(found: &[Found], is_answerable: bool) -> Vec<Example> {
    let floor = Gates { confidence: 0.0, ..Gates::default() };
    let example = |found: &Found| {
        let assessment = assess(&found.question, &found.rows, &floor);
        let Signals { sentence, window, mean_similarity, lead, missing_names } = assessment.signals?;
        let terms = [1.0, sentence, window, mean_similarity, lead, missing_names];
        Some(Example { terms, passes_floor: assessment.failed.is_none(), is_answerable })
    };
    found.iter().filter_map(example).collect()
}

fn fit<'a>(examples: impl Iterator<Item = &'a Example> + Clone) -> Row {
    let mut coefficients = [0.0; TERMS];
    for _ in 0..STEPS {
        let mut hessian = [[0.0; TERMS]; TERMS];
        let mut gradient = [0.0; TERMS];
        for example in examples.clone() {
            let p = probability(&coefficients, &example.terms);
            let error = f64::from(u8::from(example.is_answerable)) - p;
            for (i, a) in example.terms.iter().enumerate() {
                gradient[i] += error * a;
                for (j, b) in example.terms.iter().enumerate() {
                    hessian[i][j] += p * (1.0 - p) * a * b;
                }
            }
        }
        for i in 0..TERMS {
            hessian[i][i] += RIDGE;
            gradient[i] -= RIDGE * coefficients[i];
        }
        let step = solve(hessian, gradient);
        for (coefficient, step) in coefficients.iter_mut().zip(step) {
            *coefficient += step;
        }
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    coefficients
}

fn probability(coefficients: &Row, terms: &Row) -> f64 {
    let sum: f64 = coefficients.iter().zip(terms).map(|(coefficient, term)| coefficient * term).sum();
    1.0 / (1.0 + (-sum).exp())
}

/// Gaussian elimination with pivots of the largest magnitude.
fn solve(mut matrix: [Row; TERMS], mut right: Row) -> Row {
    for column in 0..TERMS {
        let magnitude = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..TERMS).max_by(|a, b| magnitude(a).total_cmp(&magnitude(b))).unwrap_or(column);
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..TERMS {
            let factor = matrix[row][column] / matrix[column][column];
            let above = matrix[column];
            for (cell, above) in matrix[row].iter_mut().zip(above) {
                *cell -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..TERMS).rev() {
        let known: f64 = (row + 1..TERMS).map(|at| matrix[row][at] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

/// The probability of each example by a model that was fitted without it.
fn held_out_probabilities(examples: &[Example]) -> Vec<f64> {
    let without = |fold| {
        examples.iter().enumerate().filter(move |(at, _)| at % FOLDS != fold).map(|(_, example)| example)
    };
    let models: Vec<Row> = (0..FOLDS).map(|fold| fit(without(fold))).collect();
    examples
        .iter()
        .enumerate()
        .map(|(at, example)| probability(&models[at % FOLDS], &example.terms))
        .collect()
}

/// The smallest confidence, in hundredths, at which no more than this share of the off-topic questions is answered.
fn threshold(examples: &[Example], confidence: impl Fn(&Example) -> f64, off_topic_share: f64) -> f64 {
    let off_topic: Vec<_> = examples.iter().filter(|example| !example.is_answerable).collect();
    let answered = |threshold: f64| {
        off_topic.iter().filter(|example| example.passes_floor && confidence(example) >= threshold).count()
    };
    let allowed = off_topic_share * off_topic.len() as f64;
    (0..=100)
        .map(|percent| f64::from(percent) / 100.0)
        .find(|at| answered(*at) as f64 <= allowed)
        .unwrap_or(1.0)
}

/// The share of answerable questions answered where this share of the off-topic ones is.
fn answered_at(examples: &[Example], confidences: &[f64], off_topic_share: f64) -> f64 {
    let of = |is_answerable| {
        let chosen = examples
            .iter()
            .zip(confidences)
            .filter(move |(example, _)| example.is_answerable == is_answerable);
        chosen
            .map(|(example, confidence)| if example.passes_floor { *confidence } else { 0.0 })
            .collect::<Vec<f64>>()
    };
    let (answerable, mut off_topic) = (of(true), of(false));
    off_topic.sort_by(|a, b| b.total_cmp(a));
    let allowed = (off_topic_share * off_topic.len() as f64) as usize;
    let least = off_topic.get(allowed).copied().unwrap_or(0.0);
    answerable.iter().filter(|confidence| **confidence > least).count() as f64
        / answerable.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_equations_are_solved() {
        let matrix = [
            [0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 4.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 3.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 5.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        ];
        let solution = solve(matrix, [4.0, 3.0, 6.0, 7.0, 10.0, 3.0]);
        for (found, expected) in solution.iter().zip([1.0, 2.0, 1.0, 2.0, 2.0, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "{solution:?}");
        }
    }

    #[test]
    fn the_model_that_made_the_data_is_found_again() {
        let truth = [-1.0, 2.0, -1.0, 0.5, -0.5, 1.0];
        // Each point counts as often for yes and no as the model says, in thousandths.
        let mut examples = Vec::new();
        for point in 0..64 {
            let bit = |at: u32| f64::from(point >> at & 1);
            let terms = [1.0, bit(0), bit(1), bit(2), bit(3) + 2.0 * bit(4), bit(5)];
            let yes = (probability(&truth, &terms) * 1000.0).round() as usize;
            examples.extend((0..1000).map(|n| Example { terms, passes_floor: true, is_answerable: n < yes }));
        }
        let found = fit(examples.iter());
        for (found, truth) in found.iter().zip(truth) {
            assert!((found - truth).abs() < 0.01, "{found} for {truth}");
        }
    }
}
