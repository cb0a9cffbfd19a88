//! git's index, read as data: which files are tracked, what they looked like when git last looked, and which tree they
//! make.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use gix_object::Kind;
use rustix::fs::OFlags;

use super::Name;

/// The largest index that is read.
const LARGEST: u64 = 256 << 20;

/// The most files.
const MOST: usize = 1_000_000;

const DAMAGED: &str = "the index of the repository cannot be read";

/// What git knows about tracked files.
pub(super) struct Index {
    pub(super) entries: Vec<Entry>,
    /// Whether some file has several versions that were not merged, or is only meant to be added.
    pub(super) is_unmerged: bool,
    /// When it was written, in nanoseconds since 1970: what looks as old may have changed right after.
    pub(super) written: i64,
    pub(super) is_long: bool,
}

/// A tracked file.
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    pub(super) name: Name,
    pub(super) mode: u32,
    pub(super) look: Seen,
    /// Whether git does not look at it: it counts as unchanged.
    pub(super) is_skipped: bool,
}

/// What a file looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) changed: (u32, u32),
    pub(super) modified: (u32, u32),
    pub(super) inode: u32,
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) size: u32,
}

impl Index {
    /// Reads an index. Without one, nothing is tracked.
    pub(super) fn read(path: &Path, is_long: bool) -> Result<Self, &'static str> {
        let options = &mut std::fs::OpenOptions::new();
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = options.read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path);
        let file: File = match file {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { entries: Vec::new(), is_unmerged: false, written: 0, is_long });
            }
            file => file.map_err(|_| DAMAGED)?,
        };
        let metadata = file.metadata().map_err(|_| DAMAGED)?;
        if !metadata.is_file() || metadata.len() > LARGEST {
            return Err("the index of the repository is too large");
        }
        let written = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|_| DAMAGED)?;
        let (entries, is_unmerged) = Reader { bytes: &bytes, at: 0 }.index(is_long).ok_or(DAMAGED)??;
        Ok(Self { entries, is_unmerged, written, is_long })
    }

    /// Returns the tree that the tracked files make: that of a commit of them.
    pub(super) fn tree(&self) -> Result<Name, &'static str> {
        let mut trees = Trees { open: vec![(Vec::new(), Vec::new())], is_long: self.is_long };
        for entry in &self.entries {
            trees.add(entry).ok_or(DAMAGED)?;
        }
        trees.finish().ok_or(DAMAGED)
    }
}

/// Reads one thing after the other.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// The files, and whether some are not merged; or what is not understood.
type Files = Result<(Vec<Entry>, bool), &'static str>;

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// None when it is damaged.
    fn index(mut self, is_long: bool) -> Option<Files> {
        if self.take(4)? != b"DIRC" {
            return None;
        }
        let version = self.number().filter(|version| (2..=4).contains(version))?;
        let count = self.number().and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= MOST)?;
        let mut entries: Vec<Entry> = Vec::with_capacity(count.min(self.bytes.len() / 62));
        let mut is_unmerged = false;
        for _ in 0..count {
            let before = entries.last().map_or(&[][..], |entry| &entry.path);
            let (entry, is_odd) = self.entry(version, is_long, before)?;
            is_unmerged |= is_odd;
            // A directory stands for everything in it when most of the tree is not checked out.
            if entry.mode & 0o170_000 == 0o040_000 {
                return Some(Err("the index of the repository is sparse"));
            }
            // They are in order, each once, unless they are not merged.
            if before >= entry.path.as_slice() && !is_unmerged && !entries.is_empty() {
                return None;
            }
            entries.push(entry);
        }
        let end = self.bytes.len().checked_sub(if is_long { 32 } else { 20 })?;
        while self.at < end {
            let signature = self.take(4)?;
            let size = usize::try_from(self.number()?).ok()?;
            self.take(size)?;
            // What starts with a small letter must be understood.
            if signature.first().is_some_and(u8::is_ascii_lowercase) {
                return Some(Err("the index of the repository is split or sparse"));
            }
        }
        Some(Ok((entries, is_unmerged)))
    }

    fn entry(&mut self, version: u32, is_long: bool, before: &[u8]) -> Option<(Entry, bool)> {
        let start = self.at;
        let changed = (self.number()?, self.number()?);
        let modified = (self.number()?, self.number()?);
        let _device = self.number()?;
        let inode = self.number()?;
        let mode = self.number()?;
        let (user, group, size) = (self.number()?, self.number()?, self.number()?);
        let name = Name::from_bytes(self.take(if is_long { 32 } else { 20 })?)?;
        let flags = self.short()?;
        let more = if flags & 0x4000 != 0 && version >= 3 { self.short()? } else { 0 };
        let path = if version == 4 { self.compressed(before)? } else { self.padded(start)? };
        if !is_sound(&path) {
            return None;
        }
        let is_odd = flags & 0x3000 != 0 || more & 0x2000 != 0;
        let is_skipped = flags & 0x8000 != 0 || more & 0x4000 != 0;
        let look = Seen { changed, modified, inode, user, group, size };
        Some((Entry { path, name, mode, look, is_skipped }, is_odd))
    }

    /// A path that ends with zeros up to a multiple of eight.
    fn padded(&mut self, start: usize) -> Option<Vec<u8>> {
        let rest = self.bytes.get(self.at..)?;
        let len = memchr::memchr(0, rest)?;
        let path = self.take(len)?.to_vec();
        let whole = (self.at - start + 8) / 8 * 8;
        self.at = start.checked_add(whole)?;
        (self.at <= self.bytes.len()).then_some(path)
    }

    /// A path that starts like the one before: how much of its end goes, and what comes instead.
    fn compressed(&mut self, before: &[u8]) -> Option<Vec<u8>> {
        let mut byte = *self.take(1)?.first()?;
        let mut cut = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            cut = cut.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        let mut path = before.get(..before.len().checked_sub(cut)?)?.to_vec();
        let len = memchr::memchr(0, self.bytes.get(self.at..)?)?;
        path.extend_from_slice(self.take(len)?);
        self.take(1)?;
        Some(path)
    }
}

