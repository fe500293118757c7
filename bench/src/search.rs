//! The time and recall of `match_chunks` on native Postgres, its time on the local server's PGlite, and the storage of a chunk.

mod plot;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use xtask::{paths, python, setup, shell};

use crate::folder;
use crate::report::Report;

/// Figures of native Postgres: name, path in the output of `native.py`, unit.
const ONLY_NATIVE: [(&str, &str, &str); 22] = [
    ("recall_5", "/recall_5", "share"),
    ("vector_recall_5", "/vector_recall_5", "share"),
    ("first_pass_p50_ms", "/first_pass_ms/p50", "ms"),
    ("first_pass_p95_ms", "/first_pass_ms/p95", "ms"),
    ("common_words_p50_ms", "/common_words_ms/p50", "ms"),
    ("common_words_p95_ms", "/common_words_ms/p95", "ms"),
    ("member_p50_ms", "/member_ms/p50", "ms"),
    ("member_p95_ms", "/member_ms/p95", "ms"),
    ("callers_1_per_second", "/callers_1/searches_per_second", "searches/s"),
    ("callers_1_p50_ms", "/callers_1/p50", "ms"),
    ("callers_1_p95_ms", "/callers_1/p95", "ms"),
    ("callers_8_per_second", "/callers_8/searches_per_second", "searches/s"),
    ("callers_8_p50_ms", "/callers_8/p50", "ms"),
    ("callers_8_p95_ms", "/callers_8/p95", "ms"),
    ("callers_32_per_second", "/callers_32/searches_per_second", "searches/s"),
    ("callers_32_p50_ms", "/callers_32/p50", "ms"),
    ("callers_32_p95_ms", "/callers_32/p95", "ms"),
    ("syncing_callers_8_p50_ms", "/callers_8_syncing/p50", "ms"),
    ("syncing_callers_8_p95_ms", "/callers_8_syncing/p95", "ms"),
    ("syncing_documents_per_minute", "/callers_8_syncing/documents_per_minute", "documents/min"),
    ("load_average_before", "/load_average_before", "processes"),
    ("load_average_after", "/load_average_after", "processes"),
];

#[derive(Args)]
pub(crate) struct Options {
    /// Sizes of the knowledge base on native Postgres, in chunks.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [10_000, 100_000])]
    native: Vec<u32>,
    /// Sizes on PGlite; 100000 take several minutes to load.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [10_000])]
    pglite: Vec<u32>,
    /// Measures native Postgres only.
    #[arg(long)]
    native_only: bool,
    /// Keeps the native databases in this folder, and measures those that are there without loading again. A million chunks take
    /// 20 GB.
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
    /// Also measures how many candidates an index of one bit a dimension would need, for these sizes. Takes a minute for 100000.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    binary: Vec<u32>,
    /// Writes the figures of native Postgres to docs/search-scale.json and draws docs/search-scale.svg.
    #[arg(long)]
    plot: bool,
}

/// Prints a table and writes `target/bench/search.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    setup::node_packages()?;
    let python = python::with_packages("bench-search-venv", "bench/search/requirements.txt")?;
    let mut report = Report::new()?;
    let mut program = shell::command(python);
    program.arg("bench/search/native.py");
    if let Some(folder) = &options.work {
        program.arg("--work").arg(folder);
    }
    let native = run(&mut program, &options.native)?;
    add(&mut report, "native", &native)?;
    if !options.native_only {
        let pglite = run(shell::command("node").arg("bench/search/pglite.mjs"), &options.pglite)?;
        add(&mut report, "pglite", &pglite)?;
    }
    if !options.binary.is_empty() {
        let binary = run(shell::command("node").arg("bench/search/binary.mjs"), &options.binary)?;
        add_binary(&mut report, &binary)?;
    }
    if options.plot {
        let docs = paths::repo().join("docs");
        fs::write(docs.join("search-scale.json"), serde_json::to_string_pretty(&native)? + "\n")?;
        fs::write(docs.join("search-scale.svg"), plot::draw(&native)?)?;
    }
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
        program.get_args().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
    );
    let output = program.args(["--sizes", &sizes.join(",")]).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the measurement failed ({})", output.status);
    serde_json::from_slice(&output.stdout).context("its output is not JSON")
}

/// The share of the five nearest passages among the nearest by Hamming distance.
fn add_binary(report: &mut Report, results: &Value) -> Result<()> {
    for size in results["sizes"].as_array().context("no sizes")? {
        let thousands = size["chunks"].as_f64().context("no chunks")? / 1000.0;
        for (candidates, share) in size["found"].as_object().context("no found")? {
            report.add(
                format!("binary_{candidates}_of_best_5_{thousands}k"),
                share.as_f64().context("not a share")?,
                "share",
            );
        }
    }
    Ok(())
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
        for (what, path, unit) in ONLY_NATIVE {
            if let Some(value) = size.pointer(path).and_then(Value::as_f64) {
                report.add(name(what)?, value, unit);
            }
        }
        for (index, seconds) in size["index_seconds"].as_object().into_iter().flatten() {
            report.add(
                format!("{}_{index}", name("build_seconds")?),
                seconds.as_f64().unwrap_or(f64::NAN),
                "s",
            );
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
        let of = |chunks: f64| sizes.iter().find(|size| size["chunks"].as_f64() == Some(chunks));
        if let (Some(small), Some(large)) = (of(100_000.0), of(1_000_000.0)) {
            report.add_ratio(format!("{database}_growth_100k_to_1000k"), p50(large)?, p50(small)?);
        }
    }
    Ok(())
}
