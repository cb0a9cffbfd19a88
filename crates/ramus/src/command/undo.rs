//! `undo`, `redo`: takes back what was done last, and does it again.

use clap::Args;
use ramus_engine::{RestoreOptions, Session, TakenBack};
use ramus_wire::operation as shape;
use serde_json::{Map, Value, json};

use super::restore::{self, Carried};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, clean};

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

    fn ask(&self, remote: &Remote, route: &str) -> anyhow::Result<Map<String, Value>> {
        let how = json!({"dry_run": self.dry_run, "force": self.force});
        remote.act(&remote.id(&self.session)?, route, &how)
    }
}

impl Undo {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            let answer = self.how.ask(&remote, "undo")?;
            return tell(invocation, answer, &self.how, "undone");
        }
        let mut session = invocation.session(&self.how.session)?;
        let taken = invocation.engine.undo(&mut session, &self.how.options())?;
        print(invocation, &mut session, &taken, &self.how, "undone")
    }
}

impl Redo {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            let answer = self.how.ask(&remote, "redo")?;
            return tell(invocation, answer, &self.how, "redone");
        }
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
    tell(invocation, shape::taken_back(session, taken)?, how, word)
}

fn tell(invocation: &mut Invocation<'_>, answer: Map<String, Value>, how: &How, word: &str) -> anyhow::Result<Exit> {
    let exit = restore::exit(&answer);
    if invocation.screen.wants_json() {
        invocation.screen.json(answer)?;
        return Ok(exit);
    }
    let carried = Carried { answer: &answer, force: how.force };
    let mut text = if answer.items("plan").is_empty() { Text::new() } else { carried.to_text() };
    let would = if answer.says("applied") { "" } else { "would be " };
    let name = answer.get("operation").map(|operation| operation.word("op")).unwrap_or_default();
    let at = answer.maybe("leaf").map_or_else(|| "the beginning".to_owned(), clean::one_line);
    text.plain(&format!("{would}{word}: {}; the conversation is at {at}", clean::one_line(name))).end();
    invocation.screen.text(&text)?;
    Ok(exit)
}
