use super::Config;
use crate::WriterError;
use crate::error::allocate;
use crate::kernels::LANES;

/// The keys and values of all tokens so far.
#[derive(Debug)]
pub(crate) struct Cache {
    layers: Vec<LayerCache>,
}

#[derive(Debug)]
pub(super) struct LayerCache {
    /// `[head][position / LANES][dimension]`, with [`LANES`] positions in a row.
    keys: Vec<[f32; LANES]>,
    /// `[head][dimension / LANES][position]`, with [`LANES`] dimensions in a row.
    values: Vec<[f32; LANES]>,
    head_rows: usize,
    /// Tokens that have room.
    capacity: usize,
    head_width: usize,
}

impl Cache {
    /// Allocates memory for this many tokens, of which there is at least one.
    pub(crate) fn new(config: &Config, tokens: usize) -> Result<Self, WriterError> {
        let capacity = tokens.next_multiple_of(LANES);
        let head_rows = capacity * config.head_width / LANES;
        let mut layers = Vec::new();
        for _ in 0..config.layers {
            layers.push(LayerCache {
                keys: allocate(head_rows * config.key_heads, [0.0; LANES])?,
                values: allocate(head_rows * config.key_heads, [0.0; LANES])?,
                head_rows,
                capacity,
                head_width: config.head_width,
            });
        }
        Ok(Self { layers })
    }

    pub(super) fn layers(&mut self) -> &mut [LayerCache] {
        &mut self.layers
    }
}

impl LayerCache {
    /// Writes the keys and values of one token, all heads one after the other.
    pub(super) fn write(&mut self, position: usize, keys: &[f32], values: &[f32]) {
        let (panel, lane) = (position / LANES, position % LANES);
        let heads = self.keys.chunks_exact_mut(self.head_rows).zip(keys.chunks_exact(self.head_width));
        for (head, keys) in heads {
            let rows = head.chunks_exact_mut(self.head_width).nth(panel);
            for (row, key) in rows.into_iter().flatten().zip(keys) {
                if let Some(place) = row.get_mut(lane) {
                    *place = *key;
                }
            }
        }
        let heads = self.values.chunks_exact_mut(self.head_rows).zip(values.chunks_exact(self.head_width));
        for (head, values) in heads {
            for (panel, values) in head.chunks_exact_mut(self.capacity).zip(values.as_chunks::<LANES>().0) {
                if let Some(place) = panel.get_mut(position) {
                    *place = *values;
                }
            }
        }
    }

    /// The keys of a head, in panels of [`LANES`] positions: a row per dimension.
    pub(super) fn keys(&self, head: usize) -> impl Iterator<Item = &[[f32; LANES]]> {
        let rows = self.keys.chunks_exact(self.head_rows).nth(head).unwrap_or_default();
        rows.chunks_exact(self.head_width)
    }

    /// The values of a head, in panels of [`LANES`] dimensions: a row per position.
    pub(super) fn values(&self, head: usize) -> impl Iterator<Item = &[[f32; LANES]]> {
        let rows = self.values.chunks_exact(self.head_rows).nth(head).unwrap_or_default();
        rows.chunks_exact(self.capacity)
    }
}
