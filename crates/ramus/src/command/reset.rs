//! `reset`: a session as if nothing had ever been said in it.

use clap::Args;
use serde_json::json;

use super::{confirm, share};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity};

const EXAMPLES: &str = "\
Everything that was said and done in the session is erased for good: entries, copies of old bytes, pictures and long texts \
that nothing else refers to. What was shared of it is taken back. A workspace that was made for the session is emptied; any other directory is left alone. \
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
        let question = |title: &str, id: &str| format!("Erase everything in {title} ({id}) for good?");
        let answer = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                if !self.dry_run && !self.yes {
                    let asked = question(remote.describe(&id)?.word("title"), &id);
                    confirm::ask(invocation, &asked, "resetting")?;
                }
                remote.act(&id, "reset", &json!({"dry_run": self.dry_run}))?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                if !self.dry_run && !self.yes {
                    let asked = question(&session.title(), session.id().as_str());
                    confirm::ask(invocation, &asked, "resetting")?;
                }
                let reset = invocation.engine.reset(&mut session, self.dry_run)?;
                if !self.dry_run {
                    invocation.finish(&mut session)?;
                }
                ramus_wire::life::reset(&reset, self.dry_run)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        let verb = if self.dry_run { "would erase" } else { "erased" };
        let messages = quantity::count(answer.count("cleared_messages"), "message", "messages");
        let bytes = answer.get("removed").map_or(0, |removed| removed.number("bytes"));
        text.plain(&format!("{verb} {messages}, {}", quantity::size(bytes))).end();
        if let Some(removed) = answer.get("removed") {
            share::tell::taken_back(&mut text, removed, self.dry_run);
        }
        if let Some(root) = answer.maybe("workspace") {
            let verb = if self.dry_run { "would empty" } else { "emptied" };
            text.plain(&format!("{verb} {}", clean::one_line(root))).end();
        }
        invocation.screen.note(&text)?;
        Ok(Exit::Done)
    }
}
