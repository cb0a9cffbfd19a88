//! Rows: making all of them, catching up with one append, listing from them.

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ramus_engine::{Filter, Say};

use crate::homes::{LARGE, SMALL, catalogue_size, engine, files, forget, home_of};

/// How many times everything is made anew, and how many times a page is listed.
const REBUILDS: usize = 3;
const LISTS: usize = 200;
const APPENDS: usize = 50;

fn page(limit: usize) -> Filter {
    Filter { limit: Some(limit), archived: true, drafts: true, ..Filter::default() }
}

pub(crate) fn measure(directory: &Path) -> io::Result<()> {
    let (large, small) = (home_of(directory, &LARGE), home_of(directory, &SMALL));
    rebuild(&large)?;
    let listed = list(&small, SMALL.sessions)?;
    println!(r#"{{"op":"list_all","entries":{},"min_ms":{:.6}}}"#, SMALL.sessions, milliseconds(listed));
    let listed = list(&large, 50)?;
    println!(r#"{{"op":"list_page","entries":{},"min_ms":{:.6}}}"#, LARGE.sessions, milliseconds(listed));
    let caught = catch_up(&large)?;
    println!(r#"{{"op":"catch_up","entries":{},"min_ms":{:.6}}}"#, LARGE.sessions, milliseconds(caught));
    let output = Command::new(std::env::current_exe()?).arg("list-once").arg(&large).output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// From nothing to the first page.
fn rebuild(home: &Path) -> io::Result<()> {
    let mut best = Duration::MAX;
    for _ in 0..REBUILDS {
        forget(home)?;
        let start = Instant::now();
        list_once(home)?;
        best = best.min(start.elapsed());
    }
    let mut bytes = 0;
    for file in files(home)? {
        bytes += file.metadata()?.len();
    }
    let seconds = best.as_secs_f64();
    let (rate, size) = (bytes as f64 / 1e6 / seconds, catalogue_size(home)?);
    println!(
        r#"{{"op":"rebuild_rows","entries":{},"seconds":{seconds:.3},"mb_per_second":{rate:.1},"bytes":{size}}}"#,
        LARGE.sessions
    );
    Ok(())
}

/// The same engine again and again, with nothing to catch up with.
fn list(home: &Path, limit: usize) -> io::Result<Duration> {
    let engine = engine(home);
    let mut best = Duration::MAX;
    for _ in 0..LISTS {
        let start = Instant::now();
        let listing = engine.list(&page(limit)).map_err(io::Error::other)?;
        best = best.min(start.elapsed());
        if listing.sessions.len() != limit {
            return Err(io::Error::other(format!("{} of {limit} sessions are listed", listing.sessions.len())));
        }
    }
    Ok(best)
}

/// The first page after another engine appended to one session. It must be the newest then.
fn catch_up(home: &Path) -> io::Result<Duration> {
    let (writer, reader) = (engine(home), engine(home));
    let listing = reader.list(&page(50)).map_err(io::Error::other)?;
    let newest = listing.sessions.last().ok_or_else(|| io::Error::other("the home is empty"))?.id.clone();
    let mut session = writer.open(newest.as_str(), "/").map_err(io::Error::other)?;
    let mut times = Vec::new();
    for number in 0..APPENDS {
        writer.say(&mut session, Say::user(format!("one more, number {number}"))).map_err(io::Error::other)?;
        let start = Instant::now();
        let listing = reader.list(&page(50)).map_err(io::Error::other)?;
        times.push(start.elapsed());
        if listing.sessions.first().map(|info| &info.id) != Some(&newest) {
            return Err(io::Error::other("what was appended is not listed first"));
        }
    }
    // The best one: others that write on this machine are not what is measured.
    times.into_iter().min().ok_or_else(|| io::Error::other("nothing was measured"))
}

/// Lists once, as a process of its own, and says how much memory that took at most.
pub(crate) fn once(home: &Path) -> io::Result<()> {
    list_once(home)?;
    println!(r#"{{"op":"list_memory","entries":{},"peak_kb":{}}}"#, LARGE.sessions, peak()?);
    Ok(())
}

/// The first page, by an engine of its own.
pub(crate) fn list_once(home: &Path) -> io::Result<()> {
    black_box(engine(home).list(&page(50)).map_err(io::Error::other)?);
    Ok(())
}

/// The most memory that this process has had, in KB.
pub(crate) fn peak() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
    peak.ok_or_else(|| io::Error::other("the system does not say how much memory was used"))
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
