//! One name in a directory, and what is done to it. Nothing that a person could have written is ever overwritten or
//! removed unseen: it is taken out first, looked at, and put back if it is not what was expected.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_object::tree::EntryKind;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::apply::{Outcome, TEMPORARY};
use crate::compare::Item;
use crate::known::{path_bytes, path_of};
use crate::moves;
use crate::pack::HASH;

/// How far directories that hold nothing are followed.
const DEEPEST: usize = 64;

/// A file with more bytes is none that a snapshot holds.
const LARGEST: i64 = 1 << 30;

/// How many names are tried for what cannot go back to its own.
const NAMES: usize = 1_000;

/// What is found under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum There {
    Item(Option<Item>),
    /// Something that snapshots do not hold: a directory, a device, what may not be read.
    Else,
}

/// A name in a directory, and the names beside it that are used on the way.
pub(crate) struct Place {
    directory: OwnedFd,
    pub(crate) name: PathBuf,
    /// What was taken out, or whole new content.
    temporary: PathBuf,
    /// New content that may not be whole.
    unfinished: PathBuf,
    /// What was taken out where nothing can be exchanged.
    aside: PathBuf,
}

impl Place {
    pub(crate) fn new(directory: OwnedFd, name: PathBuf) -> Self {
        let mut hash = hex::encode(Sha256::digest(path_bytes(&name)));
        // As long as no two names of a directory share it.
        hash.truncate(24);
        let temporary = format!("{TEMPORARY}{hash}");
        let (unfinished, aside) = (format!("{temporary}.new").into(), format!("{temporary}.old").into());
        Self { directory, name, unfinished, aside, temporary: temporary.into() }
    }

    /// Takes care of what an earlier attempt left beside the name. Somebody's change that was taken out of its place and
    /// not looked at goes back.
    pub(crate) fn settle(&self, old: Option<Item>, new: Option<Item>) -> io::Result<()> {
        self.clear(&self.unfinished)?;
        self.settle_aside(old)?;
        let left = match self.item(&self.temporary)? {
            There::Item(None) => return Ok(()),
            There::Item(left) => left,
            There::Else => return self.give_back(&self.temporary),
        };
        if left == new || left == old {
            return self.clear(&self.temporary);
        }
        if new.is_some() && self.item(&self.name)? == There::Item(new) {
            return self.undo(new);
        }
        self.give_back(&self.temporary)
    }

