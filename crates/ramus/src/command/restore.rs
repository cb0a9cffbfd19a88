//! `restore`: puts the files of a session's directory back.

use std::path::PathBuf;

use clap::Args;
use ramus_engine::{RestoreOptions, RestoreReport};
use ramus_snapshot::{Action, Conflict, Step};
use serde_json::{Value, json};

use super::snapshot;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, json, quantity, style};

const EXAMPLES: &str = "\
The conversation stays where it is. What is there now is kept in a snapshot first, so a restore can be taken back. A file \
that was changed since the newest snapshot is yours: it is listed as a conflict and left alone, unless --force is given. \
Files that no snapshot of the session held are never touched.

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
    /// Overwrite what was changed since the newest snapshot
    #[arg(long)]
    force: bool,
    /// Only this file or directory, and what is beneath it
    #[arg(long, value_name = "PATH")]
    path: Vec<PathBuf>,
}

impl Restore {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        let target = invocation.engine.find_snapshot(&session, &self.snapshot)?;
        let options = RestoreOptions { dry_run: self.dry_run, force: self.force, only: self.path.clone() };
        let report = invocation.engine.restore(&mut session, &target, &options)?;
        invocation.finish(&mut session)?;
        let is_partial = report.safety.is_some() && !report.restored.kept.is_empty();
        if invocation.screen.wants_json() {
            let leaf = session.leaf();
            let steps: Vec<Value> = report.plan.steps.iter().map(to_json).collect();
            let answer = json!({
                "plan": steps,
                "applied": report.safety.is_some(),
                "kept": report.restored.kept.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
                "safety_snapshot": report.safety.as_ref().map(|safety| safety.id()),
                "snapshot": snapshot::to_json(&target),
                "leaf": leaf.as_ref().map(|leaf| leaf.as_str()),
            });
            invocation.screen.json(json::members(answer))?;
        } else {
            invocation.screen.text(&self.to_text(&report))?;
        }
        Ok(if is_partial { Exit::Partial } else { Exit::Done })
    }

    fn to_text(&self, report: &RestoreReport) -> Text {
        let mut text = Text::new();
        for step in &report.plan.steps {
            let note = match step.conflict {
                None => "",
                Some(Conflict::Changed) if self.force => "  (was changed since)",
                Some(Conflict::Changed) => "  conflict: it was changed since; --force overwrites it",
                Some(Conflict::Uncovered) => "  conflict: something is there that snapshots do not cover",
                Some(Conflict::Forbidden) => "  refused: it is no name that may be written",
            };
            text.padded(style::BOLD, action(step.action), 9).plain("  ");
            text.plain(&clean::one_line(&step.path.to_string_lossy())).styled(style::DIM, note).end();
        }
        let count = |count: usize| quantity::count(count, "file", "files");
        let end = match &report.safety {
            None if report.plan.steps.is_empty() => "nothing to restore: the files are as they were".to_owned(),
            None => format!("{} would change", count(report.plan.steps.len())),
            Some(safety) => {
                let kept = report.restored.kept.len();
                let left = if kept > 0 { format!(", {} left alone", count(kept)) } else { String::new() };
                format!(
                    "{} restored{left}; what was there is kept as {}",
                    count(report.restored.done.len()),
                    safety.id()
                )
            }
        };
        text.plain(&end).end();
        text
    }
}

fn action(action: Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::Overwrite => "overwrite",
        Action::Delete => "delete",
    }
}

fn to_json(step: &Step) -> Value {
    let conflict = step.conflict.map(|conflict| match conflict {
        Conflict::Changed => "changed",
        Conflict::Uncovered => "uncovered",
        Conflict::Forbidden => "forbidden",
    });
    json!({"path": step.path.to_string_lossy(), "action": action(step.action), "conflict": conflict})
}
