//! Rounds the weights of a linear layer with GPTQ (Frantar et al. 2022): one column after the other. As far as the inputs
//! are correlated, the remaining columns compensate the rounding error of each column.
//!
//! The covariance of the inputs is that of a factor model: a matrix of low rank plus a diagonal. So rounding a weight takes
//! time in proportion to the rank, not to the number of columns.

/// The statistics of a layer's inputs that rounding its columns needs.
pub(crate) struct Columns {
    /// In the order of rounding: descending variance, so that the largest errors can be compensated.
    order: Vec<usize>,
    factors: usize,
    /// One row per column in that order: the covariance of two inputs is the product of their loadings.
    loadings: Vec<f64>,
    /// One row per column in that order: the change of its best weight per unit of the error in each factor.
    gains: Vec<f64>,
}

impl Columns {
    /// `loadings` has one row per input, and `specific` is the part of its variance that the loadings do not explain.
    /// `damping` times the mean variance is added to each variance.
    pub(crate) fn new(loadings: &[f64], specific: &[f64], damping: f64) -> Self {
        let factors = loadings.len() / specific.len();
        assert!(factors.is_multiple_of(LANES), "{factors} factors");
        let of = |input: usize| &loadings[input * factors..][..factors];
        let variances: Vec<f64> =
            specific.iter().enumerate().map(|(input, own)| own + dot(of(input), of(input))).collect();
        let damping = damping * variances.iter().sum::<f64>() / variances.len() as f64;
        let mut order: Vec<usize> = (0..variances.len()).collect();
        order.sort_by(|&a, &b| variances[b].total_cmp(&variances[a]));
        // With the loadings L and the specific variances D of the columns that are not rounded yet, (1 + LᵀD⁻¹L)⁻¹. The
        // formula of Sherman and Morrison adds a column.
        let mut inverse = vec![0.0; factors * factors];
        inverse.iter_mut().step_by(factors + 1).for_each(|diagonal| *diagonal = 1.0);
        let mut gains = vec![0.0; loadings.len()];
        for (&input, gain) in order.iter().zip(gains.chunks_exact_mut(factors)).rev() {
            let rows = inverse.chunks_exact(factors);
            gain.iter_mut().zip(rows).for_each(|(gain, row)| *gain = dot(row, of(input)));
            let total = specific[input] + damping + dot(gain, of(input));
            let along = gain.to_vec();
            gain.iter_mut().for_each(|gain| *gain /= total);
            for (row, along) in inverse.chunks_exact_mut(factors).zip(along) {
                add_multiple(row, -along, gain);
            }
        }
        let loadings = order.iter().flat_map(|&input| of(input)).copied().collect();
        Self { order, factors, loadings, gains }
    }

    /// Rounds a row of weights to integers within ±`limit` whose products with the inputs are closest to those of
    /// `weights`, which are in steps.
    pub(crate) fn round(&self, weights: &[f64], limit: f64) -> Vec<i32> {
        let mut error = vec![0.0; self.factors];
        let mut integers = vec![0; weights.len()];
        let rows = self.loadings.chunks_exact(self.factors).zip(self.gains.chunks_exact(self.factors));
        for (&column, (loadings, gains)) in self.order.iter().zip(rows) {
            let rounded = (weights[column] + dot(&error, gains)).round_ties_even().clamp(-limit, limit);
            integers[column] = rounded as i32;
            add_multiple(&mut error, weights[column] - rounded, loadings);
        }
        integers
    }
}

fn add_multiple(sums: &mut [f64], factor: f64, values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// Interleaved parts of a sum, which can be computed in parallel.
const LANES: usize = 8;

/// The sum of the products. The length is a multiple of [`LANES`].
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (left, right) in left.as_chunks::<LANES>().0.iter().zip(right.as_chunks::<LANES>().0) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loadings of inputs that share the last factor.
    fn common(inputs: usize, loading: f64) -> Vec<f64> {
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, loading].repeat(inputs)
    }

    /// Weights without a pattern, between -10 and 10.
    fn weights(count: usize) -> Vec<f64> {
        (0..count).map(|i| 10.0 * (i as f64 * i as f64 * 0.618).sin()).collect()
    }

    #[test]
    fn correlated_inputs_get_a_smaller_error_than_with_plain_rounding() {
        let specific: Vec<f64> = (0..64).map(|i| 0.05 * (1 + i % 3) as f64).collect();
        let columns = Columns::new(&common(64, 1.0), &specific, 0.01);
        // The mean square of the output error that an error of the weights causes.
        let output_error = |error: &dyn Fn(usize) -> f64| {
            let shared: f64 = (0..64).map(error).sum();
            shared * shared + (0..64).map(|i| specific[i] * error(i) * error(i)).sum::<f64>()
        };
        let [mut gptq, mut plain] = [0.0; 2];
        for weights in weights(512).chunks_exact(64) {
            let integers = columns.round(weights, 127.0);
            gptq += output_error(&|i| weights[i] - f64::from(integers[i]));
            plain += output_error(&|i| weights[i] - weights[i].round());
        }
        assert!(gptq < plain / 3.0, "{gptq}, plain {plain}");
    }

    #[test]
    fn the_last_column_takes_the_error_of_its_twin() {
        // Twice the same input: only the sum of both weights matters.
        let columns = Columns::new(&common(2, 1.0), &[1e-9; 2], 0.0);
        assert_eq!(columns.round(&[0.4, 0.4], 127.0), [0, 1]);
        assert_eq!(columns.round(&[1.4, 0.4], 127.0), [1, 1]);
    }

    #[test]
    fn uncorrelated_inputs_get_plain_rounding_within_the_limit() {
        let columns = Columns::new(&common(5, 0.0), &[1.0; 5], 0.03);
        assert_eq!(columns.round(&[0.52, -1.48, 6.0, 0.24, 15.8], 16.0), [1, -1, 6, 0, 16]);
        assert_eq!(columns.round(&[0.52, -1.48, 6.0, 0.24, -15.8], 5.0), [1, -1, 5, 0, -5]);
    }

    #[test]
    fn the_dot_product_adds_every_term_once() {
        let numbers: Vec<f64> = (1..=24).map(f64::from).collect();
        assert_eq!(dot(&[1.0; 24], &numbers), 300.0);
    }
}
