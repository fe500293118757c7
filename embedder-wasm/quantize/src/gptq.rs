//! Rounds the weights of a linear layer with GPTQ (Frantar et al. 2022): one column after the other. As far as the inputs
//! are correlated, the remaining columns compensate the rounding error of each column.

use anyhow::Result;

use crate::linear_algebra::{Square, dot, subtract_multiple, upper_factor_of_inverse};

/// The statistics of a layer's inputs that rounding its columns needs.
pub(crate) struct Columns {
    /// Columns in the order of rounding: descending variance, so that the largest errors can be compensated.
    order: Vec<usize>,
    /// Upper factor of the inverse of the damped covariance, its rows and columns in that order.
    factor: Square,
}

impl Columns {
    /// `covariance` is that of the layer's inputs; only its upper triangle is read. `damping` times the mean variance is
    /// added to each variance.
    ///
    /// # Errors
    /// If it is not positive definite, which happens only for NaN and constant inputs.
    pub(crate) fn new(covariance: &Square, damping: f64) -> Result<Self> {
        let n = covariance.order;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| covariance.at(b, b).total_cmp(&covariance.at(a, a)));
        let damping = damping * (0..n).map(|i| covariance.at(i, i)).sum::<f64>() / n as f64;
        let damped = Square::from_fn(n, |r, c| {
            let (row, column) = (order[r].min(order[c]), order[r].max(order[c]));
            covariance.at(row, column) + if r == c { damping } else { 0.0 }
        });
        Ok(Self { factor: upper_factor_of_inverse(&damped)?, order })
    }

    /// Rounds a row of weights to integers within ±`limit` whose products with the inputs are closest to those of
    /// `weights`.
    pub(crate) fn round(&self, weights: &[f64], limit: f64) -> Vec<i32> {
        let mut row = self.ordered(weights);
        let mut integers = vec![0; row.len()];
        for (k, &column) in self.order.iter().enumerate() {
            let rounded = row[k].round_ties_even().clamp(-limit, limit);
            integers[column] = rounded as i32;
            let factor = &self.factor.row(k)[k..];
            let ratio = (row[k] - rounded) / factor[0];
            subtract_multiple(&mut row[k + 1..], ratio, &factor[1..]);
        }
        integers
    }

    /// The change of a row of weights that compensates an error of its output by least squares. `covariances` are those
    /// of the error with the inputs.
    pub(crate) fn compensation(&self, covariances: &[f64]) -> Vec<f64> {
        let error = self.ordered(covariances);
        let mut ordered = vec![0.0; error.len()];
        for k in 0..error.len() {
            let factor = &self.factor.row(k)[k..];
            let ratio = dot(&error[k..], factor);
            subtract_multiple(&mut ordered[k..], -ratio, factor);
        }
        let mut change = vec![0.0; error.len()];
        for (&column, value) in self.order.iter().zip(ordered) {
            change[column] = value;
        }
        change
    }

    fn ordered(&self, values: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&column| values[column]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Random;

    /// Inputs with a large common and a small individual part.
    fn correlated(n: usize) -> Square {
        Square::from_fn(n, |r, c| 1.0 + if r == c { 0.05 * (1 + r % 3) as f64 } else { 0.0 })
    }

    /// The mean square of the output error that an error of the weights causes.
    fn output_error(covariance: &Square, error: &[f64]) -> f64 {
        let n = covariance.order;
        (0..n).map(|r| error[r] * (0..n).map(|c| covariance.at(r, c) * error[c]).sum::<f64>()).sum()
    }

    #[test]
    fn correlated_inputs_get_a_smaller_error_than_with_plain_rounding() {
        let covariance = correlated(64);
        let columns = Columns::new(&covariance, 0.01).unwrap();
        let mut random = Random::new(1);
        let [mut gptq, mut plain] = [0.0; 2];
        for _ in 0..8 {
            let weights: Vec<f64> = (0..64).map(|_| 10.0 * random.centred()).collect();
            let integers = columns.round(&weights, 127.0);
            let error = |rounded: &dyn Fn(usize) -> f64| {
                let error: Vec<f64> = (0..64).map(|c| weights[c] - rounded(c)).collect();
                output_error(&covariance, &error)
            };
            gptq += error(&|c| f64::from(integers[c]));
            plain += error(&|c| weights[c].round());
        }
        assert!(gptq < plain / 3.0, "{gptq}, plain {plain}");
    }

    #[test]
    fn uncorrelated_inputs_get_plain_rounding_within_the_limit() {
        let columns = Columns::new(&Square::from_fn(5, |r, c| f64::from(r == c)), 0.03).unwrap();
        assert_eq!(columns.round(&[0.52, -1.48, 6.0, 0.24, 15.8], 16.0), [1, -1, 6, 0, 16]);
        assert_eq!(columns.round(&[0.52, -1.48, 6.0, 0.24, -15.8], 5.0), [1, -1, 5, 0, -5]);
    }

    #[test]
    fn the_weights_compensate_an_error_of_the_output() {
        // The output lacks 0.5 × input 1, which has the smallest variance and so is rounded last.
        let mut covariance = correlated(3);
        covariance.values[4] = 1.01;
        let columns = Columns::new(&covariance, 1e-6).unwrap();
        let covariances: Vec<f64> = (0..3).map(|c| 0.5 * covariance.at(1, c)).collect();
        for (change, expected) in columns.compensation(&covariances).iter().zip([0.0, 0.5, 0.0]) {
            assert!((change - expected).abs() < 1e-3, "{change}, expected {expected}");
        }
    }
}
