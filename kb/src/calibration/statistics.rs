//! Median and spread, which a few questions that the knowledge base does answer hardly change.

use chat_core::evidence::Background;

/// Ratio of the standard deviation to the median absolute deviation of a normal distribution.
const DEVIATIONS_PER_MAD: f64 = 1.4826;

/// With a smaller deviation, as in a very uniform knowledge base, almost any question would pass.
const MIN_DEVIATION: f64 = 0.5;

/// Minimum number of values for a meaningful statistic.
const MIN_COUNT: usize = 20;

/// The median, and the standard deviation estimated from the median absolute deviation; `None` if too few numbers are finite.
pub(super) fn background(mut evidence: Vec<f64>) -> Option<Background> {
    evidence.retain(|number| number.is_finite());
    if evidence.len() < MIN_COUNT {
        return None;
    }
    let mean = median(&mut evidence)?;
    let mut deviations: Vec<_> = evidence.iter().map(|number| (number - mean).abs()).collect();
    let deviation = (DEVIATIONS_PER_MAD * median(&mut deviations)?).max(MIN_DEVIATION);
    Some(Background { mean, deviation })
}

/// The mean of the two middle numbers if their count is even.
fn median(numbers: &mut [f64]) -> Option<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let upper = numbers.get(numbers.len() / 2)?;
    let lower = numbers.get((numbers.len() - 1) / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two_middles() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [7.0]), Some(7.0));
        assert_eq!(median(&mut [9.0, 1.0]), Some(5.0));
        assert_eq!(median(&mut [9.0, -1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 100.0, 2.0]), Some(3.0));
    }

    #[test]
    fn a_few_answered_questions_change_neither_median_nor_spread() {
        let others = (0..80).map(|at| -4.0 + f64::from(at % 5 - 2));
        let without = background(others.clone().collect()).unwrap();
        assert_eq!(without.mean, -4.0);
        assert!((without.deviation - DEVIATIONS_PER_MAD).abs() < 1e-12);
        let with = background(others.chain([50.0; 8]).collect()).unwrap();
        assert_eq!(with, without);
    }

    #[test]
    fn the_deviation_has_a_minimum() {
        assert_eq!(background(vec![-4.0; 80]), Some(Background { mean: -4.0, deviation: MIN_DEVIATION }));
    }

    #[test]
    fn too_few_numbers_give_nothing_and_those_that_are_none_do_not_count() {
        assert_eq!(background(vec![-4.0; MIN_COUNT - 1]), None);
        let mut numbers = vec![-4.0; MIN_COUNT - 1];
        numbers.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(background(numbers), None);
    }
}
