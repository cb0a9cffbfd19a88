//! Appending one entry of 1 KB at a time: as fast as the system takes it, and confirmed by the disk each time.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramus_engine::{Cursor, Durability, Engine, NewSession, Session};
use ramus_model::{Body, Draft};
use ramus_store::{JsonlStore, Layout};
use serde_json::json;

/// Entries per round without and with confirmation.
const MANY: usize = 50_000;
const FEW: usize = 2_000;
const ROUNDS: usize = 5;

/// A message whose line has about 1 KB.
pub(crate) fn message() -> Draft {
    let text = "lorem ipsum ".repeat(70);
    Draft::new(Body::new(
        "message",
        [("message", json!({"role": "user", "content": [{"type": "text", "text": text}]}))],
    ))
}

/// A line like the one that is stored for such a message.
pub(crate) fn line() -> Vec<u8> {
    let parent = ramus_model::EntryId::from("01234567");
    message().body.to_line(&"89abcdef".into(), Some(&parent), "2026-02-16T10:20:30.000Z")
}

pub(crate) fn session(home: &Path, durability: Durability) -> io::Result<(Engine, Session)> {
    let engine = Engine::new(Arc::new(JsonlStore::new(home, Layout::Pi)), "bench").with_durability(durability);
    let new = NewSession { cwd: "/bench".into(), ..NewSession::default() };
    let session = engine.create(new).map_err(io::Error::other)?;
    Ok((engine, session))
}

fn ours(home: &Path, durability: Durability, count: usize) -> io::Result<Duration> {
    let (engine, mut session) = session(home, durability)?;
    let draft = [message()];
    let start = Instant::now();
    for _ in 0..count {
        engine.append(&mut session, &draft, &Cursor::Leaf).map_err(io::Error::other)?;
    }
    Ok(start.elapsed())
}

/// The limit: a write and, when asked for, a confirmation for each line.
fn raw(path: &Path, confirm: bool, count: usize) -> io::Result<Duration> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let line = line();
    let start = Instant::now();
    for _ in 0..count {
        file.write_all(&line)?;
        if confirm {
            file.sync_data()?;
        }
    }
    let time = start.elapsed();
    drop(file);
    fs::remove_file(path)?;
    Ok(time)
}

pub(crate) fn measure(directory: &Path) -> io::Result<()> {
    for (name, durability, count) in [("os", Durability::Os, MANY), ("full", Durability::Full, FEW)] {
        let (mut best, mut limit) = (Duration::MAX, Duration::MAX);
        for round in 0..ROUNDS {
            let home = directory.join(format!("append-{name}-{round}"));
            best = best.min(ours(&home, durability, count)?);
            fs::remove_dir_all(&home)?;
            limit = limit.min(raw(&directory.join("raw"), durability == Durability::Full, count)?);
        }
        let rate = |time: Duration| (count as f64 / time.as_secs_f64()).round();
        println!(r#"{{"op":"append_{name}","per_second":{},"raw_per_second":{}}}"#, rate(best), rate(limit));
    }
    Ok(())
}
