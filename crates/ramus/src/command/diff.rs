//! `diff`: what changed in the files.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::Args;
use ramus_wire::files as shape;
use serde_json::Value;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

const EXAMPLES: &str = "\
Without a second snapshot, the files as they are now count; without any, what changed since the newest one is shown. A \
snapshot is named by the start of its id, its entry, or its label. What is not shown on a terminal is a patch, byte for \
byte, which `git apply` and `patch -p1` take. Paths begin where you are, within the session's directory.

Examples:
  ramus diff last
  ramus diff last --stat
  ramus diff last 3f2a 9c01 --path src
  ramus diff last 3f2a > changes.patch";

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
                let request = remote.get(&["sessions", &id, "diff"]).maybe("from", self.from.as_ref());
                let request = request.maybe("to", self.to.as_ref());
                let paths = invocation.paths_at(&remote, &id, &self.path)?;
                let request = paths.iter().fold(request, |request, path| request.query("path", path.to_string_lossy()));
                (remote.answer(request)?, remote.answer(remote.get(&["sessions", &id, "snapshots"]))?)
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let (from, to) = (self.from.as_deref(), self.to.as_deref());
                let paths = invocation.paths_in(Path::new(session.cwd()), &self.path);
                let diffs = invocation.engine.diff(&mut session, from, to, &paths)?;
                invocation.mention(&session)?;
                let snapshots = match diffs.is_empty() && self.from.is_none() {
                    true => invocation.engine.states(&session)?,
                    false => Vec::new(),
                };
                (shape::diffs(&diffs), shape::listed(&snapshots, None))
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let diffs = answer.items("diffs");
        let mut text = Text::new();
        // A file that the patch is kept in, or a program that reads it, gets what can be applied and nothing else.
        let is_patch = !self.stat && !invocation.screen.is_terminal() && !invocation.screen.is_coloured();
        for diff in diffs {
            match is_patch {
                true => invocation.screen.data(&exact(diff))?,
                false if self.stat => stat(&mut text, diff),
                false => patch(&mut text, diff),
            }
        }
        let files = quantity::count(diffs.len(), "file", "files");
        let added = quantity::count(answer.count("additions"), "line", "lines");
        let removed = quantity::grouped(answer.number("deletions"));
        text.styled(style::DIM, &format!("{files} changed, {added} added, {removed} removed")).end();
        if is_patch { invocation.screen.note(&text) } else { invocation.screen.text(&text) }?;
        if diffs.is_empty() && self.from.is_none() {
            self.mention_earlier(invocation, snapshots.items("snapshots"))?;
        }
        Ok(Exit::Done)
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
    text.padded(style::DIM, diff.word("status"), 8).plain("  ");
    if let Some(from) = diff.maybe("from") {
        text.plain(&clean::one_line(from)).plain(" => ");
    }
    text.plain(&clean::one_line(diff.word("path")));
    text.styled(style::DIM, &format!("  {counts}")).end();
}

fn patch(text: &mut Text, diff: &Value) {
    let mut is_in_hunk = false;
    for line in diff.word("diff").strip_suffix('\n').unwrap_or_default().split('\n') {
        is_in_hunk |= line.starts_with("@@ ");
        is_in_hunk &= !line.starts_with("diff --git ");
        let style = match line.as_bytes() {
            _ if !is_in_hunk => style::BOLD,
            [b'@' | b'\\', ..] => style::DIM,
            [b'+', ..] => style::ADDED,
            [b'-', ..] => style::REMOVED,
            _ => style::NONE,
        };
        text.verbatim(style, line);
    }
}

/// The patch of a file, byte for byte.
fn exact(diff: &Value) -> Vec<u8> {
    let whole = diff.maybe("diff_base64").and_then(|coded| BASE64_STANDARD.decode(coded).ok());
    whole.unwrap_or_else(|| diff.word("diff").as_bytes().to_vec())
}
