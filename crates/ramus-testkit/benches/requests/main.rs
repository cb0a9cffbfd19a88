//! Measures what a turn costs beside the model: making a request, counting tokens, passing an answer on. Prints a JSON line
//! per measurement. Run by `cargo xtask bench`; the method is described in `docs/benchmarks.md`.
#![allow(clippy::print_stdout, reason = "the output is the result")]

mod build;
mod count;
mod stream;

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, io};

fn main() -> io::Result<()> {
    // `cargo bench` adds a flag of its own.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["build", directory] => build::measure(Path::new(directory)),
        ["count", _] => count::measure(),
        ["stream", directory] => stream::measure(Path::new(directory)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "usage: build|count|stream DIRECTORY")),
    }
}

/// The best of several rounds: what the machine can do when nothing interferes.
fn best<T>(rounds: usize, mut work: impl FnMut() -> io::Result<T>) -> io::Result<(Duration, T)> {
    let mut timed = || {
        let start = Instant::now();
        let value = work()?;
        io::Result::Ok((start.elapsed(), value))
    };
    let mut best = timed()?;
    for _ in 1..rounds {
        let round = timed()?;
        if round.0 < best.0 {
            best = round;
        }
    }
    Ok(best)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
