//! `revert`, `unrevert`: conversation and files go back together, and forward again.

use clap::Args;
use ramus_engine::{RestoreOptions, RevertReport, Session};
use ramus_wire::files as shape;
use serde_json::{Value, json};

use super::restore::{self, Carried};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, json};

const EXAMPLES: &str = "\
The entry is kept: what came behind it is hidden, not erased, and the files that agents changed since are as they were. \
What you changed yourself stays: a file that you edited after an agent did is listed as a conflict and left alone, unless \
--force is given. What is there now is kept in a snapshot first. `ramus unrevert` takes it back until something is said.

Examples:
  ramus revert last@-
  ramus revert last@#12 --dry-run
  ramus unrevert last";

/// Go back to an entry, with the files as they were
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Revert {
    /// The session, and the last entry that shall count
    #[arg(value_name = "SESSION@ENTRY")]
    target: String,
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Overwrite what you changed after an agent did
    #[arg(long)]
    force: bool,
}

impl Revert {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let (mut session, entry) = invocation.session_and_entry(&self.target)?;
        let entry = match entry {
            Some(entry) => entry,
            None => session.resolve("")?,
        };
        let options = RestoreOptions { dry_run: self.dry_run, force: self.force, ..RestoreOptions::default() };
        let report = invocation.engine.revert(&mut session, entry, &options)?;
        let words = format!("the conversation is back at {}", clean::one_line(report.leaf.as_str()));
        print(invocation, &mut session, &report, &options, &words)
    }
}

/// Take back a revert
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Unrevert {
    /// The session
    session: String,
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Overwrite what you changed since the revert
    #[arg(long)]
    force: bool,
}

impl Unrevert {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        let options = RestoreOptions { dry_run: self.dry_run, force: self.force, ..RestoreOptions::default() };
        let report = invocation.engine.unrevert(&mut session, &options)?;
        let words = format!("the conversation goes on from {}", clean::one_line(report.leaf.as_str()));
        print(invocation, &mut session, &report, &options, &words)
    }
}

fn print(
    invocation: &mut Invocation<'_>,
    session: &mut Session,
    report: &RevertReport,
    options: &RestoreOptions,
    words: &str,
) -> anyhow::Result<Exit> {
    invocation.finish(session)?;
    let carried = Carried { report: &report.files, force: options.force };
    if invocation.screen.wants_json() {
        let mut answer = shape::restored(&report.files);
        answer.insert("applied".into(), report.is_done.into());
        answer.insert("leaf".into(), report.leaf.as_str().into());
        answer.insert("revert".into(), json!(session.revert_mark()?));
        invocation.screen.json(json::members(Value::Object(answer)))?;
    } else {
        let mut text = carried.to_text();
        if report.is_done {
            text.plain(words).end();
        } else if !options.dry_run {
            nothing(&mut text);
        }
        invocation.screen.text(&text)?;
    }
    Ok(restore::exit(&report.files))
}

fn nothing(text: &mut Text) {
    text.plain("the conversation is there already").end();
}
