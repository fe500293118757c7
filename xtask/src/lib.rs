//! What `cargo xtask` and `cargo xtask bench` share: setup, builds, running programs and local servers.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a command line program talks to its user")]
#![allow(missing_docs, reason = "only two programs of this repository use it")]

pub mod build;
pub mod cargo_lock;
pub mod local;
pub mod paths;
pub mod python;
pub mod setup;
pub mod shell;
mod wasm_names;
