//! Power cuts at random instants of snapshots, restores and collections. Directory and store are on an ext4 file system that
//! is shut down without flushing its journal; what was told before must be there when it is mounted again, and the directory
//! wholly in one of its states after the next start.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::judge::Judge;
use super::scene::Scene;
use super::worker::Manner;
use super::{Run, Tally, Worker, pause};
use crate::random::Random;
use crate::torture::cut::series;
use crate::torture::disk::Disk;

/// How many cuts one disk takes.
const CUTS_PER_DISK: u64 = 5;

/// A series of power cuts.
#[derive(Clone, Debug)]
pub struct Cuts {
    /// The program that runs the child.
    pub crashbox: PathBuf,
    /// How many cuts.
    pub cuts: u64,
    /// Decides states and instants.
    pub seed: u64,
}

impl Cuts {
    /// Runs the series. Acknowledged are snapshots, torn are restores that the next start had to end.
    pub fn run(&self) -> Result<Tally> {
        series(self.cuts, CUTS_PER_DISK, self.seed, |disk, random| self.cut(disk, random))
    }

    /// Inner errors are violations, outer ones are trouble with the machinery.
    fn cut(&self, disk: &mut Disk, random: &mut Random) -> Result<Result<Run>> {
        let scene = Scene::within(&disk.root(), random.bits())?;
        let mut judge = Judge::new(&scene)?;
        // What is there at the start is not what is tried.
        rustix::fs::syncfs(std::fs::File::open(disk.root())?)?;
        let switch = disk.switch()?;
        let mut worker = Worker::start(&self.crashbox, &scene, &judge, Manner::Whole)?;
        worker.wait()?;
        pause(Duration::from_micros(random.below(80_000) as u64));
        let told = worker.so_far();
        switch.cut()?;
        let rest = worker.stop()?;
        disk.unmount()?;
        disk.mount()?;
        judge.hear(&told)?;
        // What was said later need not be durable, but what was about to go may be gone.
        judge.forget(&rest)?;
        Ok(judged(&mut judge, told.len() as u64))
    }
}

fn judged(judge: &mut Judge<'_>, acknowledged: u64) -> Result<Run> {
    let torn = judge.recover().context("the next start")?;
    judge.states(None)?;
    judge.snapshots(None)?;
    judge.fsck()?;
    Ok(Run { acknowledged, torn, repaired: torn })
}
