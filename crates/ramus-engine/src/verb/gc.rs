//! `gc`: removes blobs that nothing refers to any more.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use ramus_model::BlobHash;
use ramus_model::blob::References;
use ramus_store::{Collected, Collection, Location, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// Puts blobs that nothing refers to in the trash and removes what has been there for two weeks. With `dry_run`,
    /// counts only. Nothing is removed when any file of the home cannot be read.
    pub fn gc(&self, dry_run: bool) -> Result<Collected, EngineError> {
        let Some(blobs) = self.store.blobs() else { return Ok(Collected::default()) };
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(self.now()).unwrap_or_default());
        Ok(blobs.collect(Collection { now, dry_run })?)
    }

    /// Counts the blobs that only these logs refer to: what a collection would find when they are gone.
    pub(crate) fn blobs_only_of(&self, going: &[&Location]) -> Result<u64, EngineError> {
        let mut theirs: BTreeSet<BlobHash> = BTreeSet::new();
        for location in going {
            theirs.extend(self.references_of(location)?.found());
        }
        for location in self.store.list()? {
            if theirs.is_empty() {
                break;
            }
            if !going.contains(&&location) {
                for hash in self.references_of(&location)?.found() {
                    theirs.remove(hash);
                }
            }
        }
        Ok(theirs.len() as u64)
    }

    fn references_of(&self, location: &Location) -> Result<References, StoreError> {
        let mut references = References::default();
        self.store.read(location, 0, &mut |chunk| references.feed(chunk))?;
        Ok(references)
    }
}
