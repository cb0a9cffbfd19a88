//! Kills while a session is being made: what was acknowledged exists, and nothing half-made is ever seen.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::child::plant;
use super::lines::{Lines, Sizes};
use super::oracle::Judge;
use super::{Run, Tally, pause};
use crate::random::Random;

/// How many sessions one home gets.
const BIRTHS_PER_HOME: u64 = 50;

/// A series of `ramus new`, each killed.
#[derive(Clone, Debug)]
pub struct Births {
    /// The `ramus` binary.
    pub ramus: PathBuf,
    /// How many kills.
    pub kills: u64,
    /// Decides the instants.
    pub seed: u64,
}

impl Births {
    /// Runs the series. What is acknowledged are sessions.
    pub fn run(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut random = Random::new(self.seed);
        let latest = self.usual_time()? * 3 / 2;
        while tally.runs < self.kills {
            let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
            let judge =
                Judge { home: folder.path().join("home"), lines: Lines { seed: self.seed, sizes: Sizes::Short } };
            let mut known = Vec::new();
            for _ in 0..BIRTHS_PER_HOME.min(self.kills - tally.runs) {
                let number = tally.runs;
                let instant = Duration::from_micros(random.below(latest.as_micros() as usize) as u64);
                let run = self.birth(&judge, instant, &mut known);
                tally.count(run, || format!("seed {}, birth {number}", self.seed));
            }
        }
        Ok(tally)
    }

    /// How long it takes to make a session when nobody interrupts.
    fn usual_time(&self) -> Result<Duration> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let start = Instant::now();
        let output = self.command(&folder.path().join("home")).output().context("cannot start ramus")?;
        ensure!(output.status.success(), "ramus new failed: {}", String::from_utf8_lossy(&output.stderr));
        Ok(start.elapsed())
    }

    fn command(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.ramus);
        command.arg("--home").arg(home).args(["new", "--json", "--cwd", "/", "--title", "a new one"]);
        plant(&mut command, None);
        command
    }

    fn birth(&self, judge: &Judge, instant: Duration, known: &mut Vec<String>) -> Result<Run> {
        let mut command = self.command(&judge.home);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("cannot start ramus")?;
        pause(instant);
        child.kill()?;
        let said = child.wait_with_output()?.stdout;
        let made = serde_json::from_slice::<Value>(&said).ok();
        let made = made.and_then(|made| Some(made.pointer("/session/id")?.as_str()?.to_owned()));
        let acknowledged = u64::from(made.is_some());
        known.extend(made);
        self.check(judge, known)?;
        Ok(Run { acknowledged, ..Run::default() })
    }

    /// Everything acknowledged can be opened, and everything that can be seen is whole.
    fn check(&self, judge: &Judge, known: &[String]) -> Result<()> {
        if !judge.home.exists() {
            ensure!(known.is_empty(), "the home is gone");
            return Ok(());
        }
        let engine = judge.engine();
        for id in known {
            engine.open(id, "/").with_context(|| format!("session {id} was acknowledged"))?;
        }
        for examined in engine.doctor_all(ramus_engine::Treatment::LookOnly)? {
            let diagnosis = examined.outcome.with_context(|| format!("session {} cannot be read", examined.session))?;
            ensure!(diagnosis.findings.is_empty(), "half a session is visible: {:?}", diagnosis.findings);
            ensure!(diagnosis.entries == 1, "a new session has {} entries", diagnosis.entries);
        }
        Ok(())
    }
}
