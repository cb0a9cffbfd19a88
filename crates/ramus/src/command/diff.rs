//! `diff`: what changed in the files.

use std::path::PathBuf;

use clap::Args;
use ramus_wire::files::{self as shape, Detail};
use serde_json::Value;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

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
        let (answer, snapshots) = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                let path = self.one_path()?;
                let request = remote.get(&["sessions", &id, "diff"]).maybe("from", self.from.as_ref());
                let request = request.maybe("to", self.to.as_ref()).flag("stat", self.stat).maybe("path", path);
                (remote.answer(request)?, remote.answer(remote.get(&["sessions", &id, "snapshots"]))?)
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let (from, to) = (self.from.as_deref(), self.to.as_deref());
                let diffs = invocation.engine.diff(&mut session, from, to, &self.path)?;
                invocation.mention(&session)?;
                let detail = if self.stat { Detail::Stat } else { Detail::Patch };
                let snapshots = match diffs.is_empty() && self.from.is_none() {
                    true => invocation.engine.snapshots(&session)?,
                    false => Vec::new(),
                };
                (shape::diffs(&diffs, detail), shape::listed(&snapshots, None))
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let diffs = answer.items("diffs");
        let mut text = Text::new();
        for diff in diffs {
            if self.stat { stat(&mut text, diff) } else { patch(&mut text, diff) }
        }
        let files = quantity::count(diffs.len(), "file", "files");
        let added = quantity::count(answer.count("additions"), "line", "lines");
        let removed = quantity::grouped(answer.number("deletions"));
        text.styled(style::DIM, &format!("{files} changed, {added} added, {removed} removed")).end();
        invocation.screen.text(&text)?;
        if diffs.is_empty() && self.from.is_none() {
            self.mention_earlier(invocation, snapshots.items("snapshots"))?;
        }
        Ok(Exit::Done)
    }

    /// A server is asked about one place at a time.
    fn one_path(&self) -> anyhow::Result<Option<String>> {
        if self.path.len() > 1 {
            return Err(Refusal::usage("a server compares one --path at a time").into());
        }
        Ok(self.path.first().map(|path| path.to_string_lossy().into_owned()))
    }

    /// Right after a turn nothing differs from its own snapshot: what the turn changed is found from the one before.
    fn mention_earlier(&self, invocation: &mut Invocation<'_>, snapshots: &[Value]) -> anyhow::Result<()> {
        let mut on_path = snapshots.iter().filter(|one| one.says("ancestor_of_current"));
        let Some((newest, earlier)) = on_path.next().zip(on_path.next()) else { return Ok(()) };
        let newest = clean::one_line(newest.word("label"));
        let hint =
            format!("since \"{newest}\"; `ramus diff {} {}` shows what that changed", self.session, earlier.word("id"));
        let mut text = Text::new();
        invocation.screen.note(text.plain(&hint).end())
    }
}

fn stat(text: &mut Text, diff: &Value) {
    let counts = match diff.says("binary") {
        true => "binary".to_owned(),
        false => format!("+{} -{}", diff.number("additions"), diff.number("deletions")),
    };
    text.padded(style::DIM, diff.word("status"), 8).plain("  ").plain(&clean::one_line(diff.word("path")));
    text.styled(style::DIM, &format!("  {counts}")).end();
}

fn patch(text: &mut Text, diff: &Value) {
    for line in diff.word("diff").lines() {
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
