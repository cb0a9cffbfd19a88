//! The set of checks that continuous integration runs: `cargo xtask test`.
//!
//! Cheap checks first, one build profile throughout. What a machine lacks is skipped with a reason.

use std::process::Stdio;

use anyhow::Result;
use ramus_testkit::torture::disk;

use crate::arguments::Arguments;
use crate::steps::{Outcome, Steps};
use crate::workspace::{self, Workspace};
use crate::{conformance, fuzz, package, process};

/// How long each fuzz target runs in this set.
const FUZZ_SECONDS: u64 = 60;

pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    let mut steps = Steps::default();
    steps.step("format", || {
        cargo(workspace, ["fmt", "--all", "--check"])?;
        cargo(workspace, ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])
    })?;
    steps.step("clippy", || {
        cargo(workspace, ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
    })?;
    let has_strace = workspace::installed("strace") || package::install("strace");
    // The tests of pages look at them in a browser, and say so when there is none.
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let has_browser = browsers.into_iter().any(workspace::installed) || package::install("chromium");
    steps.step("tests", || tests(workspace))?;
    steps.step("torture", || Ok(torture()))?;
    steps.step("hostile repositories", || Ok(hostile(has_strace)))?;
    steps.step("pages in a browser", || Ok(pages(has_browser)))?;
    steps.step("doc tests", || cargo(workspace, ["test", "--workspace", "--doc"]))?;
    steps.step("dependencies", || dependencies(workspace))?;
    steps.step("fuzz", || fuzz::all(workspace, fuzz::Limit::Seconds(FUZZ_SECONDS)).map(|(outcome, _)| outcome))?;
    steps.step("conformance", || conformance::slice(workspace))?;
    steps.summary();
    Ok(())
}

/// Every unit and integration test; with nextest when it is there, which runs them in parallel across crates.
fn tests(workspace: &Workspace) -> Result<Outcome> {
    if has(workspace, "nextest") {
        let mut command =
            workspace.cargo(["nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "fail"]);
        // It runs what measures time alone (.config/nextest.toml), so the target itself can be asked for.
        process::run(command.env("RAMUS_MOST_P99", "150").env("RAMUS_LEAST_RATE", "90"))?;
        Ok(Outcome::passed())
    } else {
        cargo(workspace, ["test", "--workspace", "--lib", "--bins", "--tests"])
    }
}

/// Kills, races and leases ran among the tests, and so did power cuts and full disks where file systems can be mounted.
/// A test cannot say that it was skipped, so this does.
fn torture() -> Outcome {
    match disk::unavailable() {
        Some(reason) => Outcome::Skipped(format!("no power cuts, no full or read-only disks: {reason}")),
        None => Outcome::Passed("among the tests, power cuts and full disks included".to_owned()),
    }
}

/// Repositories that want to run something ran among the tests, where strace can judge what was run.
fn hostile(has_strace: bool) -> Outcome {
    if has_strace {
        Outcome::Passed("among the tests".to_owned())
    } else {
        Outcome::Skipped("no strace to see what is run: install it".to_owned())
    }
}

/// Exported pages were opened among the tests, where there is a browser.
fn pages(has_browser: bool) -> Outcome {
    if has_browser {
        Outcome::Passed("among the tests".to_owned())
    } else {
        Outcome::Skipped("no browser to open pages in: install chromium".to_owned())
    }
}

/// Licences, bans and sources; advisories too when their database can be fetched.
fn dependencies(workspace: &Workspace) -> Result<Outcome> {
    if !has(workspace, "deny") {
        return Ok(Outcome::Skipped("cargo-deny not installed".to_owned()));
    }
    cargo(workspace, ["deny", "check", "bans", "licenses", "sources"])?;
    if process::run(&mut workspace.cargo(["deny", "fetch"])).is_err() {
        return Ok(Outcome::Passed("without advisories: their database cannot be fetched".to_owned()));
    }
    cargo(workspace, ["deny", "check", "--disable-fetch", "advisories"])
}

fn cargo<const N: usize>(workspace: &Workspace, arguments: [&str; N]) -> Result<Outcome> {
    process::run(&mut workspace.cargo(arguments))?;
    Ok(Outcome::passed())
}

/// Whether cargo has this subcommand.
pub(crate) fn has(workspace: &Workspace, subcommand: &str) -> bool {
    let mut command = workspace.cargo([subcommand, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
