//! A catalogue that is harmed again and again, while the sessions change: every answer stays right.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::harm::{Donors, Harm, keep};
use super::{Asked, QUESTIONS, change, remove_catalogue};
use crate::home::Plan;
use crate::random::Random;
use crate::torture::{Run, Tally, pause};

/// How many times the catalogue is harmed before the sessions change.
const HARMS_PER_CHANGE: u64 = 10;
/// How many times one home is harmed.
const HARMS_PER_HOME: u64 = 100;
/// How many questions are asked after each harm.
const ASKED: usize = 4;

/// A series of harms.
#[derive(Clone, Debug)]
pub struct Harms {
    /// The `ramus` binary.
    pub ramus: PathBuf,
    /// How many times a catalogue is harmed or its writer killed.
    pub times: u64,
    /// Decides homes, harms, questions and instants.
    pub seed: u64,
}

/// A home, what may take the place of its catalogue, and the answers that count.
struct Patient {
    asked: Asked,
    donors: Donors,
    truth: Vec<Vec<Value>>,
    _folder: TempDir,
}

impl Harms {
    /// Runs the series. What is acknowledged are answers that were right.
    pub fn run(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut random = Random::new(self.seed);
        while tally.runs < self.times {
            let mut patient = Patient::new(&self.ramus, random.bits())?;
            for harm in 0..HARMS_PER_HOME.min(self.times - tally.runs) {
                if harm % HARMS_PER_CHANGE == 0 {
                    patient.live(&mut random)?;
                }
                let (number, mut what) = (tally.runs, String::new());
                let run = patient.harm(&mut random, &mut what);
                tally.count(run, || format!("seed {}, harm {number}, {what}", self.seed));
            }
        }
        Ok(tally)
    }
}

impl Patient {
    fn new(ramus: &Path, seed: u64) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let (home, other) = (folder.path().join("home"), folder.path().join("other"));
        let plan = Plan { sessions: 30, messages: 12, directories: 4, seed };
        let made = plan.write(&home)?;
        Plan { seed: seed ^ 1, ..plan }.write(&other)?;
        let asked = |home: &Path| Asked { ramus: ramus.to_owned(), home: home.to_owned() };
        asked(&home).check_markers(&made)?;
        asked(&other).check_markers(&Plan { seed: seed ^ 1, ..plan }.write(&folder.path().join("again"))?)?;
        ensure!(home.join("catalogue.db").is_file(), "there is no catalogue.db to harm");
        let donors = Donors { foreign: folder.path().join("foreign"), older: folder.path().join("older") };
        keep(&other, &donors.foreign)?;
        keep(&home, &donors.older)?;
        Ok(Self { asked: asked(&home), donors, truth: Vec::new(), _folder: folder })
    }

    /// Lets the sessions change, and finds out what the answers are now.
    fn live(&mut self, random: &mut Random) -> Result<()> {
        self.clear()?;
        self.asked.run(&["list", "--all"])?;
        keep(&self.asked.home, &self.donors.older)?;
        for _ in 0..1 + random.below(4) {
            change::change(&self.asked, random)?;
        }
        self.truth = self.asked.truth()?;
        Ok(())
    }

    /// Takes away what obstructs, as a person would; everything else ramus must cope with alone.
    fn clear(&self) -> Result<()> {
        if !self.asked.home.join("catalogue.db").is_file() {
            remove_catalogue(&self.asked.home)?;
            self.asked.run(&["search", "error"])?;
        }
        Ok(())
    }

    fn harm(&self, random: &mut Random, what: &mut String) -> Result<Run> {
        self.clear()?;
        if random.chance(25) {
            "killed".clone_into(what);
            self.kill(random)?;
        } else {
            let harm = Harm::ALL.get(random.below(Harm::ALL.len())).copied().unwrap_or(Harm::Deleted);
            *what = format!("{harm:?}");
            harm.inflict(&self.asked.home, &self.donors, random)?;
        }
        for _ in 0..ASKED {
            self.asked.compare(random.below(QUESTIONS.len()), &self.truth)?;
        }
        Ok(Run { acknowledged: ASKED as u64, ..Run::default() })
    }

    /// Makes somebody write a catalogue, and kills them meanwhile.
    fn kill(&self, random: &mut Random) -> Result<()> {
        let writers: [&[&str]; 4] = [&["list", "--all"], &["search", "error"], &["usage"], &["catalogue", "rebuild"]];
        let writer = writers.get(random.below(writers.len())).copied().unwrap_or_default();
        if random.chance(70) {
            remove_catalogue(&self.asked.home)?;
        }
        let start = Instant::now();
        let usual = if random.chance(20) {
            // How long they take when nobody interrupts differs from machine to machine.
            self.asked.run(writer)?;
            remove_catalogue(&self.asked.home)?;
            start.elapsed()
        } else {
            Duration::from_millis(25)
        };
        let mut command = self.asked.command(writer);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot start ramus")?;
        pause(Duration::from_micros(random.below(usual.as_micros() as usize) as u64));
        child.kill()?;
        child.wait()?;
        Ok(())
    }
}
