//! Times embedder and reader on one thread: `time_read MODEL_FOLDER`.
//!
//! Answers each line of standard input, a question, with two numbers: the milliseconds to embed it, and to read the passages of
//! `bench/reader/passages.txt` for it.

#![allow(clippy::print_stdout, reason = "a program that answers on standard output")]

use std::error::Error;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::time::Instant;

use embedder::{Embedder, Passage, Reader};

/// Blocks of lines: the heading of a passage, then its statements.
const PASSAGES: &str = include_str!("../../../reader/passages.txt");

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: time_read MODEL_FOLDER")?;
    let mut embedder = Embedder::from_dir(Path::new(&folder))?;
    let mut reader = Reader::from_dir(&embedder, Path::new(&folder))?;
    let blocks: Vec<Vec<_>> = PASSAGES.trim().split("\n\n").map(|block| block.lines().collect()).collect();
    let passages: Vec<_> =
        blocks.iter().map(|lines| Passage { heading: lines[0], statements: &lines[1..] }).collect();
    for question in io::stdin().lines() {
        let question = question?;
        let embed = milliseconds(|| embedder.embed(&question));
        let read = milliseconds(|| reader.read_batch(&question, &passages));
        println!("{embed} {read}");
    }
    Ok(())
}

fn milliseconds<T>(work: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    black_box(work());
    started.elapsed().as_secs_f64() * 1e3
}
