//! A disk that is really full: matrix row B2. The append that does not fit is refused with the path and leaves no trace;
//! when there is space again, work goes on where it stopped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use ramus_engine::{Cursor, EngineError, ErrorKind, NewSession};
use ramus_model::Draft;
use ramus_store::Health;

use super::disk::Tmpfs;
use super::lines::{Lines, Sizes};
use super::oracle::Judge;
use super::refusal::{Refusal, append_until_refused};
use super::{Run, Tally};
use crate::random::Random;

/// The size of the disk.
const SIZE: &str = "256k";

/// How much of the disk a cycle may use.
const ROOM: usize = 40 << 10;

/// How many times one disk is filled and freed. Each time the entry that did not fit, of at most 64 KiB, is appended
/// afterwards; all of that must fit.
const CYCLES_PER_DISK: u64 = 2;

/// A series of full disks.
#[derive(Clone, Debug)]
pub struct FullDisks {
    /// The `ramus` binary; none for the library in this process, which keeps its session open throughout.
    pub ramus: Option<PathBuf>,
    /// How many times the disk is filled.
    pub cycles: u64,
    /// Decides entries.
    pub seed: u64,
}

impl FullDisks {
    /// Runs the series.
    pub fn run(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut random = Random::new(self.seed);
        while tally.runs < self.cycles {
            let disk = Tmpfs::mount(SIZE)?;
            let lines = Lines { seed: random.bits(), sizes: Sizes::Usual };
            let judge = Judge { home: disk.root().join("home"), lines };
            let session = judge.engine().create(NewSession { cwd: "/p".into(), ..NewSession::default() })?;
            let id = session.id().to_string();
            for _ in 0..CYCLES_PER_DISK.min(self.cycles - tally.runs) {
                let number = tally.runs;
                let ballast = Ballast::fill(disk.root(), ROOM)?;
                let run = match &self.ramus {
                    Some(ramus) => by_binary(ramus, &judge, &id, ballast),
                    None => by_library(&judge, &id, ballast),
                };
                tally.count(run, || format!("seed {}, cycle {number}", self.seed));
            }
        }
        Ok(tally)
    }
}

fn by_binary(ramus: &Path, judge: &Judge, id: &str, ballast: Ballast) -> Result<Run> {
    let (_, before) = judge.read(id)?;
    let first = before.ids.len() as u64;
    let Refusal { acknowledged, kind, message } =
        append_until_refused(&mut std::process::Command::new(ramus), judge, id, first)?;
    ensure!(kind == "full", "the error is {kind:?}: {message}");
    ensure!(message.contains(&judge.home.display().to_string()), "{message:?} names no path");
    let (_, found) = judge.read(id)?;
    Judge::holds(&found, first, &acknowledged)?;
    ensure!(found.tail.is_empty(), "{} bytes were left behind", found.tail.len());
    drop(ballast);
    let (session, found) = judge.read(id)?;
    judge.repair(session, &found).context("when there was space again")?;
    Ok(Run { acknowledged: acknowledged.len() as u64, ..Run::default() })
}

fn by_library(judge: &Judge, id: &str, ballast: Ballast) -> Result<Run> {
    let engine = judge.engine();
    let mut session = engine.open(id, "/")?;
    let first = session.log().len() as u64;
    let mut number = first;
    let mut append = |number: u64| {
        let draft =
            Draft::parse(&judge.lines.entry(number)).map_err(|error| EngineError::Invalid(error.to_string()))?;
        engine.append(&mut session, &[draft], &Cursor::Leaf).map(|_| session.health())
    };
    let error = loop {
        match append(number) {
            Ok(_) => number += 1,
            Err(error) => break error,
        }
        ensure!(number < first + 100_000, "the disk is never full");
    };
    ensure!(error.kind() == ErrorKind::Full, "the error is {error:?}");
    ensure!(error.to_string().contains(&judge.home.display().to_string()), "{error} names no path");
    let Err(again) = append(number) else { bail!("what did not fit fits now") };
    ensure!(again.kind() == ErrorKind::Degraded, "the second error is {again:?}");
    let (_, found) = judge.read(id)?;
    ensure!(found.ids.len() as u64 == number && found.tail.is_empty(), "a refused append left something behind");
    drop(ballast);
    let health = append(number).context("when there was space again")?;
    ensure!(matches!(health, Health::Healthy), "the session is {health:?} after it worked again");
    let (_, found) = judge.read(id)?;
    ensure!(found.ids.len() as u64 == number + 1, "{} entries of {}", found.ids.len(), number + 1);
    Ok(Run { acknowledged: number + 1 - first, ..Run::default() })
}

/// A file that takes up space until it is dropped.
struct Ballast(PathBuf);

impl Ballast {
    /// Leaves `room` bytes free on the disk.
    fn fill(root: &Path, room: usize) -> Result<Self> {
        let free = rustix::fs::statvfs(root)?;
        let free = usize::try_from(free.f_bavail * free.f_frsize)?;
        let path = root.join("ballast");
        let ballast = Self(path.clone());
        fs::write(path, vec![0; free.saturating_sub(room)])?;
        File::open(root)?.sync_all()?;
        Ok(ballast)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        // The next append shows whether there is space.
        let _ = fs::remove_file(&self.0);
    }
}
