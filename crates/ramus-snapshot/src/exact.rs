//! What a plan does not see by comparing snapshots: everything in a directory that none of them holds.
//!
//! A directory that is to be exactly what a snapshot held loses what is ignored, too large, special, or a repository of its
//! own, unless the snapshot says that it was there. And what stands in the way of a file that is to be made is told before
//! anybody finds out by trying.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

use crate::apply::TEMPORARY;
use crate::beside::Beside;
use crate::error::SnapshotError;
use crate::known::{path_bytes, path_of};
use crate::name;
use crate::plan::{Action, Conflict, Plan, Step};
use crate::restore::Restore;
use crate::store::{SnapshotId, Snapshots};
use crate::tree::{self, Entries};
use crate::walk::Uncovered;

/// How many names are read at a time, in bytes.
const NAMES: usize = 32 << 10;

/// Why something is told that goes.
const LOST: &str = "no snapshot holds it: once it is removed, nothing brings it back";

/// A directory that is looked at: what it shall hold, and what snapshots hold of it now.
struct Open {
    path: PathBuf,
    target: Option<ObjectId>,
    current: Option<ObjectId>,
}

/// What a directory of a snapshot holds under a name.
type Named<'n> = Option<&'n (EntryKind, ObjectId)>;

/// What becomes of a name.
enum Fate {
    /// Whoever compares snapshots sees it, or it stays.
    Stays,
    Goes,
    /// What is in it counts.
    Opens,
}

impl Snapshots {
    /// Plans to make the directory exactly what a snapshot held. `current` was just taken; directories in `stay` are kept,
    /// not what is in them. Returns what goes that no snapshot holds, too.
    pub fn plan_exactly(
        &self,
        target: SnapshotId,
        current: SnapshotId,
        stay: &[&Path],
    ) -> Result<(Plan, Vec<Uncovered>), SnapshotError> {
        let mut plan = self.plan(&Restore { target, baseline: current, current, only: &[] })?;
        let (beside, now) = (self.vault().beside(target)?.unwrap_or_default(), self.vault().beside(current)?);
        let (mut lost, mut steps) = (Vec::new(), Vec::new());
        let (target, current) = (self.vault().directory_of(target)?, self.vault().directory_of(current)?);
        let mut open = vec![Open { path: PathBuf::new(), target: Some(target), current: Some(current) }];
        while let Some(at) = open.pop() {
            let (wanted, covered) = (self.entries(at.target)?, self.entries(at.current)?);
            for (name, is_directory) in self.names(&at.path)? {
                let path = at.path.join(&name);
                let name = path_bytes(&name);
                match self.fate(&path, is_directory, (wanted.get(name), covered.get(name)), (&beside, stay)) {
                    Fate::Stays => {}
                    Fate::Opens => {
                        open.push(Open { target: directory(&wanted, name), current: directory(&covered, name), path });
                    }
                    Fate::Goes => {
                        // A directory with nothing in it is known.
                        if now.as_ref().is_none_or(|now| now.hollow().all(|one| one != path)) {
                            lost.push(Uncovered { path: path.clone(), reason: LOST });
                        }
                        steps.push(Step { stays: beside.hollow_around(&path), ..Step::clearing(path) });
                    }
                }
            }
        }
        let gone: HashSet<&Path> = steps.iter().map(|step| step.path.as_path()).collect();
        for step in plan.steps.iter_mut().filter(|step| step.conflict == Some(Conflict::Uncovered)) {
            if step.action == Action::Create && step.path.ancestors().any(|path| gone.contains(path)) {
                step.conflict = None;
            }
        }
        for path in beside.hollow().filter(|path| self.open_beneath(path).is_err()) {
            plan.steps.push(Step { stays: vec![path.to_owned()], ..Step::new(path.to_owned(), None, None) });
        }
        plan.steps.append(&mut steps);
        plan.steps.sort_by(|left, right| left.path.cmp(&right.path));
        lost.sort();
        Ok((plan, lost))
    }

