//! What a snapshot holds, in another place: as files in a directory, or as objects in another vault.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_object::tree::EntryKind;

use crate::apply::Applier;
use crate::compare::compare;
use crate::difference::Names;
use crate::error::SnapshotError;
use crate::pack::{Finished, Pack};
use crate::plan::{Step, is_writable};
use crate::store::{SnapshotId, Snapshots};
use crate::tree;
use crate::vault::Vault;

/// A pack is closed when it has so many bytes, which bounds the memory.
const PACK_SIZE: usize = 48 << 20;

impl Snapshots {
    /// Writes the files of a snapshot to a directory that holds nothing. Returns how many there are.
    pub fn copy_to(&self, id: SnapshotId, directory: &Path) -> Result<usize, SnapshotError> {
        let root = File::open(directory).map_err(SnapshotError::io("open", directory))?;
        let all = compare(self.objects(), None, Some(self.vault().directory_of(id)?))?;
        let steps: Vec<Step> = all
            .into_iter()
            .filter(|one| is_writable(&one.path))
            .map(|one| Step::new(one.path, None, one.new))
            .collect();
        let (objects, outcomes) = (self.objects(), BTreeMap::new());
        let mut applier = Applier { root: &root, objects, outcomes, missing: None, begun: None };
        applier.apply(&steps)?;
        applier.missing.map_or(Ok(steps.len()), Err)
    }

    /// Takes in a snapshot of another vault, with all that it holds and this one does not.
    pub fn adopt(&mut self, other: &Vault, id: SnapshotId) -> Result<(), SnapshotError> {
        let _lock = self.vault().begin()?;
        let mut adopting =
            Adopting { from: other, to: self.vault(), pack: Pack::default(), done: Vec::new(), names: Names::new() };
        adopting.object(id.0, Kind::Commit)?;
        if let Some(beside) = other.name_beside(id)? {
            adopting.object(beside, Kind::Blob)?;
        }
        let mut open = vec![other.directory_of(id)?];
        while let Some(directory) = open.pop() {
            if !adopting.object(directory, Kind::Tree)? {
                continue;
            }
            for (kind, id) in tree::read(other.objects(), &directory)?.into_values() {
                match kind {
                    EntryKind::Tree => open.push(id),
                    _ => drop(adopting.object(id, Kind::Blob)?),
                }
            }
        }
        let packs = adopting.finish()?;
        self.objects().add(packs)
    }
}

struct Adopting<'a> {
    from: &'a Vault,
    to: &'a Vault,
    pack: Pack,
    done: Vec<Finished>,
    names: Names,
}

impl Adopting<'_> {
    /// Copies an object; says whether it was not there. What is in a directory that is there is there too.
    fn object(&mut self, id: ObjectId, kind: Kind) -> Result<bool, SnapshotError> {
        if self.to.objects().has(&id) || !self.names.insert(id) {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        self.from.objects().read(&id, kind, &mut bytes)?;
        self.pack.add(kind, id, &bytes)?;
        if self.pack.len() > PACK_SIZE {
            self.done.push(std::mem::take(&mut self.pack).finish()?);
        }
        Ok(true)
    }

    fn finish(mut self) -> Result<Vec<Finished>, SnapshotError> {
        if !self.pack.is_empty() {
            self.done.push(self.pack.finish()?);
        }
        Ok(self.done)
    }
}
