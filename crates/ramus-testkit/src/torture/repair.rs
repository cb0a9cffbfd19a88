//! Kills while a torn tail is being repaired: matrix row A3. However often the repair is interrupted, the torn bytes are
//! in the log or in quarantine, and in the end in quarantine once.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use ramus_engine::{Cursor, Session};
use ramus_model::Draft;
use ramus_store::planted::Bug;
use rustix::process::Signal;

use super::child::Program;
use super::kill::Patient;
use super::lines::{Lines, Sizes};
use super::oracle::Judge;
use super::{Run, Tally, pause};
use crate::random::Random;

/// How many whole entries stand before the tear.
const ENTRIES: u64 = 3;

/// How often one repair is interrupted before the driver lets it happen.
const INTERRUPTIONS: u64 = 5;

/// A series of interrupted repairs.
#[derive(Clone, Debug)]
pub struct Repairs {
    /// Who repairs.
    pub program: Program,
    /// How many kills.
    pub kills: u64,
    /// Decides entries and instants.
    pub seed: u64,
    /// A bug in the child, which must show.
    pub planted: Option<Bug>,
}

impl Repairs {
    /// Runs the series.
    pub fn run(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut random = Random::new(self.seed);
        let latest = self.usual_time(&mut random)? * 5 / 4;
        while tally.runs < self.kills {
            let patient = Patient::new(Lines { seed: random.bits(), sizes: Sizes::Usual })?;
            let torn = tear(&patient, &mut random)?;
            for at in 0..INTERRUPTIONS {
                let number = tally.runs;
                let instant = Duration::from_micros(random.below(latest.as_micros() as usize) as u64);
                let run = self.kill(&patient, &torn, instant).and_then(|(session, run)| {
                    if at + 1 == INTERRUPTIONS {
                        kept_once(&patient, session, &torn)?;
                    }
                    Ok(run)
                });
                let failed = run.is_err();
                tally.count(run, || format!("seed {}, kill {number}", self.seed));
                if failed {
                    break;
                }
            }
        }
        Ok(tally)
    }

    /// How long a repair takes that nobody interrupts.
    fn usual_time(&self, random: &mut Random) -> Result<Duration> {
        let patient = Patient::new(Lines { seed: random.bits(), sizes: Sizes::Usual })?;
        tear(&patient, random)?;
        let start = Instant::now();
        let mut child = self.program.start(&patient.work(ENTRIES, None))?;
        child.wait()?;
        Ok(start.elapsed())
    }

    fn kill(&self, patient: &Patient, torn: &[u8], instant: Duration) -> Result<(Session, Run)> {
        let (_, before) = patient.judge.read(&patient.session)?;
        let child = self.program.start(&patient.work(before.ids.len() as u64, self.planted))?;
        pause(instant);
        let acknowledged = child.end(Signal::KILL)?;
        let (session, found) = patient.judge.read(&patient.session).context("after the kill")?;
        Judge::holds(&found, before.ids.len() as u64, &acknowledged)?;
        let kept = patient.judge.set_aside()?;
        let is_kept = kept.iter().any(|bytes| bytes == torn);
        ensure!(is_kept || found.tail == torn, "the torn bytes are neither in the log nor in quarantine");
        let run = Run { acknowledged: acknowledged.len() as u64, torn: found.tail == torn, repaired: is_kept };
        Ok((session, run))
    }
}

/// Lets the repair happen. A kill may have left another tail; the one this is about is kept exactly once.
fn kept_once(patient: &Patient, session: Session, torn: &[u8]) -> Result<()> {
    patient.judge.finish(session)?;
    let copies = patient.judge.set_aside()?.iter().filter(|bytes| *bytes == torn).count();
    ensure!(copies == 1, "the torn bytes were kept {copies} times");
    Ok(())
}

/// Writes some entries and the beginning of a large one, as a kill in the middle of a write leaves it.
fn tear(patient: &Patient, random: &mut Random) -> Result<Vec<u8>> {
    let engine = patient.judge.engine();
    let mut session = engine.open(&patient.session, "/")?;
    for number in 0..ENTRIES {
        let draft = Draft::parse(&patient.judge.lines.entry(number))?;
        engine.append(&mut session, &[draft], &Cursor::Leaf)?;
    }
    let mut torn = br#"{"type":"message","id":"0torn000","parentId":null,"timestamp":"#.to_vec();
    torn.extend(Lines { seed: random.bits(), sizes: Sizes::Huge }.message(0));
    torn.truncate(4_096 + random.below(1 << 20));
    let path = session.location().path.clone().context("a session without a file")?;
    OpenOptions::new().append(true).open(path)?.write_all(&torn)?;
    Ok(torn)
}
