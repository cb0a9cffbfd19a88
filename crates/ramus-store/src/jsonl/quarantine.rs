//! The quarantine: damaged bytes, kept under the hash of their content with a note on where they come from. The same
//! bytes of the same place are kept once, however often they are met.

use ramus_model::json::quote;
use sha2::{Digest as _, Sha256};

use super::JsonlStore;
use crate::error::StoreError;
use crate::store::{Location, Removed, Residence, SetAside};

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

    /// Removes what was set aside of a log: it holds what was said in it. With `dry_run` only says so.
    pub(super) fn delete_damage(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        // A base has the name of its session, which may be there.
        if at.residence == Residence::Base {
            return Ok(removed);
        }
        let (directory, name) = (self.root.join("quarantine"), super::lock_name(at));
        for entry in self.entries(&directory)?.into_iter().filter(|entry| entry.is_file) {
            if !entry.name.to_str().is_some_and(|file| is_damage_of(file, &name)) {
                continue;
            }
            let path = directory.join(&entry.name);
            removed.take_in(Removed { bytes: self.size_of(&path)?, files: vec![path.clone()] });
            if !dry_run {
                self.fs.remove(&path).map_err(|error| StoreError::io("remove", &path, error))?;
                self.sync_dir_of(&path)?;
            }
        }
        Ok(removed)
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

/// Says whether a file holds damage of a session, or the note about it, or what was to become it.
fn is_damage_of(file: &str, session: &str) -> bool {
    let rest = file.strip_prefix(session).and_then(|rest| rest.strip_prefix('-'));
    let Some((hash, rest)) = rest.and_then(|rest| rest.split_once('-')) else { return false };
    let endings = [".bin", ".json", super::settle::IMPORT];
    let offset = endings.iter().find_map(|ending| rest.strip_suffix(ending)).unwrap_or_default();
    let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash && !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_of_other_sessions_is_told_from_that_of_one() {
        let hash = "0123456789abcdef";
        assert!(is_damage_of(&format!("a-{hash}-0.bin"), "a") && is_damage_of(&format!("a-{hash}-12.json"), "a"));
        assert!(is_damage_of(&format!("a-b-{hash}-1.bin"), "a-b"));
        for file in [format!("a-b-{hash}-1.bin"), format!("ab-{hash}-1.bin"), format!("a-{hash}-.bin"), "a".into()] {
            assert!(!is_damage_of(&file, "a"), "{file}");
        }
    }
}
