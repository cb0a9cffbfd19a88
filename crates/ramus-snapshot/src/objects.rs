//! The objects of a store: content, directories and snapshots in packs, named by their hash.
//!
//! A pack is there whole or not at all: it is written under another name, made durable, and renamed. Nothing is ever
//! changed in place.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_pack::Bundle;
use gix_zlib::Inflate;

use crate::error::SnapshotError;
use crate::pack::{Finished, HASH};

/// All packs of a store.
pub(crate) struct Objects {
    directory: PathBuf,
    packs: Vec<Bundle>,
}

impl Objects {
    /// Opens the packs in a directory, which is made.
    pub(crate) fn open(directory: &Path) -> Result<Self, SnapshotError> {
        fs::create_dir_all(directory).map_err(SnapshotError::io("make", directory))?;
        let mut packs = Vec::new();
        for entry in fs::read_dir(directory).map_err(SnapshotError::io("read", directory))? {
            let path = entry.map_err(SnapshotError::io("read", directory))?.path();
            if path.extension().is_some_and(|extension| extension == "idx") {
                packs.push(bundle(&path)?);
            }
        }
        Ok(Self { directory: directory.to_owned(), packs })
    }

    /// Says whether an object is there.
    pub(crate) fn has(&self, id: &ObjectId) -> bool {
        self.packs.iter().rev().any(|pack| pack.index.lookup(id).is_some())
    }

    /// Reads an object of a kind.
    pub(crate) fn read(&self, id: &ObjectId, kind: Kind, out: &mut Vec<u8>) -> Result<(), SnapshotError> {
        let damaged = |reason: String| SnapshotError::Damaged { reason };
        let mut inflate = Inflate::default();
        for pack in self.packs.iter().rev() {
            let found = pack.find(id, out, &mut inflate, &mut gix_pack::cache::Never);
            if let Some((data, _)) = found.map_err(|cause| damaged(format!("object {id}: {cause}")))? {
                let found = data.kind;
                return if found == kind { Ok(()) } else { Err(damaged(format!("{id} is a {found}, not a {kind}"))) };
            }
        }
        Err(damaged(format!("object {id} is missing")))
    }

    /// Writes packs durably and takes them in.
    pub(crate) fn add(&mut self, packs: Vec<Finished>) -> Result<(), SnapshotError> {
        if packs.is_empty() {
            return Ok(());
        }
        for pack in &packs {
            // The index comes last: without it a pack does not count.
            self.write(&pack.name, "pack", &pack.pack)?;
            self.write(&pack.name, "idx", &pack.index)?;
        }
        File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(SnapshotError::io("make durable", &self.directory))?;
        for pack in packs {
            self.packs.push(bundle(&self.directory.join(pack.name).with_extension("idx"))?);
        }
        Ok(())
    }

    fn write(&self, name: &str, extension: &str, bytes: &[u8]) -> Result<(), SnapshotError> {
        let path = self.directory.join(name).with_extension(extension);
        let temporary = self.directory.join(format!("{name}.{}.{extension}.new", std::process::id()));
        let write = || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        write().map_err(SnapshotError::io("write", &path))
    }
}

fn bundle(index: &Path) -> Result<Bundle, SnapshotError> {
    Bundle::at(index, HASH).map_err(|cause| SnapshotError::Damaged { reason: format!("{}: {cause}", index.display()) })
}
