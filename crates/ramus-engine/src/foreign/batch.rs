//! Sessions that were read and are not there yet: they are staged as they come, and appear together.

use std::collections::HashMap;

use ramus_model::{Blob, Header, SessionId};
use ramus_store::{BlobHold, Destination, Location, NewLog, Placement, Stage};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::verb::import::file_time;

/// How many sessions, and how many bytes of them, appear together.
const SESSIONS: usize = 1024;
const BYTES: u64 = 512 << 20;

/// What appears together.
pub(super) struct Batch<'e> {
    engine: &'e Engine,
    is_dry: bool,
    stage: Option<Box<dyn Stage + 'e>>,
    /// The sessions that were there when the stage was opened. Only who has one brings sessions, so nobody brings more.
    there: HashMap<SessionId, Location>,
    hold: Option<Box<dyn BlobHold>>,
    /// The session that is coming in.
    open: Option<Header>,
    sessions: usize,
    bytes: u64,
}

impl<'e> Batch<'e> {
    /// Makes an empty one. When it is dry, nothing of it ever appears.
    pub(super) fn new(engine: &'e Engine, is_dry: bool) -> Self {
        Self { engine, is_dry, stage: None, there: HashMap::new(), hold: None, open: None, sessions: 0, bytes: 0 }
    }

    /// Lets a session begin. When somebody else brought it meanwhile, it does not begin, and is returned.
    pub(super) fn begin(&mut self, header: Header) -> Result<Option<Location>, EngineError> {
        self.stage()?;
        if let Some(location) = self.there.get(&header.id) {
            return Ok(Some(location.clone()));
        }
        self.stage()?.begin()?;
        self.open = Some(header);
        Ok(None)
    }

    /// Takes lines of the session that began.
    pub(super) fn lines(&mut self, lines: &[u8]) -> Result<(), EngineError> {
        self.bytes += lines.len() as u64;
        Ok(self.stage()?.write(lines)?)
    }

    /// Takes what lines refer to.
    pub(super) fn blob(&self, blob: &Blob) -> Result<(), EngineError> {
        match self.engine.store.blobs().filter(|_| !self.is_dry) {
            Some(blobs) => Ok(blobs.put(blob)?),
            None => Ok(()),
        }
    }

    /// Ends the session that began. Says whether one did.
    pub(super) fn complete(&mut self, id: &str) -> Result<bool, EngineError> {
        let Some(header) = self.open.take() else { return Ok(false) };
        let timestamp = file_time(&header.timestamp);
        let new = NewLog { id: SessionId::from(id), cwd: &header.cwd, timestamp, placement: Placement::Published };
        self.stage()?.end(Some(Destination::New(new)))?;
        self.sessions += 1;
        Ok(true)
    }

    /// Gives up the session that began, if it was not completed.
    pub(super) fn abandon(&mut self) -> Result<(), EngineError> {
        match self.open.take() {
            Some(_) => Ok(self.stage()?.end(None)?),
            None => Ok(()),
        }
    }

    /// Says whether it is time that it appears.
    pub(super) fn is_full(&self) -> bool {
        self.sessions >= SESSIONS || self.bytes >= BYTES
    }

    /// Lets everything appear, and starts anew. Returns where the sessions are.
    pub(super) fn publish(&mut self) -> Result<Vec<Location>, EngineError> {
        let stage = self.stage.take().filter(|_| !self.is_dry);
        let arrived = stage.map(|stage| stage.publish()).transpose()?.unwrap_or_default();
        self.hold = None;
        (self.sessions, self.bytes) = (0, 0);
        Ok(arrived)
    }

    fn stage(&mut self) -> Result<&mut (dyn Stage + 'e), EngineError> {
        let engine = self.engine;
        let stage = match self.stage.take() {
            Some(stage) => stage,
            None => {
                // Blobs come before the lines that refer to them are in a log that collection sees.
                self.hold = engine.store.blobs().map(|blobs| blobs.hold()).transpose()?;
                let stage = engine.store.stage()?;
                let there = engine.store.list()?.into_iter();
                self.there = there.map(|location| (location.id.clone(), location)).collect();
                stage
            }
        };
        Ok(self.stage.insert(stage).as_mut())
    }
}
