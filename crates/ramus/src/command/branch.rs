//! `branch`: goes on from another entry.

use clap::Args;
use ramus_engine::RestoreOptions;
use serde_json::json;

use super::revert;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, json, style};

const EXAMPLES: &str = "\
The leaf moves to the entry, and what comes next hangs from there. What was said after it stays a branch; go back to it \
the same way. Nothing is lost. With --files, the files of the session's directory become what they were on that branch; \
what the branch that is left has is kept in a snapshot and comes back with it, and what you changed yourself stays.

Examples:
  ramus branch last@-                               before the last message
  ramus branch 0190@start                           to the entry labelled start
  ramus branch 0190@start --files --dry-run
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
    /// Bring the files of that branch along
    #[arg(long, conflicts_with = "summary")]
    files: bool,
    /// Say what would happen to files, and do nothing
    #[arg(long, requires = "files")]
    dry_run: bool,
    /// Overwrite files that you changed
    #[arg(long, requires = "files")]
    force: bool,
}

impl Branch {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let options = RestoreOptions { dry_run: self.dry_run, force: self.force, ..RestoreOptions::default() };
        if let Some(remote) = invocation.remote() {
            let (session, entry) = remote.entry(&self.entry)?;
            let body = json!({
                "entry": entry, "summary": self.summary, "files": self.files, "dry_run": self.dry_run,
                "force": self.force,
            });
            let answer = remote.act(&session, "branch", &body)?;
            if self.files {
                return revert::tell(invocation, answer, &options, "the leaf is now");
            }
            tell_leaf(invocation, answer.maybe("leaf"))?;
            return Ok(Exit::Done);
        }
        let (mut session, entry) = invocation.entry(&self.entry)?;
        if self.files {
            let report = invocation.engine.branch_with_files(&mut session, entry, &options)?;
            return revert::print(invocation, &mut session, &report, &options, "the leaf is now");
        }
        let leaf = match &self.summary {
            None => invocation.engine.branch(&mut session, entry)?,
            Some(summary) => invocation.engine.branch_with_summary(&mut session, Some(entry), summary)?,
        };
        invocation.finish(&mut session)?;
        tell_leaf(invocation, Some(leaf.as_str()))?;
        Ok(Exit::Done)
    }
}

/// Tells where the leaf is now.
pub(super) fn tell_leaf(invocation: &mut Invocation<'_>, leaf: Option<&str>) -> anyhow::Result<()> {
    if invocation.screen.wants_json() {
        return invocation.screen.json(json::members(json!({"leaf": leaf})));
    }
    let mut text = Text::new();
    match leaf {
        Some(leaf) => text.plain("the leaf is now ").styled(style::ID, leaf).end(),
        None => text.plain("there is no leaf now: the next entry becomes a root").end(),
    };
    invocation.screen.note(&text)
}
