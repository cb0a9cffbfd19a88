//! An open session: its log, where it is, and the views everything else is made of.

use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::{Depth, EntryId, Header, Log, Place, Scope, Seq, SessionId, Tree, context, resolve, title};
use ramus_store::{Location, LogStore, ReadAhead, Residence, StoreError, StoreLines};
use std::sync::Arc;

use crate::error::EngineError;

/// An open session.
pub struct Session {
    pub(crate) store: Arc<dyn LogStore>,
    /// This session's log first, then the ones it was forked from.
    pub(crate) sources: Vec<Location>,
    pub(crate) log: Log,
    pub(crate) ahead: ReadAhead,
    pub(crate) notices: Vec<String>,
}

impl Session {
    /// Returns the id.
    pub fn id(&self) -> &SessionId {
        self.log.header().map_or(&self.location().id, |header| &header.id)
    }

    /// Returns where the log is.
    pub fn location(&self) -> &Location {
        // A session is made with its own location in front and never loses it.
        self.sources.first().unwrap_or_else(|| unreachable!("a session without a location"))
    }

    /// Returns the log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns what a person should be told: what was set aside, upgraded or repaired on the way.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Returns the title to show.
    pub fn title(&self) -> String {
        title::shown(&self.log)
    }

    /// Returns the working directory: where the session was moved to, or where it was started.
    pub fn cwd(&self) -> &str {
        let moved = self.log.facts().meta().get("cwd").and_then(|cwd| cwd.as_str());
        moved.or(self.log.header().map(|header| &*header.cwd)).unwrap_or_default()
    }

    /// Says where the session stands between draft and published.
    pub fn residence(&self) -> Residence {
        self.location().residence
    }

    /// Returns the entry the next append hangs from.
    pub fn leaf(&self) -> Option<EntryId> {
        self.log.leaf().map(|seq| self.entry_id(seq))
    }

    /// Returns the id of an entry.
    pub fn entry_id(&self, seq: Seq) -> EntryId {
        EntryId::from(self.log.id(seq))
    }

    /// Finds the entry a reference names: id, unique prefix, `#seq`, label, alias; empty is the leaf, `-` its parent.
    pub fn resolve(&self, reference: &str) -> Result<Seq, EngineError> {
        Ok(resolve::entry(&self.log, reference)?)
    }

    /// Returns the conversation tree, or every physical entry.
    pub fn tree(&self, scope: Scope) -> Tree {
        Tree::of(&self.log, scope)
    }

    /// Gives access to the bytes of entries.
    pub fn lines(&self) -> StoreLines<'_> {
        StoreLines::new(self.store.as_ref(), &self.sources, &self.ahead)
    }

    /// Returns the stored line of an entry, byte for byte, without its newline.
    pub fn line(&self, seq: Seq) -> Result<Vec<u8>, EngineError> {
        let place = self.log.place(seq).ok_or_else(|| EngineError::Invalid(format!("there is no entry {seq}")))?;
        Ok(self.line_at(place)?)
    }

    fn line_at(&self, place: Place) -> Result<Vec<u8>, StoreError> {
        use ramus_model::Lines as _;
        Ok(self.lines().line(place)?.into_owned())
    }

    /// Decodes an entry that shows as a message.
    pub fn message(&self, seq: Seq) -> Result<Option<Message>, EngineError> {
        let line = self.line(seq)?;
        Ok(Raw::parse(&line).and_then(Message::of_entry))
    }

    /// Builds the context of the path that ends at `leaf`.
    pub fn context(&self, leaf: Option<Seq>) -> Result<context::Context, EngineError> {
        Ok(context::build(&self.log, leaf, &self.lines())?)
    }

    /// Reads what other writers appended since.
    pub(crate) fn refresh(&mut self) -> Result<(), EngineError> {
        let location = self.location().clone();
        let known = self.log.end();
        if self.log.tail() != ramus_model::Tail::Ended {
            return self.reload();
        }
        let Self { store, log, .. } = self;
        let end = store.read(&location, known, &mut |chunk| log.feed(chunk))?;
        self.log.finish();
        if end < known { self.reload() } else { Ok(()) }
    }

    /// Reads everything again: the file was replaced.
    pub(crate) fn reload(&mut self) -> Result<(), EngineError> {
        let location = self.location().clone();
        let again = load(&self.store, location, Depth::Envelope)?;
        self.log = again.log;
        self.sources = again.sources;
        self.ahead = again.ahead;
        Ok(())
    }
}

/// How deep forks of forks are followed.
const MAX_FORK_DEPTH: usize = 256;

/// How much of a file is looked at to find its header.
const HEADER_PREFIX: usize = 1 << 16;

/// Reads the log at `location`, and the logs it was forked from.
pub(crate) fn load(store: &Arc<dyn LogStore>, location: Location, depth: Depth) -> Result<Session, EngineError> {
    let mut chain = vec![location];
    let mut limits = vec![u64::MAX];
    let mut entries = Vec::new();
    // Follow the forks down to a log that stands on its own.
    while let Some(last) = chain.last() {
        let Some(fork) = header_of(store.as_ref(), last)?.and_then(|header| header.ramus.forked_from) else { break };
        if chain.len() > MAX_FORK_DEPTH || chain.iter().any(|known| known.id == fork.origin.session) {
            return Err(EngineError::Corrupt(format!("session {} is forked from itself", fork.origin.session)));
        }
        let origin = find(store.as_ref(), &fork.origin.session)?.ok_or_else(|| {
            EngineError::Corrupt(format!("session {}, which this one was forked from, is gone", fork.origin.session))
        })?;
        limits.push(fork.offset);
        entries.push(fork.origin.entry);
        chain.push(origin);
    }
    // Read them from the bottom up, each on top of what it was forked from.
    let mut log = None;
    for (level, source) in chain.iter().enumerate().rev() {
        let mut current = match (log.take(), entries.get(level)) {
            (Some(origin), Some(entry)) => Log::forked(origin, entry, depth),
            _ => Log::new(depth),
        };
        let limit = limits.get(level).copied().unwrap_or(u64::MAX);
        store.read(source, 0, &mut |chunk| {
            let room = usize::try_from(limit.saturating_sub(current.end())).unwrap_or(usize::MAX);
            current.feed(chunk.get(..room).unwrap_or(chunk));
        })?;
        current.finish();
        log = Some(current);
    }
    let mut log = log.unwrap_or_default();
    let name = chain.first().map(|location| location.id.to_string()).unwrap_or_default();
    log.set_synthetic_header(&name);
    Ok(Session { store: Arc::clone(store), sources: chain, log, ahead: ReadAhead::default(), notices: Vec::new() })
}

/// Reads only the header of a log.
pub(crate) fn header_of(store: &dyn LogStore, at: &Location) -> Result<Option<Header>, EngineError> {
    let prefix = store.read_at(at, 0, HEADER_PREFIX)?;
    let lines = prefix.split(|byte| *byte == b'\n').take(2);
    Ok(lines.filter_map(Raw::parse).find_map(Header::read))
}

/// Finds a log by its whole id.
pub(crate) fn find(store: &dyn LogStore, id: &SessionId) -> Result<Option<Location>, EngineError> {
    Ok(store.list()?.into_iter().find(|location| location.id == *id))
}
