//! Times the parts of an embedding on one thread: `time_stages MODEL_FOLDER`.
//!
//! Answers each line `REPEATS STAGE TEXT` of standard input with two numbers: the milliseconds of a repeat, and its products
//! of integers. The stage `whole` is the whole embedding, without a count. Answers `kernel` with the kernel's name.

#![allow(clippy::print_stdout, reason = "a program that answers on standard output")]

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Instant;

use embedder::{Embedder, Stage};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: time_stages MODEL_FOLDER")?;
    let mut embedder = Embedder::from_dir(Path::new(&folder))?;
    println!("ready");
    for line in io::stdin().lines() {
        let line = line?;
        if line == "kernel" {
            println!("{}", embedder.kernel());
            continue;
        }
        let mut fields = line.splitn(3, ' ');
        let (Some(repeats), Some(name), Some(text)) = (fields.next(), fields.next(), fields.next()) else {
            return Err("expected: REPEATS STAGE TEXT".into());
        };
        let repeats: u32 = repeats.parse()?;
        let started = Instant::now();
        let products = match Stage::ALL.into_iter().find(|stage| stage.name() == name) {
            Some(stage) => embedder.repeat(stage, text, repeats),
            None if name == "whole" => {
                (0..repeats).for_each(|_| drop(std::hint::black_box(embedder.embed(text))));
                0
            }
            None => return Err(format!("no stage {name}").into()),
        };
        println!("{} {products}", started.elapsed().as_secs_f64() * 1e3 / f64::from(repeats));
    }
    Ok(())
}
