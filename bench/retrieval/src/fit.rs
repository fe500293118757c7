//! Fits the coefficients of `chat_core::evidence::calibration`.
//!
//! Logistic regression by iteratively reweighted least squares (Newton's method). Without a ridge, a set that can be separated
//! perfectly would let the coefficients grow without bound. Each set weighs the same, and within a set the answerable questions
//! weigh as much as the others, so that a large set does not outweigh a small one.

use chat_core::evidence::{Background, EvidenceThresholds, Signals, assess};

use crate::results::{Found, Results};

/// Intercept, then one coefficient for each signal.
const TERMS: usize = 4;
const NAMES: [&str; TERMS] = ["INTERCEPT", "SENTENCE", "SCORE", "MEAN_SIMILARITY"];
/// Applied to every coefficient except the intercept; small compared with the weight of a set.
const RIDGE: f64 = 1.0;
const STEPS: usize = 50;
/// Each set weighs as much as this number of questions.
const WEIGHT_OF_SET: f64 = 1000.0;

type Row = [f64; TERMS];

/// One question: its signals, and whether the knowledge base answers it.
struct Example {
    terms: Row,
    weight: f64,
    passes_floor: bool,
    is_answerable: bool,
}

/// Fits the model to some sets and prints the constants. Then prints, for each set, the evidence of its off-topic questions and
/// what would be answered; for a set that was fitted to, with a model that was fitted without it.
pub(crate) fn print(fit_to: &[Results], report: &[Results]) {
    let sets: Vec<_> = fit_to.iter().map(examples).collect();
    let coefficients = fit(sets.iter().flatten());
    let names: Vec<_> = fit_to.iter().map(|set| format!("{:?}", set.set)).collect();
    println!("pub const FITTED_ON: [&str; {}] = [{}];\n", names.len(), names.join(", "));
    for (name, coefficient) in NAMES.iter().zip(coefficients) {
        println!("const {name}: f64 = {coefficient:.2};");
    }
    println!(
        "\nset, fitted to, off-topic evidence: mean and deviation; answered by its background: answerable, off-topic"
    );
    for (at, set) in fit_to.iter().enumerate() {
        let others = sets.iter().enumerate().filter(|(other, _)| *other != at);
        let without = if sets.len() > 1 { fit(others.flat_map(|(_, set)| set)) } else { coefficients };
        println!("{}", line(&set.set, "without it", &sets[at], &without));
    }
    for set in report {
        println!("{}", line(&set.set, "no", &examples(set), &coefficients));
    }
}

fn line(set: &str, fitted: &str, examples: &[Example], coefficients: &Row) -> String {
    let of = |is_answerable| examples.iter().filter(move |example| example.is_answerable == is_answerable);
    let evidence = |example: &Example| log_odds(coefficients, &example.terms);
    let off_topic: Vec<f64> = of(false).map(evidence).collect();
    let count = off_topic.len().max(1) as f64;
    let mean = off_topic.iter().sum::<f64>() / count;
    let variance = off_topic.iter().map(|evidence| (evidence - mean).powi(2)).sum::<f64>() / count;
    let background = Background { mean, deviation: variance.sqrt() };
    let is_answered =
        |example: &&Example| example.passes_floor && background.confidence(evidence(example)) >= 0.5;
    let share = |is_answerable| {
        of(is_answerable).filter(is_answered).count() as f64 / of(is_answerable).count().max(1) as f64
    };
    format!(
        "  {set:<14} {fitted:<11} {mean:>6.2} ± {:.2}   {:.3}  {:.3}",
        background.deviation,
        share(true),
        share(false)
    )
}

fn examples(set: &Results) -> Vec<Example> {
    let mut examples = Vec::new();
    for (found, is_answerable) in [(&set.answerable, true), (&set.off_topic, false)] {
        let of_kind: Vec<_> = found.iter().filter_map(|found| example(found, is_answerable)).collect();
        let weight = WEIGHT_OF_SET / 2.0 / of_kind.len().max(1) as f64;
        examples.extend(of_kind.into_iter().map(|example| Example { weight, ..example }));
    }
    examples
}

/// `None` for a question in a script that the model cannot read, which evidence does not weigh.
fn example(found: &Found, is_answerable: bool) -> Option<Example> {
    let floor = EvidenceThresholds { confidence: 0.0, ..EvidenceThresholds::default() };
    let assessment = assess(&found.question, &found.rows, &floor);
    assessment.evidence?;
    let Signals { sentence, score, mean_similarity } = assessment.signals?;
    let terms = [1.0, sentence, score, mean_similarity];
    Some(Example { terms, weight: 1.0, passes_floor: assessment.failed.is_none(), is_answerable })
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
                gradient[i] += example.weight * error * a;
                for (j, b) in example.terms.iter().enumerate() {
                    hessian[i][j] += example.weight * p * (1.0 - p) * a * b;
                }
            }
        }
        for i in 1..TERMS {
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

fn log_odds(coefficients: &Row, terms: &Row) -> f64 {
    coefficients.iter().zip(terms).map(|(coefficient, term)| coefficient * term).sum()
}

fn probability(coefficients: &Row, terms: &Row) -> f64 {
    1.0 / (1.0 + (-log_odds(coefficients, terms)).exp())
}

/// Gaussian elimination with partial pivoting.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_equations_are_solved() {
        let matrix = [[0.0, 2.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 4.0, 1.0], [0.0, 0.0, 1.0, 3.0]];
        let solution = solve(matrix, [4.0, 3.0, 6.0, 7.0]);
        for (found, expected) in solution.iter().zip([1.0, 2.0, 1.0, 2.0]) {
            assert!((found - expected).abs() < 1e-12, "{solution:?}");
        }
    }

    #[test]
    fn fitting_recovers_the_model_that_generated_the_data() {
        let truth = [-1.0, 2.0, -1.0, 0.5];
        // Each point counts for yes and no in the proportion of the model, with weights that make the ridge negligible.
        let mut examples = Vec::new();
        for point in 0..16 {
            let bit = |at: u32| f64::from(point >> at & 1);
            let terms = [1.0, bit(0), bit(1), bit(2) + 2.0 * bit(3)];
            let yes = probability(&truth, &terms);
            for (weight, is_answerable) in [(yes, true), (1.0 - yes, false)] {
                let weight = weight * 100.0 * WEIGHT_OF_SET;
                examples.push(Example { terms, weight, passes_floor: true, is_answerable });
            }
        }
        let found = fit(examples.iter());
        for (found, truth) in found.iter().zip(truth) {
            assert!((found - truth).abs() < 0.01, "{found} for {truth}");
        }
    }
}
