//! The time of `match_chunks` on native Postgres and on the local server's PGlite, and the storage of a chunk.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use xtask::{python, setup, shell};

use crate::folder;
use crate::report::Report;

#[derive(Args)]
pub(crate) struct Options {
    /// Sizes of the knowledge base on native Postgres, in chunks.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [10_000, 100_000])]
    native: Vec<u32>,
    /// Sizes on PGlite; 100000 take several minutes to load.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [10_000])]
    pglite: Vec<u32>,
}

/// Prints a table and writes `target/bench/search.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    setup::node_packages()?;
    let python = python::with_packages("bench-search-venv", "bench/search/requirements.txt")?;
    let mut report = Report::new()?;
    let native = run(shell::command(python).arg("bench/search/native.py"), &options.native)?;
    add(&mut report, "native", &native)?;
    let pglite = run(shell::command("node").arg("bench/search/pglite.mjs"), &options.pglite)?;
    add(&mut report, "pglite", &pglite)?;
    let file = folder()?.join("search.json");
    report.write(&file)?;
    report.print();
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    Ok(())
}

/// Runs the program for these sizes and returns its output.
fn run(program: &mut Command, sizes: &[u32]) -> Result<Value> {
    let sizes: Vec<_> = sizes.iter().map(u32::to_string).collect();
    println!(
        "• {} chunks: {}",
        sizes.join(" and "),
        program.get_args().map(|arg| arg.to_string_lossy()).collect::<String>()
    );
    let output = program.args(["--sizes", &sizes.join(",")]).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the measurement failed ({})", output.status);
    serde_json::from_slice(&output.stdout).context("its output is not JSON")
}

fn add(report: &mut Report, database: &str, results: &Value) -> Result<()> {
    report.context(&format!("{database}_database"), results["database"].clone());
    let sizes = results["sizes"].as_array().context("no sizes")?;
    let number = |size: &Value, path: &str| {
        size.pointer(path).and_then(Value::as_f64).with_context(|| format!("no {path}"))
    };
    for size in sizes {
        let name = |what: &str| {
            Ok::<_, anyhow::Error>(format!("{database}_{what}_{}k", number(size, "/chunks")? / 1000.0))
        };
        for (what, path) in [
            ("text_p50_ms", "/with_text_ms/p50"),
            ("text_p95_ms", "/with_text_ms/p95"),
            ("vector_p50_ms", "/vector_only_ms/p50"),
            ("vector_p95_ms", "/vector_only_ms/p95"),
        ] {
            report.add(name(what)?, number(size, path)?, "ms");
        }
        report.add(name("load_seconds")?, number(size, "/load_seconds")?, "s");
        report.add(name("source_chunk_first")?, number(size, "/source_chunk_first")?, "share");
        let bytes = size["bytes_per_chunk"].as_object().context("no bytes_per_chunk")?;
        for (relation, bytes) in bytes {
            report.add(
                format!("{}_{relation}", name("bytes")?),
                bytes.as_f64().unwrap_or(f64::NAN),
                "bytes a chunk",
            );
        }
        let total = bytes.values().filter_map(Value::as_f64).sum();
        report.add(name("bytes_per_chunk")?, total, "bytes a chunk");
    }
    if let [first, .., last] = sizes.as_slice() {
        let p50 = |size| number(size, "/with_text_ms/p50");
        report.add_ratio(format!("{database}_growth"), p50(last)?, p50(first)?);
    }
    Ok(())
}
