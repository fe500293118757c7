use super::attention::Attention;
use super::weights::Layer;
use super::{Cache, Config, Weights};
use crate::kernels::{Inputs, Matrix, rms_norm, silu};

/// One pass over the layers, with its working memory.
#[derive(Debug)]
pub(crate) struct Forward {
    inputs: Inputs,
    attention: Attention,
    /// A row per token, like all that follow.
    hidden: Vec<f32>,
    normed: Vec<f32>,
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    attended: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    product: Vec<f32>,
    /// Cosine and sine of each pair of rotary dimensions.
    rotation: Vec<(f32, f32)>,
}

impl Forward {
    pub(crate) fn new() -> Self {
        Self {
            inputs: Inputs::new(),
            attention: Attention::default(),
            hidden: Vec::new(),
            normed: Vec::new(),
            queries: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
            attended: Vec::new(),
            gate: Vec::new(),
            up: Vec::new(),
            product: Vec::new(),
            rotation: Vec::new(),
        }
    }

    /// Reads tokens, the first of which is at `position`. The caller makes sure that the cache has room for them.
    pub(crate) fn read(
        &mut self,
        config: &Config,
        weights: &Weights,
        cache: &mut Cache,
        tokens: &[u32],
        position: usize,
    ) {
        self.hidden.clear();
        self.hidden.resize(tokens.len() * config.width, 0.0);
        for (row, token) in self.hidden.chunks_exact_mut(config.width).zip(tokens) {
            weights.embedding.read_row(*token as usize, row);
        }
        self.set_rotation(config, weights, position, tokens.len());
        for (layer, cache) in weights.layers.iter().zip(cache.layers()) {
            self.quantise_normed(config, &layer.attention_norm);
            layer.query.product(&self.inputs, &mut self.queries);
            layer.key.product(&self.inputs, &mut self.keys);
            layer.value.product(&self.inputs, &mut self.values);
            self.rotate(config);
            let key_width = config.key_width();
            let rows = self.keys.chunks_exact(key_width).zip(self.values.chunks_exact(key_width));
            for (at, (keys, values)) in rows.enumerate() {
                cache.write(position + at, keys, values);
            }
            self.attended.clear();
            self.attended.resize(self.hidden.len(), 0.0);
            let rows = self.queries.chunks_exact(config.width);
            for (at, (queries, out)) in rows.zip(self.attended.chunks_exact_mut(config.width)).enumerate() {
                self.attention.run(config, cache, position + at, queries, out);
            }
            self.inputs.set(&self.attended, config.width);
            self.add_product(&layer.attention_output);
            self.feed_forward(config, layer);
        }
    }

    /// The most likely token after the last one that was read.
    pub(crate) fn next_token(&mut self, config: &Config, weights: &Weights) -> Option<u32> {
        let last = self.hidden.len().checked_sub(config.width)?;
        self.hidden.drain(..last);
        self.quantise_normed(config, &weights.norm);
        weights.output().product(&self.inputs, &mut self.product);
        let mut best = None;
        for (token, score) in (0_u32..).zip(&self.product) {
            if best.is_none_or(|(_, highest)| *score > highest) {
                best = Some((token, *score));
            }
        }
        best.map(|(token, _)| token)
    }

    /// The scores of all tokens, of the last call of [`Forward::next_token`].
    #[cfg(test)]
    pub(crate) fn scores(&self) -> &[f32] {
        &self.product
    }

    fn feed_forward(&mut self, config: &Config, layer: &Layer) {
        self.quantise_normed(config, &layer.feed_forward_norm);
        layer.gate.product(&self.inputs, &mut self.gate);
        layer.up.product(&self.inputs, &mut self.up);
        silu(&mut self.gate, &self.up);
        self.inputs.set(&self.gate, config.feed_forward);
        self.add_product(&layer.down);
    }

    fn quantise_normed(&mut self, config: &Config, weights: &[f32]) {
        self.normed.clear();
        self.normed.resize(self.hidden.len(), 0.0);
        let rows = self.hidden.chunks_exact(config.width);
        for (row, out) in rows.zip(self.normed.chunks_exact_mut(config.width)) {
            rms_norm(row, weights, config.epsilon, out);
        }
        self.inputs.set(&self.normed, config.width);
    }

    fn add_product(&mut self, matrix: &Matrix) {
        matrix.product(&self.inputs, &mut self.product);
        for (hidden, product) in self.hidden.iter_mut().zip(&self.product) {
            *hidden += product;
        }
    }

    fn set_rotation(&mut self, config: &Config, weights: &Weights, position: usize, tokens: usize) {
        self.rotation.clear();
        for position in position..position + tokens {
            for pair in 0..config.rotary / 2 {
                let exponent = -2.0 * pair as f32 / config.rotary as f32;
                let factor = weights.rotary_factors.get(pair).copied().unwrap_or(1.0);
                let angle = position as f32 * libm::powf(config.rotary_base, exponent) / factor;
                self.rotation.push((libm::cosf(angle), libm::sinf(angle)));
            }
        }
    }

    /// Turns each pair of neighbouring dimensions of every query and key by the angle of its position.
    fn rotate(&mut self, config: &Config) {
        let pairs = config.rotary / 2;
        for (rows, width) in [(&mut self.queries, config.width), (&mut self.keys, config.key_width())] {
            for (row, rotation) in rows.chunks_exact_mut(width).zip(self.rotation.chunks_exact(pairs)) {
                for head in row.chunks_exact_mut(config.head_width) {
                    for ([x, y], (cos, sin)) in head.as_chunks_mut::<2>().0.iter_mut().zip(rotation) {
                        (*x, *y) = (*x * cos - *y * sin, *x * sin + *y * cos);
                    }
                }
            }
        }
    }
}
