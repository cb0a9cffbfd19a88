//! The long versions of what `ramus_testkit::torture` does to real processes, and their figures.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use ramus_testkit::torture::birth::Births;
use ramus_testkit::torture::child::{Flushing, Program};
use ramus_testkit::torture::cut::{Cuts, Scene};
use ramus_testkit::torture::full::FullDisks;
use ramus_testkit::torture::kill::Kills;
use ramus_testkit::torture::lines::Sizes;
use ramus_testkit::torture::race::Race;
use ramus_testkit::torture::repair::Repairs;
use ramus_testkit::torture::{Tally, disk, lease, refusal, tail};

use crate::workspace::{self, Workspace};
use crate::{process, report};

const HEADS: [&str; 7] = ["driver", "runs", "acknowledged", "torn", "repaired", "violations", "seconds"];

/// How much is done.
pub(super) struct Extent {
    /// Kills while entries are appended; a fifth of them inside huge writes.
    pub(super) kills: u64,
    /// Power cuts while every entry is flushed or a session was made; a quarter more while turns are.
    pub(super) cuts: u64,
    /// Decides entries and instants.
    pub(super) seed: u64,
}

/// Runs every driver and returns the section of the report; a violation is an error.
pub(super) fn run(workspace: &Workspace, extent: &Extent) -> Result<String> {
    let mut bench = Bench { programs: Programs::build(workspace)?, extent, rows: Vec::new(), first: None };
    bench.kills()?;
    let mounted = match disk::unavailable() {
        None => bench.disks().map(|()| String::new())?,
        Some(reason) => format!("Skipped, which is not passed: power cuts, full and read-only disks: {reason}.\n\n"),
    };
    let table = report::table(HEADS, &bench.rows);
    if let Some(first) = bench.first {
        println!("{table}");
        return Err(anyhow!("{first}"));
    }
    let checks = report::table(["check", "result"], &checks(&bench.programs, extent.seed)?);
    Ok(format!("## Torture of real processes\n\nSeed {}, release build.\n\n{mounted}{table}\n{checks}", extent.seed))
}

/// The programs under torture, as they are released.
struct Programs {
    ramus: PathBuf,
    crashbox: PathBuf,
}

impl Programs {
    /// Two builds: the test kit's library can have bugs planted, the binary that people run cannot.
    fn build(workspace: &Workspace) -> Result<Self> {
        process::run(&mut workspace.cargo([
            "build",
            "--quiet",
            "--release",
            "-p",
            "ramus-testkit",
            "--bin",
            "crashbox",
        ]))?;
        process::run(&mut workspace.cargo(["build", "--quiet", "--release", "-p", "ramus", "--bin", "ramus"]))?;
        let built = |name: &str| workspace.target.join("release").join(name);
        Ok(Self { ramus: built("ramus"), crashbox: built("crashbox") })
    }

    fn binary(&self) -> Program {
        Program::Ramus(self.ramus.clone())
    }

    fn library(&self, flushing: Flushing) -> Program {
        Program::Crashbox(self.crashbox.clone(), flushing)
    }
}

/// What was counted so far.
struct Bench<'a> {
    programs: Programs,
    extent: &'a Extent,
    rows: Vec<[String; 7]>,
    first: Option<String>,
}

