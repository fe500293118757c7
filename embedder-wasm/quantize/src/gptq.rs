//! Rounding of a linear layer's weights (GPTQ, Frantar et al. 2022): the columns one after the other, each column's
//! rounding error made good, as far as the inputs are correlated, by the columns still to come.

use anyhow::Result;

use crate::linear_algebra::{Square, dot, subtract_multiple, upper_factor_of_inverse};

/// What the inputs of a layer say about its columns.
pub(crate) struct Columns {
    /// Columns in the order of rounding: descending variance, so that the weightiest errors can be made good.
    order: Vec<usize>,
    /// Upper factor of the inverse of the damped covariance, its rows and columns in that order.
    factor: Square,
}

impl Columns {
    /// `covariance` of the layer's inputs (its upper triangle is read); `damping` times the mean variance is added to
    /// each variance.
    ///
    /// # Errors
    /// If it is not positive definite, which no inputs other than NaN and constants give.
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

    /// The integers, none beyond ±`limit`, that act on the inputs most like `weights`, one row at a time.
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

    /// The change of a row of weights that makes good, by least squares, an error of its output; `covariances` are
    /// those of that error with the inputs.
    pub(crate) fn repair(&self, covariances: &[f64]) -> Vec<f64> {
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

    /// Inputs of one common part and a little of their own.
    fn correlated(n: usize) -> Square {
        Square::from_fn(n, |r, c| 1.0 + if r == c { 0.05 * (1 + r % 3) as f64 } else { 0.0 })
    }

    /// The mean square of what the error of the weights does to the output.
    fn output_error(covariance: &Square, error: &[f64]) -> f64 {
        let n = covariance.order;
        (0..n).map(|r| error[r] * (0..n).map(|c| covariance.at(r, c) * error[c]).sum::<f64>()).sum()
    }

    #[test]
    fn correlated_inputs_are_served_better_than_by_plain_rounding() {
        let covariance = correlated(64);
        let columns = Columns::new(&covariance, 0.01).unwrap();
        let mut random = Random::new(1);
        let [mut ours, mut plain] = [0.0; 2];
        for _ in 0..8 {
            let weights: Vec<f64> = (0..64).map(|_| 10.0 * random.centred()).collect();
            let integers = columns.round(&weights, 127.0);
            let error = |rounded: &dyn Fn(usize) -> f64| {
                let error: Vec<f64> = (0..64).map(|c| weights[c] - rounded(c)).collect();
                output_error(&covariance, &error)
            };
            ours += error(&|c| f64::from(integers[c]));
            plain += error(&|c| weights[c].round());
        }
        assert!(ours < plain / 3.0, "{ours} against {plain}");
    }

    #[test]
    fn inputs_without_correlation_get_plain_rounding_within_the_limit() {
        let columns = Columns::new(&Square::from_fn(5, |r, c| f64::from(r == c)), 0.03).unwrap();
        assert_eq!(columns.round(&[0.52, -1.48, 6.0, 0.24, 15.8], 16.0), [1, -1, 6, 0, 16]);
        assert_eq!(columns.round(&[0.52, -1.48, 6.0, 0.24, -15.8], 5.0), [1, -1, 5, 0, -5]);
    }

    #[test]
    fn an_error_of_the_output_is_made_good_by_the_weights() {
        // The output lacks 0.5 x the input 1, which has the smallest variance and so comes last.
        let mut covariance = correlated(3);
        covariance.values[4] = 1.01;
        let columns = Columns::new(&covariance, 1e-6).unwrap();
        let covariances: Vec<f64> = (0..3).map(|c| 0.5 * covariance.at(1, c)).collect();
        for (change, expected) in columns.repair(&covariances).iter().zip([0.0, 0.5, 0.0]) {
            assert!((change - expected).abs() < 1e-3, "{change}, expected {expected}");
        }
    }
}
