//! Staging in memory: what is published appears under one lock.

use ramus_model::SessionId;

use super::{Home, Log, MemoryStore, location};
use crate::error::StoreError;
use crate::staging::{Destination, Stage, Staging};
use crate::store::{Location, Position};

struct MemoryStage<'s> {
    store: &'s MemoryStore,
    open: Vec<u8>,
    logs: Vec<(SessionId, Option<Position>, Vec<u8>)>,
}

impl Staging for MemoryStore {
    fn stage(&self) -> Result<Box<dyn Stage + '_>, StoreError> {
        Ok(Box::new(MemoryStage { store: self, open: Vec::new(), logs: Vec::new() }))
    }

    fn settle_staged(&self) -> Result<usize, StoreError> {
        Ok(0)
    }

    fn is_imported(&self, id: &SessionId) -> Result<bool, StoreError> {
        Ok(self.home().imported.contains(id))
    }
}

impl Stage for MemoryStage<'_> {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.open.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.open.extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.open.len());
        let end = start.saturating_add(len).min(self.open.len());
        Ok(self.open.get(start..end).unwrap_or_default().to_vec())
    }

    fn end(&mut self, destination: Option<Destination<'_>>) -> Result<(), StoreError> {
        let bytes = std::mem::take(&mut self.open);
        match destination {
            Some(Destination::New(new)) => self.logs.push((new.id, None, bytes)),
            Some(Destination::Extends(at, position)) => self.logs.push((at.id.clone(), Some(position), bytes)),
            None => {}
        }
        Ok(())
    }

    fn publish(self: Box<Self>) -> Result<Vec<Location>, StoreError> {
        let mut home = self.store.home();
        for (id, expected, _) in &self.logs {
            check(&mut home, id, *expected)?;
        }
        let mut published = Vec::with_capacity(self.logs.len());
        for (id, expected, bytes) in self.logs {
            let incarnation = home.next_incarnation();
            if expected.is_none() {
                home.imported.insert(id.clone());
            }
            home.logs.insert(id.clone(), Log { incarnation, bytes, changes: 0 });
            published.push(location(id));
        }
        Ok(published)
    }
}

fn check(home: &mut Home, id: &SessionId, expected: Option<Position>) -> Result<(), StoreError> {
    match expected {
        Some(position) => home.log(&location(id.clone()))?.expect(position),
        None if home.logs.contains_key(id) => Err(StoreError::Exists { path: id.as_str().into() }),
        None => Ok(()),
    }
}
