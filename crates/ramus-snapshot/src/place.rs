//! One name in a directory, and what is done to it. Nothing that a person could have written is ever overwritten or
//! removed unseen: it is taken out first, looked at, and put back if it is not what was expected.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_object::tree::EntryKind;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::apply::{Outcome, TEMPORARY};
use crate::compare::Item;
use crate::known::{path_bytes, path_of};
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
}

impl Place {
    pub(crate) fn new(directory: OwnedFd, name: PathBuf) -> Self {
        let mut hash = hex::encode(Sha256::digest(path_bytes(&name)));
        // As long as no two names of a directory share it.
        hash.truncate(24);
        let temporary = format!("{TEMPORARY}{hash}");
        Self { directory, name, unfinished: format!("{temporary}.new").into(), temporary: temporary.into() }
    }

    /// Takes care of what an earlier attempt left beside the name. Somebody's change that was taken out of its place and
    /// not looked at goes back.
    pub(crate) fn settle(&self, old: Option<Item>, new: Option<Item>) -> io::Result<()> {
        self.clear(&self.unfinished)?;
        let left = match self.item(&self.temporary)? {
            There::Item(None) => return Ok(()),
            There::Item(left) => left,
            There::Else => return self.put_back(),
        };
        if left == new || left == old {
            return self.clear(&self.temporary);
        }
        if new.is_some() && self.item(&self.name)? == There::Item(new) {
            return self.undo(new);
        }
        self.put_back()
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
        if let Some(mode) = replaced {
            rustix::fs::fchmod(&file, mode)?;
        }
        file.write_all(content)?;
        Ok(Some(file))
    }

    /// Puts what was made in its place, if what is there is what it should be.
    pub(crate) fn publish(&self, old: Option<Item>, new: Option<Item>) -> io::Result<Outcome> {
        let Self { directory, name, temporary, unfinished } = self;
        rustix::fs::renameat(directory, unfinished, directory, temporary)?;
        let moved = if old.is_none() {
            // Nothing is there, and nothing that appears meanwhile is overwritten.
            rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::NOREPLACE)
        } else {
            rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::EXCHANGE)
        };
        match moved {
            Ok(()) if old.is_none() => return Ok(Outcome::Done),
            Ok(()) => {}
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

    /// Takes new content back out for what it was exchanged with.
    fn undo(&self, new: Option<Item>) -> io::Result<()> {
        let Self { directory, name, temporary, .. } = self;
        match rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return self.put_back(),
            Err(error) => return Err(error.into()),
        }
        // Somebody may have written to the name in between.
        if self.item(temporary)? == There::Item(new) { self.clear(temporary) } else { self.put_aside() }
    }

    /// Removes what is there, if it is what it should be.
    pub(crate) fn remove(&self, old: Option<Item>) -> io::Result<Outcome> {
        let Self { directory, name, temporary, .. } = self;
        rustix::fs::renameat_with(directory, name, directory, temporary, RenameFlags::NOREPLACE)?;
        if self.item(temporary)? == There::Item(old) {
            return self.clear(temporary).map(|()| Outcome::Done);
        }
        self.put_back().map(|()| Outcome::Kept)
    }

    /// Gives what was taken out its name again, or one like it if somebody uses the name.
    fn put_back(&self) -> io::Result<()> {
        let Self { directory, name, temporary, .. } = self;
        match rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => self.put_aside(),
            moved => Ok(moved?),
        }
    }

    fn put_aside(&self) -> io::Result<()> {
        let Self { directory, name, temporary, .. } = self;
        for number in 1..=NAMES {
            let mut aside = OsString::from(name);
            aside.push(format!(".kept-{number}"));
            match rustix::fs::renameat_with(directory, temporary, directory, &*aside, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                moved => return Ok(moved?),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Removes a directory that has the name, if there is nothing in it but such directories.
    pub(crate) fn make_room(&self) {
        remove_hollow(self.directory.as_fd(), &self.name, 0);
    }

    fn clear(&self, name: &Path) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
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
