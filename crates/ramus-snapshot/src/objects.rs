//! The objects of a store: content, directories and snapshots in packs, named by their hash.
//!
//! A pack is there whole or not at all: it is written under another name, made durable, and renamed. Nothing is ever
//! changed in place, so whoever has a pack open can go on reading it after it was replaced.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_pack::Bundle;
use gix_pack::data::entry::Header;
use gix_zlib::Inflate;
use hashbrown::HashSet;

use crate::error::SnapshotError;
use crate::pack::{Finished, HASH};

/// How often the packs are listed while others replace them.
const TRIES: usize = 16;

/// All packs of a store.
pub(crate) struct Objects {
    directory: PathBuf,
    packs: RwLock<Vec<Arc<Bundle>>>,
    /// Those of them that are not kept here.
    borrowed: RwLock<Vec<Arc<Bundle>>>,
}

impl Objects {
    /// Opens the packs in a directory.
    pub(crate) fn open(directory: &Path) -> Result<Self, SnapshotError> {
        let objects = Self { directory: directory.to_owned(), packs: RwLock::default(), borrowed: RwLock::default() };
        objects.refresh()?;
        Ok(objects)
    }

    /// Takes in packs that others wrote, and lets go of those that they removed.
    pub(crate) fn refresh(&self) -> Result<(), SnapshotError> {
        for _ in 0..TRIES {
            let mut packs = Vec::new();
            let mut is_whole = true;
            let known = self.packs();
            for index in self.indexes()? {
                let open = known.iter().find(|pack| pack.index.path() == index).map(Arc::clone);
                match open.map_or_else(|| bundle(&index).map(Arc::new), Ok) {
                    Ok(pack) => packs.push(pack),
                    // Somebody replaced it after it was listed.
                    Err(_) if !index.exists() => is_whole = false,
                    Err(error) => return Err(error),
                }
            }
            packs.extend(self.borrowed.read().unwrap_or_else(PoisonError::into_inner).iter().cloned());
            if is_whole {
                *self.packs.write().unwrap_or_else(PoisonError::into_inner) = packs;
                return Ok(());
            }
        }
        Err(SnapshotError::Damaged { reason: "its packs change all the time".into() })
    }

