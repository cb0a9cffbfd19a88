//! The quarantine: damaged bytes, kept under the hash of their content with a note on where they come from. The same
//! bytes of the same place are kept once, however often they are met.

use ramus_model::json::quote;
use sha2::{Digest as _, Sha256};

use super::JsonlStore;
use crate::error::StoreError;
use crate::store::{Location, SetAside};

impl JsonlStore {
    /// Keeps `bytes`, which were at `offset` of a log.
    pub(super) fn keep_damage(
        &self,
        at: &Location,
        offset: u64,
        bytes: &[u8],
        reason: &str,
    ) -> Result<SetAside, StoreError> {
        let directory = self.root.join("quarantine");
        self.own_dir(&directory)?;
        let hash = hex::encode(Sha256::digest(bytes));
        let name = format!("{}-{}-{offset}", super::lock_name(at), hash.get(..16).unwrap_or(&hash));
        let path = directory.join(format!("{name}.bin"));
        let note = self.note_of(at, offset, bytes.len(), &hash, reason);
        for (path, content) in [(&path, bytes), (&directory.join(format!("{name}.json")), note.as_bytes())] {
            // Set aside before, perhaps by an attempt that came no further than giving it its name.
            if self.fs.stat(path).is_ok_and(|stat| stat.is_file && stat.size == content.len() as u64) {
                self.sync_dir_of(path)?;
                continue;
            }
            match self.make(path, content) {
                Err(StoreError::Exists { .. }) => self.sync_dir_of(path)?,
                result => result?,
            }
        }
        Ok(SetAside { offset, len: bytes.len() as u64, path: Some(path) })
    }

    fn note_of(&self, at: &Location, offset: u64, len: usize, hash: &str, reason: &str) -> String {
        let path = at.path.as_deref().unwrap_or(std::path::Path::new("")).to_string_lossy();
        let mut note = b"{\"session\":".to_vec();
        quote(at.id.as_str(), &mut note);
        note.extend_from_slice(b",\"path\":");
        quote(&path, &mut note);
        note.extend_from_slice(b",\"reason\":");
        quote(reason, &mut note);
        note.extend_from_slice(format!(",\"offset\":{offset},\"bytes\":{len},\"sha256\":\"{hash}\"}}\n").as_bytes());
        String::from_utf8_lossy(&note).into_owned()
    }
}
