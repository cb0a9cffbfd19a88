//! `undo`, `redo`: takes back what was done last, and does it again.

use clap::Args;
use ramus_engine::{RestoreOptions, Session, TakenBack};
use ramus_model::EntryId;
use ramus_wire::operation as shape;

use super::restore::{self, Carried};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean};

const EXAMPLES: &str = "\
Whatever was done last to a session is taken back: a turn with the files it changed, a message, a label, a title, tags, \
archiving, a compaction, a replaced segment, a restore, a move of the leaf. Nothing is erased: what was said stays as a \
branch, and `ramus redo` does it again as long as nothing else is done. What you changed yourself in a file since is left \
alone, unless --force is given. `ramus log` lists what was done. What deletes, purges or resets cannot be undone.

Examples:
  ramus undo last
  ramus undo last --dry-run
  ramus redo last";

/// Take back what was done last to a session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Undo {
    #[command(flatten)]
    how: How,
}

/// Do again what was undone last
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Redo {
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// The session
    session: String,
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Overwrite files that you changed since
    #[arg(long)]
    force: bool,
}

impl How {
    fn options(&self) -> RestoreOptions {
        RestoreOptions { dry_run: self.dry_run, force: self.force, ..RestoreOptions::default() }
    }
}

impl Undo {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.how.session)?;
        let taken = invocation.engine.undo(&mut session, &self.how.options())?;
        print(invocation, &mut session, &taken, &self.how, "undone")
    }
}

impl Redo {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.how.session)?;
        let taken = invocation.engine.redo(&mut session, &self.how.options())?;
        print(invocation, &mut session, &taken, &self.how, "redone")
    }
}

fn print(
    invocation: &mut Invocation<'_>,
    session: &mut Session,
    taken: &TakenBack,
    how: &How,
    word: &str,
) -> anyhow::Result<Exit> {
    invocation.finish(session)?;
    let carried = Carried { report: &taken.files, force: how.force };
    if invocation.screen.wants_json() {
        invocation.screen.json(shape::taken_back(session, taken)?)?;
    } else {
        let mut text = if taken.files.plan.steps.is_empty() { Text::new() } else { carried.to_text() };
        let would = if taken.is_done { "" } else { "would be " };
        let name = shape::name_of(session, taken)?;
        let at = taken.leaf.as_ref().map(EntryId::as_str).map_or_else(|| "the beginning".to_owned(), clean::one_line);
        text.plain(&format!("{would}{word}: {}; the conversation is at {at}", clean::one_line(&name))).end();
        invocation.screen.text(&text)?;
    }
    Ok(restore::exit(&taken.files))
}
