//! Fits the score of the verifier to the first half of the claims of WiCE.

use std::path::Path;

use anyhow::{Result, ensure};

use super::wice::{Half, signals};

/// Steps of Newton's method; it converges in less than ten.
const STEPS: usize = 50;
/// What keeps the coefficients small when a signal separates the claims nearly perfectly.
const RIDGE: f64 = 1.0;
const NAMES: [&str; 4] = ["INTERCEPT", "COVER", "PASSAGE_COVER", "SHARE"];

/// Prints the constants for `chat-core/src/generate/verify/calibration.rs`.
pub(crate) fn fit(file: &Path) -> Result<()> {
    let rows: Vec<_> = signals(file)?.into_iter().filter(|row| row.half == Half::Fitted).collect();
    let supported = rows.iter().filter(|row| row.is_supported).count();
    ensure!(supported > 0 && supported < rows.len(), "{} has no claims of both kinds", file.display());
    // Both kinds weigh the same, so that 0.5 is the score where they are equally likely.
    let weight = |is_supported: bool| {
        let count = if is_supported { supported } else { rows.len() - supported };
        rows.len() as f64 / (2.0 * count as f64)
    };
    let mut coefficients = [0.0; 4];
    for _ in 0..STEPS {
        let mut gradient = [0.0; 4];
        let mut hessian = [[0.0; 4]; 4];
        for at in 1..4 {
            gradient[at] = -RIDGE * coefficients[at];
            hessian[at][at] = RIDGE;
        }
        for row in &rows {
            let inputs = [1.0, row.signals[0], row.signals[1], row.signals[2]];
            let log_odds: f64 =
                inputs.iter().zip(&coefficients).map(|(input, coefficient)| input * coefficient).sum();
            let probability = 1.0 / (1.0 + (-log_odds).exp());
            let weight = weight(row.is_supported);
            for i in 0..4 {
                gradient[i] += weight * (f64::from(u8::from(row.is_supported)) - probability) * inputs[i];
                for j in 0..4 {
                    hessian[i][j] += weight * probability * (1.0 - probability) * inputs[i] * inputs[j];
                }
            }
        }
        let step = solve(hessian, gradient);
        for at in 0..4 {
            coefficients[at] += step[at];
        }
    }
    println!("{} claims, {supported} of them supported", rows.len());
    for (name, coefficient) in NAMES.iter().zip(coefficients) {
        println!("const {name}: f64 = {coefficient:.2};");
    }
    Ok(())
}

/// Solves a system of linear equations with a positive definite matrix.
fn solve(mut matrix: [[f64; 4]; 4], mut right: [f64; 4]) -> [f64; 4] {
    for pivot in 0..4 {
        for row in pivot + 1..4 {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            let upper = matrix[pivot];
            for (cell, above) in matrix[row].iter_mut().zip(upper) {
                *cell -= factor * above;
            }
            right[row] -= factor * right[pivot];
        }
    }
    for pivot in (0..4).rev() {
        for column in pivot + 1..4 {
            right[pivot] -= matrix[pivot][column] * right[column];
        }
        right[pivot] /= matrix[pivot][pivot];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_system_is_solved() {
        let matrix = [[4.0, 1.0, 0.0, 0.0], [1.0, 3.0, 1.0, 0.0], [0.0, 1.0, 2.0, 0.5], [0.0, 0.0, 0.5, 1.0]];
        let solution = solve(matrix, [5.0, 5.0, 3.5, 1.5]);
        assert!(solution.iter().all(|value| (value - 1.0).abs() < 1e-12), "{solution:?}");
    }
}