/// Says whether a path stays within the directory.
fn is_sound(path: &[u8]) -> bool {
    let is_part = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !crate::name::is_git(part);
    path.len() < 4096 && path.split(|byte| *byte == b'/').all(is_part)
}

/// Makes trees of files that come in order.
struct Trees {
    /// Directories that are not whole yet, each with its path and what it holds.
    open: Vec<(Vec<u8>, Vec<Item>)>,
    is_long: bool,
}

/// One line of a tree.
struct Item {
    mode: u32,
    name: Vec<u8>,
    id: Name,
}

impl Trees {
    fn add(&mut self, entry: &Entry) -> Option<()> {
        let (directory, name) = match entry.path.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (entry.path.get(..at)?, entry.path.get(at + 1..)?),
            None => (&[][..], entry.path.as_slice()),
        };
        // Close what the file is not in, then open what it is in.
        while !is_within(directory, &self.open.last()?.0) {
            self.close()?;
        }
        while self.open.last()?.0 != directory {
            let above = self.open.last()?.0.len();
            let from = if above == 0 { 0 } else { above + 1 };
            let rest = directory.get(from..)?;
            let len = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
            self.open.push((directory.get(..from + len)?.to_vec(), Vec::new()));
        }
        self.open.last_mut()?.1.push(Item { mode: entry.mode, name: name.to_vec(), id: entry.name });
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        let (path, items) = self.open.pop()?;
        let id = self.write(items)?;
        let name = path.rsplit(|byte| *byte == b'/').next()?.to_vec();
        self.open.last_mut()?.1.push(Item { mode: 0o040_000, name, id });
        Some(())
    }

    fn write(&self, mut items: Vec<Item>) -> Option<Name> {
        // A directory is in order as if its name ended with a slash.
        let key = |item: &Item| {
            let mut key = item.name.clone();
            key.extend((item.mode == 0o040_000).then_some(b'/'));
            key
        };
        items.sort_by_cached_key(key);
        let mut bytes = Vec::new();
        for item in &items {
            bytes.extend_from_slice(format!("{:o} ", item.mode).as_bytes());
            bytes.extend_from_slice(&item.name);
            bytes.push(0);
            bytes.extend_from_slice(item.id.as_bytes());
        }
        Name::of(Kind::Tree, &bytes, self.is_long)
    }

    fn finish(mut self) -> Option<Name> {
        while self.open.len() > 1 {
            self.close()?;
        }
        let (_, items) = self.open.pop()?;
        self.write(items)
    }
}

fn is_within(directory: &[u8], above: &[u8]) -> bool {
    above.is_empty() || directory.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.first() == Some(&b'/'))
}