    fn fate(
        &self,
        path: &Path,
        is_directory: bool,
        (wanted, covered): (Named<'_>, Named<'_>),
        (beside, stay): (&Beside, &[&Path]),
    ) -> Fate {
        let is_tree = |item: Named<'_>| item.is_some_and(|(kind, _)| *kind == EntryKind::Tree);
        let is_git = name::is_git(path.file_name().map(Path::new).map_or(&[], path_bytes));
        // What is somebody else's altogether: ours, and what a snapshot does not tell of.
        let is_apart = self.apart().iter().any(|apart| path.starts_with(apart));
        if is_apart || beside.leaves_out(path) || is_git && !beside.is_whole() {
            return Fate::Stays;
        }
        if !is_directory {
            let is_seen = covered.is_some() && !is_tree(covered);
            return if is_seen { Fate::Stays } else { Fate::Goes };
        }
        let holds_what_stays = beside.has_beneath(path)
            || stay.iter().any(|stay| stay.starts_with(path))
            || self.apart().iter().any(|apart| apart.starts_with(path));
        if is_tree(wanted) || is_tree(covered) || holds_what_stays { Fate::Opens } else { Fate::Goes }
    }

    /// Marks what cannot be made: something is in its place, or on the way to it, that no step removes.
    pub fn settle(&self, plan: &mut Plan, force: bool) -> Result<(), SnapshotError> {
        let is_gone = |step: &&Step| step.action == Action::Delete && step.is_chosen(force);
        let gone: HashSet<PathBuf> = plan.steps.iter().filter(is_gone).map(|step| step.path.clone()).collect();
        let is_new = |step: &&mut Step| step.action == Action::Create && step.conflict.is_none();
        for step in plan.steps.iter_mut().filter(is_new) {
            if self.is_blocked(&step.path, &gone)? {
                step.conflict = Some(Conflict::Uncovered);
            }
        }
        Ok(())
    }

    fn is_blocked(&self, path: &Path, gone: &HashSet<PathBuf>) -> Result<bool, SnapshotError> {
        for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            match self.open_beneath(above) {
                Ok(_) => break,
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    let is_going = above.ancestors().any(|path| gone.contains(path));
                    return Ok(!is_going);
                }
                Err(_) => {}
            }
        }
        let mut open = vec![path.to_owned()];
        while let Some(at) = open.pop().filter(|at| !gone.contains(at)) {
            for (name, is_directory) in self.names(&at)? {
                let path = at.join(name);
                match is_directory {
                    true => open.push(path),
                    false if gone.contains(&path) => {}
                    false => return Ok(true),
                }
            }
        }
        Ok(false)
    }

    /// The names in a directory, each with whether it is one; none when it is no directory.
    pub(crate) fn names(&self, path: &Path) -> Result<Vec<(PathBuf, bool)>, SnapshotError> {
        let trouble = |error: Errno| SnapshotError::io("read", &self.root().join(path))(error.into());
        let directory = match self.open_beneath(path) {
            Ok(directory) => directory,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::PERM) => return Ok(Vec::new()),
            Err(error) => return Err(trouble(error)),
        };
        let (mut buffer, mut names) = (Vec::with_capacity(NAMES), Vec::new());
        let mut entries = RawDir::new(&directory, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(trouble)?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") || name.starts_with(TEMPORARY.as_bytes()) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => rustix::fs::statat(&directory, path_of(name), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            names.push((path_of(name).to_owned(), kind == FileType::Directory));
        }
        Ok(names)
    }

    fn open_beneath(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(self.directory(), path, flags, Mode::empty(), resolve)
    }

    fn entries(&self, directory: Option<ObjectId>) -> Result<Entries, SnapshotError> {
        directory.map_or_else(|| Ok(Entries::new()), |id| tree::read(self.objects(), &id))
    }
}

fn directory(entries: &Entries, name: &[u8]) -> Option<ObjectId> {
    entries.get(name).filter(|(kind, _)| *kind == EntryKind::Tree).map(|(_, id)| *id)
}
