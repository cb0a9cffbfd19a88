//! The library in a process that may be killed, stopped and starved at any instant. Drivers in `ramus_testkit::torture`
//! start it; it says what it did on stdout, one JSON object per line.
#![allow(clippy::print_stdout, reason = "stdout is how the driver is told")]

use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use ramus_engine::{Cursor, Durability, Engine, EngineError, Session};
use ramus_model::Draft;
use ramus_store::{JsonlStore, Layout, LogStore as _, StoreError};
use ramus_testkit::torture::lines::{Lines, Sizes};
use ramus_testkit::torture::snapshot::tour;
use ramus_testkit::torture::snapshot::worker::{self, Manner};
use serde_json::{Value, json};

const USAGE: &str = "\
usage: crashbox write HOME SESSION SEED SIZES FIRST DURABILITY [COUNT]
       crashbox hold HOME SESSION CHILDREN SEED SIZES
       crashbox follow HOME SESSION SEED SIZES COUNT
       crashbox snapshots STORE DIRECTORY MANNER SNAPSHOT SNAPSHOT
       crashbox tour STORE DIRECTORY";

/// How many entries make a turn.
const TURN: usize = 5;

/// How long a reader waits for a line before it gives up.
const PATIENCE: Duration = Duration::from_secs(120);

fn main() -> Result<()> {
    let mut words = Words(std::env::args().skip(1));
    let verb = words.next::<String>()?;
    let (home, session) = (words.next::<String>()?, words.next::<String>()?);
    if verb == "tour" {
        return tour::tour(home.as_ref(), session.as_ref());
    }
    if verb == "snapshots" {
        let manner = Manner::named(&words.next::<String>()?).context(USAGE)?;
        let targets = [words.next::<String>()?, words.next::<String>()?];
        return worker::work(home.as_ref(), session.as_ref(), manner, targets.each_ref().map(String::as_str));
    }
    let store = JsonlStore::new(home, Layout::Pi);
    match verb.as_str() {
        "write" => write(store, &session, &mut words),
        "hold" => hold(store, &session, &mut words),
        "follow" => follow(&store, &session, &mut words),
        _ => bail!("{USAGE}"),
    }
}

/// Appends entries and acknowledges each, until all are written or nobody listens.
fn write(store: JsonlStore, session: &str, words: &mut Words) -> Result<()> {
    let lines = words.lines()?;
    let first: u64 = words.next()?;
    let durability = match words.next::<String>()?.as_str() {
        "full" => Durability::Full,
        "turn" => Durability::Turn,
        "os" => Durability::Os,
        other => bail!("durability cannot be {other}"),
    };
    let count = words.next::<u64>().unwrap_or(u64::MAX - first);
    let engine = Engine::new(Arc::new(store), "crashbox").with_durability(durability);
    let mut session = engine.open(session, "/")?;
    let mut unsaid = Vec::new();
    for number in first..first + count {
        unsaid.push(append(&engine, &mut session, lines, number)?);
        if durability == Durability::Turn {
            if unsaid.len() < TURN {
                continue;
            }
            engine.flush(&mut session)?;
        }
        unsaid.drain(..).try_for_each(|said| say(&said))?;
    }
    Ok(())
}

/// Takes the lease, says so, and appends one entry for every line of input.
fn hold(store: JsonlStore, session: &str, words: &mut Words) -> Result<()> {
    let children: u32 = words.next()?;
    let lines = words.lines()?;
    let engine = Engine::new(Arc::new(store), "crashbox");
    let mut session = engine.open(session, "/")?;
    let _lease = engine.lease(&session)?;
    let mut pids = Vec::new();
    for _ in 0..children {
        // They outlive this process, but not for long.
        let mut child = Command::new("sleep");
        child.arg("30").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        pids.push(child.spawn().context("cannot start sleep")?.id());
    }
    say(&json!({"held": true, "children": pids}))?;
    for line in std::io::stdin().lock().lines() {
        line?;
        // Others may have appended while this process was stopped.
        session = engine.open(session.id().as_str(), "/")?;
        let number = session.log().len() as u64;
        say(&append(&engine, &mut session, lines, number)?)?;
    }
    Ok(())
}

/// Reads whole lines as they come and checks each against what should be there.
fn follow(store: &JsonlStore, session: &str, words: &mut Words) -> Result<()> {
    let lines = words.lines()?;
    let count: u64 = words.next()?;
    let engine = Engine::new(Arc::new(store.clone()), "crashbox");
    let mut location = engine.locate(session, "/")?;
    let (mut read, mut pending, mut seen) = (0, Vec::new(), 0);
    let (mut waited, mut looks) = (0_u64, 0_u64);
    let mut deadline = Instant::now() + PATIENCE;
    while seen <= count {
        looks += 1;
        match store.read(&location, read, &mut |chunk| pending.extend_from_slice(chunk)) {
            Ok(position) if position.end > read => {
                read = position.end;
                deadline = Instant::now() + PATIENCE;
            }
            Ok(_) => rest(),
            // It was published, under another name.
            Err(StoreError::NotFound { .. }) => location = engine.locate(session, "/")?,
            Err(error) => return Err(error.into()),
        }
        let end = pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        waited += u64::from(end < pending.len());
        for line in pending.drain(..end).collect::<Vec<_>>().split_inclusive(|byte| *byte == b'\n') {
            check(line, lines, seen)?;
            seen += 1;
        }
        ensure!(Instant::now() < deadline, "{seen} lines, and then nothing");
    }
    ensure!(pending.is_empty(), "more than was written");
    say(&json!({"lines": seen - 1, "waited": waited, "looks": looks}))
}

/// The line at `at`, of which the header is the first.
fn check(line: &[u8], lines: Lines, at: u64) -> Result<()> {
    serde_json::from_slice::<Value>(line).with_context(|| format!("line {at} is not whole"))?;
    let Some(number) = at.checked_sub(1) else { return Ok(()) };
    let body = [b",\"message\":".as_slice(), &lines.message(number), b"}\n"].concat();
    ensure!(line.ends_with(&body), "line {at} is another one");
    Ok(())
}

/// Appends an entry and returns what there is to say about it.
fn append(engine: &Engine, session: &mut Session, lines: Lines, number: u64) -> Result<Value> {
    let draft = Draft::parse(&lines.entry(number)).map_err(|error| EngineError::Invalid(error.to_string()))?;
    let appended = engine.append(session, &[draft], &Cursor::Leaf)?;
    let id = appended.entries.first().context("nothing was appended")?.id.to_string();
    Ok(json!({"id": id, "number": number}))
}

/// One object, one line, one write.
fn say(object: &Value) -> Result<()> {
    let line = format!("{object}\n");
    Ok(std::io::stdout().lock().write_all(line.as_bytes())?)
}

#[expect(clippy::disallowed_methods, reason = "a reader that polls waits between two looks")]
fn rest() {
    std::thread::sleep(Duration::from_micros(200));
}

/// The command line, word by word.
struct Words(std::iter::Skip<std::env::Args>);

impl Words {
    fn next<T: FromStr>(&mut self) -> Result<T> {
        let word = self.0.next().context(USAGE)?;
        word.parse().ok().with_context(|| format!("{word:?} makes no sense here\n{USAGE}"))
    }

    fn lines(&mut self) -> Result<Lines> {
        let seed = self.next()?;
        let sizes = self.next::<String>()?;
        Ok(Lines { seed, sizes: Sizes::named(&sizes).context(USAGE)? })
    }
}
