//! Restoring: a plan, carried out under a journal.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use gix_object::tree::EntryKind;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};

use crate::apply::{Applier, Outcome};
use crate::beside::Beside;
use crate::clear::Moment;
use crate::compare::Item;
use crate::error::SnapshotError;
use crate::former::Former;
use crate::journal;
use crate::place::{Place, There};
use crate::plan::{Action, Plan, Seen, States, Step, plan};
use crate::store::{SnapshotId, Snapshots};
use crate::walk::Uncovered;

/// So many names that snapshots leave out are looked at.
const LOOKS: usize = 20_000;

/// Which restore.
#[derive(Clone, Debug)]
pub struct Restore<'a> {
    /// What shall be.
    pub target: SnapshotId,
    /// What ramus left behind: a path that differs from it was changed by somebody else.
    pub baseline: SnapshotId,
    /// What is there: a snapshot that was just taken.
    pub current: SnapshotId,
    /// Only these paths and what is beneath them; empty for all.
    pub only: &'a [PathBuf],
}

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Paths that are as they shall be.
    pub done: Vec<PathBuf>,
    /// Paths that were left alone.
    pub kept: Vec<PathBuf>,
}

impl Snapshots {
    /// Plans a restore. Nothing is changed.
    pub fn plan(&self, restore: &Restore<'_>) -> Result<Plan, SnapshotError> {
        let states = States {
            target: self.vault().directory_of(restore.target)?,
            baseline: self.vault().directory_of(restore.baseline)?,
            current: self.vault().directory_of(restore.current)?,
        };
        let is_wanted = |path: &Path| restore.only.is_empty() || restore.only.iter().any(|only| path.starts_with(only));
        let beside = self.vault().beside(restore.target)?;
        let former = LazyCell::new(|| Former::new(self.objects(), states.target, self.root()));
        let ignored = |path: &Path| former.leaves_out(path);
        let was_left_out = |path: &Path| match &beside {
            Some(beside) => beside.leaves_out_unless(path, ignored),
            None => ignored(path),
        };
        let holds = |path: &Path, item: Item| self.still_has(path, item);
        let seen = Seen { is_there: |path: &Path| self.is_there(path), holds, was_left_out };
        let mut plan = plan(self.objects(), states, is_wanted, &seen)?;
        for (step, beside) in plan.steps.iter_mut().filter_map(|step| Some((step, beside.as_ref()?))) {
            match step.new {
                Some(new) if new.kind == EntryKind::Link => {}
                Some(new) => step.mode = beside.mode(&step.path, new.kind == EntryKind::BlobExecutable),
                None => step.stays = beside.hollow_around(&step.path),
            }
        }
        Ok(plan)
    }

    /// Says whether a name holds this. A file that cannot be read holds something else.
    fn still_has(&self, path: &Path, item: Item) -> bool {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = rustix::fs::openat2(self.directory(), parent, flags, Mode::empty(), resolve);
        let (Ok(parent), Some(name)) = (opened, path.file_name()) else { return false };
        let place = Place::new(parent, name.into());
        place.item(&place.name).is_ok_and(|there| there == There::Item(Some(item)))
    }

    /// Returns what was ignored when a snapshot was taken and may have changed since a moment, in seconds since 1970: no
    /// snapshot brings it back.
    pub fn ignored_since(&self, id: SnapshotId, moment: i64) -> Result<Vec<Uncovered>, SnapshotError> {
        let Some(beside) = self.vault().beside(id)? else { return Ok(Vec::new()) };
        let of_git = |path: &Path| path.file_name().is_some_and(|name| crate::name::is_git(name.as_encoded_bytes()));
        let is_ours = |path: &Path| self.apart().iter().any(|apart| path.starts_with(apart));
        let (mut found, mut looks) = (Vec::new(), LOOKS);
        for path in beside.left_out().filter(|path| !of_git(path) && !is_ours(path)) {
            if self.has_changed(path, moment, &mut looks)? {
                found.push(Uncovered { path: path.to_owned(), reason: "it is ignored, and may have changed" });
            }
        }
        Ok(found)
    }

