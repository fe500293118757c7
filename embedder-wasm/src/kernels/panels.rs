//! Matrices split into panels for the products of [`Kernel`], and the product of rows with all panels of a matrix.

use super::{Kernel, Panel, Rows};

/// Writes the weights of one channel into the panels of a matrix of this depth: `[panel][depth / GROUP][WIDTH][GROUP]`.
#[inline(always)]
pub(crate) fn write_channel<K: Kernel, T: Copy, const GROUP: usize>(
    panels: &mut [T],
    depth: usize,
    channel: usize,
    weights: &[T],
) {
    let panel = &mut panels[channel / K::WIDTH * K::WIDTH * depth..][..K::WIDTH * depth];
    let (groups, _) = panel.as_chunks_mut::<GROUP>();
    let (weights, _) = weights.as_chunks::<GROUP>();
    for (place, weights) in groups.iter_mut().skip(channel % K::WIDTH).step_by(K::WIDTH).zip(weights) {
        *place = *weights;
    }
}

/// Writes the weights of two adjacent inputs, for all channels, into the panels of an i16 matrix.
#[inline(always)]
pub(crate) fn write_pair<K: Kernel>(
    panels: &mut [i16],
    depth: usize,
    pair: usize,
    even: &[i16],
    odd: &[i16],
) {
    let channels = even.chunks_exact(K::WIDTH).zip(odd.chunks_exact(K::WIDTH));
    for (panel, (even, odd)) in panels.chunks_exact_mut(K::WIDTH * depth).zip(channels) {
        let (group, _) = panel[pair * 2 * K::WIDTH..][..2 * K::WIDTH].as_chunks_mut::<2>();
        for ((place, even), odd) in group.iter_mut().zip(even).zip(odd) {
            *place = [*even, *odd];
        }
    }
}

/// Multiplies rows by a matrix of `channels` channels in i16 panels. After each panel it calls `finish(channel, sums)`,
/// where `sums[row * WIDTH + i]` is the product of a row and channel `channel + i`. `scratch` has at least `rows * WIDTH`
/// elements.
#[inline(always)]
pub(crate) fn product<K: Kernel>(
    kernel: K,
    rows: Rows<'_, i16>,
    panels: &[i16],
    channels: usize,
    scratch: &mut [i32],
    mut finish: impl FnMut(usize, &mut [i32]),
) {
    let sums = &mut scratch[..rows.count * K::WIDTH];
    let panels = panels.chunks_exact(K::WIDTH * rows.depth).take(channels.div_ceil(K::WIDTH));
    for (index, weights) in panels.enumerate() {
        kernel.panel_product(Panel { rows, weights }, sums);
        finish(index * K::WIDTH, sums);
    }
}
