//! The oracle: what must be true of a directory and of the store of its snapshots, whoever was killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ramus_snapshot::{About, SnapshotId, Snapshots};
use rustix::fs::FlockOperation;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::scene::{JUNK, Scene, THEIRS, Tree, look};

/// How long a lock may outlive who held it.
const LOCKED: Duration = Duration::from_secs(20);

/// What temporary files of a restore are called.
const TEMPORARY: &str = ".ramus-restore-";

/// The files of a snapshot: the hash of each.
type Files = BTreeMap<PathBuf, String>;

pub(super) struct Judge<'a> {
    scene: &'a Scene,
    states: [Tree; 2],
    foreign: Tree,
    targets: [SnapshotId; 2],
    files: [Files; 2],
    /// Snapshots that were told of and not collected.
    ids: BTreeSet<SnapshotId>,
}

impl<'a> Judge<'a> {
    /// Takes snapshots of both states.
    pub(super) fn new(scene: &'a Scene) -> Result<Self> {
        let mut snapshots = Snapshots::open(&scene.store(), &scene.root(), &[])?;
        let mut seen = Vec::new();
        for state in 0..2 {
            scene.enter(state)?;
            let (covered, foreign) = look(&scene.root())?;
            let about = About { label: format!("state {state}"), parents: Vec::new() };
            let id = snapshots.take(&about)?.id;
            seen.push((covered, foreign, id, files(&snapshots, id)?));
        }
        let [first, second]: [_; 2] = seen.try_into().ok().context("there are two states")?;
        let ids = [first.2, second.2].into();
        Ok(Self {
            scene,
            states: [first.0, second.0],
            foreign: second.1,
            targets: [first.2, second.2],
            files: [first.3, second.3],
            ids,
        })
    }

    pub(super) fn targets(&self) -> [SnapshotId; 2] {
        self.targets
    }

    /// How many snapshots there must be.
    pub(super) fn told(&self) -> usize {
        self.ids.len()
    }

    /// Takes in what a child said.
    pub(super) fn hear(&mut self, said: &[Value]) -> Result<()> {
        for line in said {
            if let Some(id) = line.get("taken").and_then(Value::as_str) {
                self.ids.insert(SnapshotId::parse(id)?);
            }
            if let Some(keep) = line.get("collecting").and_then(Value::as_array) {
                let keep = keep.iter().filter_map(Value::as_str).map(SnapshotId::parse);
                self.ids = keep.collect::<Result<_, _>>()?;
            }
        }
        Ok(())
    }

    /// Takes in what a child said that nobody can count on: snapshots that were about to go may be gone.
    pub(super) fn forget(&mut self, said: &[Value]) -> Result<()> {
        for keep in said.iter().filter_map(|line| line.get("collecting").and_then(Value::as_array)) {
            let keep = keep.iter().filter_map(Value::as_str).map(SnapshotId::parse);
            let keep: BTreeSet<SnapshotId> = keep.collect::<Result<_, _>>()?;
            self.ids.retain(|id| keep.contains(id));
        }
        Ok(())
    }

