//! The sentences of running text.

mod enclosed;
mod full_stop;
mod split;

pub(crate) use enclosed::first_open;
pub use split::sentences;
