//! What is known about the files of a directory: what each looked like when its content was last read, and the name of
//! that content. Files that still look the same are not read again.
//!
//! It is a cache: losing it costs time, and a file that could have changed without looking different is never trusted.
//! Two files hold it, so that a few changes cost little however many files there are: a [`base`] with all files, and the
//! few that are [`recent`].

mod base;
mod bytes;
mod recent;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use base::{Base, Within};
use recent::Recent;

/// So many changes are kept beside the base, or as many as this part of its files, before it is written anew.
const FEW: usize = 256;
const PART: usize = 32;

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

    pub(crate) fn mode(&self) -> u32 {
        self.mode
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

/// All files, and the directory they make. Each has a number; a file that was recently changed has two, of which the
/// later one counts.
#[derive(Default)]
pub(crate) struct Known {
    base: Base,
    recent: Recent,
    /// The directory that these files make, when it was stored.
    pub(crate) root: Option<ObjectId>,
}

/// What became of files: paths that are gone, and those that are there, which may be the same ones.
#[derive(Default)]
pub(crate) struct Update {
    pub(crate) gone: Vec<Vec<u8>>,
    pub(crate) there: Vec<(Vec<u8>, Kept)>,
}

impl Known {
    /// Reads what was kept in a vault; nothing when it is not there, damaged, or of another version.
    pub(crate) fn load(vault: &Path) -> Self {
        let [base, recent] = Self::files(vault).map(|path| fs::read(path).ok());
        let Some((base, root)) = base.and_then(Base::decode) else { return Self::default() };
        match recent.and_then(|bytes| Recent::decode(&bytes, &base)) {
            Some((recent, root)) => Self { base, recent, root: Some(root) },
            None => Self { base, recent: Recent::default(), root: Some(root) },
        }
    }

    /// The files that hold it in a vault.
    pub(crate) fn files(vault: &Path) -> [PathBuf; 2] {
        [vault.join("known"), vault.join("known.recent")]
    }

    /// For each number, whether it says nothing about the directory any more.
    pub(crate) fn passed(&self) -> Vec<bool> {
        let mut passed = vec![false; self.base.len()];
        for number in self.recent.iter().filter_map(|(path, _)| self.base.find(path)) {
            if let Some(one) = passed.get_mut(number) {
                *one = true;
            }
        }
        passed.extend(self.recent.iter().map(|(_, kept)| kept.is_none()));
        passed
    }

    /// What is known of the files right in a directory, whose path ends with a slash unless it is the root.
    pub(crate) fn beneath(&self, directory: &[u8]) -> Beneath<'_> {
        Beneath { base: self.base.within(directory), recent: self.recent.within(directory), first: self.base.len() }
    }

    /// Returns the path of a number.
    fn path(&self, number: usize) -> Vec<u8> {
        match number.checked_sub(self.base.len()) {
            Some(number) => self.recent.path(number).to_vec(),
            None => self.base.path(number),
        }
    }

    /// Returns the paths whose numbers are not among the `same`.
    pub(crate) fn others(&self, same: &[bool]) -> Vec<Vec<u8>> {
        let is_other = |number: &usize| !same.get(*number).copied().unwrap_or_default();
        (0..self.base.len() + self.recent.len()).filter(is_other).map(|number| self.path(number)).collect()
    }

    /// Keeps what is known in a vault after an update. `moment` is when reading the files began.
    pub(crate) fn keep(&self, vault: &Path, mut update: Update, root: &ObjectId, moment: i64) -> io::Result<()> {
        for (_, kept) in &mut update.there {
            kept.is_settled |= kept.look.is_settled(moment);
        }
        let [all, later] = &Self::files(vault);
        let changes = self.recent.len() + update.gone.len() + update.there.len();
        if self.root.is_some() && changes <= FEW.max(self.base.len() / PART) {
            let recent = self.recent.with(update);
            return replace(later, &recent.encode(root, &self.base));
        }
        // What is kept beside the base speaks of the base alone, and counts no more once that is replaced.
        replace(all, &Base::encode(self.with(update), root)?)
    }

    /// All files after an update.
    fn with(&self, update: Update) -> Vec<(Vec<u8>, Kept)> {
        let recent = self.recent.with(update);
        let is_left = |path: &[u8]| recent.find(path).is_none();
        let mut all: Vec<_> = self.base.iter().filter(|(path, _)| is_left(path)).collect();
        all.extend(recent.iter().filter_map(|(path, kept)| Some((path.to_vec(), (*kept)?))));
        all
    }
}

/// The files right in a directory.
pub(crate) struct Beneath<'a> {
    base: Within<'a>,
    recent: Option<&'a recent::Names>,
    first: usize,
}

impl Beneath<'_> {
    /// Returns a file and its number.
    pub(crate) fn find(&mut self, name: &[u8]) -> Option<(usize, Kept)> {
        match self.recent.and_then(|recent| recent.get(name)) {
            Some((number, kept)) => kept.map(|kept| (self.first + number, kept)),
            None => self.base.find(name),
        }
    }
}

/// Splits a path behind the directory it is in.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    path.split_at(path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1))
}

/// Replaces a file whole. It need not survive a power cut.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_added_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    fs::rename(&temporary, path)
}

/// The bytes of a path.
pub(crate) fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The path that some bytes are.
pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
