//! Finding a log by the id of its session. Only names of directories are read, and none when the log is where it was found
//! the last time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

use ramus_model::SessionId;

use super::{JsonlStore, layout};
use crate::error::StoreError;
use crate::store::{Location, Residence};

/// For how many logs it is remembered where they are.
const REMEMBERED: usize = 4096;

/// Where logs were found.
pub(super) type Places = HashMap<SessionId, Location>;

impl JsonlStore {
    pub(super) fn find_file(&self, id: &SessionId) -> Result<Option<Location>, StoreError> {
        self.check_home()?;
        let known = self.known_places().get(id).cloned();
        // One that was published or moved has left the name that it had, and no other log gets it.
        if let Some(known) = known.filter(|at| at.path.as_ref().is_some_and(|path| self.fs.stat(path).is_ok())) {
            return Ok(Some(known));
        }
        let found = self.search(id)?;
        let mut places = self.known_places();
        if places.len() >= REMEMBERED {
            places.clear();
        }
        match &found {
            Some(found) => drop(places.insert(id.clone(), found.clone())),
            None => drop(places.remove(id)),
        }
        Ok(found)
    }

    fn search(&self, id: &SessionId) -> Result<Option<Location>, StoreError> {
        if let Some(found) = self.look_in(&self.drafts(), Residence::Draft, id)? {
            return Ok(Some(found));
        }
        for directory in self.entries(&self.sessions())?.into_iter().filter(|entry| entry.is_dir) {
            let directory = self.sessions().join(directory.name);
            if let Some(found) = self.look_in(&directory, Residence::Published, id)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn look_in(&self, directory: &Path, residence: Residence, id: &SessionId) -> Result<Option<Location>, StoreError> {
        let mut entries = self.entries(directory)?.into_iter().filter(|entry| !entry.is_dir);
        let found = entries.find(|entry| entry.name.to_str().and_then(layout::id_of_file_name) == Some(id.as_str()));
        Ok(found.map(|entry| Location { id: id.clone(), residence, path: Some(directory.join(entry.name)) }))
    }

    fn known_places(&self) -> MutexGuard<'_, Places> {
        // Nobody leaves it half changed.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
