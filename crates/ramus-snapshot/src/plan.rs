//! Planning a restore: what would happen to each path, and what stands against it.
//!
//! Three states decide: what shall be (the target), what ramus left behind (the baseline), and what is there. A path that
//! is as ramus left it is changed; one that somebody else touched is a conflict; one that ramus never had is left alone.

use std::path::{Path, PathBuf};

use gix_hash::ObjectId;

use crate::compare::{Item, compare};
use crate::error::SnapshotError;
use crate::known::path_bytes;
use crate::name;
use crate::objects::Objects;
use crate::tree;

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Create,
    /// It gets other content, or another kind or mode.
    Overwrite,
    /// It is removed.
    Delete,
}

/// Why a path is not changed unless that is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Somebody changed it.
    Changed,
    /// Something is there that snapshots do not cover.
    Uncovered,
    /// The name is none that may be written. It cannot be forced.
    Forbidden,
}

/// One path of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which, beneath the directory.
    pub path: PathBuf,
    /// What happens to it.
    pub action: Action,
    /// What stands against it.
    pub conflict: Option<Conflict>,
    /// What is there, as far as snapshots cover it.
    pub(crate) old: Option<Item>,
    /// What shall be there.
    pub(crate) new: Option<Item>,
}

/// What a restore would do, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The paths.
    pub steps: Vec<Step>,
}

impl Step {
    /// Says whether it is carried out.
    pub(crate) fn is_chosen(&self, force: bool) -> bool {
        match self.conflict {
            None => true,
            Some(Conflict::Changed) => force,
            Some(Conflict::Uncovered | Conflict::Forbidden) => false,
        }
    }
}

impl Plan {
    /// Returns the steps that something stands against.
    pub fn conflicts(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.conflict.is_some())
    }
}

/// The three states, as directories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct States {
    /// What shall be.
    pub(crate) target: ObjectId,
    /// What ramus left behind.
    pub(crate) baseline: ObjectId,
    /// What is there.
    pub(crate) current: ObjectId,
}

/// Plans a restore. `is_wanted` chooses paths, `is_there` says whether something that is not covered has a name.
pub(crate) fn plan(
    objects: &Objects,
    states: States,
    is_wanted: impl Fn(&Path) -> bool,
    is_there: impl Fn(&Path) -> bool,
) -> Result<Plan, SnapshotError> {
    let mut steps = Vec::new();
    for difference in compare(objects, Some(states.current), Some(states.target))? {
        let (path, old, new) = (difference.path, difference.old, difference.new);
        if !is_wanted(&path) {
            continue;
        }
        let left = look_up(objects, states.baseline, &path)?;
        let action = match (old, new) {
            (None, _) => Action::Create,
            (Some(_), Some(_)) => Action::Overwrite,
            // What ramus never had is not its to remove.
            (Some(_), None) if left.is_none() => continue,
            (Some(_), None) => Action::Delete,
        };
        let conflict = if !is_writable(&path) {
            Some(Conflict::Forbidden)
        } else if old.is_none() && is_there(&path) {
            Some(Conflict::Uncovered)
        } else {
            (old.is_some() && old != left).then_some(Conflict::Changed)
        };
        steps.push(Step { path, action, conflict, old, new });
    }
    Ok(Plan { steps })
}

/// Says whether a path stays beneath its directory and out of git's.
pub(crate) fn is_writable(path: &Path) -> bool {
    let mut parts = path_bytes(path).split(|byte| *byte == b'/');
    parts.all(|part| !part.is_empty() && part != b"." && part != b".." && !part.contains(&0) && !name::is_git(part))
}

/// Returns what a directory holds at a path.
pub(crate) fn look_up(objects: &Objects, root: ObjectId, path: &Path) -> Result<Option<Item>, SnapshotError> {
    let mut item = Item { kind: gix_object::tree::EntryKind::Tree, id: root };
    for part in path_bytes(path).split(|byte| *byte == b'/') {
        if item.kind != gix_object::tree::EntryKind::Tree {
            return Ok(None);
        }
        match tree::read(objects, &item.id)?.get(part) {
            Some((kind, id)) => item = Item { kind: *kind, id: *id },
            None => return Ok(None),
        }
    }
    Ok(Some(item).filter(|item| item.kind != gix_object::tree::EntryKind::Tree))
}
