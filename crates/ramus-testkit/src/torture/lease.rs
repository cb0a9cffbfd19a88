//! The run lease under signals: matrix rows C2, C3 and C4. A stopped holder keeps it, a dead one has lost it, and the
//! children of a dead one do not keep it.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use ramus_engine::{Cursor, EngineError};
use ramus_model::Draft;
use ramus_store::StoreError;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use super::child::plant;
use super::kill::Patient;
use super::lines::{Lines as Entries, Sizes};
use super::pause;

/// How long answers took, shortest first.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    fn add(&mut self, time: Duration) {
        let at = self.0.partition_point(|known| *known <= time);
        self.0.insert(at, time);
    }

    /// Returns the one in the middle.
    pub fn median(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }

    /// Returns the longest.
    pub fn worst(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }
}

/// Stops a holder for a while, `rounds` times: nobody gets its lease, everybody is told who has it, others may append,
/// and afterwards it goes on as if nothing had been. Returns how long it took to be told.
pub fn stopped(crashbox: &Path, rounds: u64, stop: Duration) -> Result<Times> {
    let mut times = Times::default();
    for seed in 0..rounds {
        let patient = Patient::new(Entries { seed, sizes: Sizes::Short })?;
        let engine = patient.judge.engine();
        let mut holder = Holder::start(crashbox, &patient, 0)?;
        kill_process(holder.pid, Signal::STOP)?;
        let mut session = engine.open(&patient.session, "/")?;
        let end = Instant::now() + stop;
        while Instant::now() < end {
            let start = Instant::now();
            let refused = engine.lease(&session).map(drop);
            times.add(start.elapsed());
            match refused {
                Err(EngineError::Store(StoreError::Running { runner, .. })) => {
                    ensure!(runner.pid == holder.child.id(), "process {} is said to run the session", runner.pid);
                }
                Err(error) => return Err(error).context("the lease is refused for another reason"),
                Ok(()) => bail!("the lease of a stopped process was taken"),
            }
            pause(stop / 10);
        }
        let draft = Draft::parse(&patient.judge.lines.entry(0))?;
        engine.append(&mut session, &[draft], &Cursor::Leaf).context("appending beside a stopped runner")?;
        kill_process(holder.pid, Signal::CONT)?;
        for _ in 0..3 {
            holder.append()?;
        }
        let (_, found) = patient.judge.read(&patient.session)?;
        ensure!(found.ids.len() == 4, "{} entries of 4", found.ids.len());
    }
    Ok(times)
}

/// Kills a holder that has live children, `rounds` times. As soon as it is gone the lease is free, at the first attempt.
/// Returns how long that took from the signal.
pub fn killed(crashbox: &Path, rounds: u64) -> Result<Times> {
    let mut times = Times::default();
    for seed in 0..rounds {
        let patient = Patient::new(Entries { seed, sizes: Sizes::Short })?;
        let engine = patient.judge.engine();
        let session = engine.open(&patient.session, "/")?;
        let mut holder = Holder::start(crashbox, &patient, 2)?;
        ensure!(engine.lease(&session).is_err(), "the lease can be had twice");
        let start = Instant::now();
        kill_process(holder.pid, Signal::KILL)?;
        holder.child.wait()?;
        let taken = engine.lease(&session);
        times.add(start.elapsed());
        for child in &holder.children {
            ensure!(test_kill_process(*child).is_ok(), "a child did not survive, so this shows nothing");
        }
        taken.map(drop).context("the lease of a dead process is not free")?;
    }
    Ok(times)
}

/// A process that holds the lease of a session.
struct Holder {
    child: Child,
    pid: Pid,
    /// Its own children, which outlive it.
    children: Vec<Pid>,
    said: Lines<BufReader<ChildStdout>>,
}

impl Holder {
    fn start(crashbox: &Path, patient: &Patient, children: u32) -> Result<Self> {
        let mut command = Command::new(PathBuf::from(crashbox));
        command.arg("hold").arg(&patient.judge.home).args([&patient.session, &children.to_string()]);
        let Entries { seed, sizes } = patient.judge.lines;
        command.args([&seed.to_string(), sizes.name()]);
        plant(&mut command, None);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start crashbox")?;
        let said = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let own = pid(u64::from(child.id())).context("a child without a pid")?;
        let mut holder = Self { child, pid: own, children: Vec::new(), said };
        let first: Value = serde_json::from_str(&holder.said.next().context("crashbox said nothing")??)?;
        let children = first.get("children").and_then(Value::as_array).context("no children")?;
        holder.children = children.iter().filter_map(Value::as_u64).filter_map(pid).collect();
        Ok(holder)
    }

    /// Lets the holder append one entry.
    fn append(&mut self) -> Result<()> {
        self.child.stdin.as_mut().context("no stdin")?.write_all(b"append\n")?;
        let said = self.said.next().context("the holder ended")??;
        ensure!(said.contains("\"id\""), "the holder said {said}");
        Ok(())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Gone already, perhaps.
        let _ = self.child.kill();
        let _ = self.child.wait();
        for child in &self.children {
            let _ = kill_process(*child, Signal::KILL);
        }
    }
}

fn pid(number: u64) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}
