//! What a server costs, and what another one costs that does the same: `ramus serve` beside `opencode serve`, each started,
//! filled and asked the same way; and what many clients get done that write at the same time.

mod opencode;
mod program;
mod ramus;

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use self::opencode::Theirs;
use self::program::{Program, Running};
use self::ramus::Ramus;
use super::figure::{Figure, Outcome, figure};
use super::opencode::Opencode;
use super::peers::Peers;
use crate::workspace::Workspace;

const SESSIONS: usize = 1_000;
const MESSAGES: usize = 10_000;
/// How many take part when many write at the same time.
const CLIENTS: usize = 64;
/// How often something is measured; the median counts.
const ROUNDS: usize = 7;
/// For how long appends are counted in a round.
const LASTING: Duration = Duration::from_secs(2);
/// How long a server is left alone before its memory is looked at.
const REST: Duration = Duration::from_secs(3);

/// What was measured of one server; the medians.
struct Measured {
    started: f64,
    idle: f64,
    /// After everything else was measured.
    used: f64,
    appends: f64,
    list: f64,
    list_bytes: usize,
    messages: f64,
    messages_bytes: usize,
}

pub(super) fn run(workspace: &Workspace, _: Option<&Peers>) -> Result<Outcome> {
    let directory = workspace.target.join("bench-data").join("server");
    if directory.exists() {
        fs::remove_dir_all(&directory).context("cannot remove what an earlier run left")?;
    }
    fs::create_dir_all(&directory).context("cannot create the folder for benchmark data")?;
    let ramus = Ramus::new(workspace, &directory)?;
    let theirs = match Opencode::find(workspace) {
        Ok(program) => Some(Theirs::new(program, &directory)?),
        Err(reason) => {
            println!("opencode is not measured: {reason}");
            None
        }
    };
    let document = directory.join("session.json");
    println!("==> {SESSIONS} sessions, one of them with {MESSAGES} messages");
    let long = {
        let running = Running::start(&ramus)?;
        let mut connection = running.connect()?;
        let long = ramus.create(&mut connection, "the long one")?;
        ramus.fill(&mut connection, &long, MESSAGES)?;
        fill(&ramus, &running)?;
        long
    };
    ramus.export(&long, &document)?;
    println!("==> ramus serve");
    let ours = measure(&ramus, &long)?;
    let together = together(&ramus)?;
    let theirs = match &theirs {
        Some(theirs) => {
            println!("==> opencode serve");
            let long = theirs.import(&document)?;
            fill(theirs, &Running::start(theirs)?)?;
            Some(measure(theirs, &long)?)
        }
        None => None,
    };
    fs::remove_dir_all(&directory).context("cannot remove the benchmark data")?;
    let mut figures = beside(&ours, theirs.as_ref());
    figures.push(together);
    Ok(Outcome::of(&figures))
}

/// Makes the short sessions.
fn fill(program: &dyn Program, running: &Running<'_>) -> Result<()> {
    let mut connection = running.connect()?;
    for number in 1..SESSIONS {
        program.create(&mut connection, &format!("Session number {number} about parsers"))?;
    }
    Ok(())
}

fn measure(program: &dyn Program, long: &str) -> Result<Measured> {
    let started = median(|| Ok(Running::start(program)?.started))?;
    let running = Running::start(program)?;
    #[allow(clippy::disallowed_methods, reason = "what is measured is a server that was left alone for a while")]
    thread::sleep(REST);
    let idle = running.memory()?;
    println!("started in {started:.1} ms, {idle:.1} MB");
    let route = program.list(SESSIONS);
    let list_bytes = running.read(&route, SESSIONS)?.1;
    let list = median(|| Ok(running.read(&route, SESSIONS)?.0))?;
    println!("{SESSIONS} sessions in {list:.2} ms, {list_bytes} bytes");
    let route = program.messages(long, MESSAGES);
    let messages_bytes = running.read(&route, MESSAGES)?.1;
    let messages = median(|| Ok(running.read(&route, MESSAGES)?.0))?;
    println!("{MESSAGES} messages in {messages:.1} ms, {messages_bytes} bytes");
    // In a session of its own, which grows as sessions do.
    let session = program.create(&mut running.connect()?, "written to")?;
    let text = "four hundred bytes of what somebody says to a model. ".repeat(8);
    let appends = median(|| running.appends(&session, &text, LASTING))?;
    println!("{appends:.0} appends a second");
    let used = running.memory()?;
    Ok(Measured { started, idle, used, appends, list, list_bytes, messages, messages_bytes })
}

/// Measures again and again, after a first time that does not count; returns the median.
fn median(mut once: impl FnMut() -> Result<f64>) -> Result<f64> {
    once()?;
    let mut all = (0..ROUNDS).map(|_| once()).collect::<Result<Vec<_>>>()?;
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().context("something is measured at least once")
}

/// What one client and many get written to one session, every append confirmed by the disk.
fn together(ramus: &Ramus) -> Result<Figure> {
    let running = Running::start(ramus)?;
    let session = ramus.create(&mut running.connect()?, "written to by many")?;
    let text = "four hundred bytes of what somebody says to a model. ".repeat(8);
    let rate = |clients: usize| {
        thread::scope(|scope| {
            let writing = (0..clients).map(|_| scope.spawn(|| running.appends(&session, &text, LASTING)));
            let writing: Vec<_> = writing.collect();
            let rates = writing.into_iter().map(|client| client.join().map_err(|_| anyhow!("a client failed"))?);
            rates.sum::<Result<f64>>()
        })
    };
    // They take turns: the disk may be slower in one minute than in the next.
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        one.push(rate(1)?);
        many.push(rate(CLIENTS)?);
    }
    let middle = |all: &mut Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    let (one, many) = (middle(&mut one), middle(&mut many));
    let (ours, peer) = (format!("{many:.0}/s"), format!("one client: {one:.0}/s"));
    Ok(figure("append over HTTP, full, 64 clients", ours, &peer, Some(many / one), Some((true, 4.0))))
}

fn beside(ours: &Measured, theirs: Option<&Measured>) -> Vec<Figure> {
    let line = |name: &str, unit: &str, of: &dyn Fn(&Measured) -> f64, is_rate: bool, target: Option<f64>| {
        let (our, their) = (of(ours), theirs.map(of));
        let ratio = their.map(|their| if is_rate { our / their } else { their / our });
        let peer =
            their.map_or_else(|| "opencode serve".to_owned(), |their| format!("opencode serve: {their:.1} {unit}"));
        figure(name, format!("{our:.1} {unit}"), &peer, ratio, target.map(|target| (true, target)))
    };
    let size = |bytes: usize| bytes as f64 / 1e6;
    vec![
        line("from starting to being well", "ms", &|of| of.started, false, Some(50.0)),
        line("memory, idle", "MB", &|of| of.idle, false, Some(10.0)),
        line("memory, after these measurements", "MB", &|of| of.used, false, None),
        line("append a message, one client", "/s", &|of| of.appends, true, Some(10.0)),
        line("list 1000 sessions", "ms", &|of| of.list, false, Some(10.0)),
        line("bytes of that list", "MB", &|of| size(of.list_bytes), false, None),
        line("read 10000 messages", "ms", &|of| of.messages, false, Some(10.0)),
        line("bytes of those messages", "MB", &|of| size(of.messages_bytes), false, None),
    ]
}
