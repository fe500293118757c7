//! What `cargo xtask` and `cargo xtask bench` share: setup, builds and running programs.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its user")]
#![allow(missing_docs, reason = "only two programs of this repository use it")]

/// Prints a line about what is being done. In a step of a plan, it goes to the output of the step.
#[macro_export]
macro_rules! say {
    ($($line:tt)*) => { $crate::plan::say(format_args!($($line)*)) };
}

pub mod build;
mod changed;
pub mod paths;
pub mod plan;
pub mod python;
pub mod setup;
pub mod shell;
