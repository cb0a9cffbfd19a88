//! `diff`: what changed in the files.

use std::path::PathBuf;

use clap::Args;
use ramus_engine::Session;
use ramus_snapshot::FileDiff;
use ramus_wire::files::{self as shape, Detail};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, quantity, style};

const EXAMPLES: &str = "\
Without a second snapshot, the files as they are now count; without any, what changed since the newest one is shown. A \
snapshot is named by the start of its id, its entry, or its label.

Examples:
  ramus diff last
  ramus diff last --stat
  ramus diff last 3f2a 9c01 --path src";

/// Show what changed between snapshots, or since one
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Diff {
    /// The session
    session: String,
    /// The snapshot to start from
    from: Option<String>,
    /// The snapshot to end at
    to: Option<String>,
    /// Only how much changed, not what
    #[arg(long, conflicts_with = "patch")]
    stat: bool,
    /// What changed, line by line; this is what is shown anyway
    #[arg(long)]
    patch: bool,
    /// Only this file or directory, and what is beneath it
    #[arg(long, value_name = "PATH")]
    path: Vec<PathBuf>,
}

impl Diff {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        let (from, to) = (self.from.as_deref(), self.to.as_deref());
        let diffs = invocation.engine.diff(&mut session, from, to, &self.path)?;
        invocation.mention(&session)?;
        let sum = |count: fn(&FileDiff) -> u64| diffs.iter().map(count).sum::<u64>();
        let (additions, deletions) = (sum(|diff| diff.additions), sum(|diff| diff.deletions));
        if invocation.screen.wants_json() {
            let detail = if self.stat { Detail::Stat } else { Detail::Patch };
            invocation.screen.json(shape::diffs(&diffs, detail))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        for diff in &diffs {
            if self.stat { stat(&mut text, diff) } else { patch(&mut text, diff) }
        }
        let files = quantity::count(diffs.len(), "file", "files");
        let added = quantity::count(usize::try_from(additions).unwrap_or(usize::MAX), "line", "lines");
        let removed = quantity::grouped(deletions);
        text.styled(style::DIM, &format!("{files} changed, {added} added, {removed} removed")).end();
        invocation.screen.text(&text)?;
        if diffs.is_empty() && from.is_none() {
            self.mention_earlier(invocation, &session)?;
        }
        Ok(Exit::Done)
    }

    /// Right after a turn nothing differs from its own snapshot: what the turn changed is found from the one before.
    fn mention_earlier(&self, invocation: &mut Invocation<'_>, session: &Session) -> anyhow::Result<()> {
        let snapshots = invocation.engine.snapshots(session)?;
        let mut on_path = snapshots.iter().filter(|one| one.is_on_path);
        let Some((newest, earlier)) = on_path.next().zip(on_path.next()) else { return Ok(()) };
        let newest = clean::one_line(&newest.label);
        let hint =
            format!("since \"{newest}\"; `ramus diff {} {}` shows what that changed", self.session, earlier.id());
        let mut text = Text::new();
        invocation.screen.note(text.plain(&hint).end())
    }
}

fn stat(text: &mut Text, diff: &FileDiff) {
    let counts = if diff.is_binary { "binary".to_owned() } else { format!("+{} -{}", diff.additions, diff.deletions) };
    text.padded(style::DIM, diff.status.as_str(), 8).plain("  ").plain(&clean::one_line(&diff.path.to_string_lossy()));
    text.styled(style::DIM, &format!("  {counts}")).end();
}

fn patch(text: &mut Text, diff: &FileDiff) {
    for line in diff.diff.lines() {
        let style = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => style::BOLD,
            [b'@', b'@', ..] => style::DIM,
            [b'+', ..] => style::ADDED,
            [b'-', ..] => style::REMOVED,
            _ => style::NONE,
        };
        text.styled(style, &clean::one_line(line)).end();
    }
}