impl Bench<'_> {
    fn kills(&mut self) -> Result<()> {
        let kills = self.extent.kills;
        let series = [
            ("kill -9, ramus, 100 B to 64 KiB", self.programs.binary(), Sizes::Usual, kills * 4 / 10),
            ("kill -9, library, 100 B to 64 KiB", self.programs.library(Flushing::Os), Sizes::Usual, kills * 4 / 10),
            ("kill -9, ramus, 1 to 8 MiB", self.programs.binary(), Sizes::Huge, kills / 10),
            ("kill -9, library, 1 to 8 MiB", self.programs.library(Flushing::Os), Sizes::Huge, kills / 10),
        ];
        for (name, program, sizes, kills) in series {
            self.series(name, kills, &|kills, seed| {
                Kills { program: program.clone(), sizes, kills, seed, planted: None }.run()
            })?;
        }
        let ramus = self.programs.ramus.clone();
        self.series("kill -9, while a session is made", kills / 5, &|kills, seed| {
            Births { ramus: ramus.clone(), kills, seed }.run()
        })?;
        let program = self.programs.library(Flushing::Full);
        self.series("kill -9, while a tail is repaired", kills / 5, &|kills, seed| {
            Repairs { program: program.clone(), kills, seed, planted: None }.run()
        })
    }

    fn disks(&mut self) -> Result<()> {
        let cuts = self.extent.cuts;
        let series = [
            ("power cut, ramus", Scene::Appending(self.programs.binary()), cuts / 2),
            ("power cut, library", Scene::Appending(self.programs.library(Flushing::Full)), cuts / 4),
            ("power cut, a session was made", Scene::Making(self.programs.ramus.clone()), cuts / 4),
            ("power cut, flushed by turn", Scene::Appending(self.programs.library(Flushing::Turn)), cuts / 4),
        ];
        for (name, scene, cuts) in series {
            self.series(name, cuts, &|cuts, seed| Cuts { scene: scene.clone(), cuts, seed, planted: None }.run())?;
        }
        for (name, ramus) in [("full disk, ramus", Some(self.programs.ramus.clone())), ("full disk, library", None)] {
            self.series(name, 100, &|cycles, seed| FullDisks { ramus: ramus.clone(), cycles, seed }.run())?;
        }
        refusal::not_allowed(&self.programs.ramus)
    }

    /// Runs one driver on every core, each with a seed and a share of its own.
    fn series(&mut self, name: &str, runs: u64, drive: &(dyn Fn(u64, u64) -> Result<Tally> + Sync)) -> Result<()> {
        let start = Instant::now();
        let cores = workspace::cores() as u64;
        let seed = self.extent.seed.wrapping_mul(1_000) + self.rows.len() as u64 * 100;
        let shares: Vec<_> =
            (0..cores).map(|core| (runs / cores + u64::from(core < runs % cores), seed + core)).collect();
        let tallies = std::thread::scope(|scope| {
            let drivers: Vec<_> = shares.iter().map(|(runs, seed)| scope.spawn(|| drive(*runs, *seed))).collect();
            let join = |driver: std::thread::ScopedJoinHandle<'_, Result<Tally>>| {
                driver.join().unwrap_or_else(|_| Err(anyhow!("a driver died")))
            };
            drivers.into_iter().map(join).collect::<Result<Vec<_>>>()
        })?;
        let mut tally = Tally::default();
        tallies.into_iter().for_each(|other| tally.add(other));
        println!("{name}: {tally:?}");
        self.first = self.first.take().or_else(|| tally.first.take().map(|first| format!("{name}: {first}")));
        let figures = [tally.runs, tally.acknowledged, tally.torn, tally.repaired, tally.violations];
        let [runs, acknowledged, torn, repaired, violations] = figures.map(|figure| figure.to_string());
        let seconds = format!("{:.0}", start.elapsed().as_secs_f64());
        self.rows.push([name.to_owned(), runs, acknowledged, torn, repaired, violations, seconds]);
        Ok(())
    }
}

/// What is checked once, with its figure.
fn checks(programs: &Programs, seed: u64) -> Result<Vec<[String; 2]>> {
    let mut rows = Vec::new();
    let mut add = |check: &str, result: String| {
        println!("{check}: {result}");
        rows.push([check.to_owned(), result]);
    };
    let races = [
        ("2 processes, ramus", programs.binary(), 2, 10_000),
        ("2 processes, library", programs.library(Flushing::Full), 2, 10_000),
        ("8 processes, library", programs.library(Flushing::Os), 8, 10_000),
    ];
    for (name, program, writers, appends) in races {
        let start = Instant::now();
        let entries = Race { program, writers, appends, seed, planted: None }.run()?;
        let seconds = start.elapsed().as_secs_f64();
        add(name, format!("{entries} of {} entries, one chain, {seconds:.1} s", writers * appends));
    }
    let times = lease::stopped(&programs.crashbox, 20, Duration::from_secs(3))?;
    add("a stopped runner", format!("20 times, never stolen; told within {:.1} ms", milliseconds(times.worst())));
    let times = lease::killed(&programs.crashbox, 200)?;
    let (median, worst) = (milliseconds(times.median()), milliseconds(times.worst()));
    ensure!(median < 50.0, "it takes {median} ms until the lease of a killed process is free");
    add("a killed runner with children", format!("200 times, free after {median:.1} ms, at worst {worst:.1} ms"));
    add("file size limits", file_sizes(&programs.ramus)?);
    for (name, lines, sizes) in
        [("4 readers follow", 25_000, Sizes::Short), ("4 readers follow, 1 to 8 MiB", 100, Sizes::Huge)]
    {
        let followed = tail::follow(&programs.crashbox, 4, lines, sizes, seed)?;
        add(
            name,
            format!("{} lines, each once, none in part ({} waits for the rest)", followed.lines, followed.waited),
        );
    }
    Ok(rows)
}

fn file_sizes(ramus: &Path) -> Result<String> {
    let limits = [4_096, 10_000, 65_536, 200_001, 1 << 20];
    let mut acknowledged = 0;
    for limit in limits {
        acknowledged += refusal::file_size(ramus, limit)?;
    }
    Ok(format!("{} limits, refused as full, {acknowledged} entries kept", limits.len()))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
