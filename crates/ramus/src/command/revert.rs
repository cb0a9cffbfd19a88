//! `revert`, `unrevert`: conversation and files go back together, and forward again.

use clap::Args;
use ramus_engine::{RestoreOptions, RevertReport, Session};
use ramus_wire::files as shape;
use serde_json::{Map, Value, json};

use super::restore::{self, Carried};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

const EXAMPLES: &str = "\
The entry is kept: what came behind it is hidden, not erased, and the files that agents changed since are as they were. \
What you changed yourself stays: a file that you edited after an agent did is listed as a conflict and left alone, unless \
--force is given. What is there now is kept in a snapshot first. Files that no snapshot covers (ignored ones that git does not track, too large ones) stay as \
they are, and are named. `ramus unrevert` takes it back until something is said.

Examples:
  ramus revert last@-
  ramus revert last@#12 --dry-run
  ramus unrevert last";

/// So many paths are named that no snapshot covers.
const NAMED: usize = 10;

/// What comes before the entry that the conversation goes on from.
const BACK: &str = "the conversation is back at";
const FORTH: &str = "the conversation goes on from";

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
        let options = RestoreOptions { dry_run: self.dry_run, force: self.force, ..RestoreOptions::default() };
        if let Some(remote) = invocation.remote() {
            let (session, entry) = remote.target(&self.target)?;
            let how = json!({"entry": entry, "dry_run": self.dry_run, "force": self.force});
            let answer = remote.act(&session, "revert", &how)?;
            return tell(invocation, answer, &options, BACK);
        }
        let (mut session, entry) = invocation.session_and_entry(&self.target)?;
        let entry = match entry {
            Some(entry) => entry,
            None => session.resolve("")?,
        };
        let report = invocation.engine.revert(&mut session, entry, &options)?;
        print(invocation, &mut session, &report, &options, BACK)
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
        let options = RestoreOptions { dry_run: self.dry_run, force: self.force, ..RestoreOptions::default() };
        if let Some(remote) = invocation.remote() {
            let how = json!({"dry_run": self.dry_run, "force": self.force});
            let answer = remote.act(&remote.id(&self.session)?, "unrevert", &how)?;
            return tell(invocation, answer, &options, FORTH);
        }
        let mut session = invocation.session(&self.session)?;
        let report = invocation.engine.unrevert(&mut session, &options)?;
        print(invocation, &mut session, &report, &options, FORTH)
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
    tell(invocation, shape::reverted(report, session)?, options, words)
}

/// Tells the same of an answer.
pub(super) fn tell(
    invocation: &mut Invocation<'_>,
    answer: Map<String, Value>,
    options: &RestoreOptions,
    words: &str,
) -> anyhow::Result<Exit> {
    let exit = restore::exit(&answer);
    if invocation.screen.wants_json() {
        invocation.screen.json(answer)?;
        return Ok(exit);
    }
    let mut text = Carried { answer: &answer, force: options.force }.to_text();
    tell_uncovered(&mut text, &answer);
    if answer.says("applied") {
        text.plain(words).plain(" ").plain(&clean::one_line(answer.word("shown"))).end();
    } else if !options.dry_run {
        text.plain("the conversation is there already").end();
    }
    invocation.screen.text(&text)?;
    Ok(exit)
}

/// Says what no snapshot covers: if an agent changed it, nothing brings it back.
fn tell_uncovered(text: &mut Text, answer: &Map<String, Value>) {
    let uncovered = answer.items("not_covered");
    if uncovered.is_empty() {
        return;
    }
    let count =
        quantity::count(uncovered.len(), "path is not covered by snapshots", "paths are not covered by snapshots");
    text.plain(&count).plain(" and stays as it is, also where an agent changed it:").end();
    for one in uncovered.iter().take(NAMED) {
        text.plain("  ").plain(&clean::one_line(one.word("path")));
        text.styled(style::DIM, &format!("  {}", one.word("reason"))).end();
    }
    if let Some(more) = uncovered.len().checked_sub(NAMED).filter(|more| *more > 0) {
        text.styled(style::DIM, &format!("  and {more} more; --json names all")).end();
    }
}
