//! The store of a directory's snapshots: a git repository of its own, far from the directory, that no git program has to
//! touch. One process at a time changes it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use gix_hash::ObjectId;
use gix_object::Kind;
use hashbrown::HashSet;

use crate::beside::Beside;
use crate::content::Reader;
use crate::error::SnapshotError;
use crate::known::{Known, Update, path_of};
use crate::objects::Objects;
use crate::pack::{Finished, HASH, Pack};
use crate::tree::{Change, Entries, Trees};
use crate::vault::Vault;
use crate::walk::{Ground, Limits, Uncovered, Walked, walk};

/// Takes snapshots of a directory.
pub struct Snapshots {
    vault: Vault,
    root: PathBuf,
    directory: File,
    /// Directories that are left out, ours among them: their paths beneath the root.
    apart: Vec<PathBuf>,
    limits: Limits,
}

/// What a snapshot is called and stands on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// What it is called.
    pub label: String,
    /// The snapshots before it.
    pub parents: Vec<SnapshotId>,
}

/// The name of a snapshot: that of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SnapshotId(pub(crate) ObjectId);

impl std::fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A snapshot that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its name.
    pub id: SnapshotId,
    /// How many files it holds.
    pub files: usize,
    /// What is in the directory and not in it.
    pub uncovered: Vec<Uncovered>,
    /// Ignore files that were not heeded, or not every line of them.
    pub unheeded: Vec<Uncovered>,
}

/// A snapshot that is as good as a new one when nothing changed.
struct Earlier {
    id: SnapshotId,
    directory: ObjectId,
    /// What is stored of it.
    there: Vec<u8>,
}

/// What a directory is now.
pub(crate) struct State {
    pub(crate) files: usize,
    update: Update,
    pub(crate) root: ObjectId,
    /// Content that is not stored yet.
    pub(crate) packs: Vec<Finished>,
    pub(crate) uncovered: Vec<Uncovered>,
    pub(crate) unheeded: Vec<Uncovered>,
    pub(crate) beside: Beside,
}

impl Snapshots {
    /// Opens the store of a directory, which is made if need be. `apart` is left out of snapshots.
    pub fn open(store: &Path, root: &Path, apart: &[PathBuf]) -> Result<Self, SnapshotError> {
        let snapshots = Self::with(Vault::make, store, root, apart)?;
        snapshots.vault.note_directory(&snapshots.root)?;
        Ok(snapshots)
    }

