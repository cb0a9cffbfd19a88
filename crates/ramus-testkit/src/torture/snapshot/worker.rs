//! What the child does until it is killed: back and forth between two states, a snapshot each time.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use ramus_snapshot::{About, Restore, SnapshotId, Snapshots};
use serde_json::{Value, json};

use super::scene::JUNK;

/// A collection comes after so many snapshots.
const COLLECT: usize = 12;

/// How the child restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As the library does it.
    Whole,
    /// The same, and to exactly what a snapshot held.
    Exact,
    /// Not at all: it takes snapshots only.
    TakeOnly,
    /// File by file, in place and without a journal, which must show.
    Naive,
}

impl Manner {
    /// Returns the name that a command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Exact => "exact",
            Self::TakeOnly => "take-only",
            Self::Naive => "naive",
        }
    }

    /// Reads such a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Whole, Self::Exact, Self::TakeOnly, Self::Naive].into_iter().find(|manner| manner.name() == name)
    }
}

/// Works for ever.
pub fn work(store: &Path, root: &Path, manner: Manner, targets: [&str; 2]) -> Result<()> {
    let [one, other] = targets;
    let (one, other) = (SnapshotId::parse(one)?, SnapshotId::parse(other)?);
    let mut snapshots = Snapshots::open(store, root, &[])?;
    let mut recent = vec![one, other];
    for round in 0_usize.. {
        let label = format!("{} round {round}", std::process::id());
        let taken = snapshots.take(&About { label, parents: Vec::new() })?.id;
        say(&json!({"taken": taken.to_string()}))?;
        recent.push(taken);
        let target = if round.is_multiple_of(2) { one } else { other };
        match manner {
            Manner::TakeOnly => {}
            Manner::Whole => restore(&mut snapshots, target, taken)?,
            Manner::Exact => restore_exactly(&mut snapshots, root, target, taken)?,
            Manner::Naive => overwrite(&snapshots, root, target, taken)?,
        }
        if manner != Manner::TakeOnly && round % COLLECT == COLLECT - 1 {
            recent.drain(2..recent.len() - 3);
            let keep: Vec<String> = recent.iter().map(ToString::to_string).collect();
            say(&json!({"collecting": keep}))?;
            snapshots.collect(&recent, Duration::ZERO)?;
        }
    }
    Ok(())
}

fn restore(snapshots: &mut Snapshots, target: SnapshotId, current: SnapshotId) -> Result<()> {
    let only: [PathBuf; 0] = [];
    let plan = snapshots.plan(&Restore { target, baseline: current, current, only: &only })?;
    snapshots.restore(&plan, false)?;
    Ok(())
}

/// What no snapshot holds goes too.
fn restore_exactly(snapshots: &mut Snapshots, root: &Path, target: SnapshotId, current: SnapshotId) -> Result<()> {
    let junk = root.join(JUNK);
    for number in 0..8 {
        // It is ignored, so that only a look at the directory shows it.
        fs::create_dir_all(junk.join(format!("{number}/build")))?;
        fs::write(junk.join(format!("{number}/build/made")), "made, and of no use")?;
    }
    let (plan, _) = snapshots.plan_exactly(target, current, &[])?;
    snapshots.restore(&plan, true)?;
    Ok(())
}

/// What many programs do.
fn overwrite(snapshots: &Snapshots, root: &Path, target: SnapshotId, current: SnapshotId) -> Result<()> {
    for diff in snapshots.diff(current, target, &[])? {
        let path = root.join(&diff.path);
        if diff.status == ramus_snapshot::Status::Deleted {
            let _ = fs::remove_file(path);
        } else {
            let _ = fs::create_dir_all(path.parent().context("it is beneath the root")?);
            let _ = fs::write(path, &diff.diff);
        }
    }
    Ok(())
}

/// One object, one line, one write.
fn say(object: &Value) -> Result<()> {
    let line = format!("{object}\n");
    Ok(std::io::stdout().lock().write_all(line.as_bytes())?)
}
