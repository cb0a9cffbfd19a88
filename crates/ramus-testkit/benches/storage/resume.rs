//! Opening a session for its next turn: the same context at the end of histories of any length.

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramus_engine::{Cursor, Durability, Engine, Say};
use ramus_model::{Body, Depth, Draft, Log, context};
use ramus_store::{JsonlStore, Layout};
use ramus_testkit::corpus;
use serde_json::json;

/// How many entries the compaction keeps, and how many follow it.
const KEPT: usize = 40;
const AFTER: usize = 20;

/// How long each measurement goes on.
const PATIENCE: Duration = Duration::from_secs(3);

pub(crate) fn home_of(directory: &Path, entries: usize) -> PathBuf {
    directory.join(format!("home-{entries}"))
}

pub(crate) fn engine(home: &Path) -> Engine {
    Engine::new(Arc::new(JsonlStore::new(home, Layout::Pi)), "bench").with_durability(Durability::Os)
}

/// The only session of a home.
pub(crate) fn session_in(engine: &Engine) -> io::Result<String> {
    let ids = engine.session_ids().map_err(io::Error::other)?;
    ids.first().map(ToString::to_string).ok_or_else(|| io::Error::other("the home has no session"))
}

/// Makes a home with one session of so many entries, of which the last few are the context. It has a current sidecar.
pub(crate) fn prepare(directory: &Path, entries: usize) -> io::Result<()> {
    let home = home_of(directory, entries);
    let _ = fs::remove_dir_all(&home);
    let folder = home.join("sessions/--home-dev-grove--");
    fs::create_dir_all(&folder)?;
    let draft = directory.join("draft.jsonl");
    corpus::write_session(&draft, entries - AFTER - 1, 42)?;
    let header = fs::read(&draft)?;
    let id = Log::from_bytes(header.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default(), Depth::Envelope);
    let id = id.header().map(|header| header.id.to_string()).unwrap_or_default();
    fs::rename(&draft, folder.join(format!("2026-03-02T08-00-00-000Z_{id}.jsonl")))?;
    let engine = engine(&home);
    let mut session = engine.open(&id, "/").map_err(io::Error::other)?;
    let path = session.log().path(session.log().leaf());
    let keep = path.iter().rev().nth(KEPT - 1).copied().ok_or_else(|| io::Error::other("too few entries"))?;
    let members = [
        ("summary", json!("what was done so far ".repeat(40))),
        ("firstKeptEntryId", json!(session.entry_id(keep).as_str())),
        ("tokensBefore", json!(120_000)),
    ];
    let compaction = Draft::new(Body::new("compaction", members));
    engine.append(&mut session, &[compaction], &Cursor::Leaf).map_err(io::Error::other)?;
    for n in 0..AFTER {
        let text = format!("{n} {}", "and so on ".repeat(80));
        let say = if n % 2 == 0 { Say::user(text) } else { Say::assistant(text) };
        engine.say(&mut session, say).map_err(io::Error::other)?;
    }
    Ok(())
}

/// From the id to the messages of the context as JSON, ready to be sent. Returns how many there are.
fn resume(engine: &Engine, id: &str) -> io::Result<usize> {
    let resumed = engine.resume(id, "/").map_err(io::Error::other)?;
    if !resumed.is_window() {
        return Err(io::Error::other("the sidecar was not used"));
    }
    let mut messages = Vec::new();
    context::render::messages(resumed.log(), resumed.context(), &resumed.lines(), &mut messages)
        .map_err(io::Error::other)?;
    black_box(messages);
    Ok(resumed.context().items.len())
}

/// The same for a session that has no sidecar: everything is read once.
fn open(engine: &Engine, id: &str) -> io::Result<usize> {
    let session = engine.open(id, "/").map_err(io::Error::other)?;
    let context = session.context(session.log().leaf()).map_err(io::Error::other)?;
    let mut messages = Vec::new();
    context::render::messages(session.log(), &context, &session.lines(), &mut messages).map_err(io::Error::other)?;
    black_box(messages);
    Ok(context.items.len())
}

fn best(mut operation: impl FnMut() -> io::Result<usize>) -> io::Result<(usize, Duration)> {
    let (mut best, mut count) = (Duration::MAX, 0);
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds < 5 || begin.elapsed() < PATIENCE {
        let start = Instant::now();
        count = operation()?;
        best = best.min(start.elapsed());
        rounds += 1;
    }
    Ok((count, best))
}

fn report(operation: &str, entries: usize, count: usize, time: Duration) {
    let milliseconds = time.as_secs_f64() * 1_000.0;
    println!(r#"{{"op":"{operation}","entries":{entries},"min_ms":{milliseconds:.6},"n":{count}}}"#);
}

pub(crate) fn measure(directory: &Path, entries: usize) -> io::Result<()> {
    let home = home_of(directory, entries);
    let engine = engine(&home);
    let id = session_in(&engine)?;
    let (count, time) = best(|| resume(&engine, &id))?;
    report("resume", entries, count, time);
    let (count, time) = best(|| open(&engine, &id))?;
    report("open_with_sidecar", entries, count, time);
    let output = Command::new(std::env::current_exe()?).arg("resume-once").arg(&home).output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout).replace("ENTRIES", &entries.to_string()));
    disk(&home, entries)?;
    // Without a sidecar, and without leaving one.
    let index = home.join("index");
    let aside = home.join("index-aside");
    fs::rename(&index, &aside)?;
    let (count, time) = best(|| {
        let _ = fs::remove_dir_all(&index);
        open(&engine, &id)
    })?;
    report("open_cold", entries, count, time);
    let _ = fs::remove_dir_all(&index);
    fs::rename(&aside, &index)
}

/// Resumes once, as a process of its own, and says how much memory that took at most.
pub(crate) fn once(home: &Path) -> io::Result<()> {
    let engine = engine(home);
    let count = resume(&engine, &session_in(&engine)?)?;
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.split_whitespace().next()).unwrap_or("0");
    println!(r#"{{"op":"resume_memory","entries":ENTRIES,"peak_kb":{peak},"n":{count}}}"#);
    Ok(())
}

/// Bytes on disk per byte of message.
fn disk(home: &Path, entries: usize) -> io::Result<()> {
    let size = |folder: &Path| -> io::Result<u64> {
        let mut total = 0;
        for entry in fs::read_dir(folder)? {
            total += entry?.metadata()?.len();
        }
        Ok(total)
    };
    let folder = home.join("sessions/--home-dev-grove--");
    let (log, sidecar) = (size(&folder)?, size(&home.join("index"))?);
    let mut messages = 0;
    for entry in fs::read_dir(&folder)? {
        for line in fs::read(entry?.path())?.split(|byte| *byte == b'\n') {
            let message = ramus_model::json::Raw::parse(line).and_then(|raw| raw.field("message"));
            messages += message.map_or(0, |message| message.bytes().len() as u64);
        }
    }
    println!(r#"{{"op":"disk","entries":{entries},"log":{log},"sidecar":{sidecar},"messages":{messages}}}"#);
    Ok(())
}
