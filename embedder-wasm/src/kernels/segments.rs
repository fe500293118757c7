//! Segments of byte panels, within which sums of products fit in i16.
//!
//! `vpmaddubsw` and its like multiply bytes and add two products in i16. Adding such pairs in i16 costs half as much as
//! widening each of them. How many can be added depends on the weights, which are known when they are packed.

use super::Kernel;

/// Limit of the sum of the magnitudes of a lane's weights. As inputs are from 0 to 127, the sums of products differ by at
/// most 127 · 516 < 2¹⁶, so with the right start they all fit in i16. The weights of two inputs are always below: 2 · 128.
const MAX_MAGNITUDE: i16 = 516;

/// Largest input.
const MAX_INPUT: i32 = 127;

/// Twice the largest [`Kernel::WIDTH`]: of four inputs, the first two and the last two have a lane.
const MAX_LANES: usize = 64;

/// The segments of panels. Those of the high parts and of the low parts are separate.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// For each panel the ends of its segments, as numbers of groups of four inputs. The last is the number of groups.
    pub(super) ends: Vec<usize>,
    /// `[segments][WIDTH][2]`: where the sums of each lane start, such that none leaves i16. Only for kernels that
    /// [add in i16](Kernel::ADDS_IN_I16).
    pub(super) starts: Vec<i16>,
}

impl Segments {
    /// Adds a panel, `[groups][WIDTH][4]`, whose first `high` groups are high parts. Subtracts the starts from the offsets of
    /// its channels.
    pub(super) fn push<K: Kernel>(&mut self, panel: &[i8], high: usize, offsets: &mut [i32]) {
        let groups = panel.chunks_exact(4 * K::WIDTH);
        let count = groups.len();
        if !K::ADDS_IN_I16 {
            self.ends.extend([high, count]);
            return;
        }
        let mut lanes = Lanes::EMPTY;
        for (index, group) in groups.enumerate() {
            let before = lanes.clone();
            let fits = lanes.add(group) <= MAX_MAGNITUDE;
            if index > 0 && (!fits || index == high) {
                self.push_segment(&before.sums[..2 * K::WIDTH], index, index <= high, offsets);
                lanes = Lanes::EMPTY;
                lanes.add(group);
            }
        }
        self.push_segment(&lanes.sums[..2 * K::WIDTH], count, count <= high, offsets);
    }

    /// `sums`: those of the weights of each lane.
    fn push_segment(&mut self, sums: &[i16], end: usize, is_high: bool, offsets: &mut [i32]) {
        self.ends.push(end);
        let (channels, _) = sums.as_chunks::<2>();
        for (sums, offset) in channels.iter().zip(offsets) {
            // The middle of what the products can add up to becomes 0.
            let starts = sums.map(|sum| -(i32::from(sum) * MAX_INPUT / 2));
            self.starts.extend(starts.map(|start| start as i16));
            let start = starts[0] + starts[1];
            *offset = offset.wrapping_sub(if is_high { start * 128 } else { start });
        }
    }
}

/// For each lane the sum of its weights, and of their magnitudes.
#[derive(Clone)]
struct Lanes {
    sums: [i16; MAX_LANES],
    magnitudes: [i16; MAX_LANES],
}

impl Lanes {
    const EMPTY: Self = Self { sums: [0; MAX_LANES], magnitudes: [0; MAX_LANES] };

    /// Adds a group of weights and returns the largest magnitude.
    #[inline(always)]
    fn add(&mut self, group: &[i8]) -> i16 {
        let (pairs, _) = group.as_chunks::<2>();
        let mut largest = 0;
        for ((pair, sum), magnitude) in pairs.iter().zip(&mut self.sums).zip(&mut self.magnitudes) {
            let [first, second] = pair.map(i16::from);
            *sum += first + second;
            *magnitude += first.abs() + second.abs();
            largest = largest.max(*magnitude);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PairScalar, Random};
    use super::*;

    const WIDTH: usize = PairScalar::WIDTH;

    /// The least and the largest sum of products of each lane of these groups.
    fn extremes(groups: &[i8]) -> Vec<[i32; 2]> {
        let lane = |lane: usize| {
            let weights = groups.chunks_exact(4 * WIDTH).flat_map(|group| &group[2 * lane..2 * lane + 2]);
            let products = weights.map(|weight| MAX_INPUT * i32::from(*weight));
            let (positive, negative): (Vec<i32>, Vec<i32>) = products.partition(|product| *product > 0);
            [negative.iter().sum(), positive.iter().sum()]
        };
        (0..2 * WIDTH).map(lane).collect()
    }

    fn could_fit(groups: &[i8]) -> bool {
        extremes(groups).into_iter().all(|[least, largest]| largest - least < 1 << 16)
    }

    #[test]
    fn segments_are_as_long_as_sums_fit_in_i16_for_all_inputs() {
        let mut random = Random::new(6);
        for round in 0..200 {
            let (groups, high) = (2 + random.below(60), random.below(3));
            let largest = [1, 5, 20, 100, 127][round % 5];
            let mut panel: Vec<i8> =
                random.integers(groups * 4 * WIDTH, largest).into_iter().map(|weight| weight as i8).collect();
            match round % 4 {
                0 => panel[..4 * WIDTH].fill(i8::MIN),
                1 => panel.iter_mut().for_each(|weight| *weight = weight.saturating_abs()),
                _ => {}
            }
            let (mut segments, mut offsets) = (Segments::default(), [0; WIDTH]);
            segments.push::<PairScalar>(&panel, high, &mut offsets);
            assert_eq!(segments.ends.last(), Some(&groups));
            assert!(high == 0 || segments.ends.contains(&high));
            assert_eq!(segments.starts.len(), segments.ends.len() * 2 * WIDTH);
            let mut begin = 0;
            for (&end, starts) in segments.ends.iter().zip(segments.starts.chunks_exact(2 * WIDTH)) {
                assert!(begin < end, "{:?}", segments.ends);
                for (extremes, start) in
                    extremes(&panel[begin * 4 * WIDTH..end * 4 * WIDTH]).iter().zip(starts)
                {
                    for extreme in extremes {
                        assert!(i16::try_from(i32::from(*start) + extreme).is_ok(), "{start} + {extreme}");
                    }
                }
                let is_forced = end == high || end == groups;
                assert!(is_forced || !could_fit(&panel[begin * 4 * WIDTH..(end + 1) * 4 * WIDTH]));
                begin = end;
            }
        }
    }
}
