//! Quantises the encoder layers in order: each linear layer is rounded for the inputs that the already rounded layers
//! before it produce.

use anyhow::{Result, ensure};
use rayon::prelude::*;

use crate::activations::InputFormat;
use crate::calibration::Batch;
use crate::container::Container;
use crate::embeddings::{Embeddings, round_parameters};
use crate::forward::{attention, difference, gelu, layer_norm, linear, sum};
use crate::gptq::Columns;
use crate::matrix::Matrix;
use crate::moments::{covariance, cross_covariance, mean};
use crate::recipe::{COMPENSATION, LAYER_DAMPING, LAYERS, Linear, WIDE, WIDE_AFTER_GELU};
use crate::source::Weights;

/// Magnitude of the largest integer of a weight matrix: it must fit in i16.
const MAX_INTEGER: f64 = 32_767.0;

/// Quantises all encoder layers into `container`; prints the error of the activations after each.
pub(crate) fn quantize(
    weights: &Weights,
    embeddings: &Embeddings,
    batch: &Batch,
    container: &mut Container,
) -> Result<()> {
    let [mut exact, mut quantized] = embeddings.embed(batch);
    for index in 0..LAYERS {
        let mut layer = Layer { weights, batch, container, index };
        [exact, quantized] = layer.quantize(exact, quantized)?;
        let error = relative_error(&exact, &quantized);
        println!("  layer {} of {LAYERS}: activations off by {:.2} %", index + 1, error * 100.0);
    }
    Ok(())
}

/// Root mean square of the difference, divided by that of the exact values.
fn relative_error(exact: &Matrix, quantized: &Matrix) -> f64 {
    let pairs = || exact.values.iter().zip(&quantized.values).map(|(&e, &q)| (f64::from(e), f64::from(q)));
    let error: f64 = pairs().map(|(exact, quantized)| (exact - quantized) * (exact - quantized)).sum();
    let total: f64 = pairs().map(|(exact, _)| exact * exact).sum();
    (error / total).sqrt()
}

/// One encoder layer.
struct Layer<'a> {
    weights: &'a Weights<'a>,
    batch: &'a Batch,
    container: &'a mut Container,
    index: usize,
}

impl Layer<'_> {
    /// Quantises the layer. Takes and returns the activations of the exact and of the quantised model, one row per token.
    fn quantize(&mut self, exact: Matrix, quantized: Matrix) -> Result<[Matrix; 2]> {
        let inputs = self.inputs("attention.self", quantized.clone())?;
        let [[eq, qq], [ek, qk], [ev, qv]] = [
            self.linear(Linear::Query, &exact, &inputs, None)?,
            self.linear(Linear::Key, &exact, &inputs, None)?,
            self.linear(Linear::Value, &exact, &inputs, None)?,
        ];
        let exact_context = attention(&eq, &ek, &ev, self.batch);
        let inputs = self.inputs("attention.output.dense", attention(&qq, &qk, &qv, self.batch))?;
        let residual = [exact, quantized];
        let [e, q] = self.linear(Linear::AttentionOutput, &exact_context, &inputs, Some(&residual))?;
        let attended = self.add_and_norm("attention.output", residual, [e, q])?;

        let inputs = self.inputs("intermediate.dense", attended[1].clone())?;
        let [e, q] = self.linear(Linear::Intermediate, &attended[0], &inputs, None)?;
        let exact_hidden = gelu(e);
        let inputs = self.inputs("output.dense", gelu(q))?;
        let [e, q] = self.linear(Linear::Output, &exact_hidden, &inputs, Some(&attended))?;
        self.add_and_norm("output", attended, [e, q])
    }

    /// Rounds the inputs of the linear layers of this name.
    fn inputs(&mut self, name: &str, inputs: Matrix) -> Result<Inputs> {
        let (ratio, min) = if name == "output.dense" { WIDE_AFTER_GELU } else { WIDE };
        let format = InputFormat::choose(&inputs, inputs.columns / ratio, min);
        self.container.add_integers(&format!("{}.wide_columns", self.name(name)), format.wide());
        Inputs::new(format.round(inputs), self.batch)
    }

    /// Quantises a linear layer; returns the outputs of the exact and of the quantised layer.
    ///
    /// `residual` is added to these outputs later: the weights compensate its error, too.
    fn linear(
        &mut self,
        kind: Linear,
        exact_inputs: &Matrix,
        inputs: &Inputs,
        residual: Option<&[Matrix; 2]>,
    ) -> Result<[Matrix; 2]> {
        let name = self.name(kind.name());
        let weight = self.weights.matrix(&format!("{name}.weight"))?;
        ensure!(
            weight.columns == inputs.values.columns,
            "{name} has {} columns, expected {}",
            weight.columns,
            inputs.values.columns
        );
        let bias = self.weights.vector(&format!("{name}.bias"), weight.rows)?;

        let exact = linear(exact_inputs, &weight, &bias);
        let mut deficit = difference(exact.clone(), &linear(&inputs.values, &weight, &bias));
        if let Some([exact, quantized]) = residual {
            deficit = difference(sum(deficit, exact), quantized);
        }
        let rounded = round_linear(&weight, &bias, inputs, &deficit, kind.step(self.index), self.batch);

        self.container.add_floats(&format!("{name}.scale"), &[1], &[rounded.step]);
        self.container.add_floats(&format!("{name}.bias"), &[rounded.bias.len()], &rounded.bias);
        self.container.add_matrix(&name, weight.columns, &rounded.integers)?;
        let quantized = linear(&inputs.values, &rounded.weight(weight.columns), &rounded.bias);
        Ok([exact, quantized])
    }

    fn add_and_norm(
        &mut self,
        module: &str,
        residual: [Matrix; 2],
        outputs: [Matrix; 2],
    ) -> Result<[Matrix; 2]> {
        let name = self.name(&format!("{module}.LayerNorm"));
        let parameter = |kind: &str| self.weights.vector(&format!("{name}.{kind}"), residual[0].columns);
        let exact_parameters = [parameter("weight")?, parameter("bias")?];
        let [weight, bias] = exact_parameters.clone().map(round_parameters);
        self.container.add_floats(&format!("{name}.weight"), &[weight.len()], &weight);
        self.container.add_floats(&format!("{name}.bias"), &[bias.len()], &bias);
        let ([exact, quantized], [exact_output, quantized_output]) = (residual, outputs);
        Ok([
            layer_norm(sum(exact, &exact_output), &exact_parameters[0], &exact_parameters[1]),
            layer_norm(sum(quantized, &quantized_output), &weight, &bias),
        ])
    }

    fn name(&self, part: &str) -> String {
        format!("encoder.layer.{}.{part}", self.index)
    }
}

