//! Directories as objects: changed paths in, the name of the new directory out. What did not change is not looked at.

use std::collections::BTreeMap;

use gix_hash::ObjectId;
use gix_object::tree::{Entry, EntryKind};
use gix_object::{Kind, Tree, TreeRef, WriteTo as _};
use hashbrown::HashSet;

use crate::error::SnapshotError;
use crate::objects::Objects;
use crate::pack::{HASH, Pack};

/// What became of a path: what it holds now, none when it is gone.
pub(crate) type Change = (Vec<u8>, Option<(EntryKind, ObjectId)>);

/// Where directories are written to.
pub(crate) struct Trees<'a> {
    pub(crate) objects: &'a Objects,
    pub(crate) pack: &'a mut Pack,
    /// What is in the pack.
    pub(crate) new: HashSet<ObjectId>,
}

impl Trees<'_> {
    /// Applies changes, which are sorted by path, to a directory. None: it is empty, and was none.
    pub(crate) fn apply(
        &mut self,
        old: Option<ObjectId>,
        changes: &[Change],
        depth: usize,
    ) -> Result<Option<ObjectId>, SnapshotError> {
        let mut entries = match old {
            Some(id) => read(self.objects, &id)?,
            None => BTreeMap::new(),
        };
        let mut rest = changes;
        while let Some(((path, change), behind)) = rest.split_first() {
            let tail = path.get(depth..).unwrap_or_default();
            let Some(end) = tail.iter().position(|byte| *byte == b'/') else {
                rest = behind;
                self.set(&mut entries, tail, *change);
                continue;
            };
            let name = tail.get(..end).unwrap_or_default();
            let prefix = path.get(..depth + end + 1).unwrap_or_default();
            let count = rest.iter().take_while(|(path, _)| path.starts_with(prefix)).count();
            let (group, behind) = rest.split_at(count);
            rest = behind;
            let old = entries.get(name).filter(|(kind, _)| *kind == EntryKind::Tree).map(|(_, id)| *id);
            match self.apply(old, group, depth + end + 1)? {
                Some(id) => drop(entries.insert(name.to_vec(), (EntryKind::Tree, id))),
                // A file may have the name now.
                None if old.is_some() => drop(entries.remove(name)),
                None => {}
            }
        }
        if entries.is_empty() {
            return Ok(None);
        }
        self.write(entries).map(Some)
    }

    fn set(&self, entries: &mut Entries, name: &[u8], change: Option<(EntryKind, ObjectId)>) {
        match change {
            Some(content) => drop(entries.insert(name.to_vec(), content)),
            // What is gone as a file may be there as a directory.
            None if entries.get(name).is_some_and(|(kind, _)| *kind != EntryKind::Tree) => drop(entries.remove(name)),
            None => {}
        }
    }

    /// Stores a directory, unless it is there.
    pub(crate) fn write(&mut self, entries: Entries) -> Result<ObjectId, SnapshotError> {
        let entry = |(name, (kind, oid)): (Vec<u8>, (EntryKind, ObjectId))| Entry {
            mode: kind.into(),
            filename: name.into(),
            oid,
        };
        let mut tree = Tree { entries: entries.into_iter().map(entry).collect() };
        tree.entries.sort_unstable();
        let mut bytes = Vec::new();
        let damaged = |reason: String| SnapshotError::Damaged { reason };
        tree.write_to(&mut bytes).map_err(|cause| damaged(cause.to_string()))?;
        let id = gix_object::compute_hash(HASH, Kind::Tree, &bytes).map_err(|cause| damaged(cause.to_string()))?;
        if !self.objects.has(&id) && self.new.insert(id) {
            self.pack.add(Kind::Tree, id, &bytes)?;
        }
        Ok(id)
    }
}

/// What a directory holds, by name.
pub(crate) type Entries = BTreeMap<Vec<u8>, (EntryKind, ObjectId)>;

/// Reads a directory.
pub(crate) fn read(objects: &Objects, id: &ObjectId) -> Result<Entries, SnapshotError> {
    let mut bytes = Vec::new();
    objects.read(id, Kind::Tree, &mut bytes)?;
    let damaged = |cause: gix_error::Error| SnapshotError::Damaged { reason: format!("directory {id}: {cause}") };
    let tree = TreeRef::from_bytes(&bytes, HASH).map_err(damaged)?;
    Ok(tree.entries.iter().map(|entry| (entry.filename.to_vec(), (entry.mode.kind(), entry.oid.to_owned()))).collect())
}
