//! `restore`: puts the files of a session's directory back.

use std::path::{Path, PathBuf};

use clap::Args;
use ramus_engine::RestoreOptions;
use ramus_wire::files as shape;
use serde_json::{Map, Value, json};

use super::{confirm, snapshot};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

const EXAMPLES: &str = "\
The conversation stays where it is. What is there now is kept in a snapshot first, so a restore can be taken back. A file \
that you changed since is yours: it is listed as a conflict and left alone, unless --force is given or you keep it first \
with `ramus snapshot`. Files that only you made are left alone and not listed, with --force too; one that you kept with \
`ramus snapshot` is listed, and goes with --force. Paths begin where you are, within the session's directory.

Examples:
  ramus restore last 3f2a --dry-run
  ramus restore last 3f2a
  ramus restore last 3f2a --path src/main.rs --force";

/// Put the files back to what a snapshot holds
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Restore {
    /// The session
    session: String,
    /// The snapshot: the start of its id, its entry, or its label
    snapshot: String,
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Overwrite what you changed since
    #[arg(long)]
    force: bool,
    /// Only this file or directory, and what is beneath it
    #[arg(long, value_name = "PATH")]
    path: Vec<PathBuf>,
    /// Remove everything else too, whoever made it; only in a workspace that was made with `ramus workspace`
    #[arg(long, conflicts_with_all = ["force", "path"])]
    clean: bool,
    /// Do not ask before removing with --clean
    #[arg(long, requires = "clean")]
    yes: bool,
}

impl Restore {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if self.clean && !self.dry_run && !self.yes {
            let question = "Remove everything in the workspace that the snapshot does not hold?";
            confirm::ask(invocation, question, "restoring with --clean")?;
        }
        let answer = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                let paths = invocation.paths_at(&remote, &id, &self.path)?;
                let how = json!({
                    "snapshot": self.snapshot, "dry_run": self.dry_run, "force": self.force, "paths": paths,
                    "clean": self.clean,
                });
                remote.act(&id, "restore", &how)?
            }
            None => self.restore(invocation)?,
        };
        let exit = exit(&answer);
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Carried { answer: &answer, force: self.force }.to_text();
            if self.dry_run || self.clean {
                snapshot::tell_left_out(&mut text, &answer);
            }
            invocation.screen.text(&text)?;
        }
        Ok(exit)
    }

    fn restore(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        let mut session = invocation.session(&self.session)?;
        let target = invocation.engine.find_snapshot(&session, &self.snapshot)?;
        let only = invocation.paths_in(Path::new(session.cwd()), &self.path);
        let options = RestoreOptions { dry_run: self.dry_run, force: self.force, only };
        let report = match self.clean {
            true => invocation.engine.reset_workspace(&mut session, &target, self.dry_run)?,
            false => invocation.engine.restore(&mut session, &target, &options)?,
        };
        invocation.finish(&mut session)?;
        Ok(shape::restored_to(&report, &target, &session))
    }
}

/// What became of files, for every command that puts some back.
pub(super) struct Carried<'r> {
    pub(super) answer: &'r Map<String, Value>,
    pub(super) force: bool,
}

impl Carried<'_> {
    /// Says whether a step is carried out when it comes to it.
    fn is_done(&self, step: &Value) -> bool {
        match step.maybe("conflict") {
            None => true,
            Some(conflict) => conflict == "changed" && self.force,
        }
    }

    pub(super) fn to_text(&self) -> Text {
        let mut text = Text::new();
        let steps = self.answer.items("plan");
        let kept = self.answer.words("kept");
        for step in steps {
            let is_kept = kept.contains(&step.word("path"));
            let note = match step.maybe("conflict") {
                None if is_kept => "  it was changed at the same moment",
                None => "",
                Some("changed") if self.force => "  (was changed since)",
                Some("changed") => "  conflict: it was changed since; --force overwrites it",
                Some("uncovered") if step.word("action") == "delete" => {
                    "  conflict: it could have been there, where the snapshot does not cover it"
                }
                Some("uncovered") => "  conflict: something is there that snapshots do not cover",
                Some(_) => "  refused: it is no name that may be written",
            };
            let action = if is_kept { "kept" } else { step.word("action") };
            text.padded(style::BOLD, action, 9).plain("  ");
            text.plain(&clean::one_line(step.word("path"))).styled(style::DIM, note).end();
        }
        let count = |count: usize| quantity::count(count, "file", "files");
        let without = self.answer.maybe("without_snapshots");
        let end = match self.answer.maybe("safety_snapshot") {
            None if steps.is_empty() && without.is_some() => "the files stay as they are now".to_owned(),
            None if steps.is_empty() => "nothing to restore: the files are as they were".to_owned(),
            None => {
                let would = steps.iter().filter(|step| self.is_done(step)).count();
                let left = steps.len() - would;
                let left = if left > 0 { format!(", {} would be left alone", count(left)) } else { String::new() };
                format!("{} would change{left}", count(would))
            }
            Some(safety) => {
                let kept = self.answer.items("kept").len();
                let left = if kept > 0 { format!(", {} left alone", count(kept)) } else { String::new() };
                let restored = count(self.answer.count("restored"));
                format!("{restored} restored{left}; what was there is kept as {safety}")
            }
        };
        text.plain(&end).end();
        if let Some(reason) = without {
            text.plain("nothing was kept of what was changed without snapshots: ")
                .plain(&clean::one_line(reason))
                .end();
        }
        text
    }
}

/// Files that were left alone make it partial.
pub(super) fn exit(answer: &Map<String, Value>) -> Exit {
    let was_done = answer.maybe("safety_snapshot").is_some();
    if was_done && !answer.items("kept").is_empty() { Exit::Partial } else { Exit::Done }
}
