//! Kills at random instants of snapshots, restores and collections: matrix row G2, with real processes.
//!
//! A child goes back and forth between two states of a directory, takes a snapshot each time and collects now and then,
//! until it is killed. Meanwhile somebody else writes to the directory too. What counts: after the next start the
//! directory is wholly in one of the two states, nothing of a restore is left in it, every snapshot that was told of can
//! be read and is one of the two states, git finds nothing wrong with the store, and whatever somebody else wrote is
//! where it was written or in a snapshot.

pub mod cut;
mod judge;
pub mod scene;
pub mod tour;
pub mod worker;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::child::PATIENCE;
use super::{Run, Tally, pause};
use crate::random::Random;
use judge::Judge;
use scene::Scene;
use worker::Manner;

/// How many kills one directory takes, so that most children meet what others left.
const KILLS_PER_SCENE: u64 = 8;

/// A series of kills.
#[derive(Clone, Debug)]
pub struct Kills {
    /// The program that runs the child.
    pub crashbox: PathBuf,
    /// How many kills.
    pub kills: u64,
    /// Decides states and instants.
    pub seed: u64,
    /// How the child restores.
    pub manner: Manner,
}

impl Kills {
    /// Runs the series. Acknowledged are snapshots, torn are restores that the next start had to end.
    pub fn run(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut random = Random::new(self.seed);
        while tally.runs < self.kills {
            let scene = Scene::new(random.bits())?;
            let mut judge = Judge::new(&scene)?;
            for _ in 0..KILLS_PER_SCENE.min(self.kills - tally.runs) {
                let (before, number) = (tally.violations, tally.runs);
                let run = self.kill(&scene, &mut judge, number, &mut random);
                tally.count(run, || format!("seed {}, kill {number}", self.seed));
                // What is lost stays lost: it would be counted again with every further kill.
                if tally.violations > before {
                    break;
                }
            }
        }
        Ok(tally)
    }

    fn kill(&self, scene: &Scene, judge: &mut Judge, number: u64, random: &mut Random) -> Result<Run> {
        let mut worker = Worker::start(&self.crashbox, scene, judge, self.manner)?;
        if random.chance(80) {
            worker.wait()?;
        }
        let half = Duration::from_micros(random.below(20_000) as u64);
        pause(half);
        let theirs = random.chance(50).then(|| scene.write_theirs(number)).transpose()?;
        pause(Duration::from_micros(random.below(40_000) as u64));
        let said = worker.end()?;
        judge.hear(&said)?;
        judge.half_way().context("right after the kill")?;
        let late = (self.manner == Manner::Exact).then(|| scene.write_late()).transpose()?;
        let torn = judge.recover().context("the next start")?;
        ensure!(late.is_none_or(|late| late.exists()), "what came after the kill was removed");
        judge.junk(torn)?;
        judge.states(theirs.as_deref())?;
        judge.snapshots(theirs.as_deref())?;
        if number % KILLS_PER_SCENE == KILLS_PER_SCENE - 1 {
            judge.fsck()?;
        }
        let acknowledged = said.iter().filter(|line| line.get("taken").is_some()).count() as u64;
        Ok(Run { acknowledged, torn, repaired: torn })
    }
}

/// A running child.
struct Worker {
    child: Child,
    lines: Receiver<Value>,
    heard: Vec<Value>,
}

impl Worker {
    fn start(crashbox: &std::path::Path, scene: &Scene, judge: &Judge, manner: Manner) -> Result<Self> {
        let mut command = Command::new(crashbox);
        command.arg("snapshots").arg(scene.store()).arg(scene.root()).arg(manner.name());
        command.args(judge.targets().map(|id| id.to_string()));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            // A line that the kill cut short was never said.
            for line in stdout.lines().map_while(Result::ok) {
                let Ok(value) = serde_json::from_str(&line) else { return };
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, lines, heard: Vec::new() })
    }

    /// Waits until it has said something.
    fn wait(&mut self) -> Result<()> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => self.heard.push(line),
            Err(_) => anyhow::bail!("the child said nothing: {}", self.complaint()),
        }
        Ok(())
    }

    /// Kills it and returns everything that it said.
    fn end(mut self) -> Result<Vec<Value>> {
        let ended = self.child.try_wait()?;
        ensure!(ended.is_none(), "the child ended by itself: {}", self.complaint());
        self.child.kill().context("cannot kill the child")?;
        self.child.wait()?;
        self.heard.extend(self.lines.iter());
        Ok(std::mem::take(&mut self.heard))
    }

    /// Returns what it has said so far.
    fn so_far(&mut self) -> Vec<Value> {
        self.heard.extend(self.lines.try_iter());
        std::mem::take(&mut self.heard)
    }

    /// Ends it, whatever became of it, and returns what else it said.
    fn stop(mut self) -> Result<Vec<Value>> {
        // It may have met the error itself by now.
        let _ = self.child.kill();
        self.child.wait()?;
        self.heard.extend(self.lines.iter());
        Ok(std::mem::take(&mut self.heard))
    }

    fn complaint(&mut self) -> String {
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            // What cannot be read is not said.
            let _ = std::io::Read::read_to_string(stderr, &mut said);
        }
        said.trim().to_owned()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Only a driver that failed leaves a child behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets several processes work on one directory for a while and kills them all. Returns how many snapshots they took.
pub fn crowd(crashbox: &std::path::Path, workers: usize, time: Duration, seed: u64) -> Result<usize> {
    let scene = Scene::new(seed)?;
    let mut judge = Judge::new(&scene)?;
    let start = |_| Worker::start(crashbox, &scene, &judge, Manner::TakeOnly);
    let mut workers: Vec<Worker> = (0..workers).map(start).collect::<Result<_>>()?;
    workers.iter_mut().try_for_each(Worker::wait)?;
    pause(time);
    for worker in workers {
        judge.hear(&worker.end()?)?;
    }
    judge.recover()?;
    judge.states(None)?;
    judge.snapshots(None)?;
    judge.fsck()?;
    Ok(judge.told())
}
