//! The session managers of the programs that share our format, timed by the harness that comes with the oracles.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Times;
use crate::conformance::oracle::{Oracle, Oracles};
use crate::process::{self, Ended};
use crate::workspace::Workspace;

/// What is measured of whom. The names are those of the harness.
const MEASUREMENTS: [(Oracle, &str); 4] =
    [(Oracle::Pi87, "ctx"), (Oracle::Omp18, "open"), (Oracle::Pi87, "open"), (Oracle::Omp18, "ctx")];
const REPETITIONS: &str = "5";
const LIMIT: Duration = Duration::from_secs(300);

/// Installed programs and the script that times them.
pub(super) struct Peers {
    oracles: Oracles,
    script: PathBuf,
}

impl Peers {
    /// Finds the programs, or says why they cannot be measured here.
    pub(super) fn find(workspace: &Workspace) -> Result<Self, String> {
        let oracles = Oracles::find(workspace)?;
        let script = oracles.scripts.join("run-bench.sh");
        if script.is_file() { Ok(Self { oracles, script }) } else { Err("the oracles have no run-bench.sh".to_owned()) }
    }

    /// Times every operation on `file`, one process each.
    pub(super) fn measure(&self, file: &Path) -> Result<Times> {
        let before = file.metadata()?.len();
        let mut times = Times::new();
        for (program, operation) in MEASUREMENTS {
            let figures = self.time(program, operation, file)?;
            let time = figures.get("min").and_then(Value::as_f64).context("a measurement without min")?;
            println!("{} {operation}: {time:.3} ms", program.name());
            times.insert(format!("{} {operation}", program.name()), time);
        }
        ensure!(file.metadata()?.len() == before, "another program changed {}", file.display());
        Ok(times)
    }

    /// Times listing a folder of so many sessions of `/home/bench`: the first call in a process, and the best one.
    pub(super) fn list(&self, folder: &Path, sessions: u64) -> Result<Times> {
        let mut times = Times::new();
        for program in [Oracle::Omp18, Oracle::Pi87] {
            let figures = self.time(program, "list", folder)?;
            let listed = figures.get("sessions").and_then(Value::as_u64).unwrap_or_default();
            ensure!(listed == sessions, "{} lists {listed} of {sessions} sessions", program.name());
            for name in ["first", "min"] {
                let time = figures.get(name).and_then(Value::as_f64).context("a measurement without its time")?;
                println!("{} list, {name}: {time:.3} ms", program.name());
                times.insert(format!("{} {name}", program.name()), time);
            }
        }
        Ok(times)
    }

    /// Runs one measurement of the harness, and returns its figures.
    fn time(&self, program: Oracle, operation: &str, subject: &Path) -> Result<Value> {
        let mut command = Command::new(&self.script);
        command.args([program.name(), operation]).arg(subject).arg(REPETITIONS);
        let Ended::Itself(output) = process::within(LIMIT, &mut command)? else {
            bail!("{} {operation} did not end", program.name());
        };
        let line = output.stdout.lines().find(|line| line.starts_with('{')).unwrap_or_default();
        serde_json::from_str(line).with_context(|| format!("{} {operation}: {}", program.name(), output.stderr.trim()))
    }

    pub(super) fn versions(&self) -> String {
        self.oracles.versions()
    }
}
