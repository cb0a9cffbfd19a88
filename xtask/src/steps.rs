//! A run made of steps: each is announced, timed, and listed at the end.
//!
//! The first failure ends the run. A step that cannot run here says why and counts as skipped, never as passed.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::report;

/// How a step that did not fail ended.
pub(crate) enum Outcome {
    /// It ran; the text is what is worth knowing, possibly nothing.
    Passed(String),
    /// It could not run here; the text says why.
    Skipped(String),
}

impl Outcome {
    /// A pass about which there is nothing to say.
    pub(crate) fn passed() -> Self {
        Self::Passed(String::new())
    }
}

/// The steps of one run so far.
#[derive(Default)]
pub(crate) struct Steps {
    rows: Vec<[String; 4]>,
}

impl Steps {
    /// Runs one step. On failure the summary is printed and the error returned.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Outcome>) -> Result<()> {
        println!("\n==> {name}");
        let start = Instant::now();
        let outcome = work();
        let (result, note) = match &outcome {
            Ok(Outcome::Passed(note)) => ("passed", note.clone()),
            Ok(Outcome::Skipped(reason)) => ("skipped", reason.clone()),
            Err(error) => ("failed", error.to_string().lines().next().unwrap_or_default().to_owned()),
        };
        let seconds = format!("{:.1}", start.elapsed().as_secs_f64());
        if result == "skipped" {
            println!("skipped: {note}");
        }
        println!("==> {name}: {result} in {seconds} s");
        self.rows.push([name.to_owned(), result.to_owned(), seconds, note]);
        if outcome.is_err() {
            self.summary();
        }
        outcome.map(drop).with_context(|| format!("step {name:?} failed"))
    }

    /// Prints one line per step.
    pub(crate) fn summary(&self) {
        println!("\n{}", report::table(["step", "result", "seconds", "note"], &self.rows));
    }
}
