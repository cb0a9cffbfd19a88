//! Planning a restore: what would happen to each path, and what stands against it.
//!
//! Three states decide: what shall be (the target), what ramus left behind (the baseline), and what is there. A path that
//! is as ramus left it is changed; one that somebody else touched is a conflict; one that ramus never had is left alone.

use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

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
    /// Something is there that snapshots do not cover, or the target did not, so that it may have been there then.
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
    /// Who may do what with what is made; without it, that of what is replaced counts.
    pub(crate) mode: Option<u32>,
    /// Directories with nothing in them that are there when it is done: nobody made them on the way.
    pub(crate) stays: Vec<PathBuf>,
    /// Whether whatever is there goes, with everything in it.
    pub(crate) clears: bool,
}

/// What a restore would do, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The paths.
    pub steps: Vec<Step>,
}

impl Step {
    /// A step from what is there to what shall be there.
    pub(crate) fn new(path: PathBuf, old: Option<Item>, new: Option<Item>) -> Self {
        let action = match (old, new) {
            (None, _) => Action::Create,
            (Some(_), Some(_)) => Action::Overwrite,
            (Some(_), None) => Action::Delete,
        };
        Self { path, action, conflict: None, old, new, mode: None, stays: Vec::new(), clears: false }
    }

    /// A step that removes whatever is there.
    pub(crate) fn clearing(path: PathBuf) -> Self {
        Self { action: Action::Delete, clears: true, ..Self::new(path, None, None) }
    }

    /// Says whether nothing is made but a directory.
    pub(crate) fn is_hollow(&self) -> bool {
        self.old.is_none() && self.new.is_none() && !self.clears
    }

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
    /// Returns what goes whatever it is, and that no snapshot may hold.
    pub fn cleared(&self) -> impl Iterator<Item = &Path> {
        self.steps.iter().filter(|step| step.clears).map(|step| step.path.as_path())
    }

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

/// What snapshots do not cover.
pub(crate) struct Seen<I, H, L> {
    /// Says whether something has a name now.
    pub(crate) is_there: I,
    /// Says whether that is what it shall be.
    pub(crate) holds: H,
    /// Says whether something could have had a name in the target.
    pub(crate) was_left_out: L,
}

/// Plans a restore. `is_wanted` chooses paths.
pub(crate) fn plan(
    objects: &Objects,
    states: States,
    is_wanted: impl Fn(&Path) -> bool,
    seen: &Seen<impl Fn(&Path) -> bool, impl Fn(&Path, Item) -> bool, impl Fn(&Path) -> bool>,
) -> Result<Plan, SnapshotError> {
    let mut steps = Vec::new();
    for difference in compare(objects, Some(states.current), Some(states.target))? {
        let (path, old, new) = (difference.path, difference.old, difference.new);
        if !is_wanted(&path) {
            continue;
        }
        let left = look_up(objects, states.baseline, &path)?;
        // What ramus never had is not its to remove.
        if old.is_some() && new.is_none() && left.is_none() {
            continue;
        }
        let is_there = old.is_none() && (seen.is_there)(&path);
        // What is covered no more and still what it shall be needs nothing.
        if is_there && new.is_some_and(|new| (seen.holds)(&path, new)) {
            continue;
        }
        let conflict = if !is_writable(&path) {
            Some(Conflict::Forbidden)
        } else if is_there || new.is_none() && (seen.was_left_out)(&path) {
            Some(Conflict::Uncovered)
        } else {
            (old.is_some() && old != left).then_some(Conflict::Changed)
        };
        steps.push(Step { conflict, ..Step::new(path, old, new) });
    }
    Ok(Plan { steps })
}

/// Says whether a path stays beneath its directory and out of git's.
pub(crate) fn is_writable(path: &Path) -> bool {
    let mut parts = path_bytes(path).split(|byte| *byte == b'/');
    parts.all(|part| !part.is_empty() && part != b"." && part != b".." && !part.contains(&0) && !name::is_git(part))
}

/// Returns the file that a directory holds at a path.
pub(crate) fn look_up(objects: &Objects, root: ObjectId, path: &Path) -> Result<Option<Item>, SnapshotError> {
    Ok(find(objects, root, path)?.filter(|item| item.kind != EntryKind::Tree))
}

/// Returns what a directory holds at a path, directories as well.
pub(crate) fn find(objects: &Objects, root: ObjectId, path: &Path) -> Result<Option<Item>, SnapshotError> {
    let mut item = Item { kind: EntryKind::Tree, id: root };
    for part in path_bytes(path).split(|byte| *byte == b'/') {
        if item.kind != EntryKind::Tree {
            return Ok(None);
        }
        match tree::read(objects, &item.id)?.get(part) {
            Some((kind, id)) => item = Item { kind: *kind, id: *id },
            None => return Ok(None),
        }
    }
    Ok(Some(item))
}
