//! `reset`: a session as if nothing had ever been said in it.

use clap::Args;

use super::confirm;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, quantity};

const EXAMPLES: &str = "\
Everything that was said and done in the session is erased for good: entries, copies of old bytes, pictures and long texts \
that nothing else refers to. A workspace that was made for the session is emptied; any other directory is left alone. \
Messages are numbered anew under another name. Its id, title, tags, rules and metadata stay. A session that others were \
forked from is not reset. To start over without erasing anything there are `ramus reset-leaf` and `ramus clear`. On a \
terminal you are asked; everywhere else --yes is needed. It cannot be undone.

Examples:
  ramus reset last --dry-run
  ramus reset last --yes";

/// Erase everything in a session and start over
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Reset {
    /// The session
    session: String,
    /// Say what would be erased, and erase nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Reset {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        if !self.dry_run && !self.yes {
            let question = format!("Erase everything in {} ({}) for good?", session.title(), session.id());
            confirm::ask(invocation, &question, "resetting")?;
        }
        let reset = invocation.engine.reset(&mut session, self.dry_run)?;
        if !self.dry_run {
            invocation.finish(&mut session)?;
        }
        if invocation.screen.wants_json() {
            invocation.screen.json(ramus_wire::life::reset(&reset, self.dry_run))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        let verb = if self.dry_run { "would erase" } else { "erased" };
        let messages = quantity::count(reset.messages, "message", "messages");
        text.plain(&format!("{verb} {messages}, {}", quantity::size(reset.bytes))).end();
        if let Some(root) = &reset.workspace {
            let verb = if self.dry_run { "would empty" } else { "emptied" };
            text.plain(&format!("{verb} {}", clean::one_line(&root.display().to_string()))).end();
        }
        invocation.screen.note(&text)?;
        Ok(Exit::Done)
    }
}
