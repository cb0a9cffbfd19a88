//! Looking at one directory after the other: the work of a thread that walks.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

use crate::apply::TEMPORARY;
use crate::error::SnapshotError;
use crate::known::{Beneath, Kept, Look, path_bytes, path_of};
use crate::rules::{Marks, Rules};
use crate::walk::{Uncovered, Walk, Walked};

/// How many names are read at a time, in bytes.
const NAMES: usize = 32 << 10;

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
        let mut place = Place { directory, rules, known: self.walk.known.beneath(path), inner: Inner::new() };
        for (name, kind) in names.iter() {
            whole.truncate(base);
            whole.extend_from_slice(name);
            self.entry(&mut place, name, kind, &whole)?;
        }
        Ok(place.inner)
    }

    fn entry(&mut self, place: &mut Place<'_>, name: &[u8], kind: FileType, whole: &[u8]) -> Result<(), SnapshotError> {
        let look = || rustix::fs::statat(&place.directory, path_of(name), AtFlags::SYMLINK_NOFOLLOW);
        let mut stat = None;
        let kind = if kind == FileType::Unknown {
            // What went away meanwhile is not there.
            let Ok(found) = look() else { return Ok(()) };
            FileType::from_raw_mode(stat.insert(found).st_mode)
        } else {
            kind
        };
        if place.rules.exclude(path_of(whole), kind == FileType::Directory) {
            return Ok(());
        }
        let path = whole.get(self.walk.prefix.len()..).unwrap_or_default();
        match kind {
            FileType::Directory => self.enter(path, place)?,
            FileType::RegularFile | FileType::Symlink => {
                let Some(stat) = stat.or_else(|| look().ok()) else { return Ok(()) };
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

    fn names(&mut self, directory: &OwnedFd) -> Result<Names, Errno> {
        let mut names = Names::default();
        let mut entries = RawDir::new(directory, self.buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            names.marks.see(name);
            let is_ours = crate::name::is_git(name) || name.starts_with(TEMPORARY.as_bytes());
            if !is_ours && !matches!(name, b"." | b"..") {
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
    fn enter(&self, path: &[u8], place: &mut Place<'_>) -> Result<(), SnapshotError> {
        let limits = self.walk.ground.limits;
        if self.walk.ground.apart.iter().any(|apart| path_bytes(apart) == path) {
            return Ok(());
        }
        if self.walk.directories.fetch_add(1, Ordering::Relaxed) >= limits.files {
            return Err(SnapshotError::Quota { files: limits.files, bytes: limits.bytes });
        }
        place.inner.push(([path, b"/"].concat(), Arc::clone(&place.rules)));
        Ok(())
    }

    fn take(&mut self, path: &[u8], look: Look, known: Option<(usize, Kept)>) -> Result<(), SnapshotError> {
        let limits = self.walk.ground.limits;
        if look.size() > limits.file {
            self.leave_out(path, "it is too large");
            return self.count();
        }
        self.count()?;
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

    fn leave_out(&mut self, path: &[u8], reason: &'static str) {
        self.found.uncovered.push(Uncovered { path: path_of(path).to_owned(), reason });
    }
}