    /// The same, with a vault that is opened in some way.
    pub(crate) fn with(
        open: impl FnOnce(&Path) -> Result<Vault, SnapshotError>,
        store: &Path,
        root: &Path,
        apart: &[PathBuf],
    ) -> Result<Self, SnapshotError> {
        let root = Self::root_of(root)?;
        let directory = File::open(&root).map_err(SnapshotError::io("open", &root))?;
        let store = resolve(store);
        if root.starts_with(&store) {
            return Err(SnapshotError::Refused { path: root, reason: "snapshots are kept in it" });
        }
        let vault = open(&store)?;
        let apart = apart.iter().map(|path| resolve(path)).chain([store]);
        let apart = apart.filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_owned())).collect();
        Ok(Self { vault, root, directory, apart, limits: Limits::default() })
    }

    /// Sets what is kept at most.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the one path of a directory that snapshots are taken of.
    pub fn root_of(path: &Path) -> Result<PathBuf, SnapshotError> {
        let refused = |reason| SnapshotError::Refused { path: path.to_owned(), reason };
        let root = path.canonicalize().map_err(SnapshotError::io("find", path))?;
        if root.parent().is_none() {
            return Err(refused("it is the root of everything"));
        }
        // Whoever works in the home directory, or above it, does not want all of it kept.
        match std::env::home_dir().and_then(|home| home.canonicalize().ok()) {
            Some(home) if home == root => Err(refused("it is a home directory")),
            Some(home) if home.starts_with(&root) => Err(refused("a home directory is in it")),
            _ => Ok(root),
        }
    }

    /// Takes a snapshot. A restore that was interrupted is ended first.
    pub fn take(&mut self, about: &About) -> Result<Taken, SnapshotError> {
        self.take_unless(about, None)
    }

    /// Takes a snapshot, unless the directory is as it was in an earlier one, which is returned then.
    pub fn take_since(&mut self, earlier: SnapshotId, about: &About) -> Result<Taken, SnapshotError> {
        let there = self.vault.commit(earlier)?;
        let directory = self.vault.directory_of(earlier)?;
        self.take_unless(about, Some(Earlier { id: earlier, directory, there }))
    }

    fn take_unless(&mut self, about: &About, earlier: Option<Earlier>) -> Result<Taken, SnapshotError> {
        let _lock = self.vault.begin()?;
        self.end_restore()?;
        self.vault.objects().consolidate()?;
        if self.vault.objects().size() > self.limits.store {
            return Err(SnapshotError::StoreFull { bytes: self.limits.store });
        }
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let known = self.vault.known();
        let mut walked = walk(&self.ground(), &known)?;
        let mut pack = Pack::default();
        let is_earlier = |root: ObjectId, beside: &Beside| match &earlier {
            Some(one) if one.directory == root => Ok(beside.is_of(&one.there)?.then_some(one.id)),
            _ => Ok(None),
        };
        if let Some(root) = known.root.filter(|_| walked.is_same()) {
            let (files, uncovered) = (walked.known, walked.uncovered.clone());
            let (unheeded, beside) = (std::mem::take(&mut walked.unheeded), walked.beside());
            if let Some(id) = is_earlier(root, &beside)? {
                return Ok(Taken { id, files, uncovered, unheeded });
            }
            let id = self.commit(&mut pack, (root, Some(&beside)), about, moment.as_secs())?;
            self.vault.objects().add(if pack.is_empty() { Vec::new() } else { vec![pack.finish()?] })?;
            return Ok(Taken { id, files, uncovered, unheeded });
        }
        let state = self.take_in(&mut pack, &known, walked)?;
        let id = match is_earlier(state.root, &state.beside)? {
            Some(id) => id,
            None => self.commit(&mut pack, (state.root, Some(&state.beside)), about, moment.as_secs())?,
        };
        let mut packs = state.packs;
        if !pack.is_empty() {
            packs.push(pack.finish()?);
        }
        self.vault.objects().add(packs)?;
        let State { files, update, root, uncovered, unheeded, .. } = state;
        let moment = i64::try_from(moment.as_nanos()).unwrap_or(i64::MAX);
        let kept = known.keep(self.vault.path(), update, &root, moment);
        kept.map_err(SnapshotError::io("write to", self.vault.path()))?;
        Ok(Taken { id, files, uncovered, unheeded })
    }

    /// Returns what the directory is now. Nothing is kept.
    pub(crate) fn state(&self, pack: &mut Pack) -> Result<State, SnapshotError> {
        self.vault.objects().refresh()?;
        let known = self.vault.known();
        let walked = walk(&self.ground(), &known)?;
        self.take_in(pack, &known, walked)
    }

    fn ground(&self) -> Ground<'_> {
        Ground { root: &self.directory, path: &self.root, apart: &self.apart, limits: self.limits }
    }

    /// Reads what changed and packs it.
    fn take_in(&self, pack: &mut Pack, known: &Known, mut walked: Walked) -> Result<State, SnapshotError> {
        let reader = Reader { root: &self.directory, objects: self.vault.objects(), limit: self.limits.file };
        let contents = reader.read(&walked.changed)?;
        let mut update = Update { gone: known.others(&walked.same), there: Vec::with_capacity(contents.files.len()) };
        let mut changes: Vec<Change> = update.gone.iter().map(|path| (path.clone(), None)).collect();
        for (number, kept) in contents.files {
            let Some((path, _)) = walked.changed.get_mut(number) else { continue };
            changes.push((path.clone(), Some((kept.kind, kept.id))));
            update.there.push((std::mem::take(path), kept));
        }
        for (number, reason) in contents.unread {
            let Some((path, _)) = walked.changed.get(number) else { continue };
            walked.uncovered.push(Uncovered { path: path_of(path).to_owned(), reason });
        }
        // Of one path, what is gone comes before what is there.
        changes.sort_by(|left, right| (&left.0, left.1.is_some()).cmp(&(&right.0, right.1.is_some())));
        let mut trees = Trees { objects: self.vault.objects(), pack, new: HashSet::new() };
        let root = trees.apply(known.root, &changes, 0)?;
        let root = root.map_or_else(|| trees.write(Entries::new()), Ok)?;
        walked.uncovered.sort();
        let files = walked.known + update.there.len();
        let (uncovered, unheeded) = (walked.uncovered.clone(), std::mem::take(&mut walked.unheeded));
        let beside = walked.beside();
        Ok(State { files, update, root, packs: contents.packs, uncovered, unheeded, beside })
    }

    pub(crate) fn commit(
        &self,
        pack: &mut Pack,
        (tree, beside): (ObjectId, Option<&Beside>),
        about: &About,
        seconds: u64,
    ) -> Result<SnapshotId, SnapshotError> {
        let mut text = format!("tree {tree}\n");
        about.parents.iter().for_each(|parent| text.push_str(&format!("parent {parent}\n")));
        let who = format!("ramus <ramus@localhost> {seconds} +0000");
        text.push_str(&format!("author {who}\ncommitter {who}\n"));
        let beside = beside.map(|beside| beside.keep(&self.vault, pack)).transpose()?;
        text.push_str(&format!("{}\n{}\n", beside.unwrap_or_default(), about.label));
        let id = gix_object::compute_hash(HASH, Kind::Commit, text.as_bytes());
        let id = id.map_err(|cause| SnapshotError::Hash { reason: cause.to_string() })?;
        if !self.vault.objects().has(&id) {
            pack.add(Kind::Commit, id, text.as_bytes())?;
        }
        Ok(SnapshotId(id))
    }

    /// Returns what is kept of the directory.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    pub(crate) fn objects(&self) -> &Objects {
        self.vault.objects()
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Directories that are left out, ours among them: their paths beneath the root.
    pub(crate) fn apart(&self) -> &[PathBuf] {
        &self.apart
    }

    pub(crate) fn directory(&self) -> &File {
        &self.directory
    }
}

/// The one path of something that may not be there yet.
fn resolve(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, real)) = found else { return path.to_owned() };
    path.strip_prefix(above).map_or_else(|_| path.to_owned(), |rest| real.join(rest))
}
