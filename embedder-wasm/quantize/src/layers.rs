//! Quantises the encoder layers: each linear layer is rounded for its measured inputs.

use anyhow::Result;

use crate::calibration::{Calibration, Inputs};
use crate::container::Container;
use crate::recipe::{HIDDEN, LAYER_DAMPING, LAYERS, LINEARS, Linears, round_parameters};
use crate::source::{Matrix, Weights};

/// Magnitude of the largest integer of a weight matrix: it must fit in i16.
const MAX_INTEGER: f64 = 32_767.0;

/// Quantises all encoder layers into `container`.
pub(crate) fn quantize(
    weights: &Weights,
    calibration: &Calibration,
    container: &mut Container,
) -> Result<()> {
    for layer in 0..LAYERS {
        for Linears { input, columns, rows, linears } in LINEARS {
            let input = format!("encoder.layer.{layer}.{input}");
            let inputs = calibration.inputs(&input, columns, LAYER_DAMPING)?;
            container.add_integers(&format!("{input}.wide_columns"), &inputs.wide_columns);
            for linear in linears {
                let name = format!("encoder.layer.{layer}.{}", linear.name());
                let weight = weights.matrix(&format!("{name}.weight"), rows, columns)?;
                let bias = weights.vector(&format!("{name}.bias"), rows)?;
                let rounded = RoundedLinear::new(&weight, &bias, &inputs, linear.step(layer));
                container.add_floats(&format!("{name}.scale"), &[1], &[rounded.step]);
                container.add_floats(&format!("{name}.bias"), &[rows], &rounded.bias);
                container.add_matrix(&name, columns, &rounded.integers)?;
            }
        }
        for norm in ["attention.output", "output"] {
            for parameter in ["weight", "bias"] {
                let name = format!("encoder.layer.{layer}.{norm}.LayerNorm.{parameter}");
                container.add_floats(&name, &[HIDDEN], &round_parameters(weights.vector(&name, HIDDEN)?));
            }
        }
    }
    Ok(())
}

struct RoundedLinear {
    integers: Vec<i32>,
    step: f32,
    bias: Vec<f32>,
}

impl RoundedLinear {
    fn new(weight: &Matrix, bias: &[f32], inputs: &Inputs, step: f32) -> Self {
        let mut rounded = Self { integers: Vec::with_capacity(weight.values.len()), step, bias: Vec::new() };
        for (weights, &bias) in weight.iter().zip(bias) {
            let targets: Vec<f64> =
                weights.iter().map(|&weight| f64::from(weight) / f64::from(step)).collect();
            let integers = inputs.columns.round(&targets, MAX_INTEGER);
            // The bias compensates the mean of the error.
            let change: f64 = targets
                .iter()
                .zip(&integers)
                .zip(&inputs.mean)
                .map(|((target, &integer), &mean)| (target - f64::from(integer)) * f64::from(mean))
                .sum();
            rounded.bias.push((f64::from(bias) + change * f64::from(step)) as f32);
            rounded.integers.extend(integers);
        }
        rounded.bias = round_parameters(rounded.bias);
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gptq::Columns;

    #[test]
    fn the_rounded_layer_has_the_mean_output_of_the_exact_one() {
        let weight = Matrix::from_values(2, 4, (0..8).map(|i| (i as f32 * 0.7).sin()).collect());
        let mean = vec![1.0, -2.0, 0.5, 3.0];
        let columns = Columns::new(&[0.0; 32], &[1.0; 4], 0.0);
        let inputs = Inputs { mean, wide_columns: Vec::new(), columns };
        let rounded = RoundedLinear::new(&weight, &[0.25, -0.5], &inputs, 0.25);
        for (row, bias) in [0.25, -0.5].into_iter().enumerate() {
            let integers = &rounded.integers[4 * row..][..4];
            let output =
                |weight: &dyn Fn(usize) -> f32| (0..4).map(|i| weight(i) * inputs.mean[i]).sum::<f32>();
            let exact = output(&|i| weight.row(row)[i]) + bias;
            let actual = output(&|i| integers[i] as f32 * rounded.step) + rounded.bias[row];
            assert!((exact - actual).abs() < 0.001, "{actual}, expected {exact}");
            assert!((0..4).all(|i| (integers[i] as f32 * 0.25 - weight.row(row)[i]).abs() <= 0.125));
        }
    }
}
