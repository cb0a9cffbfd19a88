//! `clear`: a model starts afresh in the same session.

use clap::Args;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity};

const EXAMPLES: &str = "\
A model is sent the system messages of the conversation and nothing else of it from here on. Everything stays in the \
session: `ramus undo` brings it back, `ramus show` shows it.

Examples:
  ramus clear last
  ramus clear last --dry-run";

/// Let a model start afresh, without what was said so far
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Clear {
    /// The session
    session: String,
    /// Say what would be left out, and do nothing
    #[arg(long)]
    dry_run: bool,
}

impl Clear {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => remote.act(&remote.id(&self.session)?, "clear", &json!({"dry_run": self.dry_run}))?,
            None => {
                let mut session = invocation.session(&self.session)?;
                let cleared = invocation.engine.clear(&mut session, self.dry_run)?;
                invocation.finish(&mut session)?;
                ramus_wire::life::cleared(&cleared, &session, self.dry_run)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        let count = answer.count("messages");
        let messages = quantity::count(count, "message", "messages");
        let said = match (count, self.dry_run) {
            (0, _) => "there is nothing to clear".to_owned(),
            (_, true) => format!("{messages} would be left out"),
            (_, false) => format!("{messages} left out; `ramus undo` brings them back"),
        };
        invocation.screen.note(text.plain(&said).end())?;
        Ok(Exit::Done)
    }
}
