//! An engine at work on a simulated disk, with sessions that stay open between verbs, and the model of what it said.

use std::collections::{BTreeMap, BTreeSet};

use ramus_engine::{Engine, EngineError, Session, Written};
use ramus_model::Draft;

use super::home::{self, CWD, DRAFT, OLD, PUBLISHED, TORN};
use super::model::{Entry, Model};
use super::oracle::entries_of;
use crate::sim::SimFs;

/// An engine, its disk and what it has acknowledged.
pub struct World {
    fs: SimFs,
    engine: Engine,
    sessions: BTreeMap<String, Session>,
    /// The sessions that verbs without one of their own take, latest last.
    order: Vec<String>,
    model: Model,
    attempted: BTreeSet<String>,
    numbers: usize,
}

impl World {
    /// Starts with the furnished home.
    pub fn new() -> Result<Self, EngineError> {
        let fs = SimFs::default();
        home::furnish(&fs);
        Self::on(fs)
    }

    /// Starts with what is on a disk.
    pub fn on(fs: SimFs) -> Result<Self, EngineError> {
        let engine = home::engine(&fs);
        let mut model = Model::default();
        for id in [PUBLISHED, DRAFT, OLD, TORN] {
            model.sessions.insert(id.to_owned(), entries_of(&engine.open(id, CWD)?)?);
        }
        for (path, content) in fs.files() {
            if path == home::path_of(OLD) {
                model.precious.push((OLD.to_owned(), content.to_vec()));
            }
        }
        model.precious.push((TORN.to_owned(), home::torn_end().into_bytes()));
        let order = [TORN, OLD, DRAFT, PUBLISHED].map(str::to_owned).to_vec();
        let sessions = BTreeMap::new();
        Ok(Self { fs, engine, sessions, order, model, attempted: BTreeSet::new(), numbers: 0 })
    }

    /// Returns the disk.
    pub fn fs(&self) -> &SimFs {
        &self.fs
    }

    /// Returns what was acknowledged.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the ids of all entries that were ever handed to the engine.
    pub fn attempted(&self) -> &BTreeSet<String> {
        &self.attempted
    }

    /// Returns the engine.
    pub fn engine(&self) -> Engine {
        self.engine.clone()
    }

    /// Returns the open sessions.
    pub fn open_sessions(&mut self) -> impl Iterator<Item = (&String, &mut Session)> {
        self.sessions.iter_mut()
    }

    pub(super) fn current(&self) -> &str {
        self.order.last().map_or("", String::as_str)
    }

    pub(super) fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    pub(super) fn attempt(&mut self, drafts: &[Draft]) {
        self.attempted.extend(drafts.iter().filter_map(|draft| Some(draft.id.as_ref()?.to_string())));
    }

    /// Returns an open session, or none when it was deleted.
    pub(super) fn session(&mut self, id: &str) -> Result<Option<&mut Session>, EngineError> {
        if !self.model.sessions.contains_key(id) {
            return Ok(None);
        }
        if !self.sessions.contains_key(id) {
            self.sessions.insert(id.to_owned(), self.engine.open(id, CWD)?);
        }
        Ok(self.sessions.get_mut(id))
    }

    /// Does something to a session; when it succeeds, the model has what the session says it holds now.
    pub(super) fn change(
        &mut self,
        id: &str,
        verb: impl FnOnce(&Engine, &mut Session) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let engine = self.engine();
        let Some(session) = self.session(id)? else { return Ok(()) };
        verb(&engine, session)?;
        self.acknowledge(id);
        Ok(())
    }

    pub(super) fn adopt(&mut self, session: Session) {
        let id = session.id().to_string();
        self.sessions.insert(id.clone(), session);
        self.acknowledge(&id);
        self.order.push(id);
    }

    /// Takes over what a session says it holds. The ids are in its memory; a line that cannot be read is missed by
    /// whoever compares.
    fn acknowledge(&mut self, id: &str) {
        let Some(session) = self.sessions.get(id) else { return };
        let entry = |seq| Entry { id: session.log().id(seq).to_owned(), line: session.line(seq).ok() };
        let own = session.log().seqs().filter(|seq| session.log().belongs(*seq));
        let now = self.fs.undisturbed(|| own.map(entry).collect());
        self.model.sessions.insert(id.to_owned(), now);
    }

    /// Sets the bytes that an acknowledged entry must have.
    pub(super) fn expect(&mut self, id: &str, mut line: Vec<u8>, written: &Written) {
        line.pop();
        let entries = self.model.sessions.get_mut(id).into_iter().flatten();
        if let Some(entry) = entries.into_iter().find(|entry| entry.id == written.id.as_str()) {
            entry.line = Some(line);
        }
    }

    pub(super) fn forget(&mut self, id: &str) {
        // A session that is closed saves its sidecar if it can. Trouble with that is nobody's trouble.
        let closed = self.sessions.remove(id);
        self.fs.undisturbed(|| drop(closed));
        self.model.sessions.remove(id);
        self.order.retain(|known| known != id);
    }
}
