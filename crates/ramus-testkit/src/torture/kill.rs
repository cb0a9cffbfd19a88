//! Kills at random instants of appending: matrix rows A1, A2 and A13.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use ramus_engine::NewSession;
use ramus_model::Tail;
use ramus_store::planted::Bug;
use rustix::process::Signal;
use tempfile::TempDir;

use super::child::{Appender, Program, Work};
use super::lines::{Lines, Sizes};
use super::oracle::{Found, Judge};
use super::{Run, Tally, pause};
use crate::random::Random;

/// How many kills one session takes before the next is started, so that most children meet what others left.
const KILLS_PER_SESSION: u64 = 8;

/// How large a session grows before the next is started; every kill reads all of it.
const SESSION_SIZE: u64 = 1 << 20;

/// How long a file is watched for growth.
const GROWTH: Duration = Duration::from_secs(2);

/// A series of kills.
#[derive(Clone, Debug)]
pub struct Kills {
    /// Who is killed.
    pub program: Program,
    /// How long entries are.
    pub sizes: Sizes,
    /// How many kills.
    pub kills: u64,
    /// Decides entries and instants.
    pub seed: u64,
    /// A bug in the child, which must show.
    pub planted: Option<Bug>,
}

impl Kills {
    /// Runs the series.
    pub fn run(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut random = Random::new(self.seed);
        while tally.runs < self.kills {
            let patient = Patient::new(Lines { seed: random.bits(), sizes: self.sizes })?;
            self.session(&patient, &mut random, &mut tally)?;
        }
        Ok(tally)
    }

    /// Kills the writers of one session again and again.
    fn session(&self, patient: &Patient, random: &mut Random, tally: &mut Tally) -> Result<()> {
        let (_, mut found) = patient.judge.read(&patient.session)?;
        for _ in 0..KILLS_PER_SESSION.min(self.kills - tally.runs) {
            let (before, number) = (tally.violations, tally.runs);
            let run = self.kill(patient, &mut found, random);
            tally.count(run, || format!("seed {}, kill {number}", self.seed));
            // What is lost stays lost: it would be counted again with every further kill.
            if tally.violations > before || found.size > SESSION_SIZE {
                break;
            }
        }
        Ok(())
    }

    fn kill(&self, patient: &Patient, found: &mut Found, random: &mut Random) -> Result<Run> {
        let first = found.ids.len() as u64;
        let work = patient.work(first, self.planted);
        let mut child = self.program.start(&work)?;
        self.wait(&mut child, found, random)?;
        let signal = match random.below(64) {
            0 => Signal::TERM,
            1 => Signal::INT,
            2 => Signal::HUP,
            _ => Signal::KILL,
        };
        let acknowledged = child.end(signal)?;
        let (session, left) = patient.judge.read(&patient.session).context("after the kill")?;
        Judge::holds(&left, first, &acknowledged)?;
        let torn = matches!(session.log().tail(), Tail::Torn { .. });
        *found = patient.judge.repair(session, &left)?;
        Ok(Run { acknowledged: acknowledged.len() as u64, torn, repaired: torn })
    }

    /// Waits for the instant: a quarter of the kills hits the start and the first write, the others the middle of the
    /// work. Huge entries take long to make and little to write, so for them the driver watches the file grow.
    fn wait(&self, child: &mut Appender, found: &Found, random: &mut Random) -> Result<()> {
        if random.chance(75) && self.sizes == Sizes::Huge {
            let end = Instant::now() + GROWTH;
            let grown = || found.path.metadata().is_ok_and(|now| now.len() > found.size);
            while !grown() && Instant::now() < end {
                std::thread::yield_now();
            }
            if random.chance(50) {
                pause(Duration::from_micros(random.below(1_500) as u64));
            }
        } else {
            if random.chance(75) {
                child.wait()?;
            }
            pause(Duration::from_micros(random.below(6_000) as u64));
        }
        Ok(())
    }
}

/// A session in a home of its own.
pub(super) struct Patient {
    pub(super) judge: Judge,
    pub(super) session: String,
    _folder: TempDir,
}

impl Patient {
    /// What a child has to do that goes on at entry `first`.
    pub(super) fn work(&self, first: u64, planted: Option<Bug>) -> Work {
        let Judge { home, lines } = self.judge.clone();
        Work { home, session: self.session.clone(), lines, first, planted }
    }

    pub(super) fn new(lines: Lines) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let judge = Judge { home: folder.path().join("home"), lines };
        let session = judge.engine().create(NewSession { cwd: "/project".into(), ..NewSession::default() })?;
        Ok(Self { judge, session: session.id().to_string(), _folder: folder })
    }
}