    /// Right after the kill no file is half of anything, and nobody holds the lock.
    pub(super) fn half_way(&self) -> Result<()> {
        let lock = File::open(self.scene.store().join("lock"))?;
        let free = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive);
        free.with_context(|| format!("the lock of a killed process, for less than {LOCKED:?}"))?;
        let (covered, _) = look(&self.scene.root())?;
        for (path, content) in covered {
            let is_ours = path.to_string_lossy().contains(TEMPORARY) || is_theirs(&path) || is_junk(&path);
            let is_whole = self.states.iter().any(|state| state.get(&path) == Some(&content));
            ensure!(is_ours || is_whole, "{} is neither as it was nor as it shall be", path.display());
        }
        Ok(())
    }

    /// The next start. Returns whether there was a restore to end.
    pub(super) fn recover(&mut self) -> Result<bool> {
        let store = self.scene.store();
        // A journal whose last line is there was begun.
        let journal = || fs::read_to_string(store.join("restore")).unwrap_or_default();
        let is_torn = journal().lines().last().is_some_and(|line| line.starts_with("end ") && line.len() == 12);
        let mut snapshots = Snapshots::open(&store, &self.scene.root(), &[])?;
        let recovered = snapshots.recover()?;
        ensure!(recovered.is_some() == is_torn, "a restore was interrupted, and nobody ended it");
        let about = About { label: "afterwards".into(), parents: Vec::new() };
        self.ids.insert(snapshots.take(&about)?.id);
        ensure!(journal().is_empty() || recovered.is_none(), "the journal is still there");
        for entry in fs::read_dir(store.join("objects/pack"))? {
            let name = entry?.file_name();
            ensure!(!name.to_string_lossy().ends_with(".new"), "{} is left in the store", name.display());
        }
        Ok(is_torn)
    }

    /// What the child was clearing is gone when that was begun, but for what came since. Nothing of it is left then.
    pub(super) fn junk(&self, is_torn: bool) -> Result<()> {
        let (covered, _) = look(&self.scene.root())?;
        let made = covered.keys().find(|path| is_junk(path) && path.ends_with("made"));
        ensure!(!is_torn || made.is_none(), "{made:?} was to be cleared");
        self.scene.clear_junk()
    }

    /// The directory is in one of its states, and what is nobody's business is as it was.
    pub(super) fn states(&self, theirs: Option<&str>) -> Result<()> {
        let (covered, foreign) = look(&self.scene.root())?;
        ensure!(foreign == self.foreign, "what snapshots do not hold was touched");
        let left = covered.keys().find(|path| path.to_string_lossy().contains(TEMPORARY));
        ensure!(left.is_none(), "{left:?} was left behind");
        let without = |tree: &Tree| -> Tree {
            tree.iter().filter(|(path, _)| !is_theirs(path)).map(|(path, text)| (path.clone(), text.clone())).collect()
        };
        let now = without(&covered);
        if self.states.iter().any(|state| without(state) == now) {
            return Ok(());
        }
        let differs = |state: &Tree| without(state).iter().filter(|(path, text)| now.get(*path) != Some(text)).count();
        bail!("{:?} files differ from the states, {theirs:?}", self.states.each_ref().map(differs))
    }

    /// Every snapshot that was told of can be read and is one of the states; what somebody wrote is somewhere.
    pub(super) fn snapshots(&self, theirs: Option<&str>) -> Result<()> {
        let snapshots = Snapshots::open(&self.scene.store(), &self.scene.root(), &[])?;
        let mut found = false;
        let wanted = theirs.map(|text| hex(text.as_bytes()));
        for id in &self.ids {
            let mut files = files(&snapshots, *id).with_context(|| format!("snapshot {id}"))?;
            files.retain(|path, _| !is_junk(path));
            let theirs: Vec<_> = files.keys().filter(|path| is_theirs(path)).cloned().collect();
            for path in theirs {
                found |= files.remove(&path) == wanted;
            }
            let is_state =
                self.files.iter().any(|state| state.iter().filter(|(path, _)| !is_theirs(path)).eq(files.iter()));
            ensure!(is_state, "snapshot {id} is neither state");
        }
        ensure!(found || wanted.is_none(), "what somebody else wrote is nowhere");
        Ok(())
    }

    /// Git's own judgement, where there is git.
    pub(super) fn fsck(&self) -> Result<()> {
        let scratch = self.scene.scratch("git");
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
            command.env("GIT_DIR", &scratch).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &scratch);
            command
        };
        if git(&["init", "-q", "--bare"]).output().is_err() {
            return Ok(());
        }
        let mut fsck = git(&["fsck", "--full", "--strict", "--no-dangling"]);
        let output = fsck.env("GIT_OBJECT_DIRECTORY", self.scene.store().join("objects")).output()?;
        ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}

/// The file that somebody else writes to, under its own name or the one it was put aside under.
fn is_theirs(path: &Path) -> bool {
    path.to_string_lossy().starts_with(THEIRS)
}

/// What a child fills and clears.
fn is_junk(path: &Path) -> bool {
    path.starts_with(JUNK)
}

fn files(snapshots: &Snapshots, id: SnapshotId) -> Result<Files> {
    let files = snapshots.files(id)?.into_iter();
    Ok(files.map(|file| (file.path, file.sha256)).collect())
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
