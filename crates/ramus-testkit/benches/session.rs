//! Measures ramus on one session file and prints a JSON line per operation.
//!
//! Run by `cargo xtask bench`, which sets the figures beside those of other programs; the method is described in
//! `docs/benchmarks.md`. Every figure is the best of several repetitions in this process.
#![allow(clippy::print_stdout, reason = "the output is the result")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use ramus_engine::{Engine, ForkOptions, Session};
use ramus_model::{Depth, Log, context};
use ramus_store::{JsonlStore, Layout, LogStore, MemoryStore, NewLog};

/// The fewest rounds.
const ROUNDS: usize = 7;

/// How long rounds go on at least: the best of many is what the machine can do when nothing interferes.
const PATIENCE: Duration = Duration::from_secs(6);

/// A session file, its bytes, and the log that was read from them.
struct Sample {
    engine: Engine,
    path: String,
    bytes: Vec<u8>,
    log: Log,
    origin: Origin,
}

/// The same session in a home in memory, where making a file costs nothing.
struct Origin {
    store: MemoryStore,
    engine: Engine,
    session: Session,
}

impl Origin {
    fn of(bytes: &[u8]) -> io::Result<Self> {
        let store = MemoryStore::default();
        let engine = Engine::new(Arc::new(store.clone()), "bench");
        store.create(&NewLog::draft("origin".into(), "/", ""), bytes).map_err(io::Error::other)?;
        let session = engine.open("origin", "/").map_err(io::Error::other)?;
        Ok(Self { store, engine, session })
    }
}

/// One thing to measure. Returns what it counted, so that nothing is optimised away and a mistake shows.
type Operation = fn(&Sample) -> io::Result<usize>;

/// Operations by group. Those of one group take turns, so that neither finds the file in the processor's cache because it
/// was the only one to touch it; groups run one after the other, as other programs' operations do.
const GROUPS: [&[(&str, Operation)]; 5] = [
    &[("memchr_scan", memchr_scan), ("envelope_scan", envelope_scan)],
    &[("open", open)],
    &[("open_and_render", open_and_render)],
    &[("context", build_context)],
    &[("fork", fork)],
];

fn main() -> io::Result<()> {
    // `cargo bench` adds a flag of its own.
    let mut arguments = env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let Some(path) = arguments.next() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "which session file? (and, to measure one: which operation?)",
        ));
    };
    let only = arguments.next();
    let bytes = fs::read(&path)?;
    let log = Log::from_bytes(&bytes, Depth::Envelope);
    let home = tempfile::tempdir()?;
    let store = JsonlStore::new(home.path(), Layout::Pi);
    let origin = Origin::of(&bytes)?;
    let sample = Sample { engine: Engine::new(Arc::new(store), "bench"), path, bytes, log, origin };
    for group in GROUPS {
        let chosen = group.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)).copied();
        for (name, count, best) in measure(&sample, &chosen.collect::<Vec<_>>())? {
            let milliseconds = best.as_secs_f64() * 1_000.0;
            println!(r#"{{"op":"{name}","min_ms":{milliseconds:.6},"n":{count},"bytes":{}}}"#, sample.bytes.len());
        }
    }
    Ok(())
}

/// Takes turns between the operations, so that what disturbs the machine disturbs them all, and keeps the best of each.
fn measure(
    sample: &Sample,
    operations: &[(&'static str, Operation)],
) -> io::Result<Vec<(&'static str, usize, Duration)>> {
    let mut results: Vec<_> = operations.iter().map(|(name, _)| (*name, 0, Duration::MAX)).collect();
    let begin = Instant::now();
    let mut rounds = 0;
    while !operations.is_empty() && (rounds < ROUNDS || begin.elapsed() < PATIENCE) {
        for ((_, operation), (_, count, best)) in operations.iter().zip(&mut results) {
            let start = Instant::now();
            *count = black_box(operation(sample)?);
            *best = (*best).min(start.elapsed());
        }
        rounds += 1;
    }
    Ok(results)
}

/// The physical limit: finding the line ends and nothing else. Counts lines.
fn memchr_scan(sample: &Sample) -> io::Result<usize> {
    let mut lines = 0;
    for end in memchr::memchr_iter(b'\n', black_box(&sample.bytes)) {
        lines += usize::from(black_box(end) > 0);
    }
    Ok(lines)
}

/// The envelope of every entry, linked to a tree. Counts entries.
fn envelope_scan(sample: &Sample) -> io::Result<usize> {
    Ok(Log::from_bytes(black_box(&sample.bytes), Depth::Envelope).len())
}

/// From the path to the context through the engine, as a command does it, bodies left where they are. Counts messages.
fn open(sample: &Sample) -> io::Result<usize> {
    let session = sample.engine.open(black_box(&sample.path), "/").map_err(io::Error::other)?;
    let context = session.context(session.log().leaf()).map_err(io::Error::other)?;
    Ok(black_box(context).items.len())
}

/// From the path to the messages of the context as JSON, ready to be sent. Counts messages.
fn open_and_render(sample: &Sample) -> io::Result<usize> {
    let bytes = fs::read(black_box(&sample.path))?;
    let log = Log::from_bytes(&bytes, Depth::Envelope);
    let Ok(context) = context::build(&log, log.leaf(), bytes.as_slice());
    let mut messages = Vec::with_capacity(bytes.len());
    let Ok(()) = context::render::messages(&log, &context, bytes.as_slice(), &mut messages);
    black_box(messages);
    Ok(context.items.len())
}

/// The context of an opened session. Counts messages.
fn build_context(sample: &Sample) -> io::Result<usize> {
    let log = black_box(&sample.log);
    let Ok(context) = context::build(log, log.leaf(), sample.bytes.as_slice());
    Ok(black_box(context).items.len())
}

/// A fork of an opened session at its leaf, without the disk's share. Counts the bytes of the fork.
fn fork(sample: &Sample) -> io::Result<usize> {
    let Origin { store, engine, session } = &sample.origin;
    let leaf = session.log().leaf().ok_or_else(|| io::Error::other("the session has no leaf"))?;
    let fork = engine.fork(black_box(session), leaf, &ForkOptions::default()).map_err(io::Error::other)?;
    let removed = store.delete(&fork.location, false).map_err(io::Error::other)?;
    usize::try_from(removed.bytes).map_err(io::Error::other)
}
