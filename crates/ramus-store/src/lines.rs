//! Bodies on demand: the bytes of records, read in blocks because neighbours are usually wanted next.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use ramus_model::{Lines, Log, Place};

use crate::error::StoreError;
use crate::store::{Location, LogStore};

const BLOCK: usize = 1 << 18;

/// The part of a log that was read last. Whoever keeps a log open keeps one of these beside it.
#[derive(Debug, Default)]
pub struct ReadAhead(Mutex<Block>);

#[derive(Debug, Default)]
struct Block {
    source: u16,
    offset: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn get(&self, place: Place) -> Option<&[u8]> {
        if self.source != place.source {
            return None;
        }
        let start = usize::try_from(place.offset.checked_sub(self.offset)?).ok()?;
        self.bytes.get(start..start.checked_add(place.len as usize)?)
    }
}

/// Reads records of a log and of the logs it was forked from.
pub struct StoreLines<'s> {
    store: &'s dyn LogStore,
    sources: &'s [Location],
    ahead: &'s ReadAhead,
    /// Notices when bytes are not the ones that were written.
    log: Option<&'s Log>,
}

impl<'s> StoreLines<'s> {
    /// Reads from `sources`: this session's own log first, then the ones it was forked from.
    pub fn new(store: &'s dyn LogStore, sources: &'s [Location], ahead: &'s ReadAhead) -> Self {
        Self { store, sources, ahead, log: None }
    }

    /// Has `log` check what is read.
    #[must_use]
    pub fn checked_by(self, log: &'s Log) -> Self {
        Self { log: Some(log), ..self }
    }

    /// Finds where a log is that is not where it was. One that was made anew has another file's name.
    fn moved(&self, from: &Location) -> Result<Option<Location>, StoreError> {
        let file = |at: &Location| at.path.as_ref().and_then(|path| path.file_name()).map(ToOwned::to_owned);
        let found = self.store.find(&from.id)?;
        Ok(found.filter(|found| found.path != from.path && file(found) == file(from)))
    }

    fn checked(&self, place: Place, line: &[u8]) -> Vec<u8> {
        if let Some(log) = self.log {
            log.check(place, line);
        }
        line.to_vec()
    }
}

impl Lines for StoreLines<'_> {
    type Error = StoreError;

    fn line(&self, place: Place) -> Result<Cow<'_, [u8]>, StoreError> {
        // What a panicking reader left behind is at worst an old block of an immutable log.
        let mut block = self.ahead.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = block.get(place) {
            return Ok(Cow::Owned(self.checked(place, line)));
        }
        let source = self.sources.get(usize::from(place.source));
        let source = source.ok_or_else(|| StoreError::NotFound { what: "the log this entry is in".to_owned() })?;
        let len = BLOCK.max(place.len as usize);
        // Whoever reads backwards wants what lies before next.
        let backwards = block.source == place.source && place.offset < block.offset;
        let end = place.offset + u64::from(place.len);
        let offset = if backwards { end.saturating_sub(len as u64) } else { place.offset };
        let bytes = match self.store.read_at(source, offset, len) {
            // A draft that was published since it was opened, or a log that was moved, is the same under its new name.
            Err(StoreError::NotFound { .. }) if let Some(moved) = self.moved(source)? => {
                self.store.read_at(&moved, offset, len)?
            }
            result => result?,
        };
        *block = Block { source: place.source, offset, bytes };
        match block.get(place) {
            Some(line) => Ok(Cow::Owned(self.checked(place, line))),
            None => Err(StoreError::NotFound { what: format!("bytes {} to {end} of the log", place.offset) }),
        }
    }
}
