//! Garbage collection: what nothing refers to goes to the trash, and from there, two weeks later, for good.
//!
//! Everything in the home that may hold a line is looked through, as bytes: sessions, drafts, the old files beside them,
//! the quarantine, shared prefixes of forks. When any of it cannot be read, nothing is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ramus_model::blob::References;
use ramus_model::{BlobHash, time};

use super::JsonlStore;
use super::blobs::hash_in_file_name;
use super::make::is_unfinished;
use crate::blobs::{Collected, Collection, Tally};
use crate::error::StoreError;
use crate::fs::DirEntry;
use crate::planted::{Bug, is_planted};

/// How old a blob must be: its line may still be on the way, or on its way back.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a blob stays in the trash.
const TRASH_AGE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// How often the home is looked through when files move while it is.
const ROUNDS: usize = 10;

/// A collection under way.
struct Collecting<'s> {
    store: &'s JsonlStore,
    collection: Collection,
    references: References,
    done: Collected,
}

impl JsonlStore {
    pub(super) fn collect_blobs(&self, collection: Collection) -> Result<Collected, StoreError> {
        let references = References::default();
        let mut collecting = Collecting { store: self, collection, references, done: Collected::default() };
        collecting.mark()?;
        collecting.empty_trash()?;
        collecting.sweep()?;
        collecting.clear_leftovers()?;
        Ok(collecting.done)
    }

    /// Removes those of some blobs that nothing refers to, from the trash too.
    pub(super) fn erase_blobs(&self, hashes: &BTreeSet<BlobHash>) -> Result<Tally, StoreError> {
        let collection = Collection { now: SystemTime::UNIX_EPOCH, dry_run: false };
        let references = References::default();
        let mut collecting = Collecting { store: self, collection, references, done: Collected::default() };
        collecting.mark()?;
        let directory = self.blob_directory();
        let trash = directory.join(".trash");
        let mut places = vec![directory];
        let days = self.entries(&trash)?.into_iter().filter(|entry| entry.is_dir);
        places.extend(days.map(|entry| trash.join(entry.name)));
        for hash in hashes.iter().filter(|hash| !collecting.references.contains(**hash)) {
            for path in places.iter().map(|place| place.join(hash.to_string())) {
                if let Some((size, _)) = collecting.size_and_age(&path)? {
                    collecting.remove(&path)?;
                    self.sync_dir_of(&path)?;
                    collecting.done.removed.add(size);
                }
            }
        }
        Ok(collecting.done.removed)
    }

    /// The directories whose files may hold lines, and which of their subdirectories.
    fn places_of_lines(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut places = Vec::new();
        if !is_planted(Bug::CollectIgnoresDrafts) {
            places.push(self.drafts());
        }
        places.extend([self.root.join("quarantine"), self.root.join("bases")]);
        let sessions = self.sessions();
        let groups = self.entries(&sessions)?.into_iter().filter(|entry| entry.is_dir);
        places.extend(groups.map(|entry| sessions.join(entry.name)));
        places.push(sessions);
        Ok(places)
    }

    fn files_with_lines(&self) -> Result<BTreeMap<PathBuf, DirEntry>, StoreError> {
        let mut files = BTreeMap::new();
        for place in self.places_of_lines()? {
            let entries = self.entries(&place)?.into_iter().filter(|entry| !entry.is_dir);
            files.extend(entries.map(|entry| (place.join(&entry.name), entry)));
        }
        Ok(files)
    }

    /// Reads every file that may hold a line but some, an empty chunk behind each. Files that move meanwhile are looked for again: a
    /// draft may be published, a session moved.
    pub(super) fn read_everything(
        &self,
        is_left_out: &dyn Fn(&Path) -> bool,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        let mut seen = BTreeMap::new();
        for _ in 0..ROUNDS {
            let files = self.files_with_lines()?;
            let mut is_new = false;
            for path in files.keys() {
                if !seen.contains_key(path) && !is_left_out(path) {
                    is_new = true;
                    self.read_one(path, take)?;
                }
            }
            if !is_new {
                return Ok(());
            }
            seen = files;
        }
        Err(StoreError::Unmarked { path: self.root.clone(), source: io::ErrorKind::ResourceBusy.into() })
    }

    fn read_one(&self, path: &Path, take: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let read = self.read_file(path, 0, &mut |chunk| take(chunk));
        take(&[]);
        match read {
            // It went elsewhere and is found there, or was deleted.
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(StoreError::Denied { source, .. } | StoreError::Io { source, .. }) => {
                Err(StoreError::Unmarked { path: path.to_owned(), source })
            }
            Err(error) => Err(error),
        }
    }
}

