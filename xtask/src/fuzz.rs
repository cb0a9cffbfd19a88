//! Fuzzing on the stable compiler: builds the `fuzz` crate with coverage instrumentation and runs its targets.
//!
//! A finding fails the run and names the file that reproduces it. A run without coverage feedback would prove
//! nothing, so that fails too.

mod log;

use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use ramus_interchange::Format;

pub(crate) use self::log::Figures;
use crate::arguments::Arguments;
use crate::steps::Outcome;
use crate::workspace::{self, Workspace};
use crate::{package, process, report};

/// What is fuzzed.
#[derive(Clone, Copy)]
struct Target {
    /// What it is called, and where its seeds are.
    name: &'static str,
    /// The program.
    program: &'static str,
    /// The longest input it is given.
    longest: u32,
}

/// The targets that are about our own format. Every importer is one more.
const OWN: [Target; 2] = [
    Target { name: "line", program: "line", longest: 4_096 },
    Target { name: "file", program: "file", longest: 8_192 },
];

/// Returns every target: our own format, and each that is imported.
fn targets() -> Vec<Target> {
    let read = Format::ALL.iter().filter(|format| format.is_read());
    OWN.into_iter()
        .chain(read.map(|format| Target { name: format.name(), program: "source", longest: 4_096 }))
        .collect()
}

/// The longest input when a number of executions is asked for: short ones reach the same code, many times as often.
const SHORT: u32 = 1_024;

/// What libFuzzer needs to see which edges an input reaches.
const EDGES: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Ccodegen-units=1 --cfg fuzzing";

/// What it needs to see comparisons too. That finds values that open doors, and takes half of the time.
const COMPARISONS: &str = "-Cllvm-args=-sanitizer-coverage-trace-compares";

/// How long a target runs.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Seconds(u64),
    Executions(u64),
}

impl Limit {
    /// Takes `--seconds` or `--execs` from a command line.
    pub(crate) fn take(arguments: &mut Arguments, otherwise: u64) -> Result<Self> {
        let (seconds, executions) = (arguments.value("--seconds")?, arguments.value("--execs")?);
        match (seconds, executions) {
            (Some(_), Some(_)) => bail!("--seconds and --execs exclude each other"),
            (None, Some(executions)) => Ok(Self::Executions(executions)),
            (seconds, None) => Ok(Self::Seconds(seconds.unwrap_or(otherwise))),
        }
    }

    fn longest(self, longest: u32) -> u32 {
        match self {
            Self::Seconds(_) => longest,
            Self::Executions(_) => longest.min(SHORT),
        }
    }

    fn option(self) -> String {
        match self {
            Self::Seconds(seconds) => format!("-max_total_time={seconds}"),
            Self::Executions(executions) => format!("-runs={executions}"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(f, "{seconds} s"),
            Self::Executions(executions) => write!(f, "{executions} executions"),
        }
    }
}

/// A built fuzz crate.
struct Fuzzer<'a> {
    workspace: &'a Workspace,
    binaries: PathBuf,
}

/// `cargo xtask fuzz TARGET [--seconds N | --execs N]`
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let limit = Limit::take(&mut arguments, 60)?;
    let names = targets().iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    let wanted = arguments.word().with_context(|| format!("which target? There is {names}"))?;
    arguments.finish()?;
    let Some(target) = targets().into_iter().find(|target| target.name == wanted) else {
        bail!("no target {wanted:?}; there is {names}");
    };
    if let Some(reason) = compiler_missing() {
        bail!("{reason}");
    }
    let figures = Fuzzer::build(workspace, limit)?.target(target, limit)?;
    println!("{wanted}: {figures}");
    Ok(())
}