    /// The same for what was taken out where nothing can be exchanged. As long as nobody has its name, nothing came of that.
    fn settle_aside(&self, old: Option<Item>) -> io::Result<()> {
        if !self.has(&self.aside) {
            return Ok(());
        }
        match moves::put_in(self.directory.as_fd(), &self.aside, &self.name) {
            Ok(()) => return Ok(()),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        if self.item(&self.aside)? == There::Item(old) { self.clear(&self.aside) } else { self.put_aside(&self.aside) }
    }

    /// Looks at what a name holds.
    pub(crate) fn item(&self, name: &Path) -> io::Result<There> {
        let stat = match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(There::Item(None)),
            Err(error) => return Err(error.into()),
        };
        let (kind, content) = match stat.st_mode & 0o170_000 {
            0o120_000 => {
                let target = rustix::fs::readlinkat(&self.directory, name, Vec::new())?;
                (EntryKind::Link, target.into_bytes())
            }
            0o100_000 if stat.st_size <= LARGEST => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let mut file = match rustix::fs::openat(&self.directory, name, flags, Mode::empty()) {
                    Err(Errno::ACCESS | Errno::PERM) => return Ok(There::Else),
                    file => File::from(file?),
                };
                let mut content = Vec::new();
                file.read_to_end(&mut content)?;
                let is_executable = stat.st_mode & 0o100 != 0;
                (if is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob }, content)
            }
            _ => return Ok(There::Else),
        };
        let id: ObjectId = gix_object::compute_hash(HASH, Kind::Blob, &content).map_err(io::Error::other)?;
        Ok(There::Item(Some(Item { kind, id })))
    }

    /// Writes new content beside the name. A file that is returned must be made durable before it is published.
    /// Without a `mode`, that of what is replaced counts.
    pub(crate) fn make(&self, kind: EntryKind, content: &[u8], mode: Option<u32>) -> io::Result<Option<File>> {
        if kind == EntryKind::Link {
            rustix::fs::symlinkat(path_of(content), &self.directory, &self.unfinished)?;
            return Ok(None);
        }
        let is_executable = kind == EntryKind::BlobExecutable;
        // The mode of what is replaced counts as far as snapshots do not: who may read it stays as it was, from the first
        // byte on.
        let replaced = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let replaced = replaced.filter(|stat| stat.st_mode & 0o170_000 == 0o100_000).map(|stat| {
            let executable = if is_executable { (stat.st_mode & 0o444) >> 2 } else { 0 };
            Mode::from_raw_mode(stat.st_mode & 0o666 | executable)
        });
        let replaced = mode.map(|mode| Mode::from_raw_mode(mode & 0o777)).or(replaced);
        let mode = replaced.unwrap_or(Mode::from_raw_mode(if is_executable { 0o777 } else { 0o666 }));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.directory, &self.unfinished, flags, mode)?);
        match replaced.map_or(Ok(()), |mode| rustix::fs::fchmod(&file, mode)) {
            // The file is ours: where it cannot be done, there is nothing to be said about who may do what.
            Err(error) if error == Errno::PERM || moves::is_unable(error) => {}
            chosen => chosen?,
        }
        file.write_all(content)?;
        Ok(Some(file))
    }

    /// Lets go of new content that is not whole.
    pub(crate) fn discard(&self) -> io::Result<()> {
        self.clear(&self.unfinished)
    }

    /// Puts what was made in its place, if what is there is what it should be.
    pub(crate) fn publish(&self, old: Option<Item>, new: Option<Item>) -> io::Result<Outcome> {
        let Self { name, temporary, unfinished, .. } = self;
        let directory = self.directory.as_fd();
        moves::replace(directory, unfinished, temporary)?;
        let moved = if old.is_none() {
            // Nothing is there, and nothing that appears meanwhile is overwritten.
            moves::put_in(directory, temporary, name)
        } else {
            moves::exchange(directory, temporary, name)
        };
        match moved {
            Ok(()) if old.is_none() => return Ok(Outcome::Done),
            Ok(()) => {}
            Err(error) if old.is_some() && moves::is_unable(error) => return self.publish_apart(old),
            // Something came, or what was there went.
            Err(Errno::EXIST | Errno::NOENT) => return self.clear(temporary).map(|()| Outcome::Kept),
            Err(error) => {
                self.clear(temporary)?;
                return Err(error.into());
            }
        }
        if self.item(temporary)? == There::Item(old) {
            return self.clear(temporary).map(|()| Outcome::Done);
        }
        self.undo(new).map(|()| Outcome::Kept)
    }

    /// The same where nothing can be exchanged: what is there is taken out and looked at before what was made takes its
    /// place. Nobody has the name in between, and whoever is killed then leaves what was there beside it.
    fn publish_apart(&self, old: Option<Item>) -> io::Result<Outcome> {
        let Self { name, temporary, aside, .. } = self;
        match moves::take_out(self.directory.as_fd(), name, aside) {
            Ok(()) => {}
            Err(Errno::NOENT) => return self.clear(temporary).map(|()| Outcome::Kept),
            Err(error) => {
                self.clear(temporary)?;
                return Err(error.into());
            }
        }
        if self.item(aside)? != There::Item(old) {
            self.give_back(aside)?;
            return self.clear(temporary).map(|()| Outcome::Kept);
        }
        match moves::put_in(self.directory.as_fd(), temporary, name) {
            Ok(()) => self.clear(aside).map(|()| Outcome::Done),
            // Somebody wrote to the name meanwhile. What was there before is what the plan saw.
            Err(Errno::EXIST) => {
                self.clear(aside)?;
                self.clear(temporary).map(|()| Outcome::Kept)
            }
            Err(error) => {
                self.give_back(aside)?;
                self.clear(temporary)?;
                Err(error.into())
            }
        }
    }

    /// Takes new content back out for what it was exchanged with.
    fn undo(&self, new: Option<Item>) -> io::Result<()> {
        let Self { name, temporary, .. } = self;
        match moves::exchange(self.directory.as_fd(), temporary, name) {
            Ok(()) => {}
            Err(Errno::NOENT) => return self.give_back(temporary),
            // It could when this was taken out, and cannot any more.
            Err(error) if moves::is_unable(error) => return self.put_aside(temporary),
            Err(error) => return Err(error.into()),
        }
        // Somebody may have written to the name in between.
        if self.item(temporary)? == There::Item(new) { self.clear(temporary) } else { self.put_aside(temporary) }
    }

    /// Removes what is there, if it is what it should be.
    pub(crate) fn remove(&self, old: Option<Item>) -> io::Result<Outcome> {
        let Self { name, temporary, .. } = self;
        moves::take_out(self.directory.as_fd(), name, temporary)?;
        if self.item(temporary)? == There::Item(old) {
            return self.clear(temporary).map(|()| Outcome::Done);
        }
        self.give_back(temporary).map(|()| Outcome::Kept)
    }

    /// Gives what was taken out its name again, or one like it if somebody uses the name.
    fn give_back(&self, ours: &Path) -> io::Result<()> {
        match moves::put_in(self.directory.as_fd(), ours, &self.name) {
            Err(Errno::EXIST) => self.put_aside(ours),
            moved => Ok(moved?),
        }
    }

    fn put_aside(&self, ours: &Path) -> io::Result<()> {
        // A kill can have left a file with both names.
        if self.is_one(ours, &self.name) {
            return self.clear(ours);
        }
        for number in 1..=NAMES {
            let mut kept = OsString::from(&self.name);
            kept.push(format!(".kept-{number}"));
            match moves::put_in(self.directory.as_fd(), ours, Path::new(&kept)) {
                Err(Errno::EXIST) if self.is_one(ours, Path::new(&kept)) => return self.clear(ours),
                Err(Errno::EXIST) => {}
                moved => return Ok(moved?),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    fn has(&self, name: &Path) -> bool {
        !matches!(rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
    }

    /// Says whether two names are of one file.
    fn is_one(&self, one: &Path, other: &Path) -> bool {
        let look = |name: &Path| rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let numbers = |name: &Path| look(name).map(|stat| (stat.st_dev, stat.st_ino));
        numbers(one).is_some_and(|number| numbers(other) == Some(number))
    }

    /// Removes a directory that has the name, if there is nothing in it but such directories.
    pub(crate) fn make_room(&self) {
        remove_hollow(self.directory.as_fd(), &self.name, 0);
    }

    fn clear(&self, name: &Path) -> io::Result<()> {
        Ok(moves::clear(self.directory.as_fd(), name)?)
    }
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