impl Collecting<'_> {
    /// Finds every reference.
    fn mark(&mut self) -> Result<(), StoreError> {
        let references = &mut self.references;
        self.store.read_everything(&|_| false, &mut |chunk| references.feed_or_end(chunk))
    }

    /// Puts what nothing refers to in the trash.
    fn sweep(&mut self) -> Result<(), StoreError> {
        let directory = self.store.blob_directory();
        let day = directory.join(".trash").join(day_of(self.collection.now));
        let mut moved = false;
        for entry in self.store.entries(&directory)? {
            let Some(hash) = hash_in_file_name(entry.name.as_ref()).filter(|_| entry.is_file) else { continue };
            let path = directory.join(&entry.name);
            let Some((size, is_old)) = self.size_and_age(&path)? else { continue };
            if self.references.contains(hash) || !is_old {
                self.done.kept.add(size);
                continue;
            }
            self.done.trashed.add(size);
            if !self.collection.dry_run {
                self.store.own_dir(&day)?;
                let aside = day.join(&entry.name);
                self.store.fs.rename(&path, &aside).map_err(|error| StoreError::io("move", &path, error))?;
                moved = true;
            }
        }
        if moved {
            self.store.sync_dir_of(&day.join("blob"))?;
            self.store.sync_dir_of(&day)?;
        }
        Ok(())
    }

    /// Takes back from the trash what something refers to again, and removes what has been there long enough.
    fn empty_trash(&mut self) -> Result<(), StoreError> {
        let trash = self.store.blob_directory().join(".trash");
        for day in self.store.entries(&trash)?.into_iter().filter(|entry| entry.is_dir) {
            let directory = trash.join(&day.name);
            let is_over = day.name.to_str().and_then(end_of_day).is_some_and(|end| self.is_past(end, TRASH_AGE));
            for entry in self.store.entries(&directory)? {
                let Some(hash) = hash_in_file_name(entry.name.as_ref()).filter(|_| entry.is_file) else { continue };
                let path = directory.join(&entry.name);
                let Some((size, _)) = self.size_and_age(&path)? else { continue };
                if self.references.contains(hash) {
                    self.take_back(&path, size)?;
                } else if is_over {
                    self.remove(&path)?;
                    self.done.removed.add(size);
                }
            }
            if !self.collection.dry_run && is_over {
                // What is left in it, if anything, is not ours.
                let _ = self.store.fs.remove_dir(&directory);
            }
        }
        Ok(())
    }

    fn take_back(&mut self, path: &Path, size: u64) -> Result<(), StoreError> {
        self.done.restored.add(size);
        if self.collection.dry_run {
            return Ok(());
        }
        let store = self.store;
        let home = store.blob_directory().join(path.file_name().unwrap_or_default());
        match store.fs.rename_new(path, &home) {
            // It was put again meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.remove(path),
            result => {
                result.map_err(|error| StoreError::io("move", path, error))?;
                store.sync_dir_of(&home)
            }
        }
    }

    /// Removes files of writes that were interrupted long ago.
    fn clear_leftovers(&mut self) -> Result<(), StoreError> {
        let mut places = self.store.places_of_lines()?;
        places.extend([self.store.blob_directory(), self.store.root.join("index"), self.store.root.clone()]);
        for place in places {
            for entry in self.store.entries(&place)? {
                if !entry.is_file || !is_unfinished(&entry.name) {
                    continue;
                }
                let path = place.join(&entry.name);
                if let Some((size, true)) = self.size_and_age(&path)? {
                    self.remove(&path)?;
                    self.done.leftovers.add(size);
                }
            }
        }
        Ok(())
    }

    /// The size of a file and whether it is old enough to go; none when it is gone.
    fn size_and_age(&self, path: &Path) -> Result<Option<(u64, bool)>, StoreError> {
        match self.store.fs.stat(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("inspect", path, error)),
            Ok(stat) => Ok(Some((stat.size, self.is_past(stat.changed, GRACE)))),
        }
    }

    fn is_past(&self, then: SystemTime, age: Duration) -> bool {
        self.collection.now.duration_since(then).is_ok_and(|passed| passed > age)
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        if self.collection.dry_run {
            return Ok(());
        }
        match self.store.fs.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.map_err(|error| StoreError::io("remove", path, error)),
        }
    }
}

/// The name of a day in the trash.
fn day_of(now: SystemTime) -> String {
    let millis = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut day = time::format(i64::try_from(millis).unwrap_or_default());
    day.truncate(10);
    day
}

/// When the day of that name ends.
fn end_of_day(name: &str) -> Option<SystemTime> {
    let start = time::parse(&format!("{name}T00:00:00.000Z"))?;
    let start = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(start).ok()?);
    Some(start + Duration::from_secs(24 * 60 * 60))
}
