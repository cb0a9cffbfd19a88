//! `revert`, `unrevert`: conversation and files go back together, and forward again.

use clap::Args;
use ramus_engine::{RestoreOptions, RevertReport, Session};
use ramus_model::{EntryId, Kind, Seq};
use ramus_wire::files as shape;

use super::restore::{self, Carried};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean};

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
        print(invocation, &mut session, &report, &options, "the conversation is back at")
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
        print(invocation, &mut session, &report, &options, "the conversation goes on from")
    }
}

/// Tells what became of files and leaf; `words` come before the entry that the conversation goes on from.
pub(super) fn print(
    invocation: &mut Invocation<'_>,
    session: &mut Session,
    report: &RevertReport,
    options: &RestoreOptions,
    words: &str,
) -> anyhow::Result<Exit> {
    invocation.finish(session)?;
    let carried = Carried { report: &report.files, force: options.force };
    if invocation.screen.wants_json() {
        invocation.screen.json(shape::reverted(report, session)?)?;
    } else {
        let mut text = carried.to_text();
        if report.is_done {
            text.plain(words).plain(" ").plain(&clean::one_line(&drawn(session, &report.leaf))).end();
        } else if !options.dry_run {
            nothing(&mut text);
        }
        invocation.screen.text(&text)?;
    }
    Ok(restore::exit(&report.files))
}

/// The last entry up to the leaf that people are shown: notes of ours hang behind what was said.
fn drawn(session: &Session, leaf: &EntryId) -> String {
    let log = session.log();
    let is_drawn = |seq: &Seq| log.record(*seq).is_some_and(|record| record.kind != Kind::Custom);
    let shown = log.ancestors(log.seq_of(leaf.as_str())).find(is_drawn);
    shown.map_or_else(|| leaf.to_string(), |seq| session.entry_id(seq).to_string())
}

fn nothing(text: &mut Text) {
    text.plain("the conversation is there already").end();
}
