//! Project automation, run as `cargo xtask TASK`.
//!
//! One module per task; [`ci`] is what continuous integration runs. The tasks call the same programs a person would
//! call and print their output, so a failure reads the same by hand and in CI.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to the person who started it")]

mod arguments;
mod bench;
mod ci;
mod conformance;
mod fuzz;
mod package;
mod process;
mod report;
mod soak;
mod steps;
mod workspace;
mod zoo;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::arguments::Arguments;
use crate::workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask TASK

  test                                          everything continuous integration checks
  conformance [--only NAME] [--quick] [--binary PATH] [--record]
                                                ramus against the real programs that share its format
  bench [--only SECTION] [--record]             speed, as ratios against those programs and the physical limit;
                                                SECTION is sessions, storage, catalogue, requests, snapshots, import
                                                or server
  fuzz TARGET [--seconds N | --execs N]         one fuzz target (line, file, or an importer such as claude), 60 seconds unless told otherwise
  soak [--only PART] [--kills N] [--cuts N] [--trees N] [--seed N] [--minutes N | --execs N] [--record]
                                                long runs: torture (10000 kills, 1000 power cuts), requests of made-up
                                                sessions (100000 trees), then fuzzing and properties (30 minutes, or N
                                                executions of every fuzz target); PART is torture, catalogue, turns,
                                                snapshots, crashes, requests, server, view, fuzz or properties

  zoo [--from AGENT] [--into AGENT] [--update] [--keep FOLDER] [--record | --fixtures]
                                                six real agents resume each other's sessions after we carried them over;
                                                with --fixtures, files that they wrote before

  --record writes the result to docs/results/";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("caused by: {cause}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = Arguments::from_command_line();
    let workspace = Workspace::discover()?;
    match arguments.word().as_deref() {
        Some("test") => ci::run(&workspace, arguments),
        Some("conformance") => conformance::run(&workspace, arguments),
        Some("bench") => bench::run(&workspace, arguments),
        Some("fuzz") => fuzz::run(&workspace, arguments),
        Some("soak") => soak::run(&workspace, arguments),
        Some("zoo") => zoo::run(&workspace, arguments),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("unknown task {other:?}\n{USAGE}"),
        None => bail!("no task given\n{USAGE}"),
    }
}
