//! Looking at one directory after the other: the work of a thread that walks.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

use crate::apply::TEMPORARY;
use crate::beside::bound;
use crate::error::SnapshotError;
use crate::known::{Beneath, Kept, Look, path_bytes, path_of};
use crate::rules::{Marks, Rules};
use crate::walk::{Uncovered, Walk, Walked};

/// How many names are read at a time, in bytes.
const NAMES: usize = 32 << 10;

/// So many names are noted that one directory leaves out, and that a thread comes upon.
const MANY: usize = 4_096;
const MOST: usize = 1 << 17;

/// Directories within a directory, with the rules above them. A path ends with a slash.
type Inner = Vec<(Vec<u8>, Arc<Rules>)>;

/// One of the threads that walk.
pub(crate) struct Visitor<'a> {
    walk: &'a Walk<'a>,
    pub(crate) found: Walked,
    buffer: Vec<u8>,
}

/// The names in a directory.
#[derive(Default)]
struct Names {
    /// One behind the other.
    bytes: Vec<u8>,
    /// Where each ends, and what it is said to be.
    ends: Vec<(usize, FileType)>,
    /// What git has here: never looked into, but there.
    repository: Option<Vec<u8>>,
    marks: Marks,
}

/// The directory that is looked at.
struct Place<'a> {
    directory: OwnedFd,
    rules: Arc<Rules>,
    known: Beneath<'a>,
    inner: Inner,
}

impl Names {
    fn is_hollow(&self) -> bool {
        self.ends.is_empty() && self.repository.is_none()
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8], FileType)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, kind))| (self.bytes.get(start..*end).unwrap_or_default(), *kind))
    }
}

impl<'a> Visitor<'a> {
    pub(crate) fn new(walk: &'a Walk<'a>) -> Self {
        Self { walk, found: Walked::default(), buffer: Vec::with_capacity(NAMES) }
    }

