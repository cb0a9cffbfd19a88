//! Looking at a directory and its snapshots while nothing of either changes: no content is kept, and a restore that was
//! interrupted stays so.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::about::FileInfo;
use crate::diff::FileDiff;
use crate::error::SnapshotError;
use crate::pack::Pack;
use crate::store::{About, SnapshotId, Snapshots, State, Taken};
use crate::vault::Vault;

/// How many names are tried for a directory that nobody else has.
const TRIES: usize = 16;

/// The snapshots of a directory, to be looked at.
pub struct Glance(Snapshots);

impl Glance {
    /// Opens the store of a directory; none when there is none. `apart` is left out.
    pub fn open(store: &Path, root: &Path, apart: &[PathBuf]) -> Result<Option<Self>, SnapshotError> {
        if !store.join("objects").join("pack").is_dir() {
            return Ok(None);
        }
        Snapshots::with(Vault::open, store, root, apart).map(|snapshots| Some(Self(snapshots)))
    }

    /// Says whether a restore was interrupted: whoever takes the next snapshot ends it first.
    pub fn is_interrupted(&self) -> Result<bool, SnapshotError> {
        self.0.is_interrupted()
    }

    /// Says whether the directory is as it was in a snapshot.
    pub fn is_as(&self, earlier: SnapshotId) -> Result<bool, SnapshotError> {
        let directory = self.0.vault().directory_of(earlier)?;
        Ok(self.0.state(&mut Pack::default())?.root == directory)
    }

    /// Returns a snapshot of what is there now, which only this glance knows.
    pub fn now(&self) -> Result<SnapshotId, SnapshotError> {
        Ok(self.look()?.id)
    }

    /// The same, with what is not in it.
    pub fn look(&self) -> Result<Taken, SnapshotError> {
        let mut pack = Pack::default();
        let state = self.0.state(&mut pack)?;
        let id = self.0.commit(&mut pack, (state.root, Some(&state.beside)), &About::default(), 0)?;
        let State { files, mut packs, uncovered, unheeded, .. } = state;
        if !pack.is_empty() {
            packs.push(pack.finish()?);
        }
        let place = Passing::make().map_err(SnapshotError::io("make a directory in", &std::env::temp_dir()))?;
        self.0.objects().borrow(packs, &place.0)?;
        Ok(Taken { id, files, uncovered, unheeded })
    }

    /// Returns what plans are made with; nothing of it can be carried out.
    pub fn snapshots(&self) -> &Snapshots {
        &self.0
    }

    /// Says whether a snapshot is kept here.
    pub fn has(&self, id: SnapshotId) -> bool {
        self.0.has(id)
    }

    /// Counts the files of a snapshot; one that holds about the same makes that quick: its name, and how many it has.
    pub fn count(&self, id: SnapshotId, near: Option<(SnapshotId, u64)>) -> Result<u64, SnapshotError> {
        self.0.count(id, near)
    }

    /// Lists the files of a snapshot, with the hash of their content.
    pub fn files(&self, id: SnapshotId) -> Result<Vec<FileInfo>, SnapshotError> {
        self.0.files(id)
    }

    /// Says whether a snapshot holds a path, or anything beneath it.
    pub fn holds(&self, id: SnapshotId, path: &Path) -> Result<bool, SnapshotError> {
        self.0.holds(id, path)
    }

    /// Compares two snapshots. `only` chooses paths and what is beneath them; empty for all.
    pub fn diff(&self, old: SnapshotId, new: SnapshotId, only: &[PathBuf]) -> Result<Vec<FileDiff>, SnapshotError> {
        self.0.diff(old, new, only)
    }
}

/// A directory that goes again.
struct Passing(PathBuf);

impl Passing {
    fn make() -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        for _ in 0..TRIES {
            let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(format!("ramus-glance-{process}-{number}-{moment}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // Whoever has its files open goes on.
        let _ = fs::remove_dir_all(&self.0);
    }
}