/// The inputs of a linear layer in the quantised model, and their statistics.
struct Inputs {
    values: Matrix,
    mean: Vec<f64>,
    columns: Columns,
}

impl Inputs {
    fn new(values: Matrix, batch: &Batch) -> Result<Self> {
        let mean = mean(&values, batch);
        let columns = Columns::new(&covariance(&values, &mean, batch), LAYER_DAMPING)?;
        Ok(Self { values, mean, columns })
    }
}

struct RoundedLinear {
    integers: Vec<i32>,
    step: f32,
    bias: Vec<f32>,
}

impl RoundedLinear {
    fn weight(&self, columns: usize) -> Matrix {
        let values = self.integers.iter().map(|&q| q as f32 * self.step).collect();
        Matrix::from_values(self.integers.len() / columns, columns, values)
    }
}

/// `deficit` is the error of the outputs before rounding the weights, exact minus actual: one row per token.
fn round_linear(
    weight: &Matrix,
    bias: &[f32],
    inputs: &Inputs,
    deficit: &Matrix,
    step: f32,
    batch: &Batch,
) -> RoundedLinear {
    let deficit_mean = mean(deficit, batch);
    let error = cross_covariance((deficit, &deficit_mean), (&inputs.values, &inputs.mean), batch);
    let step_f64 = f64::from(step);
    let integers: Vec<i32> = weight
        .values
        .par_chunks_exact(weight.columns)
        .zip(error.par_chunks_exact(weight.columns))
        .flat_map_iter(|(weights, error)| {
            let compensation = inputs.columns.compensation(error);
            let targets: Vec<f64> = weights
                .iter()
                .zip(compensation)
                .map(|(&weight, change)| (f64::from(weight) + COMPENSATION * change) / step_f64)
                .collect();
            inputs.columns.round(&targets, MAX_INTEGER)
        })
        .collect();
    // The bias compensates the mean of the remaining error.
    let bias = weight
        .iter()
        .zip(integers.chunks_exact(weight.columns))
        .zip(bias.iter().zip(&deficit_mean))
        .map(|((weight, integers), (&bias, deficit))| {
            let change: f64 = weight
                .iter()
                .zip(integers)
                .zip(&inputs.mean)
                .map(|((&weight, &q), mean)| (f64::from(weight) - f64::from(q as f32 * step)) * mean)
                .sum();
            (f64::from(bias) + deficit + change) as f32
        })
        .collect();
    RoundedLinear { integers, step, bias: round_parameters(bias) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::random_matrix;

    const HIDDEN: usize = 32;

    /// The source of a small model with this many layers.
    fn source(layers: usize) -> Vec<u8> {
        let mut source = Container::embedder("");
        let mut seed = 0;
        let mut add = |name: &str, rows: usize, columns: usize| {
            seed += 1;
            let shape = [rows, columns];
            let shape = if columns == 1 { &shape[..1] } else { &shape };
            source.add_floats(name, shape, &random_matrix(rows, columns, seed).values);
        };
        let add_norm = |add: &mut dyn FnMut(&str, usize, usize), name: &str| {
            add(&format!("{name}.LayerNorm.weight"), HIDDEN, 1);
            add(&format!("{name}.LayerNorm.bias"), HIDDEN, 1);
        };
        add("embeddings.word_embeddings.weight", 2100, HIDDEN);
        add("embeddings.position_embeddings.weight", 256, HIDDEN);
        add("embeddings.token_type_embeddings.weight", 2, HIDDEN);
        add_norm(&mut add, "embeddings");
        for layer in 0..layers {
            let layer = format!("encoder.layer.{layer}");
            for (name, outputs, inputs) in [
                ("attention.self.query", HIDDEN, HIDDEN),
                ("attention.self.key", HIDDEN, HIDDEN),
                ("attention.self.value", HIDDEN, HIDDEN),
                ("attention.output.dense", HIDDEN, HIDDEN),
                ("intermediate.dense", 2 * HIDDEN, HIDDEN),
                ("output.dense", HIDDEN, 2 * HIDDEN),
            ] {
                add(&format!("{layer}.{name}.weight"), outputs, inputs);
                add(&format!("{layer}.{name}.bias"), outputs, 1);
            }
            add_norm(&mut add, &format!("{layer}.attention.output"));
            add_norm(&mut add, &format!("{layer}.output"));
        }
        source.into_bytes().unwrap()
    }

    fn quantize_with(threads: usize, source: &[u8]) -> Result<Vec<u8>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        pool.install(|| {
            let weights = Weights::parse(source)?;
            let sentences: Vec<Vec<u32>> = (0..40).map(|i| (1000..1000 + i).collect()).collect();
            let batch = Batch::new(&sentences, &[vec![2000; 20], vec![1999]])?;
            let vocabulary = vec!["word"; 2100].join("\n");
            let embeddings = crate::embeddings::quantize(&weights, &vocabulary, &batch)?;
            let mut container = Container::embedder("");
            embeddings.store(&mut container);
            quantize(&weights, &embeddings, &batch, &mut container)?;
            container.into_bytes()
        })
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_byte() {
        let source = source(LAYERS);
        let one = quantize_with(1, &source).unwrap();
        assert!(one == quantize_with(2, &source).unwrap());
        assert!(one == quantize_with(5, &source).unwrap());
        // The words alone take 2100 × 32 bytes.
        assert!(one.len() > 2100 * HIDDEN);
    }

    #[test]
    fn weights_of_another_model_are_rejected() {
        let error = format!("{:#}", quantize_with(1, &source(LAYERS - 1)).unwrap_err());
        assert!(error.contains("the weights lack encoder.layer.5.attention.self.query.weight"), "{error}");
    }

    #[test]
    fn the_rounded_layer_is_close_to_the_exact_one() {
        let (weight, inputs) = (random_matrix(8, HIDDEN, 1), random_matrix(60, HIDDEN, 2));
        let batch = Batch::single(&[1.0 / 60.0; 60]);
        let bias = vec![0.5; 8];
        let exact = linear(&inputs, &weight, &bias);
        let inputs = Inputs::new(inputs, &batch).unwrap();
        let rounded = round_linear(&weight, &bias, &inputs, &Matrix::zeros(60, 8), 0.05, &batch);
        let quantized = linear(&inputs.values, &rounded.weight(HIDDEN), &rounded.bias);
        let error = relative_error(&exact, &quantized);
        assert!(error > 0.0 && error < 0.03, "{error}");
        // The bias adds the mean deficit of the outputs.
        let deficit = Matrix::from_values(60, 8, vec![0.25; 480]);
        let compensated = round_linear(&weight, &bias, &inputs, &deficit, 0.05, &batch);
        assert_eq!(compensated.integers, rounded.integers);
        assert!(compensated.bias.iter().zip(&rounded.bias).all(|(a, b)| (a - b - 0.25).abs() < 0.002));
    }
}
