//! What a visitor downloads: the code compressed with brotli, the model as the gzip file it is.

use std::fs;

use anyhow::{Context, Result};
use xtask::{paths, shell};

use crate::report::Report;

const BYTES_PER_MB: f64 = 1e6;

/// Adds `brotli_code_mb`, `brotli_model_mb` and `brotli_total_mb`.
pub(super) fn measure(report: &mut Report) -> Result<()> {
    let folder = paths::repo().join("target/sizes");
    fs::create_dir_all(&folder)?;
    let mut sizes = shell::command("node");
    sizes.arg("embedder-wasm/npm/sizes.mjs").arg(folder.join("brotli.json"));
    let table = shell::output(&mut sizes)
        .context("`node embedder-wasm/npm/sizes.mjs` failed; is the package built with the model?")?;
    let (model, code) = sum(&table).with_context(|| format!("sizes.mjs printed:\n{table}"))?;
    for (name, bytes) in [("total", code + model), ("code", code), ("model", model)] {
        report.add(format!("brotli_{name}_mb"), bytes as f64 / BYTES_PER_MB, "MB");
    }
    Ok(())
}

/// Compressed bytes of the model and of everything else, from lines of `file, bytes, compressed bytes`.
fn sum(table: &str) -> Result<(u64, u64)> {
    let (mut model, mut code) = (None, 0);
    for line in table.lines() {
        let [file, _, compressed] = line.split_whitespace().collect::<Vec<_>>()[..] else { continue };
        if file.ends_with(".safetensors.gz") {
            model = Some(bytes(compressed)?);
        } else if file.ends_with(".js") || file.ends_with(".wasm") {
            code += bytes(compressed)?;
        }
    }
    Ok((model.context("no model among the files")?, code))
}

/// Parses `1,234,567`.
fn bytes(number: &str) -> Result<u64> {
    number.replace(',', "").parse().with_context(|| format!("{number} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_and_the_code_are_summed_separately() {
        let table = "file bytes brotli\nindex.js 6,642 2,000\nx_bg.wasm 313,721 100,500\n\
                     m.safetensors.gz 14,700,000 14,700,000\ntogether 23,298,444 14,802,500";
        assert_eq!(sum(table).unwrap(), (14_700_000, 102_500));
        assert!(sum("index.js 6,642 2,000").is_err());
    }
}
