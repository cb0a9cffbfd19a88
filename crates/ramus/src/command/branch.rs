//! `branch`: goes on from another entry.

use clap::Args;
use ramus_model::EntryId;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json, style};

const EXAMPLES: &str = "\
The leaf moves to the entry, and what comes next hangs from there. What was said after it stays a branch; go back to it \
the same way. Nothing is lost.

Examples:
  ramus branch last@-                               before the last message
  ramus branch 0190@start                           to the entry labelled start
  ramus branch 0190@a1b2 --summary \"The regex approach was too slow\"";

/// Go on from another entry of the session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Branch {
    /// The entry to go on from
    #[arg(value_name = "SESSION@ENTRY")]
    entry: String,
    /// Leave a summary of the branch that is left; the model is told
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: Option<String>,
}

impl Branch {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let (mut session, entry) = invocation.entry(&self.entry)?;
        let leaf = match &self.summary {
            None => invocation.engine.branch(&mut session, entry)?,
            Some(summary) => invocation.engine.branch_with_summary(&mut session, Some(entry), summary)?,
        };
        invocation.finish(&mut session)?;
        tell_leaf(invocation, Some(&leaf))?;
        Ok(Exit::Done)
    }
}

/// Tells where the leaf is now.
pub(super) fn tell_leaf(invocation: &mut Invocation<'_>, leaf: Option<&EntryId>) -> anyhow::Result<()> {
    if invocation.screen.wants_json() {
        return invocation.screen.json(json::members(json!({"leaf": leaf.map(EntryId::as_str)})));
    }
    let mut text = Text::new();
    match leaf {
        Some(leaf) => text.plain("the leaf is now ").styled(style::ID, leaf.as_str()).end(),
        None => text.plain("there is no leaf now: the next entry becomes a root").end(),
    };
    invocation.screen.note(&text)
}
