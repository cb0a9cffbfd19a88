//! Power cuts: matrix rows A4 and A5. An ext4 file system is shut down without flushing its journal while a child
//! appends to it; what was acknowledged before must be there when it is mounted again.
//!
//! An `fdatasync` that races with the shutdown may say yes and lose its bytes, so only acknowledgements that had been
//! read before the cut are counted.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ramus_engine::NewSession;
use ramus_model::Tail;
use ramus_store::planted::Bug;
use rustix::process::Signal;
use serde_json::Value;

use super::child::{Program, Work, plant};
use super::disk::Disk;
use super::lines::{Lines, Sizes};
use super::oracle::{Found, Judge};
use super::{Run, Tally};
use crate::random::Random;

/// How many cuts one disk takes; every one leaves a session on it.
const CUTS_PER_DISK: u64 = 25;

/// A series of power cuts.
#[derive(Clone, Debug)]
pub struct Cuts {
    /// What goes on when the power fails.
    pub scene: Scene,
    /// How many cuts.
    pub cuts: u64,
    /// Decides entries and instants.
    pub seed: u64,
    /// A bug in the child, which must show.
    pub planted: Option<Bug>,
}

/// What goes on when the power fails.
#[derive(Clone, Debug)]
pub enum Scene {
    /// A child appends to a session.
    Appending(Program),
    /// A session has just been made by this binary, and its id printed.
    Making(PathBuf),
}

/// Cuts the power again and again, on a new disk now and then. Inner errors of a cut are violations, outer ones are trouble
/// with the machinery.
pub(super) fn series(
    cuts: u64,
    per_disk: u64,
    seed: u64,
    mut cut: impl FnMut(&mut Disk, &mut Random) -> Result<Result<Run>>,
) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut random = Random::new(seed);
    while tally.runs < cuts {
        let mut disk = Disk::new()?;
        disk.mount()?;
        for _ in 0..per_disk.min(cuts - tally.runs) {
            let number = tally.runs;
            let run = cut(&mut disk, &mut random)?;
            tally.count(run, || format!("seed {seed}, cut {number}"));
        }
    }
    Ok(tally)
}

impl Cuts {
    /// Runs the series. While sessions are made, it is they that are acknowledged.
    pub fn run(&self) -> Result<Tally> {
        series(self.cuts, CUTS_PER_DISK, self.seed, |disk, random| match &self.scene {
            Scene::Appending(program) => self.cut_appending(program, disk, random),
            Scene::Making(ramus) => self.cut_making(ramus, disk, random),
        })
    }

    /// Inner errors are violations, outer ones are trouble with the machinery.
    fn cut_appending(&self, program: &Program, disk: &mut Disk, random: &mut Random) -> Result<Result<Run>> {
        let lines = Lines { seed: random.bits(), sizes: Sizes::Usual };
        let judge = Judge { home: disk.root().join("home"), lines };
        let session = judge.engine().create(NewSession { cwd: "/project".into(), ..NewSession::default() })?;
        let session = session.id().to_string();
        let home = judge.home.clone();
        let work = Work { home, session: session.clone(), lines, first: 0, planted: self.planted };
        let switch = disk.switch()?;
        let mut child = program.start(&work)?;
        child.wait()?;
        child.collect(Duration::from_micros(random.below(60_000) as u64));
        let acknowledged = child.so_far();
        switch.cut()?;
        // It may have met the error itself by now.
        let _ = child.end(Signal::KILL);
        disk.unmount()?;
        disk.mount()?;
        Ok(self.judge_appending(&judge, &session, &acknowledged))
    }

    fn judge_appending(&self, judge: &Judge, id: &str, acknowledged: &[String]) -> Result<Run> {
        let (session, found) = judge.read(id).context("after the cut")?;
        ensure!(
            found.ids.starts_with(acknowledged),
            "{} of {} acknowledged entries are there",
            same(&found, acknowledged),
            acknowledged.len()
        );
        let torn = matches!(session.log().tail(), Tail::Torn { .. });
        judge.repair(session, &found)?;
        Ok(Run { acknowledged: acknowledged.len() as u64, torn, repaired: torn })
    }

    fn cut_making(&self, ramus: &PathBuf, disk: &mut Disk, random: &mut Random) -> Result<Result<Run>> {
        let lines = Lines { seed: random.bits(), sizes: Sizes::Short };
        // A directory of its own half of the time: its name must be durable too.
        let folder = if random.chance(50) { format!("home-{}", random.below(1 << 30)) } else { "home".to_owned() };
        let judge = Judge { home: disk.root().join(folder), lines };
        let switch = disk.switch()?;
        let mut command = Command::new(ramus);
        command.arg("--home").arg(&judge.home).args(["new", "--json", "--cwd", "/project"]);
        plant(&mut command, self.planted);
        let output = command.output().context("cannot start ramus")?;
        switch.cut()?;
        if !output.status.success() {
            bail!("ramus new failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        let made: Value = serde_json::from_slice(&output.stdout).context("ramus new printed no JSON")?;
        let id = made.pointer("/session/id").and_then(Value::as_str).context("no session id")?;
        disk.unmount()?;
        disk.mount()?;
        Ok(self.judge_making(&judge, id))
    }

    fn judge_making(&self, judge: &Judge, id: &str) -> Result<Run> {
        let (session, found) = judge.read(id).context("after the cut")?;
        ensure!(found.ids.is_empty() && found.tail.is_empty(), "the new session is not as it was made");
        judge.repair(session, &found)?;
        Ok(Run { acknowledged: 1, ..Run::default() })
    }
}

fn same(found: &Found, acknowledged: &[String]) -> usize {
    found.ids.iter().zip(acknowledged).take_while(|(found, acknowledged)| found == acknowledged).count()
}