/// Runs every target up to `limit`, as many at a time as there are cores.
pub(crate) fn all(workspace: &Workspace, limit: Limit) -> Result<(Outcome, Vec<Figures>)> {
    if let Some(reason) = compiler_missing() {
        return Ok((Outcome::Skipped(reason), Vec::new()));
    }
    let fuzzer = &Fuzzer::build(workspace, limit)?;
    let mut results = Vec::new();
    for group in targets().chunks(workspace::cores()) {
        std::thread::scope(|scope| {
            let runs: Vec<_> = group.iter().map(|target| scope.spawn(|| fuzzer.target(*target, limit))).collect();
            results.extend(runs.into_iter().map(|run| run.join().unwrap_or_else(|_| bail!("a fuzz thread died"))));
        });
    }
    let figures = results.into_iter().collect::<Result<Vec<_>>>()?;
    let rows: Vec<_> = figures.iter().map(Figures::row).collect();
    print!("{}", report::table(Figures::HEADS, &rows));
    let total: u64 = figures.iter().map(|figures| figures.executions).sum();
    Ok((Outcome::Passed(format!("{total} executions, no finding")), figures))
}

/// How often the time of one target all targets take.
pub(crate) fn rounds() -> u64 {
    targets().len().div_ceil(workspace::cores()) as u64
}

impl<'a> Fuzzer<'a> {
    fn build(workspace: &'a Workspace, limit: Limit) -> Result<Self> {
        let host = workspace.host()?;
        let (folder, flags) = match limit {
            Limit::Seconds(_) => ("fuzz", format!("{EDGES} {COMPARISONS}")),
            Limit::Executions(_) => ("fuzz-quick", EDGES.to_owned()),
        };
        let target = workspace.target.join(folder);
        // Naming the target keeps build scripts free of the instrumentation.
        let mut cargo = workspace.cargo(["build", "--quiet", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
        cargo.args(["--target", &host, "--target-dir"]).arg(&target);
        cargo.env("RUSTFLAGS", flags).env_remove("CARGO_ENCODED_RUSTFLAGS");
        process::run(&mut cargo)?;
        Ok(Self { workspace, binaries: target.join(host).join("release") })
    }

    /// Runs one target; its whole output goes to a log file beside its corpus.
    fn target(&self, Target { name, program, longest }: Target, limit: Limit) -> Result<Figures> {
        let work = self.workspace.target.join("fuzz").join("runs").join(name);
        let (corpus, artifacts, log) = (work.join("corpus"), work.join("artifacts"), work.join("log"));
        for folder in [&corpus, &artifacts] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let sources = self.workspace.root.join("fuzz");
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        println!("fuzzing {name}: {limit}, log in {}", log.display());
        let start = Instant::now();
        let binary = self.binaries.join(program);
        let status = Command::new(&binary)
            .env("RAMUS_FUZZ_FORMAT", name)
            .arg(&corpus)
            .arg(sources.join("seeds").join(name))
            .arg(format!("-dict={}", sources.join("json.dict").display()))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(limit.option())
            .arg(format!("-max_len={}", limit.longest(longest)))
            // An input that takes this long is a finding: reading must never hang.
            .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"])
            .stdout(output.try_clone()?)
            .stderr(output)
            .status()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let text = fs::read(&log).context("cannot read the fuzz log")?;
        let text = String::from_utf8_lossy(&text);
        if !status.success() {
            let artifact = log::artifact(&text).unwrap_or("none was written");
            let ending = log::ending(&text);
            bail!(
                "fuzz target {name} found something\n{ending}\nartifact: {artifact}\nreproduce: RAMUS_FUZZ_FORMAT={name} {} {artifact}\nlog: {}",
                binary.display(),
                log.display()
            );
        }
        let figures = Figures::read(name, start.elapsed(), &text)?;
        ensure!(figures.coverage > 0, "fuzz target {name} ran without coverage feedback; see {}", log.display());
        Ok(figures)
    }
}

/// Why the fuzzer cannot be built here, after trying to help: libFuzzer is C++.
fn compiler_missing() -> Option<String> {
    let there = || ["c++", "g++"].into_iter().any(workspace::installed) || std::env::var_os("CXX").is_some();
    if there() {
        return None;
    }
    if package::install("g++") && there() {
        return None;
    }
    Some("no C++ compiler (libFuzzer needs one): install g++".to_owned())
}
