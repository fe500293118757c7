//! The factor model of a covariance: a matrix of low rank plus a diagonal.

/// Steps of the power iteration, for each factor.
const STEPS: usize = 30;

/// A row-major covariance ≈ L Lᵀ + a diagonal, with the loadings L in 8 bits.
pub(crate) struct Factors {
    /// [columns, factors]
    pub(crate) loadings: Vec<i8>,
    /// One per factor: loading = integer × scale.
    pub(crate) scales: Vec<f32>,
    /// The diagonal.
    pub(crate) specific_variance: Vec<f32>,
}

impl Factors {
    /// The loadings are the largest principal components.
    pub(crate) fn new(covariance: &[f64], columns: usize, count: usize) -> Self {
        let variance = |column: usize| covariance[column * columns + column];
        let mut rest = covariance.to_vec();
        let mut factors = Self {
            loadings: vec![0; columns * count],
            scales: Vec::new(),
            specific_variance: (0..columns).map(|column| variance(column) as f32).collect(),
        };
        for factor in 0..count {
            let component = principal_component(&rest, columns);
            for (row, a) in rest.chunks_exact_mut(columns).zip(&component) {
                row.iter_mut().zip(&component).for_each(|(rest, b)| *rest -= a * b);
            }
            let scale = component.iter().fold(0.0f64, |max, value| max.max(value.abs())) as f32 / 127.0;
            for (column, value) in component.iter().enumerate() {
                let integer = (value / f64::from(scale)).round() as i8;
                factors.loadings[column * count + factor] = integer;
                let loading = f32::from(integer) * scale;
                let own = &mut factors.specific_variance[column];
                *own = (*own - loading * loading).max(0.0);
            }
            factors.scales.push(scale);
        }
        factors
    }

    /// The covariance that the product reads.
    pub(crate) fn covariance(&self, row: usize, column: usize) -> f64 {
        let loadings = |column: usize| {
            let loadings = &self.loadings[column * self.scales.len()..];
            loadings.iter().zip(&self.scales).map(|(&l, &scale)| f64::from(l) * f64::from(scale))
        };
        let common: f64 = loadings(row).zip(loadings(column)).map(|(a, b)| a * b).sum();
        common + if row == column { f64::from(self.specific_variance[row]) } else { 0.0 }
    }
}

/// About the eigenvector of the largest eigenvalue, as long as the square root of it, by power iteration. Without its product
/// with itself, the matrix has no negative eigenvalue.
fn principal_component(matrix: &[f64], columns: usize) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // A start without a pattern, so that it is orthogonal to no eigenvector.
    let mut vector: Vec<f64> = (0..columns).map(|i| (i * 7919 % 2003) as f64 / 1001.0 - 1.0).collect();
    for step in 1..=STEPS {
        let mut product = vec![0.0; columns];
        for (row, value) in matrix.chunks_exact(columns).zip(&vector) {
            product.iter_mut().zip(row).for_each(|(sum, element)| *sum += value * element);
        }
        let scale = if step == STEPS { dot(&vector, &product) } else { dot(&product, &product) }.sqrt();
        vector = product.iter().map(|value| value / scale).collect();
    }
    vector
}

#[test]
fn a_covariance_of_low_rank_is_reproduced() {
    let columns = 60;
    let loading = |column: usize, factor: usize| ((column * (31 + factor)) as f64).sin();
    let covariance = |row: usize, column: usize| {
        let common: f64 = (0..3).map(|factor| loading(row, factor) * loading(column, factor)).sum();
        common + if row == column { 0.1 } else { 0.0 }
    };
    let values: Vec<f64> = (0..columns * columns).map(|i| covariance(i / columns, i % columns)).collect();
    let factors = Factors::new(&values, columns, 8);
    for (row, column) in (0..columns).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let (actual, expected) = (factors.covariance(row, column), covariance(row, column));
        assert!((actual - expected).abs() < 0.06, "{row}, {column}: {actual}, expected {expected}");
    }
    assert!((0..columns).all(|i| (factors.covariance(i, i) - covariance(i, i)).abs() < 1e-6));
}
