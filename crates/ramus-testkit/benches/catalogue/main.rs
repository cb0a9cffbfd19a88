//! Measures what finding things costs among ten thousand sessions: making the catalogue, listing, searching, catching up.
//! Prints a JSON line per measurement. Run by `cargo xtask bench`; the method is described in `docs/benchmarks.md`.
#![allow(clippy::print_stdout, reason = "the output is the result")]

mod homes;
mod rows;
mod text;

use std::path::Path;
use std::{env, io};

fn main() -> io::Result<()> {
    // `cargo bench` adds a flag of its own.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["prepare", directory] => homes::prepare(Path::new(directory)),
        ["rows", directory] => rows::measure(Path::new(directory)),
        ["text", directory] => text::measure(Path::new(directory)),
        ["list-once", home] => rows::once(Path::new(home)),
        ["search-once", home] => text::once(Path::new(home)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "usage: prepare|rows|text DIRECTORY, or list-once|search-once HOME",
        )),
    }
}
