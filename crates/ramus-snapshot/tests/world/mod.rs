//! A directory, the store of its snapshots, and everything there is to see in it.
#![allow(dead_code, reason = "not every test uses all of it")]

pub(crate) mod edit;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use ramus_snapshot::{About, Limits, Restore, Restored, SnapshotId, Snapshots};

/// Files with more bytes are not covered here.
pub(crate) const CAP: u64 = 4_096;

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) snapshots: Snapshots,
    inside: bool,
    neighbours: BTreeMap<PathBuf, String>,
}

/// What is in a directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// What snapshots hold.
    pub(crate) covered: BTreeMap<PathBuf, String>,
    /// What they do not, to the inode and the time of its last change.
    pub(crate) foreign: BTreeMap<PathBuf, String>,
    /// Directories, git's own left out.
    pub(crate) directories: BTreeSet<PathBuf>,
    /// What a restore should not have left behind.
    pub(crate) left_behind: Vec<PathBuf>,
}

/// A folder for a test: in memory where that is possible, because it is made durable all the time.
pub(crate) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::Builder::new().prefix("ramus-").tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap()
}

impl World {
    /// Makes an empty directory, or one inside of a repository with other things in it.
    pub(crate) fn new(inside: bool) -> Self {
        let folder = folder();
        let work = folder.path().join("work");
        fs::create_dir_all(work.join("part")).unwrap();
        if inside {
            fs::create_dir_all(work.join(".git/info")).unwrap();
            fs::write(work.join(".git/info/exclude"), "*.excluded\n").unwrap();
            fs::write(work.join(".gitignore"), "*.ignored\n").unwrap();
            fs::create_dir(work.join("other")).unwrap();
            fs::write(work.join("other/a"), "a neighbour").unwrap();
        }
        let root = if inside { work.join("part") } else { work.clone() };
        if !inside {
            fs::remove_dir(work.join("part")).unwrap();
        }
        let snapshots = Snapshots::open(&folder.path().join("store"), &root, &[]).unwrap();
        let snapshots = snapshots.with_limits(Limits { file: CAP, ..Limits::default() });
        let mut world = Self { folder, snapshots, inside, neighbours: BTreeMap::new() };
        world.neighbours = world.neighbours();
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join(if self.inside { "work/part" } else { "work" })
    }

    pub(crate) fn take(&mut self) -> SnapshotId {
        self.snapshots.take(&About::default()).unwrap().id
    }

    pub(crate) fn restore(&mut self, target: SnapshotId, baseline: SnapshotId, force: bool) -> Restored {
        let current = self.take();
        let restore = Restore { target, baseline, current, only: &[] };
        let plan = self.snapshots.plan(&restore).unwrap();
        self.snapshots.restore(&plan, force).unwrap()
    }

    pub(crate) fn see(&self) -> Seen {
        see(&self.root())
    }

    pub(crate) fn neighbours_are_untouched(&self) {
        assert_eq!(self.neighbours(), self.neighbours);
    }

    fn neighbours(&self) -> BTreeMap<PathBuf, String> {
        if !self.inside {
            return BTreeMap::new();
        }
        let Seen { mut covered, foreign, .. } = see(&self.folder.path().join("work"));
        covered.retain(|path, _| !path.starts_with("part"));
        covered.into_iter().chain(foreign.into_iter().filter(|(path, _)| !path.starts_with("part"))).collect()
    }
}

/// Looks at everything beneath a directory.
pub(crate) fn see(root: &Path) -> Seen {
    let (covered, foreign) = (BTreeMap::new(), BTreeMap::new());
    let mut seen = Seen { covered, foreign, directories: BTreeSet::new(), left_behind: Vec::new() };
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_owned();
            let of_git = name.components().any(|part| part.as_os_str() == ".git");
            if name.to_string_lossy().contains(".ramus-restore-") {
                seen.left_behind.push(name);
            } else if metadata.is_dir() {
                open.push(path);
                seen.directories.extend((!of_git).then_some(name));
            } else if of_git || !metadata.is_file() && !metadata.is_symlink() || metadata.len() > CAP {
                let look = (metadata.ino(), metadata.mode(), metadata.mtime_nsec(), metadata.ctime_nsec());
                seen.foreign.insert(name, format!("{look:?}"));
            } else if metadata.is_symlink() {
                seen.covered.insert(name, format!("link {:?}", fs::read_link(&path).unwrap()));
            } else {
                let executable = metadata.permissions().mode() & 0o100 != 0;
                seen.covered.insert(name, format!("{executable} {:?}", fs::read(&path).unwrap()));
            }
        }
    }
    seen
}
