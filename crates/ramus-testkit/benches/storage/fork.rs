//! Forking a long session: nothing is copied, so it costs what writing a header costs.

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use ramus_engine::{Engine, ForkOptions};

use crate::resume::{engine, home_of, session_in};

const ENTRIES: usize = 100_000;
const ROUNDS: usize = 50;

/// Forks at the leaf, in a home on a file system that has nothing to confirm: waiting for the disk is not counted.
pub(crate) fn measure(directory: &Path) -> io::Result<()> {
    let memory = Path::new("/dev/shm");
    let scratch = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let copied =
        std::process::Command::new("cp").arg("-a").arg(home_of(directory, ENTRIES)).arg(scratch.path()).status()?;
    if !copied.success() {
        return Err(io::Error::other("the home could not be copied"));
    }
    let engine: Engine = engine(&home_of(scratch.path(), ENTRIES));
    let origin = engine.open(&session_in(&engine)?, "/").map_err(io::Error::other)?;
    let leaf = origin.log().leaf().ok_or_else(|| io::Error::other("the session has no leaf"))?;
    let (mut best, mut bytes) = (Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let fork = engine.fork(&origin, leaf, &ForkOptions::default()).map_err(io::Error::other)?;
        best = best.min(start.elapsed());
        let path = fork.location.path.clone().ok_or_else(|| io::Error::other("the fork has no file"))?;
        bytes = std::fs::metadata(path)?.len();
        black_box(fork);
    }
    println!(r#"{{"op":"fork","entries":{ENTRIES},"min_ms":{:.6},"bytes":{bytes}}}"#, best.as_secs_f64() * 1_000.0);
    Ok(())
}
