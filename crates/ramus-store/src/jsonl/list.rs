//! Listing the files of a home.

use std::io;
use std::path::Path;

use super::{JsonlStore, layout};
use crate::error::StoreError;
use crate::store::{Location, Residence};

impl JsonlStore {
    pub(super) fn list_files(&self) -> Result<Vec<Location>, StoreError> {
        let mut found = Vec::new();
        self.list_directory(&self.drafts(), Residence::Draft, &mut found)?;
        for entry in self.entries(&self.sessions())? {
            if entry.is_dir {
                self.list_directory(&self.sessions().join(entry.name), Residence::Published, &mut found)?;
            }
        }
        Ok(found)
    }

    fn list_directory(&self, path: &Path, residence: Residence, found: &mut Vec<Location>) -> Result<(), StoreError> {
        for entry in self.entries(path)? {
            let id = entry.name.to_str().filter(|_| !entry.is_dir).and_then(layout::id_in_file_name);
            if let Some(id) = id {
                found.push(Location { id, residence, path: Some(path.join(&entry.name)) });
            }
        }
        Ok(())
    }

    pub(super) fn entries(&self, path: &Path) -> Result<Vec<crate::fs::DirEntry>, StoreError> {
        match self.fs.list(path) {
            // A home that nothing was written to yet is empty, not broken.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            result => result.map_err(|error| StoreError::io("list", path, error)),
        }
    }
}