    /// Says whether anything at a path was changed since a moment. What is not looked at any more may have been.
    fn has_changed(&self, path: &Path, moment: i64, looks: &mut usize) -> Result<bool, SnapshotError> {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            *looks = looks.saturating_sub(1);
            let Some(changed) = self.changed_at(&path) else { continue };
            if changed >= moment || *looks == 0 {
                return Ok(true);
            }
            open.extend(self.names(&path)?.into_iter().map(|(name, _)| path.join(name)));
        }
        Ok(false)
    }

    /// When a name was last changed, in seconds since 1970.
    fn changed_at(&self, path: &Path) -> Option<i64> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let found = rustix::fs::openat2(self.directory(), path, flags, Mode::empty(), resolve).ok()?;
        Some(rustix::fs::fstat(found).ok()?.st_ctime)
    }

    /// Leaves who may do what as it is with files where somebody else decided that. `left` is the state in which ramus left
    /// a file, if it did.
    pub fn keep_modes(
        &self,
        plan: &mut Plan,
        current: SnapshotId,
        left: impl Fn(&Path) -> Option<SnapshotId>,
    ) -> Result<(), SnapshotError> {
        let mut known: BTreeMap<SnapshotId, Option<Beside>> = BTreeMap::new();
        let mut mode = |id: SnapshotId, step: &Step| -> Result<Option<u32>, SnapshotError> {
            let beside = match known.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(self.vault().beside(id)?),
            };
            let is_executable = step.old.is_some_and(|old| old.kind == EntryKind::BlobExecutable);
            Ok(beside.as_ref().and_then(|beside| beside.mode(&step.path, is_executable)))
        };
        for step in plan.steps.iter_mut().filter(|step| step.action == Action::Overwrite && step.mode.is_some()) {
            let left = left(&step.path).map(|left| mode(left, step)).transpose()?.flatten();
            if left.is_none() || left != mode(current, step)? {
                step.mode = None;
            }
        }
        Ok(())
    }

    /// Says whether something has a name, no link on the way being followed. A directory makes room for a file when
    /// nothing is left in it; that shows when it comes to it.
    pub(crate) fn is_there(&self, path: &Path) -> bool {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let found = rustix::fs::openat2(self.directory(), path, flags, Mode::empty(), resolve);
        let stat = found.and_then(rustix::fs::fstat);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory)
    }

    /// Carries out a plan. Steps with a conflict are left out unless `force` is given; those that may not be written
    /// always are.
    pub fn restore(&mut self, plan: &Plan, force: bool) -> Result<Restored, SnapshotError> {
        let _lock = self.vault().begin()?;
        self.end_restore()?;
        let (chosen, left): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(|step| step.is_chosen(force));
        let steps: Vec<Step> = chosen.into_iter().cloned().collect();
        let journal = self.journal();
        journal::write(&journal, &steps).map_err(SnapshotError::io("write", &journal))?;
        let mut restored = self.carry_out(&steps, None)?;
        restored.kept.extend(left.into_iter().map(|step| step.path.clone()));
        restored.kept.sort();
        Ok(restored)
    }

    /// Ends a restore that was interrupted, if there is one. Returns what it did.
    pub fn recover(&mut self) -> Result<Option<Restored>, SnapshotError> {
        let _lock = self.vault().begin()?;
        self.end_restore()
    }

    /// Says whether there is one.
    pub(crate) fn is_interrupted(&self) -> Result<bool, SnapshotError> {
        let journal = self.journal();
        Ok(journal::read(&journal).map_err(SnapshotError::io("read", &journal))?.is_some())
    }

    /// The same, for whoever holds the lock.
    pub(crate) fn end_restore(&self) -> Result<Option<Restored>, SnapshotError> {
        let journal = self.journal();
        let steps = journal::read(&journal).map_err(SnapshotError::io("read", &journal))?;
        let begun = journal::begun(&journal).map_err(SnapshotError::io("read", &journal))?;
        steps.map(|steps| self.carry_out(&steps, begun)).transpose()
    }

    fn carry_out(&self, steps: &[Step], begun: Option<Moment>) -> Result<Restored, SnapshotError> {
        let (root, objects) = (self.directory(), self.objects());
        let mut applier = Applier { root, objects, outcomes: BTreeMap::new(), missing: None, begun };
        applier.apply(steps)?;
        let journal = self.journal();
        journal::clear(&journal).map_err(SnapshotError::io("empty", &journal))?;
        if let Some(missing) = applier.missing {
            return Err(missing);
        }
        let mut restored = Restored::default();
        for (path, outcome) in applier.outcomes {
            match outcome {
                Outcome::Done => restored.done.push(path),
                Outcome::Kept => restored.kept.push(path),
            }
        }
        Ok(restored)
    }

    fn journal(&self) -> PathBuf {
        self.vault().path().join("restore")
    }
}
