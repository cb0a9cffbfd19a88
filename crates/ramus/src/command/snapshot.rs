//! `snapshot`, `snapshots`: keeps the files of a session's directory, and lists what is kept.

use clap::Args;
use ramus_engine::SnapshotEntry;
use ramus_snapshot::Uncovered;
use ramus_wire::files as shape;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, quantity, style};

const EXAMPLES: &str = "\
A snapshot holds every file of the session's directory that ignore files do not leave out; what it does not cover (files \
over 8 MB, sockets and the like) is told. Your own repository is never touched, and git need not be installed.

Examples:
  ramus snapshot last --label \"before the refactoring\"
  ramus snapshots last
  ramus diff last
  ramus restore last \"before the refactoring\" --dry-run";

/// Keep the files of a session's directory as they are now
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Snapshot {
    /// The session
    session: String,
    /// What to call it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
}

impl Snapshot {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        let taken = invocation.engine.snapshot(&mut session, self.label.as_deref())?;
        invocation.finish(&mut session)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(shape::taken(&taken))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        line(&mut text, &taken.snapshot);
        tell_left_out(&mut text, &taken.uncovered, &taken.unheeded);
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}

/// List what is kept of a session's directory
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Snapshots {
    /// The session
    session: String,
    /// Only those that the conversation stands on now
    #[arg(long)]
    lineage: bool,
}

impl Snapshots {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let session = invocation.session(&self.session)?;
        let mut all = invocation.engine.snapshots(&session)?;
        all.retain(|one| one.is_on_path || !self.lineage);
        if invocation.screen.wants_json() {
            let current = session.info()?.latest_snapshot;
            invocation.screen.json(shape::listed(&all, current.as_deref()))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        all.iter().for_each(|one| line(&mut text, one));
        if all.is_empty() {
            text.plain("there are no snapshots").end();
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}

/// Says what snapshots do not cover, and which ignore files they did not heed.
pub(super) fn tell_left_out(text: &mut Text, uncovered: &[Uncovered], unheeded: &[Uncovered]) {
    for (what, some) in [("not covered: ", uncovered), ("not heeded: ", unheeded)] {
        for one in some {
            text.plain(what).plain(&clean::one_line(&one.path.to_string_lossy())).plain(": ").plain(one.reason).end();
        }
    }
}

fn line(text: &mut Text, snapshot: &SnapshotEntry) {
    let files = quantity::count(usize::try_from(snapshot.files).unwrap_or(usize::MAX), "file", "files");
    text.styled(style::ID, &snapshot.id()).plain("  ").plain(&clean::one_line(&snapshot.label));
    let left_out = if snapshot.uncovered > 0 { format!(", {} not covered", snapshot.uncovered) } else { String::new() };
    text.styled(style::DIM, &format!("  {files}{left_out}, {}", snapshot.created)).end();
}
