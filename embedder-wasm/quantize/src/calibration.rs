//! The figures of `calibration.safetensors`: statistics of the exact model's activations and gradients. The test
//! `tests/calibration` makes the file and describes it.

use anyhow::Result;

use crate::gptq::Columns;
use crate::source::Weights;

const FILE: &[u8] = include_bytes!("../calibration.safetensors");

pub(crate) struct Calibration(Weights<'static>);

/// The statistics of a linear layer's inputs.
pub(crate) struct Inputs {
    pub(crate) mean: Vec<f32>,
    /// Ascending.
    pub(crate) wide_columns: Vec<i16>,
    pub(crate) columns: Columns,
}

impl Calibration {
    pub(crate) fn load() -> Result<Self> {
        Ok(Self(Weights::parse(FILE)?))
    }

    /// The inputs of the linear layers of this name.
    pub(crate) fn inputs(&self, name: &str, columns: usize, damping: f64) -> Result<Inputs> {
        let wide_columns = self.0.tensor(&format!("{name}.wide_columns"))?;
        Ok(Inputs {
            mean: self.0.vector(&format!("{name}.mean"), columns)?,
            wide_columns: wide_columns
                .data()
                .as_chunks()
                .0
                .iter()
                .map(|bytes| i16::from_le_bytes(*bytes))
                .collect(),
            columns: self.columns(name, columns, damping)?,
        })
    }

    /// The covariance of the tensor of this name, with `damping`.
    pub(crate) fn columns(&self, name: &str, columns: usize, damping: f64) -> Result<Columns> {
        let specific = self.0.vector(&format!("{name}.specific_variance"), columns)?;
        let loadings = self.0.tensor(&format!("{name}.loadings"))?;
        let factors = loadings.data().len() / columns;
        let scales = self.0.vector(&format!("{name}.loadings.scale"), factors)?;
        let loadings: Vec<f64> = loadings
            .data()
            .iter()
            .zip(scales.iter().cycle())
            .map(|(byte, &scale)| f64::from(byte.cast_signed()) * f64::from(scale))
            .collect();
        let specific: Vec<f64> = specific.into_iter().map(f64::from).collect();
        Ok(Columns::new(&loadings, &specific, damping))
    }
}