    /// Returns the packs that are open.
    pub(crate) fn packs(&self) -> Vec<Arc<Bundle>> {
        self.packs.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how many bytes all packs have.
    pub(crate) fn size(&self) -> u64 {
        let size = |pack: &Arc<Bundle>| pack.pack.data_len() as u64;
        self.packs.read().unwrap_or_else(PoisonError::into_inner).iter().map(size).sum()
    }

    /// Says whether an object is in an open pack.
    pub(crate) fn has(&self, id: &ObjectId) -> bool {
        let packs = self.packs.read().unwrap_or_else(PoisonError::into_inner);
        packs.iter().rev().any(|pack| pack.index.lookup(id).is_some())
    }

    /// Says what an object in an open pack is.
    pub(crate) fn kind(&self, id: &ObjectId) -> Option<Kind> {
        let packs = self.packs.read().unwrap_or_else(PoisonError::into_inner);
        packs.iter().rev().find_map(|pack| {
            let offset = pack.index.pack_offset_at_index(pack.index.lookup(id)?);
            match pack.pack.entry(offset).ok()?.header {
                Header::Commit => Some(Kind::Commit),
                Header::Blob => Some(Kind::Blob),
                // Only directories are written as differences.
                Header::Tree | Header::OfsDelta { .. } | Header::RefDelta { .. } => Some(Kind::Tree),
                Header::Tag => None,
            }
        })
    }

    /// Says whether an object is there, in a pack that somebody just wrote too.
    pub(crate) fn find(&self, id: &ObjectId) -> Result<bool, SnapshotError> {
        if self.has(id) {
            return Ok(true);
        }
        self.refresh()?;
        Ok(self.has(id))
    }

    /// Reads an object of a kind.
    pub(crate) fn read(&self, id: &ObjectId, kind: Kind, out: &mut Vec<u8>) -> Result<(), SnapshotError> {
        let found = match self.try_read(id, out)? {
            None => self.refresh().and_then(|()| self.try_read(id, out))?,
            found => found,
        };
        let damaged = |reason: String| Err(SnapshotError::Damaged { reason });
        match found {
            Some(found) if found == kind => Ok(()),
            Some(found) => damaged(format!("{id} is a {found}, not a {kind}")),
            None => damaged(format!("object {id} is missing")),
        }
    }

    fn try_read(&self, id: &ObjectId, out: &mut Vec<u8>) -> Result<Option<Kind>, SnapshotError> {
        let packs = self.packs.read().unwrap_or_else(PoisonError::into_inner);
        for pack in packs.iter().rev() {
            if let Some(kind) = read_from(pack, id, out)? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    /// Takes in packs that are not kept: they are written elsewhere, and can be removed there.
    pub(crate) fn borrow(&self, packs: Vec<Finished>, place: &Path) -> Result<(), SnapshotError> {
        for pack in packs {
            let index = place.join(&pack.name).with_extension("idx");
            for (path, bytes) in [(index.with_extension("pack"), &pack.pack), (index.clone(), &pack.index)] {
                let mut options = OpenOptions::new();
                let file = options.write(true).create_new(true).mode(0o600).open(&path);
                file.and_then(|mut file| file.write_all(bytes)).map_err(SnapshotError::io("write", &path))?;
            }
            let open = Arc::new(bundle(&index)?);
            self.borrowed.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&open));
            self.packs.write().unwrap_or_else(PoisonError::into_inner).push(open);
        }
        Ok(())
    }

    /// Writes packs durably and takes them in.
    pub(crate) fn add(&self, packs: Vec<Finished>) -> Result<(), SnapshotError> {
        if packs.is_empty() {
            return Ok(());
        }
        // All of it reaches the disk at the same time; the index comes last: without it a pack does not count.
        let files: Vec<(String, &[u8])> = packs
            .iter()
            .flat_map(|pack| {
                [(format!("{}.pack", pack.name), &*pack.pack), (format!("{}.idx", pack.name), &*pack.index)]
            })
            .collect();
        self.write(&files).map_err(SnapshotError::io("write to", &self.directory))?;
        let mut open = self.packs.write().unwrap_or_else(PoisonError::into_inner);
        for pack in packs {
            open.push(Arc::new(bundle(&self.directory.join(pack.name).with_extension("idx"))?));
        }
        Ok(())
    }

    /// Writes files under temporary names, makes them durable together, and gives them their names in order.
    fn write(&self, files: &[(String, &[u8])]) -> io::Result<()> {
        let temporary = |name: &str| self.directory.join(format!("{name}.new"));
        let write = |(name, bytes): &(String, &[u8])| {
            let options = &mut OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(temporary(name))?;
            file.write_all(bytes)?;
            Ok(file)
        };
        let open: Vec<File> = files.iter().map(write).collect::<io::Result<_>>()?;
        crate::durable::sync(&open)?;
        for (name, _) in files {
            fs::rename(temporary(name), self.directory.join(name))?;
        }
        File::open(&self.directory)?.sync_all()
    }

    /// Removes packs whose content is elsewhere, durably there, or in no snapshot any more. Whoever has them open goes on.
    pub(crate) fn remove(&self, gone: &[Arc<Bundle>]) -> Result<(), SnapshotError> {
        let is_gone = |pack: &Arc<Bundle>| gone.iter().any(|gone| Arc::ptr_eq(gone, pack));
        self.packs.write().unwrap_or_else(PoisonError::into_inner).retain(|pack| !is_gone(pack));
        let left = self.packs();
        for pack in gone {
            let index = pack.index.path();
            // It is named after its content, and may have come out the same.
            if left.iter().any(|left| left.index.path() == index) {
                continue;
            }
            // A pack without index does not count; an index without pack would be an error.
            for path in [index.to_owned(), index.with_extension("pack")] {
                fs::remove_file(&path).map_err(SnapshotError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Removes what a process that was killed left behind. Only for whoever holds the lock.
    pub(crate) fn sweep(&self) -> Result<(), SnapshotError> {
        let listed: HashSet<PathBuf> = self.indexes()?.into_iter().collect();
        for path in self.list()? {
            let has_extension = |wanted: &str| path.extension().is_some_and(|extension| extension == wanted);
            let is_left =
                has_extension("new") || has_extension("pack") && !listed.contains(&path.with_extension("idx"));
            if is_left {
                fs::remove_file(&path).map_err(SnapshotError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    fn indexes(&self) -> Result<Vec<PathBuf>, SnapshotError> {
        let mut all = self.list()?;
        all.retain(|path| path.extension().is_some_and(|extension| extension == "idx"));
        Ok(all)
    }

    fn list(&self) -> Result<Vec<PathBuf>, SnapshotError> {
        let list = || -> io::Result<_> { fs::read_dir(&self.directory)?.map(|entry| Ok(entry?.path())).collect() };
        list().map_err(SnapshotError::io("read", &self.directory))
    }
}

/// Reads an object from a pack; none when it is not in it.
pub(crate) fn read_from(pack: &Bundle, id: &ObjectId, out: &mut Vec<u8>) -> Result<Option<Kind>, SnapshotError> {
    let found = pack.find(id, out, &mut Inflate::default(), &mut gix_pack::cache::Never);
    let found = found.map_err(|cause| SnapshotError::Damaged { reason: format!("object {id}: {cause}") })?;
    Ok(found.map(|(data, _)| data.kind))
}

fn bundle(index: &Path) -> Result<Bundle, SnapshotError> {
    Bundle::at(index, HASH).map_err(|cause| SnapshotError::Damaged { reason: format!("{}: {cause}", index.display()) })
}
