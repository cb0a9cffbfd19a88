//! Snapshots that go from one home to another: everything they hold, object by object, each after what it refers to.
//!
//! What comes in is hostile: an object is what its name says, a directory has only names that a snapshot could have given
//! it, and nothing refers to what is not there, or it is refused. A vault holds no snapshot that cannot be read.

use std::path::Path;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use gix_object::{Kind, TreeRef};
use hashbrown::{HashMap, HashSet};

use crate::error::SnapshotError;
use crate::name::is_git;
use crate::pack::{HASH, Pack};
use crate::store::SnapshotId;
use crate::tree;
use crate::vault::Vault;

/// A pack is closed when it has so many bytes, which bounds the memory.
const PACK_SIZE: usize = 48 << 20;

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Its name, in hexadecimal digits.
    pub name: String,
    /// What it is: `blob`, `tree` or `commit`.
    pub kind: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Vault {
    /// Hands out what snapshots hold, except for objects that are in `known` already, which it adds to.
    pub fn carry_out<E: From<SnapshotError>>(
        &self,
        snapshots: &[SnapshotId],
        known: &mut std::collections::HashSet<String>,
        take: &mut dyn FnMut(Carried) -> Result<(), E>,
    ) -> Result<(), E> {
        for snapshot in snapshots {
            let directory = self.directory_of(*snapshot)?;
            let mut open = vec![(directory, Kind::Tree, false)];
            while let Some((id, kind, is_entered)) = open.pop() {
                if known.contains(&id.to_string()) {
                    continue;
                }
                if kind == Kind::Tree && !is_entered {
                    open.push((id, kind, true));
                    let inner = tree::read(self.objects(), &id)?.into_values();
                    let kind = |kind| if kind == EntryKind::Tree { Kind::Tree } else { Kind::Blob };
                    open.extend(inner.map(|(entry, id)| (id, kind(entry), false)));
                    continue;
                }
                known.insert(id.to_string());
                take(self.carried(id, kind)?)?;
            }
            if known.insert(snapshot.to_string()) {
                take(self.carried(snapshot.0, Kind::Commit)?)?;
            }
        }
        Ok(())
    }

    fn carried(&self, id: ObjectId, kind: Kind) -> Result<Carried, SnapshotError> {
        let mut bytes = Vec::new();
        self.objects().read(&id, kind, &mut bytes)?;
        Ok(Carried { name: id.to_string(), kind: kind.to_string(), bytes })
    }
}

/// A vault that takes objects in. Nobody removes anything from it meanwhile.
pub struct Carrier {
    vault: Vault,
    pack: Pack,
    /// What came and is not in the vault yet, and what it is.
    pending: HashMap<ObjectId, Kind>,
    snapshots: HashSet<ObjectId>,
}

impl Carrier {
    /// Opens the vault of a directory, which need not be there.
    pub fn open(vault: &Path, directory: &Path) -> Result<Self, SnapshotError> {
        let vault = Vault::make(vault)?;
        vault.note_directory(directory)?;
        Ok(Self { vault, pack: Pack::default(), pending: HashMap::new(), snapshots: HashSet::new() })
    }

    /// Takes an object in, if it is sound.
    pub fn take(&mut self, object: &Carried) -> Result<(), SnapshotError> {
        let refused = |reason: &str| SnapshotError::Unsound { name: object.name.clone(), reason: reason.to_owned() };
        let kind = [Kind::Blob, Kind::Tree, Kind::Commit].into_iter().find(|kind| kind.to_string() == object.kind);
        let kind = kind.ok_or_else(|| refused("it is of no kind that a snapshot has"))?;
        let id = gix_object::compute_hash(HASH, kind, &object.bytes);
        let id = id.map_err(|cause| SnapshotError::Hash { reason: cause.to_string() })?;
        if ObjectId::from_hex(object.name.as_bytes()).ok() != Some(id) {
            return Err(refused("its content is not what its name says"));
        }
        match kind {
            Kind::Tree => self.check_directory(&object.bytes, &refused)?,
            Kind::Commit => self.check_snapshot(&object.bytes, &refused)?,
            _ => {}
        }
        if kind == Kind::Commit {
            self.snapshots.insert(id);
        }
        if !self.vault.objects().has(&id) && self.pending.insert(id, kind).is_none() {
            self.pack.add(kind, id, &object.bytes)?;
        }
        if self.pack.len() > PACK_SIZE { self.store() } else { Ok(()) }
    }

    /// Stores what came, durably. Returns how many snapshots there were.
    pub fn finish(&mut self) -> Result<usize, SnapshotError> {
        self.store()?;
        Ok(self.snapshots.len())
    }

    fn store(&mut self) -> Result<(), SnapshotError> {
        if self.pack.is_empty() {
            return Ok(());
        }
        let _lock = self.vault.begin()?;
        let pack = std::mem::take(&mut self.pack).finish()?;
        self.vault.objects().add(vec![pack])?;
        self.pending.clear();
        Ok(())
    }

    fn check_directory(&self, bytes: &[u8], refused: &dyn Fn(&str) -> SnapshotError) -> Result<(), SnapshotError> {
        let tree = TreeRef::from_bytes(bytes, HASH).map_err(|_| refused("it is no directory"))?;
        for entry in &tree.entries {
            let name: &[u8] = entry.filename;
            let is_bad = name.is_empty() || name.contains(&b'/') || name.contains(&0) || matches!(name, b"." | b"..");
            if is_bad || is_git(name) {
                return Err(refused("it holds a name that no snapshot has"));
            }
            let wanted = match entry.mode.kind() {
                EntryKind::Tree => Kind::Tree,
                EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => Kind::Blob,
                EntryKind::Commit => return Err(refused("it holds another repository")),
            };
            if !self.holds(&entry.oid.to_owned(), wanted) {
                return Err(refused("what it holds did not come before it"));
            }
        }
        let is_sorted = tree.entries.is_sorted();
        let names: HashSet<&[u8]> = tree.entries.iter().map(|entry| &**entry.filename).collect();
        if !is_sorted || names.len() != tree.entries.len() {
            return Err(refused("it is out of order"));
        }
        Ok(())
    }

    fn check_snapshot(&self, bytes: &[u8], refused: &dyn Fn(&str) -> SnapshotError) -> Result<(), SnapshotError> {
        let tree = bytes.strip_prefix(b"tree ").and_then(|rest| rest.split_at_checked(HASH.len_in_hex()));
        let tree = tree.filter(|(_, rest)| rest.starts_with(b"\n")).and_then(|(hex, _)| ObjectId::from_hex(hex).ok());
        let tree = tree.ok_or_else(|| refused("it names no directory"))?;
        if self.holds(&tree, Kind::Tree) { Ok(()) } else { Err(refused("what it holds did not come before it")) }
    }

    fn holds(&self, id: &ObjectId, kind: Kind) -> bool {
        match self.pending.get(id) {
            Some(found) => *found == kind,
            None => self.vault.objects().kind(id) == Some(kind),
        }
    }
}
