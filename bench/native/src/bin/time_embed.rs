//! Times the embedder on one thread: `time_embed MODEL_FOLDER`.
//!
//! Answers each line of standard input with one line: `time ROUNDS TEXT` with the milliseconds of each embedding of the
//! text, with tokenizing and pooling; `ids TEXT` with the token ids.

#![allow(clippy::print_stdout, reason = "a program that answers on standard output")]

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::time::Instant;

use embedder::Embedder;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: time_embed MODEL_FOLDER")?;
    let mut embedder = Embedder::from_dir(Path::new(&folder))?;
    println!("ready");
    for line in io::stdin().lines() {
        println!("{}", answer(&mut embedder, &line?)?);
    }
    Ok(())
}

fn answer(embedder: &mut Embedder, line: &str) -> Result<String, Box<dyn Error>> {
    match line.split_once(' ') {
        Some(("ids", text)) => Ok(join(embedder.token_ids(text))),
        Some(("time", request)) => {
            let (rounds, text) = request.split_once(' ').ok_or("expected: time ROUNDS TEXT")?;
            Ok(join((0..rounds.parse::<usize>()?).map(|_| milliseconds(embedder, text))))
        }
        _ => Err("expected: time ROUNDS TEXT, or ids TEXT".into()),
    }
}

fn milliseconds(embedder: &mut Embedder, text: &str) -> f64 {
    let started = Instant::now();
    std::hint::black_box(embedder.embed(text));
    started.elapsed().as_secs_f64() * 1e3
}

fn join(items: impl IntoIterator<Item = impl Display>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}
