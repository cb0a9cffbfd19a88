//! An open session: its log, where it is, and the views everything else is made of.

mod ancestry;
mod trunks;

use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::resolve::{self, ResolveError};
use ramus_model::{Depth, EntryId, Header, Log, Place, Record, Scope, Seq, SessionId, Tree, context, title};
use ramus_store::{
    Health, Incarnation, Location, LogStore, LogWriter, Position, ReadAhead, Residence, StoreError, StoreLines,
};
use std::sync::Arc;

use crate::blobs::MissingBlobs;
use crate::error::EngineError;
use crate::recovery::{Action, RecoveryReport};
use crate::run::keeps_book;
use crate::sidecar::Sidecar;

use ancestry::Read;
pub(crate) use ancestry::{
    KnownOrigins, LONG, MAX_FORK_DEPTH, among, find, header_of, load, load_among, load_as_of, load_listed, load_shared,
    unknown,
};
pub(crate) use trunks::Trunks;

/// An open session.
pub struct Session {
    pub(crate) store: Arc<dyn LogStore>,
    /// This session's log first, then the ones it was forked from.
    pub(crate) sources: Vec<Location>,
    pub(crate) log: Log,
    pub(crate) ahead: ReadAhead,
    /// What was done to the file on the way.
    pub(crate) recovered: Vec<Action>,
    pub(crate) notices: Vec<String>,
    pub(crate) missing: MissingBlobs,
    /// How many entries were looked at for an answer, and none was one.
    pub(crate) unanswered: usize,
    /// Which incarnation of the log was read.
    incarnation: Incarnation,
    /// The origin that should come behind the last source and could not be had; where it is, when it is there.
    pub(crate) lost_origin: Option<(SessionId, Option<Location>)>,
    pub(crate) sidecar: Sidecar,
    /// The surface that asked for it, when it is another than the one that drives the engine.
    pub(crate) client: Option<String>,
    /// Whether something was appended through this session.
    pub(crate) wrote: bool,
    /// How many entries the log must hold when something is written next.
    pub(crate) expected: Option<u64>,
    /// Whether some of that was left for the system to make durable.
    pub(crate) unconfirmed: bool,
    /// Whether someone looked for what an interrupted turn left.
    pub(crate) looked_for_journal: bool,
    /// Whether a restore that was interrupted was looked for.
    pub(crate) looked_for_intent: bool,
    /// Open as long as something may be appended.
    writer: Option<Box<dyn LogWriter>>,
}

impl Session {
    fn new(store: Arc<dyn LogStore>, sources: Vec<Location>, read: Read) -> Self {
        let Read { log, incarnation, sidecar } = read;
        Self {
            store,
            sources,
            log,
            sidecar,
            client: None,
            wrote: false,
            expected: None,
            unconfirmed: false,
            looked_for_journal: false,
            looked_for_intent: false,
            ahead: ReadAhead::default(),
            recovered: Vec::new(),
            notices: Vec::new(),
            missing: MissingBlobs::default(),
            unanswered: 0,
            incarnation,
            lost_origin: None,
            writer: None,
        }
    }

    /// A session of which only the end can be looked at. Whoever makes one must not let it out.
    pub(crate) fn window(store: &Arc<dyn LogStore>, location: Location, log: Log, incarnation: Incarnation) -> Self {
        Self::new(Arc::clone(store), vec![location], Read { log, incarnation, sidecar: Sidecar::None })
    }

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

    /// Returns what a person should be told: what was set aside, upgraded or repaired on the way, and what did not work.
    pub fn notices(&self) -> Vec<String> {
        self.recovered.iter().map(ToString::to_string).chain(self.notices.iter().cloned()).collect()
    }

    /// Says what was done to the file on the way, and what is still wrong as far as reading it showed.
    pub fn recovery(&self) -> RecoveryReport {
        RecoveryReport::of(self)
    }

    /// Says which surface asks for what is done to it.
    pub fn through(&mut self, client: &str) {
        self.client = Some(client.to_owned());
    }

    /// Has the next change made only if the log holds exactly so many entries at the moment of writing.
    pub fn expect(&mut self, entries: Option<u64>) {
        self.expected = entries;
    }

