//! What is known about the files of a directory: what each looked like when its content was last read, and the name of
//! that content. Files that still look the same are not read again.
//!
//! It is a cache: losing it costs time, and a file that could have changed without looking different is never trusted.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::hash::BuildHasher as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::pack::HASH;

/// The first bytes of the file; the last one is its version.
const SIGNATURE: &[u8; 8] = b"ramusks\x01";

/// A clock of a file system may stand still for so long, in nanoseconds.
const TICK: i64 = 20_000_000;

/// The bits of a mode that say what something is.
const KIND: u32 = 0o170_000;

/// What a file looks like from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    modified: i64,
    changed: i64,
    size: u64,
    inode: u64,
    device: u64,
    mode: u32,
}

impl Look {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
            inode: metadata.ino(),
            device: metadata.dev(),
            mode: metadata.mode(),
        }
    }

    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        // The type differs from platform to platform.
        fn nanoseconds(seconds: i64, rest: impl TryInto<i64>) -> i64 {
            seconds.saturating_mul(1_000_000_000).saturating_add(rest.try_into().unwrap_or_default())
        }
        Self {
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            inode: stat.st_ino,
            device: stat.st_dev,
            mode: stat.st_mode,
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn is_file(&self) -> bool {
        self.mode & KIND == 0o100_000
    }

    pub(crate) fn is_link(&self) -> bool {
        self.mode & KIND == 0o120_000
    }

    pub(crate) fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    /// Says whether it was old enough at `moment` that a later change shows.
    fn is_settled(&self, moment: i64) -> bool {
        self.modified.max(self.changed).saturating_add(TICK) < moment
    }
}

/// One file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) look: Look,
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
    /// Whether a file that looks the same is the same.
    pub(crate) is_settled: bool,
}

/// All files, and the directory they make.
#[derive(Default)]
pub(crate) struct Known {
    /// The paths, one behind the other.
    paths: Vec<u8>,
    files: Vec<(u32, Kept)>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The directory that these files make, when it was stored.
    pub(crate) root: Option<ObjectId>,
}

impl Known {
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns a file and its number.
    pub(crate) fn find(&self, path: &[u8]) -> Option<(usize, &Kept)> {
        let hash = self.hasher.hash_one(path);
        let number = *self.table.find(hash, |number| self.path(*number as usize) == path)? as usize;
        self.files.get(number).map(|(_, kept)| (number, kept))
    }

    pub(crate) fn path(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).and_then(|before| self.files.get(before)).map_or(0, |(end, _)| *end);
        let end = self.files.get(number).map_or(start, |(end, _)| *end);
        self.paths.get(start as usize..end as usize).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &Kept)> {
        self.files.iter().enumerate().map(|(number, (_, kept))| (self.path(number), kept))
    }

    /// Adds a file that is not there.
    pub(crate) fn push(&mut self, path: &[u8], kept: Kept) {
        self.paths.extend_from_slice(path);
        let (Ok(end), Ok(number)) = (u32::try_from(self.paths.len()), u32::try_from(self.files.len())) else { return };
        self.files.push((end, kept));
        let hash = self.hasher.hash_one(path);
        let Self { paths, files, table, hasher, .. } = self;
        let path_of = |number: u32| {
            let number = number as usize;
            let start = number.checked_sub(1).and_then(|before| files.get(before)).map_or(0, |(end, _)| *end);
            let end = files.get(number).map_or(start, |(end, _)| *end);
            paths.get(start as usize..end as usize).unwrap_or_default()
        };
        table.insert_unique(hash, number, |number| hasher.hash_one(path_of(*number)));
    }

    fn reserve(&mut self, files: usize, paths: usize) {
        self.paths.reserve(paths);
        self.files.reserve(files);
        self.table.reserve(files, |_| 0);
    }

    /// Reads what was kept; nothing when it is not there, damaged, or of another version.
    pub(crate) fn load(path: &Path) -> Self {
        fs::read(path).ok().and_then(|bytes| Self::decode(&bytes)).unwrap_or_default()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut rest = body.strip_prefix(SIGNATURE)?;
        let root = take_id(&mut rest)?;
        let files = usize::try_from(take_u64(&mut rest)?).ok()?;
        let mut known = Self { root: Some(root), ..Self::default() };
        known.reserve(files.min(body.len() / 32), body.len() / 2);
        for _ in 0..files {
            let length = take_u32(&mut rest)? as usize;
            let (path, behind) = rest.split_at_checked(length)?;
            rest = behind;
            let look = Look {
                modified: take_u64(&mut rest)?.cast_signed(),
                changed: take_u64(&mut rest)?.cast_signed(),
                size: take_u64(&mut rest)?,
                inode: take_u64(&mut rest)?,
                device: take_u64(&mut rest)?,
                mode: take_u32(&mut rest)?,
            };
            let (kind, is_settled) = flags(take_u32(&mut rest)?)?;
            known.push(path, Kept { look, kind, id: take_id(&mut rest)?, is_settled });
        }
        rest.is_empty().then_some(known)
    }

    /// Returns the bytes to keep. `moment` is when reading the files began.
    pub(crate) fn encode(&self, root: &ObjectId, moment: i64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64 + self.paths.len() + self.files.len() * 72);
        bytes.extend_from_slice(SIGNATURE);
        bytes.extend_from_slice(root.as_slice());
        bytes.extend_from_slice(&(self.files.len() as u64).to_le_bytes());
        for (path, kept) in self.iter() {
            let Look { modified, changed, size, inode, device, mode } = kept.look;
            bytes.extend_from_slice(&u32::try_from(path.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend_from_slice(path);
            for number in [modified.cast_unsigned(), changed.cast_unsigned(), size, inode, device] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(&mode.to_le_bytes());
            let is_settled = kept.is_settled || kept.look.is_settled(moment);
            bytes.extend_from_slice(&(kept.kind as u32 | u32::from(is_settled) << 31).to_le_bytes());
            bytes.extend_from_slice(kept.id.as_slice());
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

fn flags(bits: u32) -> Option<(EntryKind, bool)> {
    let kinds = [EntryKind::Blob, EntryKind::BlobExecutable, EntryKind::Link];
    let kind = kinds.into_iter().find(|kind| *kind as u32 == bits & (u32::MAX >> 1))?;
    Some((kind, bits >> 31 == 1))
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (number, behind) = rest.split_first_chunk::<4>()?;
    *rest = behind;
    Some(u32::from_le_bytes(*number))
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (number, behind) = rest.split_first_chunk::<8>()?;
    *rest = behind;
    Some(u64::from_le_bytes(*number))
}

fn take_id(rest: &mut &[u8]) -> Option<ObjectId> {
    let (id, behind) = rest.split_at_checked(HASH.len_in_bytes())?;
    *rest = behind;
    ObjectId::try_from(id).ok()
}

/// The bytes of a path.
pub(crate) fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The path that some bytes are.
pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
