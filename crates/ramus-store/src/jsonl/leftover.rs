//! Finding what interrupted operations left in a home. Looking removes nothing.

use std::collections::HashSet;
use std::path::Path;
use std::time::SystemTime;

use super::make::UNFINISHED;
use super::settle::IMPORT;
use super::{JsonlStore, lock_name};
use crate::error::StoreError;
use crate::store::{Leftover, LeftoverKind};

/// How many hex digits the name of an unfinished file ends with.
const DIGITS: usize = 32;

impl JsonlStore {
    pub(super) fn find_leftovers(&self, before: SystemTime) -> Result<Vec<Leftover>, StoreError> {
        let mut found = Vec::new();
        let mut directories = vec![self.drafts(), self.root.join("quarantine")];
        let sessions = self.sessions();
        let projects = self.entries(&sessions)?.into_iter().filter(|entry| entry.is_dir);
        directories.extend(projects.map(|entry| sessions.join(entry.name)));
        for directory in directories {
            self.look_for(&directory, LeftoverKind::Unfinished, Some(before), is_unfinished, &mut found)?;
        }
        // Nobody is at work on what was set aside, however young it is.
        let is_import = |name: &str| name.ends_with(IMPORT);
        self.look_for(&self.root.join("quarantine"), LeftoverKind::Import, None, is_import, &mut found)?;
        let live: HashSet<String> = self.list_files()?.iter().map(lock_name).collect();
        // The gate of a file opened in place is named by a hash of its path, which may still be there.
        let is_stale = |name: &str| !name.starts_with("p-") && !live.contains(name.trim_end_matches(".run"));
        let locks = self.root.join("locks");
        self.look_for(&locks, LeftoverKind::Lock, Some(before), is_stale, &mut found)?;
        let is_ownerless = |name: &str| !name.starts_with("p-") && !live.contains(name);
        self.look_for(&self.journals_dir(), LeftoverKind::Unfinished, Some(before), is_ownerless, &mut found)?;
        Ok(found)
    }

    fn look_for(
        &self,
        directory: &Path,
        kind: LeftoverKind,
        before: Option<SystemTime>,
        is_wanted: impl Fn(&str) -> bool,
        found: &mut Vec<Leftover>,
    ) -> Result<(), StoreError> {
        for entry in self.entries(directory)? {
            if !entry.is_file || !entry.name.to_str().is_some_and(&is_wanted) {
                continue;
            }
            let path = directory.join(&entry.name);
            // What is gone by now is no leftover.
            if self.fs.stat(&path).is_ok_and(|stat| before.is_none_or(|before| stat.changed < before)) {
                found.push(Leftover { kind, path });
            }
        }
        Ok(())
    }
}

fn is_unfinished(name: &str) -> bool {
    name.rsplit_once(UNFINISHED)
        .is_some_and(|(_, digits)| digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
