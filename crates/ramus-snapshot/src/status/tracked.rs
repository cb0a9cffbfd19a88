//! Tracked files: whether each is as the index says. One that looks as git saw it is; of the others the content counts.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gix_object::Kind;
use rustix::fs::OFlags;

use super::index::{Entry, Index, Seen};
use super::{Dirtiness, Name, WorkingCopy};
use crate::known::path_of;

/// How much is read at most, of all files together.
const MOST: u64 = 256 << 20;

/// What starts an attribute that makes git keep other content than there is.
const CONVERTING: [&[u8]; 3] = [b"filter", b"ident", b"working-tree-encoding"];

const LARGEST_ATTRIBUTES: u64 = 1 << 20;

/// Looks at every tracked file, until one differs.
pub(super) fn look(copy: &WorkingCopy<'_>, index: &Index, is_over: &AtomicBool) -> Dirtiness {
    let looking = Looking { copy, index, read: AtomicU64::new(0), is_over };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let share = index.entries.len().div_ceil(threads).max(1);
    let found: Vec<Dirtiness> = std::thread::scope(|scope| {
        let parts: Vec<_> = index.entries.chunks(share).map(|part| scope.spawn(|| looking.part(part))).collect();
        let lost = Dirtiness::Unknown("a thread that looked at files died");
        parts.into_iter().map(|part| part.join().unwrap_or(lost)).collect()
    });
    let is_sure = |found: &&Dirtiness| **found == Dirtiness::Dirty;
    let doubt = || found.iter().find(|found| **found != Dirtiness::Clean);
    found.iter().find(is_sure).or_else(doubt).copied().unwrap_or(Dirtiness::Clean)
}

struct Looking<'l> {
    copy: &'l WorkingCopy<'l>,
    index: &'l Index,
    read: AtomicU64,
    /// Whether somebody found one that differs.
    is_over: &'l AtomicBool,
}

impl Looking<'_> {
    fn part(&self, entries: &[Entry]) -> Dirtiness {
        let mut doubt = Dirtiness::Clean;
        for entry in entries.iter().filter(|entry| !entry.is_skipped) {
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            match self.entry(entry) {
                Dirtiness::Clean => {}
                Dirtiness::Dirty => {
                    self.is_over.store(true, Ordering::Relaxed);
                    return Dirtiness::Dirty;
                }
                unknown => doubt = unknown,
            }
        }
        doubt
    }

    fn entry(&self, entry: &Entry) -> Dirtiness {
        let path = self.copy.top.join(path_of(&entry.path));
        let Ok(found) = std::fs::symlink_metadata(&path) else { return Dirtiness::Dirty };
        match entry.mode & 0o170_000 {
            0o160_000 => submodule(&path, &found),
            0o120_000 if found.is_symlink() => self.link(entry, &path, &found),
            0o100_000 if found.is_file() => self.file(entry, &path, &found),
            _ => Dirtiness::Dirty,
        }
    }

    fn file(&self, entry: &Entry, path: &Path, found: &Metadata) -> Dirtiness {
        let is_executable = found.mode() & 0o100 != 0;
        if self.copy.heeds_modes && is_executable != (entry.mode & 0o100 != 0) {
            return Dirtiness::Dirty;
        }
        if self.looks_the_same(entry, found) {
            return Dirtiness::Clean;
        }
        if self.read.fetch_add(found.len(), Ordering::Relaxed) > MOST {
            return Dirtiness::Unknown("too much would have to be read");
        }
        // What went away meanwhile differs too.
        let Some(content) = content(path, found.len()) else { return Dirtiness::Dirty };
        if self.is_named(&content, entry) {
            return Dirtiness::Clean;
        }
        if self.is_named(&without_returns(&content), entry) {
            return Dirtiness::Unknown("only line endings differ, which git may convert");
        }
        if self.is_converted() {
            return Dirtiness::Unknown("attributes of the repository convert files");
        }
        Dirtiness::Dirty
    }

    fn link(&self, entry: &Entry, path: &Path, found: &Metadata) -> Dirtiness {
        let same = self.looks_the_same(entry, found)
            || std::fs::read_link(path).is_ok_and(|target| self.is_named(target.as_os_str().as_bytes(), entry));
        if same { Dirtiness::Clean } else { Dirtiness::Dirty }
    }

    fn is_named(&self, content: &[u8], entry: &Entry) -> bool {
        Name::of(Kind::Blob, content, self.index.is_long) == Some(entry.name)
    }

    /// Says whether a file looks as git saw it, and could not have changed without looking different.
    fn looks_the_same(&self, entry: &Entry, found: &Metadata) -> bool {
        let modified = found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec());
        modified < self.index.written && entry.look.is_of(found)
    }

    /// Says whether attributes anywhere may make git keep other content than there is.
    fn is_converted(&self) -> bool {
        let top = self.copy.common.join("info").join("attributes");
        let named = |entry: &&Entry| entry.path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes");
        let tracked = self.index.entries.iter().filter(named).map(|entry| self.copy.top.join(path_of(&entry.path)));
        tracked.chain([top]).any(|path| match std::fs::symlink_metadata(&path) {
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
            Ok(found) if found.len() > LARGEST_ATTRIBUTES => true,
            Ok(found) => content(&path, found.len())
                .is_none_or(|text| CONVERTING.iter().any(|word| memchr::memmem::find(&text, word).is_some())),
        })
    }
}

impl Seen {
    /// The same as git compares: it keeps the lower half of each number.
    fn is_of(&self, found: &Metadata) -> bool {
        let low = |number: u64| number as u32;
        let moment = |seconds: i64, rest: i64| (seconds as u32, rest as u32);
        self.modified == moment(found.mtime(), found.mtime_nsec())
            && self.changed == moment(found.ctime(), found.ctime_nsec())
            && (self.inode, self.user, self.group) == (low(found.ino()), found.uid(), found.gid())
            && self.size == low(found.len())
    }
}

/// A repository within: it counts as unchanged only when nothing of it is there.
fn submodule(path: &Path, found: &Metadata) -> Dirtiness {
    let is_empty = found.is_dir() && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty { Dirtiness::Clean } else { Dirtiness::Unknown("it has submodules") }
}

/// Reads a plain file without following a link; none when it is something else or larger than it looked.
fn content(path: &Path, size: u64) -> Option<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file: File = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let kind = file.metadata().ok()?.file_type();
    if !kind.is_file() || kind.is_fifo() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(size + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= size).then_some(bytes)
}

fn without_returns(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    for (at, byte) in content.iter().enumerate() {
        if !(*byte == b'\r' && content.get(at + 1) == Some(&b'\n')) {
            out.push(*byte);
        }
    }
    out
}
