//! Square float64 matrices, and the factor that GPTQ needs.

use anyhow::{Result, bail};
use rayon::prelude::*;

/// Row-major, `order` rows of `order` values.
#[derive(Clone, Debug)]
pub(crate) struct Square {
    pub(crate) order: usize,
    pub(crate) values: Vec<f64>,
}

impl Square {
    pub(crate) fn from_fn(order: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let values =
            (0..order).flat_map(|r| (0..order).map(move |c| (r, c))).map(|(r, c)| value(r, c)).collect();
        Self { order, values }
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.order + column]
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.order..][..self.order]
    }
}

/// The upper triangular `U` with positive diagonal and `UᵀU` = `matrix`⁻¹.
///
/// # Errors
/// If `matrix` is not positive definite. It must be symmetric; only its upper triangle is read.
pub(crate) fn upper_factor_of_inverse(matrix: &Square) -> Result<Square> {
    let n = matrix.order;
    // With J reversing an order: JMJ = RᵀR gives M = VVᵀ for V = JRᵀJ, upper triangular; so U = V⁻¹.
    let reversed = cholesky(&Square::from_fn(n, |r, c| matrix.at(n - 1 - c, n - 1 - r)))?;
    let v = Square::from_fn(n, |r, c| reversed.at(n - 1 - c, n - 1 - r));
    Ok(inverse_of_upper(&v))
}

/// The upper triangular `R` with `RᵀR` = `matrix`, whose upper triangle is read; 0 below the diagonal.
fn cholesky(matrix: &Square) -> Result<Square> {
    let n = matrix.order;
    let mut factor = matrix.clone();
    for i in 0..n {
        let (done, rest) = factor.values.split_at_mut((i + 1) * n);
        let row = &mut done[i * n..];
        let pivot = row[i];
        if !(pivot > 0.0 && pivot.is_finite()) {
            bail!("a matrix is not positive definite: pivot {i} of {n} is {pivot}");
        }
        let root = pivot.sqrt();
        row[..i].fill(0.0);
        row[i..].iter_mut().for_each(|value| *value /= root);
        rest.par_chunks_exact_mut(n).with_min_len(32).enumerate().for_each(|(k, other)| {
            let k = i + 1 + k;
            let ratio = row[k];
            subtract_multiple(&mut other[k..], ratio, &row[k..]);
        });
    }
    Ok(factor)
}

fn inverse_of_upper(upper: &Square) -> Square {
    let n = upper.order;
    let mut inverse = Square { order: n, values: vec![0.0; n * n] };
    inverse.values.par_chunks_exact_mut(n).enumerate().for_each(|(i, row)| {
        row[i] = 1.0;
        for k in i..n {
            row[k] /= upper.at(k, k);
            let ratio = row[k];
            subtract_multiple(&mut row[k + 1..], ratio, &upper.row(k)[k + 1..]);
        }
    });
    inverse
}

/// `values` -= `ratio` × `others`.
pub(crate) fn subtract_multiple(values: &mut [f64], ratio: f64, others: &[f64]) {
    for (value, other) in values.iter_mut().zip(others) {
        *value -= ratio * other;
    }
}

/// The sum of the products, in four interleaved parts, which can be computed in parallel.
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (left, left_rest) = left.as_chunks::<4>();
    let (right, right_rest) = right.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_of_a_known_matrix_is_exact() {
        // [[4, 2], [2, 3]]⁻¹ = [[3, -2], [-2, 4]] / 8, whose upper Cholesky factor has the diagonal √(3/8), √(1/3).
        let u = upper_factor_of_inverse(&Square { order: 2, values: vec![4.0, 2.0, 2.0, 3.0] }).unwrap();
        let expected = [(0.375f64).sqrt(), -0.25 / (0.375f64).sqrt(), 0.0, (1.0f64 / 3.0).sqrt()];
        for (actual, expected) in u.values.iter().zip(expected) {
            assert!((actual - expected).abs() < 1e-15, "{:?}", u.values);
        }
    }

    #[test]
    fn the_factor_is_that_of_the_inverse() {
        let n = 50;
        let matrix = Square::from_fn(n, |r, c| 0.9f64.powi((r as i32 - c as i32).abs()) + f64::from(r == c));
        let u = upper_factor_of_inverse(&matrix).unwrap();
        let inverse = Square::from_fn(n, |r, c| (0..n).map(|k| u.at(k, r) * u.at(k, c)).sum());
        for r in 0..n {
            for c in 0..n {
                let value: f64 = (0..n).map(|k| inverse.at(r, k) * matrix.at(k, c)).sum();
                assert!((value - f64::from(r == c)).abs() < 1e-12, "{r}, {c}: {value}");
                assert!(c >= r || u.at(r, c) == 0.0);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_rejected() {
        let error =
            upper_factor_of_inverse(&Square { order: 2, values: vec![1.0, 2.0, 2.0, 1.0] }).unwrap_err();
        assert!(error.to_string().contains("not positive definite"), "{error}");
        assert!(upper_factor_of_inverse(&Square { order: 1, values: vec![f64::NAN] }).is_err());
    }

    #[test]
    fn the_dot_product_adds_every_term_once() {
        for n in 0..10 {
            let ones = vec![1.0; n];
            let numbers: Vec<f64> = (1..=n).map(|k| k as f64).collect();
            assert_eq!(dot(&ones, &numbers), (n * (n + 1) / 2) as f64);
        }
    }
}
