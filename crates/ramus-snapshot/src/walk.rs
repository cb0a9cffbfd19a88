//! Walking through a directory: which files there are, and which of them look different than before.
//!
//! Links are not followed, git's own directories are left out, ignore files are honoured, and nothing is read but names
//! and looks.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::apply::TEMPORARY;
use crate::error::SnapshotError;
use crate::known::{Known, Look, path_bytes};

/// What is kept at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files with more bytes are left out, and told.
    pub file: u64,
    /// With more files there is no snapshot.
    pub files: usize,
    /// With more bytes that must be read there is no snapshot.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file: 8 << 20, files: 400_000, bytes: 4 << 30 }
    }
}

/// Something that is in the directory and not in the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uncovered {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub reason: &'static str,
}

/// What a walk found.
pub(crate) struct Walked {
    /// Files that are new or look different.
    pub(crate) changed: Vec<(Vec<u8>, Look)>,
    /// Known files that still look the same, by number.
    pub(crate) same: Vec<bool>,
    pub(crate) uncovered: Vec<Uncovered>,
}

impl Walked {
    /// Says whether nothing changed, to all appearances.
    pub(crate) fn is_same(&self) -> bool {
        self.changed.is_empty() && self.same.iter().all(|same| *same)
    }
}

/// Walks through `root`, leaving out `apart`.
pub(crate) fn walk(root: &Path, apart: &[PathBuf], known: &Known, limits: Limits) -> Result<Walked, SnapshotError> {
    let found = Found {
        root,
        known,
        limits,
        same: (0..known.len()).map(|_| AtomicBool::new(false)).collect(),
        files: AtomicUsize::new(0),
        bytes: AtomicU64::new(0),
        lists: Mutex::default(),
        trouble: Mutex::default(),
    };
    let apart = apart.to_vec();
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).require_git(false).follow_links(false).ignore(true).parents(true);
    builder.threads(std::thread::available_parallelism().map_or(1, usize::from).min(4));
    builder.filter_entry(move |entry| !is_left_out(entry) && !apart.iter().any(|path| path == entry.path()));
    builder.build_parallel().run(|| {
        let mut visitor = Visitor { found: &found, changed: Vec::new(), uncovered: Vec::new() };
        Box::new(move |entry| visitor.visit(entry))
    });
    found.finish()
}

/// Git's own directory, in any spelling that some file system takes for it, and what a restore is writing.
fn is_left_out(entry: &DirEntry) -> bool {
    let name = entry.file_name().as_encoded_bytes();
    entry.depth() > 0 && (crate::name::is_git(name) || name.starts_with(TEMPORARY.as_bytes()))
}

struct Found<'a> {
    root: &'a Path,
    known: &'a Known,
    limits: Limits,
    same: Vec<AtomicBool>,
    files: AtomicUsize,
    bytes: AtomicU64,
    lists: Mutex<(Vec<(Vec<u8>, Look)>, Vec<Uncovered>)>,
    trouble: Mutex<Option<SnapshotError>>,
}

impl Found<'_> {
    fn finish(self) -> Result<Walked, SnapshotError> {
        if let Some(trouble) = self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(trouble);
        }
        let (changed, mut uncovered) = self.lists.into_inner().unwrap_or_else(PoisonError::into_inner);
        uncovered.sort();
        let same = self.same.into_iter().map(AtomicBool::into_inner).collect();
        Ok(Walked { changed, same, uncovered })
    }

    fn fail(&self, error: SnapshotError) -> WalkState {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        WalkState::Quit
    }
}

/// One of the threads that walk.
struct Visitor<'a, 'f> {
    found: &'f Found<'a>,
    changed: Vec<(Vec<u8>, Look)>,
    uncovered: Vec<Uncovered>,
}

impl Visitor<'_, '_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let entry = match entry {
            Ok(entry) => entry,
            // Something that went away meanwhile is not there.
            Err(error) if error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound) => {
                return WalkState::Continue;
            }
            Err(error) => return self.found.fail(SnapshotError::Ignore { reason: error.to_string() }),
        };
        if let Some(error) = entry.error() {
            return self.found.fail(SnapshotError::Ignore { reason: error.to_string() });
        }
        let Ok(path) = entry.path().strip_prefix(self.found.root) else { return WalkState::Continue };
        let Some(kind) = entry.file_type() else { return WalkState::Continue };
        if kind.is_dir() {
            return WalkState::Continue;
        }
        if !kind.is_file() && !kind.is_symlink() {
            self.leave_out(path, "it is neither a file nor a link");
            return WalkState::Continue;
        }
        let Ok(metadata) = entry.metadata() else { return WalkState::Continue };
        self.take(path, Look::of(&metadata))
    }

    fn take(&mut self, path: &Path, look: Look) -> WalkState {
        let Found { known, limits, same, files, bytes, .. } = self.found;
        if look.size() > limits.file {
            self.leave_out(path, "it is too large");
            return WalkState::Continue;
        }
        let mut full = files.fetch_add(1, Ordering::Relaxed) >= limits.files;
        match known.find(path_bytes(path)) {
            Some((number, kept)) if kept.is_settled && kept.look == look => {
                if let Some(same) = same.get(number) {
                    same.store(true, Ordering::Relaxed);
                }
            }
            _ => {
                full |= bytes.fetch_add(look.size(), Ordering::Relaxed) >= limits.bytes;
                self.changed.push((path_bytes(path).to_vec(), look));
            }
        }
        if full {
            return self.found.fail(SnapshotError::Quota { files: limits.files, bytes: limits.bytes });
        }
        WalkState::Continue
    }

    fn leave_out(&mut self, path: &Path, reason: &'static str) {
        self.uncovered.push(Uncovered { path: path.to_owned(), reason });
    }
}

impl Drop for Visitor<'_, '_> {
    fn drop(&mut self) {
        let mut lists = self.found.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.0.append(&mut self.changed);
        lists.1.append(&mut self.uncovered);
    }
}
