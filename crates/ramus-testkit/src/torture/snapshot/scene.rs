//! A directory with two states, what is nobody's business in it, and the store of its snapshots.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::fs::{CWD, FileType, Mode};
use tempfile::TempDir;

use crate::random::Random;

/// The file that somebody else writes to. It is in one of the states.
pub(super) const THEIRS: &str = "shared/notes.txt";

/// How much later than a kill that is.
const LATE: Duration = Duration::from_millis(20);

/// The directory that a child fills with what is in neither state, and clears.
pub(super) const JUNK: &str = "junk";

/// What is beneath a directory, by path: what it is and what it holds.
pub type Tree = BTreeMap<PathBuf, String>;

/// A directory in a folder of its own.
pub struct Scene {
    folder: TempDir,
    seed: u64,
}

impl Scene {
    /// Makes a directory with what snapshots do not hold.
    pub fn new(seed: u64) -> Result<Self> {
        Self::within(&std::env::temp_dir(), seed)
    }

    /// The same, in a folder of its own beneath another one.
    pub fn within(above: &Path, seed: u64) -> Result<Self> {
        let folder = tempfile::tempdir_in(above).context("cannot create a temporary folder")?;
        let scene = Self { folder, seed };
        let root = scene.root();
        fs::create_dir_all(root.join(".git/hooks"))?;
        fs::write(root.join(".git/config"), "[core]\n\tfsmonitor = touch pwned\n")?;
        fs::write(root.join(".gitignore"), "build/\n")?;
        fs::create_dir(root.join("build"))?;
        fs::write(root.join("build/output"), "made, not written")?;
        rustix::fs::mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        Ok(scene)
    }

    /// Returns the directory.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns where its snapshots are.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Returns a folder for whatever else is needed.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts the directory in one of its states.
    pub fn enter(&self, state: u64) -> Result<()> {
        let mut random = Random::new(self.seed.wrapping_mul(2) + state);
        let root = self.root();
        for path in look(&root)?.0.keys().filter(|path| *path != Path::new(".gitignore")) {
            fs::remove_file(root.join(path))?;
        }
        for number in 0..40 + random.below(40) {
            // Some names are directories in the other state.
            let directory = format!("d{}", random.below(6));
            let name = match (number % 7, state) {
                (0, 0) => format!("turn{number}"),
                (0, _) => format!("turn{number}/inner"),
                _ => format!("{directory}/f{}", random.below(60)),
            };
            let path = root.join(name);
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                fs::remove_dir_all(&path)?;
            }
            fs::create_dir_all(path.parent().context("it is beneath the root")?)?;
            if random.chance(10) && path.symlink_metadata().is_err() {
                symlink(format!("../target{number}"), &path)?;
            } else if path.symlink_metadata().is_err() {
                let length = if random.chance(10) { 200_000 } else { random.below(6_000) };
                fs::write(&path, format!("state {state} file {number}\n").repeat(length / 16 + 1))?;
                let mode = if random.chance(20) { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
            }
        }
        fs::create_dir_all(root.join("shared"))?;
        fs::write(root.join(THEIRS), format!("notes of state {state}\n"))?;
        Ok(())
    }

    /// Writes what somebody else has to say, as an editor does it. Returns what.
    pub(super) fn write_theirs(&self, number: u64) -> Result<String> {
        let text = format!("what I wrote {number} {}\n", self.seed);
        let path = self.root().join(THEIRS);
        let temporary = self.folder.path().join("edited");
        fs::write(&temporary, &text)?;
        // The directory may be on its way from one state to the other.
        fs::create_dir_all(path.parent().context("it is beneath the root")?)?;
        fs::rename(temporary, path)?;
        Ok(text)
    }

    /// Writes what somebody else puts where a killed child was clearing.
    pub(super) fn write_late(&self) -> Result<PathBuf> {
        // The clock of a file system is slow, and what is no later than the restore is none of this.
        super::super::pause(LATE);
        let path = self.root().join(JUNK).join("0/late");
        fs::create_dir_all(path.parent().context("it is beneath the root")?)?;
        fs::write(&path, "put here since")?;
        Ok(path)
    }

    /// Removes all of that.
    pub(super) fn clear_junk(&self) -> Result<()> {
        match fs::remove_dir_all(self.root().join(JUNK)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Looks at a directory: what snapshots hold, and what they do not, to the inode.
pub fn look(root: &Path) -> Result<(Tree, Tree)> {
    let (mut covered, mut foreign) = (Tree::new(), Tree::new());
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            let name = path.strip_prefix(root)?.to_owned();
            let metadata = path.symlink_metadata()?;
            let is_foreign = name.starts_with(".git") || name.starts_with("build");
            if metadata.is_dir() {
                open.push(path);
            } else if is_foreign || !metadata.is_file() && !metadata.is_symlink() {
                let look = (metadata.ino(), metadata.mode(), metadata.mtime(), metadata.ctime_nsec(), metadata.len());
                foreign.insert(name, format!("{look:?}"));
            } else if metadata.is_symlink() {
                covered.insert(name, format!("link {:?}", fs::read_link(&path)?));
            } else {
                let is_executable = metadata.mode() & 0o100 != 0;
                covered.insert(name, format!("{is_executable} {}", String::from_utf8_lossy(&fs::read(&path)?)));
            }
        }
    }
    Ok((covered, foreign))
}