    /// Looks at a directory and returns those within.
    pub(crate) fn directory(&mut self, path: &[u8], rules: &Arc<Rules>) -> Result<Inner, SnapshotError> {
        let opened = self.walk.open(path).and_then(|directory| Ok((self.names(&directory)?, directory)));
        let (names, directory) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.closed(path, error).map(|()| Inner::new()),
        };
        // Its path in the repository, which is what rules speak of.
        let mut whole = [&self.walk.prefix, path].concat();
        let base = whole.len();
        let here = path_of(whole.strip_suffix(b"/").unwrap_or(&whole));
        let reader = &self.walk.reader;
        let rules = reader.beneath(rules, directory.as_fd(), here, names.marks, &mut self.found.unheeded);
        let first = self.found.left_out.len();
        if names.is_hollow() && !path.is_empty() {
            self.found.hollow.push(path.strip_suffix(b"/").unwrap_or(path).to_vec());
        }
        if let Some(name) = &names.repository {
            self.found.left_out.push([path, name].concat());
        }
        let mut place = Place { directory, rules, known: self.walk.known.beneath(path), inner: Inner::new() };
        for (name, kind) in names.iter() {
            whole.truncate(base);
            whole.extend_from_slice(name);
            self.entry(&mut place, name, kind, &whole)?;
        }
        self.stand_for_many(path, first);
        Ok(place.inner)
    }

    fn entry(&mut self, place: &mut Place<'_>, name: &[u8], kind: FileType, whole: &[u8]) -> Result<(), SnapshotError> {
        let look = || rustix::fs::statat(&place.directory, path_of(name), AtFlags::SYMLINK_NOFOLLOW);
        let mut stat = None;
        let kind = if kind == FileType::Unknown {
            match look() {
                Ok(found) => FileType::from_raw_mode(stat.insert(found).st_mode),
                Err(error) => {
                    self.unseen(whole, error);
                    return Ok(());
                }
            }
        } else {
            kind
        };
        let path = whole.get(self.walk.prefix.len()..).unwrap_or_default();
        let is_directory = kind == FileType::Directory;
        let is_ignored = place.rules.exclude(path_of(whole), is_directory);
        if is_ignored && !place.rules.tracks(path_of(whole), is_directory) {
            self.found.left_out.push(path.to_vec());
            return Ok(());
        }
        match kind {
            FileType::Directory => {
                let rules = if is_ignored { place.rules.within() } else { Arc::clone(&place.rules) };
                self.enter(path, rules, &mut place.inner)?;
            }
            FileType::RegularFile | FileType::Symlink => {
                let stat = match stat.map_or_else(look, Ok) {
                    Ok(stat) => stat,
                    Err(error) => {
                        self.unseen(whole, error);
                        return Ok(());
                    }
                };
                let known = place.known.find(name);
                self.take(path, Look::of_stat(&stat), known)?;
            }
            _ => {
                self.leave_out(path, "it is neither a file nor a link");
                self.count()?;
            }
        }
        Ok(())
    }

    /// A name that cannot be looked at.
    fn unseen(&mut self, whole: &[u8], error: Errno) {
        let path = whole.get(self.walk.prefix.len()..).unwrap_or_default();
        match error {
            // What went away meanwhile is not there.
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS | Errno::PERM => self.leave_out(path, "it may not be read"),
            _ => self.leave_out(path, "it cannot be read"),
        }
    }

    fn names(&mut self, directory: &OwnedFd) -> Result<Names, Errno> {
        let mut names = Names::default();
        let mut entries = RawDir::new(directory, self.buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            names.marks.see(name);
            let is_git = crate::name::is_git(name);
            if is_git {
                names.repository = Some(name.to_vec());
            }
            let is_left = is_git || name.starts_with(TEMPORARY.as_bytes());
            if !is_left && !matches!(name, b"." | b"..") {
                names.bytes.extend_from_slice(name);
                names.ends.push((names.bytes.len(), entry.file_type()));
            }
        }
        Ok(names)
    }

    /// A directory that cannot be opened.
    fn closed(&mut self, path: &[u8], error: Errno) -> Result<(), SnapshotError> {
        let name = path.strip_suffix(b"/").unwrap_or(path);
        let reason = match error {
            _ if path.is_empty() => None,
            // What went away meanwhile is not there.
            Errno::NOENT => return Ok(()),
            Errno::NOTDIR | Errno::LOOP | Errno::AGAIN => Some("it changed while it was read"),
            Errno::ACCESS | Errno::PERM => Some("it may not be read"),
            Errno::NAMETOOLONG => Some("its path is too long"),
            _ => None,
        };
        match reason {
            Some(reason) => self.leave_out(name, reason),
            None => return Err(SnapshotError::io("read", self.walk.ground.path.join(path_of(name)))(error.into())),
        }
        Ok(())
    }

    /// Puts a directory where it is looked at later, unless it is left out.
    fn enter(&mut self, path: &[u8], rules: Arc<Rules>, inner: &mut Inner) -> Result<(), SnapshotError> {
        let limits = self.walk.ground.limits;
        if self.walk.ground.apart.iter().any(|apart| path_bytes(apart) == path) {
            self.found.left_out.push(path.to_vec());
            return Ok(());
        }
        if self.walk.directories.fetch_add(1, Ordering::Relaxed) >= limits.files {
            return Err(SnapshotError::Quota { files: limits.files, bytes: limits.bytes });
        }
        inner.push(([path, b"/"].concat(), rules));
        Ok(())
    }

    fn take(&mut self, path: &[u8], look: Look, known: Option<(usize, Kept)>) -> Result<(), SnapshotError> {
        let limits = self.walk.ground.limits;
        if look.size() > limits.file {
            self.leave_out(path, "it is too large");
            return self.count();
        }
        self.count()?;
        if let Some(mode) = crate::modes::odd(&look, self.walk.mask) {
            self.found.odd.push((path.to_vec(), mode));
        }
        match known {
            Some((number, kept)) if kept.is_settled && kept.look == look => {
                if let Some(same) = self.walk.same.get(number) {
                    same.store(true, Ordering::Relaxed);
                }
                self.found.known += 1;
            }
            _ => {
                if self.walk.bytes.fetch_add(look.size(), Ordering::Relaxed) >= limits.bytes {
                    return Err(SnapshotError::Quota { files: limits.files, bytes: limits.bytes });
                }
                self.found.changed.push((path.to_vec(), look));
            }
        }
        Ok(())
    }

    fn count(&self) -> Result<(), SnapshotError> {
        let limits = self.walk.ground.limits;
        if self.walk.files.fetch_add(1, Ordering::Relaxed) >= limits.files {
            return Err(SnapshotError::Quota { files: limits.files, bytes: limits.bytes });
        }
        Ok(())
    }

    /// Where more is left out than anybody would name, the directory stands for it.
    fn stand_for_many(&mut self, path: &[u8], first: usize) {
        let all = &mut self.found.left_out;
        if all.len() - first > MANY {
            let directory = path.strip_suffix(b"/").unwrap_or(path).to_vec();
            all.truncate(first);
            all.push(directory.clone());
            self.found.many.insert(directory);
        }
        if all.len() > MOST {
            bound(all, &mut self.found.many, MOST / 2);
        }
    }

    fn leave_out(&mut self, path: &[u8], reason: &'static str) {
        self.found.uncovered.push(Uncovered { path: path_of(path).to_owned(), reason });
    }
}
