//! Many writers, one session: how many confirmed entries a second, against a bare group commit of the same lines.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ramus_engine::{Cursor, Durability, SharedSession};

use crate::append::{line, message, session};

/// Entries per round.
const COUNT: usize = 16_000;
const ROUNDS: usize = 5;

fn ours(home: &Path, writers: usize) -> io::Result<Duration> {
    let (engine, session) = session(home, Durability::Full)?;
    let shared = SharedSession::new(engine, session);
    let each = COUNT / writers;
    let start = Instant::now();
    let written: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..writers)
            .map(|_| scope.spawn(|| (0..each).filter(|_| shared.append(vec![message()], Cursor::Leaf).is_ok()).count()))
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap_or_default()).sum()
    });
    let time = start.elapsed();
    if written == each * writers { Ok(time) } else { Err(io::Error::other("an append failed")) }
}

/// A group commit and nothing else: lines in a buffer, one write and one confirmation for all that came meanwhile.
struct Bare {
    desk: Mutex<Desk>,
    changed: Condvar,
}

struct Desk {
    file: Option<File>,
    buffer: Vec<u8>,
    queued: u64,
    confirmed: u64,
}

impl Bare {
    fn append(&self, line: &[u8]) -> io::Result<()> {
        let lock = || self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let mut desk = lock();
        desk.buffer.extend_from_slice(line);
        desk.queued += 1;
        let ticket = desk.queued;
        while desk.confirmed < ticket {
            let Some(mut file) = desk.file.take() else {
                desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let group = std::mem::take(&mut desk.buffer);
            let upto = desk.queued;
            drop(desk);
            file.write_all(&group)?;
            file.sync_data()?;
            desk = lock();
            desk.file = Some(file);
            desk.confirmed = upto;
            self.changed.notify_all();
        }
        Ok(())
    }
}

fn raw(path: &Path, writers: usize) -> io::Result<Duration> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let desk = Desk { file: Some(file), buffer: Vec::new(), queued: 0, confirmed: 0 };
    let bare = Bare { desk: Mutex::new(desk), changed: Condvar::new() };
    let line = line();
    let each = COUNT / writers;
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..writers {
            scope.spawn(|| (0..each).try_for_each(|_| bare.append(&line)));
        }
    });
    let time = start.elapsed();
    let written = fs::metadata(path)?.len();
    fs::remove_file(path)?;
    let whole = (each * writers * line.len()) as u64;
    if written == whole { Ok(time) } else { Err(io::Error::other("the bare group commit failed")) }
}

pub(crate) fn measure(directory: &Path) -> io::Result<()> {
    for writers in [1, 8, 64] {
        let (mut best, mut limit) = (Duration::MAX, Duration::MAX);
        for round in 0..ROUNDS {
            let home = directory.join(format!("group-{writers}-{round}"));
            best = best.min(ours(&home, writers)?);
            fs::remove_dir_all(&home)?;
            limit = limit.min(raw(&directory.join("raw"), writers)?);
        }
        let rate = |time: Duration| (COUNT as f64 / time.as_secs_f64()).round();
        println!(r#"{{"op":"group_{writers}","per_second":{},"raw_per_second":{}}}"#, rate(best), rate(limit));
    }
    Ok(())
}
