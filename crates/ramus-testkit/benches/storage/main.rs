//! Measures what storage costs: opening for the next turn, appending, group commit, bytes on disk. Prints a JSON line per
//! measurement. Run by `cargo xtask bench`; the method is described in `docs/benchmarks.md`.
//!
//! Every measurement stands beside the physical limit, taken in turns with it in the same process: what disturbs the
//! machine disturbs both.
#![allow(clippy::print_stdout, reason = "the output is the result")]

mod append;
mod fork;
mod group;
mod resume;

use std::path::PathBuf;
use std::{env, io};

/// Entries of the sessions that are resumed.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() -> io::Result<()> {
    // `cargo bench` adds a flag of its own.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["prepare", directory] => {
            SIZES.iter().try_for_each(|entries| resume::prepare(&PathBuf::from(directory), *entries))
        }
        ["resume", directory] => {
            SIZES.iter().try_for_each(|entries| resume::measure(&PathBuf::from(directory), *entries))
        }
        ["resume-once", home] => resume::once(&PathBuf::from(home)),
        ["append", directory] => append::measure(&PathBuf::from(directory)),
        ["group", directory] => group::measure(&PathBuf::from(directory)),
        ["fork", directory] => fork::measure(&PathBuf::from(directory)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "usage: prepare|resume|append|group|fork DIRECTORY, or resume-once HOME",
        )),
    }
}
