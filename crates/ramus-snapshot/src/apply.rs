//! Carrying out a plan, path by path, so that whatever is killed or changed in the middle of it loses nothing.
//!
//! New content is written beside its place and exchanged with what is there in one move. What came out of the exchange is
//! looked at before it is let go: if it is not what the plan saw, it goes back and the path is a conflict.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_object::tree::EntryKind;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::compare::Item;
use crate::error::SnapshotError;
use crate::known::{path_bytes, path_of};
use crate::objects::Objects;
use crate::pack::HASH;
use crate::plan::{Step, is_writable};

/// How far directories that hold nothing are followed.
const DEEPEST: usize = 64;

/// A file with more bytes is none that a snapshot holds.
const LARGEST: i64 = 1 << 30;

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is as it shall be.
    Done,
    /// Somebody changed it meanwhile; it was left alone.
    Kept,
}

/// Changes files beneath a directory.
pub(crate) struct Applier<'a> {
    pub(crate) root: &'a File,
    pub(crate) objects: &'a Objects,
}

/// What temporary names start with. Snapshots leave them out.
pub(crate) const TEMPORARY: &str = ".ramus-restore-";

impl Applier<'_> {
    /// Carries out one step. It can be done again.
    pub(crate) fn apply(&self, step: &Step) -> Result<Outcome, SnapshotError> {
        if !is_writable(&step.path) {
            return Ok(Outcome::Kept);
        }
        self.try_apply(step).map_err(|error| match error {
            Trouble::Io(cause) => SnapshotError::io("restore", &step.path)(cause),
            Trouble::Store(error) => error,
        })
    }

    fn try_apply(&self, step: &Step) -> Result<Outcome, Trouble> {
        let (parent, name) = split(&step.path);
        let directory = match self.directory(&parent, step.new.is_some()) {
            Ok(directory) => directory,
            // A directory that is gone holds nothing.
            Err(error) if step.new.is_none() && error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Done),
            // A link or a file stands where a directory was.
            Err(error) if is_obstacle(&error) => return Ok(Outcome::Kept),
            Err(error) => return Err(error.into()),
        };
        let place = Place::new(directory, name);
        place.settle(step)?;
        if step.old.is_none() {
            place.make_room();
        }
        let there = place.item(&place.name)?;
        if there == There::Item(step.new) {
            return Ok(Outcome::Done);
        }
        if there != There::Item(step.old) {
            return Ok(Outcome::Kept);
        }
        match step.new {
            Some(new) => self.write(&place, new, step.old),
            None => place.remove(step.old),
        }
    }

    fn write(&self, place: &Place, new: Item, old: Option<Item>) -> Result<Outcome, Trouble> {
        let mut content = Vec::new();
        self.objects.read(&new.id, Kind::Blob, &mut content).map_err(Trouble::Store)?;
        place.make(new.kind, &content)?;
        let Some(old) = old else {
            // Nothing is there, and nothing that appears meanwhile is overwritten.
            return match rustix::fs::renameat_with(
                &place.directory,
                &place.temporary,
                &place.directory,
                &place.name,
                RenameFlags::NOREPLACE,
            ) {
                Ok(()) => Ok(Outcome::Done),
                Err(Errno::EXIST) => place.clear().map(|()| Outcome::Kept).map_err(Trouble::Io),
                Err(error) => Err(io::Error::from(error).into()),
            };
        };
        place.exchange()?;
        if place.item(&place.temporary)? != There::Item(Some(old)) {
            place.exchange()?;
            place.clear()?;
            return Ok(Outcome::Kept);
        }
        place.clear()?;
        Ok(Outcome::Done)
    }

    /// Opens a directory beneath the root without following links; makes it if asked to.
    fn directory(&self, path: &Path, make: bool) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let open = |path: &Path| rustix::fs::openat2(self.root.as_fd(), path, flags, Mode::empty(), resolve);
        let here = Path::new(".");
        let whole = if path.as_os_str().is_empty() { here } else { path };
        match open(whole) {
            Err(Errno::NOENT) if make => {}
            opened => return Ok(opened?),
        }
        let mut at = PathBuf::new();
        for part in path.components() {
            let parent = open(if at.as_os_str().is_empty() { here } else { &at })?;
            match rustix::fs::mkdirat(&parent, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at.push(part);
        }
        Ok(open(whole)?)
    }

    /// Removes directories above a path that became empty, as long as they do.
    pub(crate) fn prune(&self, path: &Path) {
        let mut above = path.parent();
        while let Some(directory) = above.filter(|directory| !directory.as_os_str().is_empty()) {
            let (parent, name) = split(directory);
            let Ok(parent) = self.directory(&parent, false) else { return };
            // One that is not empty stays: the system refuses.
            if rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
            above = directory.parent();
        }
    }
}

fn is_obstacle(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::LOOP | Errno::NOTDIR | Errno::XDEV))
}

fn split(path: &Path) -> (PathBuf, PathBuf) {
    let parent = path.parent().map(Path::to_owned).unwrap_or_default();
    (parent, path.file_name().map(PathBuf::from).unwrap_or_default())
}

