//! `bindings web|worker MODULE.wasm NAME FOLDER`: what the program `wasm-bindgen` does, without its command line.
//!
//! A program of its own, so that `cargo xtask` starts before it is compiled.

#![forbid(unsafe_code)]

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    let mut next = || arguments.next().context("usage: bindings web|worker MODULE.wasm NAME FOLDER");
    let (target, module, name, folder) = (next()?, PathBuf::from(next()?), next()?, PathBuf::from(next()?));

    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(&module)
        .out_name(name.to_str().context("NAME is not UTF-8")?)
        .remove_name_section(true)
        .remove_producers_section(true);
    match target.to_str() {
        Some("web") => bindgen.web(true)?.typescript(true).omit_default_module_path(false),
        // `edge-chat/shim.mjs` starts the module again after a panic.
        Some("worker") => bindgen.module(true)?.reset_state_function(true).force_enable_abort_handler(true),
        _ => bail!("{} is neither web nor worker", target.display()),
    };
    bindgen.generate(&folder).with_context(|| format!("no bindings for {}", module.display()))
}
