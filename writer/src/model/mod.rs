//! The llama architecture: RMS norm, rotary positions, grouped-query attention, SwiGLU.

mod attention;
mod cache;
mod config;
mod forward;
mod weights;

pub(crate) use cache::Cache;
pub(crate) use config::Config;
pub(crate) use forward::Forward;
pub(crate) use weights::{Target, Weights};