/// Removes a directory that holds nothing but directories, all of them. Anything else stays.
fn remove_hollow(parent: BorrowedFd<'_>, name: &Path, depth: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(directory) = rustix::fs::openat(parent, name, flags, Mode::empty()) else { return };
    let Ok(entries) = rustix::fs::Dir::read_from(&directory) else { return };
    for entry in entries.flatten().filter(|_| depth < DEEPEST) {
        let inner = entry.file_name().to_bytes();
        if !matches!(inner, b"." | b"..") {
            remove_hollow(directory.as_fd(), path_of(inner), depth + 1);
        }
    }
    // One that is not empty stays: the system refuses.
    let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
}

enum Trouble {
    Io(io::Error),
    Store(SnapshotError),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What is found under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    Item(Option<Item>),
    /// Something that snapshots do not hold: a directory, a device.
    Else,
}

/// A name in a directory, and the temporary name beside it.
struct Place {
    directory: OwnedFd,
    name: PathBuf,
    temporary: PathBuf,
}

impl Place {
    fn new(directory: OwnedFd, name: PathBuf) -> Self {
        let hash = Sha256::digest(path_bytes(&name));
        let mut temporary = format!("{TEMPORARY}{}", hex::encode(hash));
        // As long as no two names of a directory share it.
        temporary.truncate(TEMPORARY.len() + 24);
        Self { directory, name, temporary: temporary.into() }
    }

    /// Takes care of what an earlier attempt left under the temporary name. Somebody's change that was taken out of its
    /// place and not looked at goes back.
    fn settle(&self, step: &Step) -> io::Result<()> {
        let left = match self.item(&self.temporary)? {
            There::Item(None) => return Ok(()),
            There::Item(left) => left,
            There::Else => return Err(io::Error::from(io::ErrorKind::AlreadyExists)),
        };
        if left == step.new || left == step.old {
            return self.clear();
        }
        let Self { directory, name, temporary } = self;
        if step.new.is_none() {
            // It was taken out to be removed.
            return Ok(rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::NOREPLACE)?);
        }
        if self.item(name)? == There::Item(step.new) {
            self.exchange()?;
        }
        // What is left now is the new content, or half of it.
        self.clear()
    }

    /// Looks at what a name holds.
    fn item(&self, name: &Path) -> io::Result<There> {
        let stat = match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(There::Item(None)),
            Err(error) => return Err(error.into()),
        };
        let content = match stat.st_mode & 0o170_000 {
            0o120_000 => {
                let target = rustix::fs::readlinkat(&self.directory, name, Vec::new())?;
                (EntryKind::Link, target.into_bytes())
            }
            0o100_000 if stat.st_size <= LARGEST => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let mut file = File::from(rustix::fs::openat(&self.directory, name, flags, Mode::empty())?);
                let mut content = Vec::new();
                file.read_to_end(&mut content)?;
                let is_executable = stat.st_mode & 0o100 != 0;
                (if is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob }, content)
            }
            _ => return Ok(There::Else),
        };
        let id: ObjectId = gix_object::compute_hash(HASH, Kind::Blob, &content.1).map_err(io::Error::other)?;
        Ok(There::Item(Some(Item { kind: content.0, id })))
    }

    /// Writes content under the temporary name, durably.
    fn make(&self, kind: EntryKind, content: &[u8]) -> io::Result<()> {
        if kind == EntryKind::Link {
            return Ok(rustix::fs::symlinkat(content, &self.directory, &self.temporary)?);
        }
        let mode = Mode::from_raw_mode(if kind == EntryKind::BlobExecutable { 0o777 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.directory, &self.temporary, flags, mode)?);
        file.write_all(content)?;
        // The mode of what is replaced counts as far as snapshots do not: who may read it stays as it was.
        if let Ok(stat) = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)
            && stat.st_mode & 0o170_000 == 0o100_000
        {
            let readable = stat.st_mode & 0o666;
            let executable = if kind == EntryKind::BlobExecutable { (stat.st_mode & 0o444) >> 2 } else { 0 };
            rustix::fs::fchmod(&file, Mode::from_raw_mode(readable | executable))?;
        }
        file.sync_all()
    }

    /// Removes a directory that has the name, if there is nothing in it but such directories.
    fn make_room(&self) {
        remove_hollow(self.directory.as_fd(), &self.name, 0);
    }

    /// Swaps what the two names hold.
    fn exchange(&self) -> io::Result<()> {
        let Self { directory, name, temporary } = self;
        Ok(rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::EXCHANGE)?)
    }

    /// Removes what is there, if it is what it should be.
    fn remove(&self, old: Option<Item>) -> Result<Outcome, Trouble> {
        let Self { directory, name, temporary } = self;
        rustix::fs::renameat_with(directory, name, directory, temporary, RenameFlags::NOREPLACE)
            .map_err(io::Error::from)?;
        if self.item(temporary)? == There::Item(old) {
            self.clear()?;
            return Ok(Outcome::Done);
        }
        match rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::NOREPLACE) {
            Ok(()) | Err(Errno::EXIST) => Ok(Outcome::Kept),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Removes what an earlier attempt left under the temporary name.
    fn clear(&self) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.directory, &self.temporary, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
