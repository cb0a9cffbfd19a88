//! `relocate`: takes the sessions of a directory that was moved to where it is now.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity, style};

const EXAMPLES: &str = "\
Every session of OLD, and of directories below it, belongs to the same place below NEW from now on, drafts and archived \
ones too. The directories themselves are not touched. Sessions that are being run stay where they are; call it again \
when they are done. When NEW does not exist you are asked on a terminal, and everywhere else --yes is needed.

Examples:
  ramus relocate ~/shop ~/code/shop --dry-run
  ramus relocate ~/shop ~/code/shop";

/// Take the sessions of a moved directory along
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Relocate {
    /// Where the directory was
    old: PathBuf,
    /// Where it is now
    new: PathBuf,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask, even if the new directory does not exist
    #[arg(long, short)]
    yes: bool,
}

impl Relocate {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let (old, new) = (invocation.directory(&self.old)?, invocation.directory(&self.new)?);
        if !self.dry_run && !self.yes && !Path::new(&new).is_dir() {
            let planned = relocate(invocation, &old, &new, true)?.items("moved").len();
            if planned > 0 && !confirm(invocation, &new, planned)? {
                return Err(Refusal::invalid("nothing was moved").into());
            }
        }
        let answer = relocate(invocation, &old, &new, self.dry_run)?;
        for one in answer.items("unreadable") {
            let (session, reason) = (one.word("session"), one.word("reason"));
            invocation.screen.warn(&format!("session {session} cannot be read: {reason}"))?;
        }
        for stays in answer.items("refused") {
            let (session, from, reason) = (stays.word("session"), stays.word("from"), stays.word("reason"));
            invocation.screen.warn(&format!("session {session} stays in {from}: {reason}"))?;
        }
        let is_whole = answer.items("refused").is_empty() && answer.items("unreadable").is_empty();
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            self.tell(invocation, &answer)?;
        }
        Ok(if is_whole { Exit::Done } else { Exit::Partial })
    }

    fn tell(&self, invocation: &mut Invocation<'_>, answer: &Map<String, Value>) -> anyhow::Result<()> {
        let mut text = Text::new();
        let moved = answer.items("moved");
        for one in moved {
            text.styled(style::ID, one.word("session")).plain("  ").plain(one.word("to")).plain("  ");
            text.styled(style::DIM, one.word("title")).end();
        }
        invocation.screen.text(&text)?;
        text.clear();
        let verb = if self.dry_run { "would move" } else { "moved" };
        text.plain(&format!("{verb} {}", quantity::count(moved.len(), "session", "sessions")));
        let refused = answer.items("refused").len();
        if refused > 0 {
            text.plain(&format!(", {}", quantity::count(refused, "stays", "stay")));
        }
        invocation.screen.note(text.end())
    }
}

fn relocate(invocation: &Invocation<'_>, old: &str, new: &str, dry_run: bool) -> anyhow::Result<Map<String, Value>> {
    if let Some(remote) = invocation.remote() {
        return remote.post(&["relocate"], &json!({"from": old, "to": new, "dry_run": dry_run}));
    }
    Ok(ramus_wire::place::relocated(old, new, &invocation.engine.relocate(old, new, dry_run)?, dry_run))
}

/// Asks, when there is someone to ask.
fn confirm(invocation: &mut Invocation<'_>, new: &str, planned: usize) -> anyhow::Result<bool> {
    let mut text = Text::new();
    let sessions = quantity::count(planned, "session", "sessions");
    text.styled(style::BOLD, new).plain(&format!(" does not exist. Take {sessions} there all the same?"));
    let answer = invocation.screen.ask(&mut text)?;
    let refusal = || Refusal::usage(format!("{new} does not exist"));
    Ok(answer.ok_or_else(|| refusal().hint("--yes takes the sessions there all the same"))?)
}
