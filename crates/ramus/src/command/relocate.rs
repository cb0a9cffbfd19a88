//! `relocate`: takes the sessions of a directory that was moved to where it is now.

use std::path::{Path, PathBuf};

use clap::Args;
use ramus_engine::{Relocated, Relocation};
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity, style};

const EXAMPLES: &str = "\
Every session of OLD, and of directories below it, belongs to the same place below NEW from now on, drafts and archived \
ones too. The directories themselves are not touched. Sessions that are being run stay where they are; call it again \
when they are done. When NEW does not exist you are asked on a terminal, and everywhere else --yes is needed.

Examples:
  ramus relocate ~/shop ~/work/shop --dry-run
  ramus relocate ~/shop ~/work/shop";

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
            let planned = invocation.engine.relocate(&old, &new, true)?.moved.len();
            if planned > 0 && !confirm(invocation, &new, planned)? {
                return Err(Refusal::invalid("nothing was moved").into());
            }
        }
        let relocated = invocation.engine.relocate(&old, &new, self.dry_run)?;
        for (session, reason) in &relocated.unreadable {
            invocation.screen.warn(&format!("session {session} cannot be read: {reason}"))?;
        }
        for (stays, error) in &relocated.refused {
            invocation.screen.warn(&format!("session {} stays in {}: {error}", stays.session, stays.from))?;
        }
        if invocation.screen.wants_json() {
            invocation.screen.json(self.to_json(&old, &new, &relocated))?;
        } else {
            self.tell(invocation, &relocated)?;
        }
        let is_whole = relocated.refused.is_empty() && relocated.unreadable.is_empty();
        Ok(if is_whole { Exit::Done } else { Exit::Partial })
    }

    fn tell(&self, invocation: &mut Invocation<'_>, relocated: &Relocated) -> anyhow::Result<()> {
        let mut text = Text::new();
        for relocation in &relocated.moved {
            text.styled(style::ID, relocation.session.as_str()).plain("  ").plain(&relocation.to).plain("  ");
            text.styled(style::DIM, &relocation.title).end();
        }
        invocation.screen.text(&text)?;
        text.clear();
        let verb = if self.dry_run { "would move" } else { "moved" };
        text.plain(&format!("{verb} {}", quantity::count(relocated.moved.len(), "session", "sessions")));
        if !relocated.refused.is_empty() {
            text.plain(&format!(", {}", quantity::count(relocated.refused.len(), "stays", "stay")));
        }
        invocation.screen.note(text.end())
    }

    fn to_json(&self, old: &str, new: &str, relocated: &Relocated) -> Map<String, Value> {
        let moved: Vec<_> = relocated.moved.iter().map(one).collect();
        let refused = relocated.refused.iter().map(|(relocation, error)| {
            let mut object = one(relocation);
            object.insert("kind".into(), error.kind().name().into());
            object.insert("reason".into(), error.to_string().into());
            object
        });
        let unreadable =
            relocated.unreadable.iter().map(|(session, reason)| json!({"session": session, "reason": reason}));
        json::members(json!({
            "from": old,
            "to": new,
            "moved": moved,
            "refused": refused.collect::<Vec<_>>(),
            "unreadable": unreadable.collect::<Vec<_>>(),
            "terminals": relocated.terminals,
            "dry_run": self.dry_run,
        }))
    }
}

fn one(relocation: &Relocation) -> Map<String, Value> {
    json::members(json!({
        "session": relocation.session.as_str(),
        "title": relocation.title,
        "from": relocation.from,
        "to": relocation.to,
    }))
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
