use super::Config;
use super::cache::LayerCache;
use crate::kernels::{LANES, exp_below, max, weighted_sums};

/// Working memory of the attention of one token.
#[derive(Debug, Default)]
pub(super) struct Attention {
    /// For each head of a group the scores of the positions, then their weights.
    scores: Vec<f32>,
}

impl Attention {
    /// Attends from one token, whose heads are in `queries`, to every position up to its own.
    pub(super) fn run(
        &mut self,
        config: &Config,
        cache: &LayerCache,
        position: usize,
        queries: &[f32],
        out: &mut [f32],
    ) {
        let group_width = config.group * config.head_width;
        let groups = queries.chunks_exact(group_width).zip(out.chunks_exact_mut(group_width));
        for (head, (queries, out)) in groups.enumerate() {
            // All heads of a group read the same keys and values: up to four of them share each load.
            let tile = 4 * config.head_width;
            for (queries, out) in queries.chunks(tile).zip(out.chunks_mut(tile)) {
                match queries.len() / config.head_width {
                    4 => self.heads::<4>(config, cache, head, position, queries, out),
                    3 => self.heads::<3>(config, cache, head, position, queries, out),
                    2 => self.heads::<2>(config, cache, head, position, queries, out),
                    _ => self.heads::<1>(config, cache, head, position, queries, out),
                }
            }
        }
    }

    fn heads<const N: usize>(
        &mut self,
        config: &Config,
        cache: &LayerCache,
        head: usize,
        position: usize,
        queries: &[f32],
        out: &mut [f32],
    ) {
        let positions = position + 1;
        let stride = positions.next_multiple_of(LANES);
        self.scores.clear();
        self.scores.resize(N * stride, 0.0);
        let scale = 1.0 / (config.head_width as f32).sqrt();
        let of_head = |at: usize| queries.get(at * config.head_width..(at + 1) * config.head_width);
        let factors: [&[f32]; N] = std::array::from_fn(|at| of_head(at).unwrap_or_default());
        for (panel, keys) in cache.keys(head).take(stride / LANES).enumerate() {
            for (scores, sums) in self.scores.chunks_exact_mut(stride).zip(weighted_sums(factors, keys)) {
                if let Some(place) = scores.as_chunks_mut::<LANES>().0.get_mut(panel) {
                    *place = sums.map(|sum| sum * scale);
                }
            }
        }
        let mut shares = [0.0; N];
        for (scores, share) in self.scores.chunks_exact_mut(stride).zip(&mut shares) {
            let scores = scores.get_mut(..positions).unwrap_or_default();
            let max = max(scores, f32::MIN);
            *share = 1.0 / exp_below(scores, max);
        }
        let of_head = |at: usize| self.scores.get(at * stride..at * stride + positions);
        let weights: [&[f32]; N] = std::array::from_fn(|at| of_head(at).unwrap_or_default());
        for (panel, values) in cache.values(head).enumerate() {
            let values = values.get(..positions).unwrap_or_default();
            let sums = weighted_sums(weights, values);
            for ((out, sums), share) in out.chunks_exact_mut(config.head_width).zip(sums).zip(shares) {
                if let Some(place) = out.as_chunks_mut::<LANES>().0.get_mut(panel) {
                    *place = sums.map(|sum| sum * share);
                }
            }
        }
    }
}