    /// Refuses a log that is not as long as is expected.
    pub(crate) fn check_expected(&self, found: usize) -> Result<(), EngineError> {
        let found = found as u64;
        match self.expected {
            Some(expected) if expected != found => Err(EngineError::Moved { found, expected }),
            _ => Ok(()),
        }
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

    /// Finds the entry a reference names: id, unique prefix, `#seq`, label, alias; empty is the leaf, `-` its parent. The end
    /// of a turn is no entry that anybody sees: the parent is that of what was said last.
    pub fn resolve(&self, reference: &str) -> Result<Seq, EngineError> {
        let leaf = resolve::entry(&self.log, "");
        let (Ok(leaf), true) = (leaf, !reference.is_empty() && reference.bytes().all(|byte| byte == b'-')) else {
            return Ok(resolve::entry(&self.log, reference)?);
        };
        let is_unseen = |seq: &Seq| keeps_book(self, *seq) && self.log.facts().label(self.log.id(*seq)).is_none();
        let is_visible = |seq: &Seq| self.log.record(*seq).is_some_and(Record::is_visible);
        let mut path = self.log.ancestors(Some(leaf)).filter(is_visible).skip_while(is_unseen);
        let found = path.nth(reference.len());
        Ok(found.ok_or_else(|| ResolveError::NotFound(format!("@{reference}")))?)
    }

    /// Returns the conversation tree, or every physical entry.
    pub fn tree(&self, scope: Scope) -> Tree {
        Tree::of(&self.log, scope)
    }

    /// Gives access to the bytes of entries.
    pub fn lines(&self) -> StoreLines<'_> {
        StoreLines::new(self.store.as_ref(), &self.sources, &self.ahead).checked_by(&self.log)
    }

    /// Returns the stored line of an entry, byte for byte, without its newline.
    pub fn line(&self, seq: Seq) -> Result<Vec<u8>, EngineError> {
        let place = self.log.place(seq).ok_or_else(|| EngineError::Invalid(format!("there is no entry {seq}")))?;
        Ok(self.line_at(place)?)
    }

    /// Returns the line that an entry was first written as, whatever was put in its place since; none when it was not read.
    pub fn stored_line(&self, seq: Seq) -> Result<Option<Vec<u8>>, EngineError> {
        Ok(self.log.stored_place(seq).map(|place| self.line_at(place)).transpose()?)
    }

    pub(crate) fn line_at(&self, place: Place) -> Result<Vec<u8>, StoreError> {
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

    /// Returns up to where the log was read.
    pub(crate) fn position(&self) -> Position {
        Position { incarnation: self.incarnation, end: self.log.end() }
    }

    /// Returns the writer of the log, opening it if need be.
    pub(crate) fn writer(&mut self) -> Result<&mut dyn LogWriter, StoreError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.store.writer(self.location())?,
        };
        Ok(self.writer.insert(writer).as_mut())
    }

    /// Says how writing to this session is going.
    pub fn health(&self) -> Health {
        self.writer.as_ref().map(|writer| writer.health()).unwrap_or_default()
    }

    /// Follows the log to where it is now.
    pub(crate) fn relocate(&mut self, location: Location) {
        self.writer = None;
        if let Some(own) = self.sources.first_mut() {
            *own = location;
        }
    }

    /// Reads what other writers appended since.
    pub(crate) fn refresh(&mut self) -> Result<(), EngineError> {
        let location = self.location().clone();
        let known = self.log.end();
        if self.log.tail() != ramus_model::Tail::Ended {
            return self.reload();
        }
        let Self { store, log, .. } = self;
        let read = store.read(&location, known, &mut |chunk| log.feed(chunk))?;
        self.log.finish();
        let is_other = read.incarnation != self.incarnation || read.end < known;
        // Whoever wrote may have been killed at it.
        self.looked_for_intent &= read.end == known;
        if is_other { self.reload() } else { Ok(()) }
    }

    /// Reads everything again: the file was replaced. When it is another session that has the id now, this one is gone.
    pub(crate) fn reload(&mut self) -> Result<(), EngineError> {
        let location = self.location().clone();
        let mut again = load(&self.store, location, Depth::Envelope)?;
        if !is_same(self.log.header(), again.log.header()) {
            return Err(EngineError::SessionNotFound(self.location().id.to_string()));
        }
        self.log = std::mem::take(&mut again.log);
        self.sources = std::mem::take(&mut again.sources);
        self.ahead = std::mem::take(&mut again.ahead);
        self.sidecar = std::mem::take(&mut again.sidecar);
        self.incarnation = again.incarnation;
        self.lost_origin = again.lost_origin.take();
        self.unanswered = 0;
        self.looked_for_intent = false;
        Ok(())
    }
}

/// Says whether two headers are of one session: whoever opened it relies on whose it is. What was made up for a file that has
/// lost its header says no more than that.
fn is_same(before: Option<&Header>, now: Option<&Header>) -> bool {
    let (Some(before), Some(now)) = (before, now) else { return true };
    let is_made_up = before.synthetic || now.synthetic;
    let is_one = before.id == now.id && before.timestamp == now.timestamp;
    before.ramus.owner == now.ramus.owner && (is_one || is_made_up)
}
