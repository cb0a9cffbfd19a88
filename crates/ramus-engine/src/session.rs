//! An open session: its log, where it is, and the views everything else is made of.

mod trunks;

use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::{
    Depth, EntryId, ForkedFrom, Header, Log, Place, Scope, Seq, SessionId, Tree, context, resolve, title,
};
use ramus_store::planted::{Bug, is_planted};
use ramus_store::{
    Health, Incarnation, Location, LogStore, LogWriter, Position, ReadAhead, Residence, StoreError, StoreLines,
};
use std::ops::Range;
use std::sync::Arc;

use crate::blobs::MissingBlobs;
use crate::error::EngineError;
use crate::recovery::{Action, RecoveryReport};
use crate::sidecar::{Described, Found, Sidecar, incarnation_name};

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
    /// Whether something was appended through this session.
    pub(crate) wrote: bool,
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
            wrote: false,
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
        StoreLines::new(self.store.as_ref(), &self.sources, &self.ahead).checked_by(&self.log)
    }

    /// Returns the stored line of an entry, byte for byte, without its newline.
    pub fn line(&self, seq: Seq) -> Result<Vec<u8>, EngineError> {
        let place = self.log.place(seq).ok_or_else(|| EngineError::Invalid(format!("there is no entry {seq}")))?;
        Ok(self.line_at(place)?)
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
        if is_other { self.reload() } else { Ok(()) }
    }

    /// Reads everything again: the file was replaced.
    pub(crate) fn reload(&mut self) -> Result<(), EngineError> {
        let location = self.location().clone();
        let mut again = load(&self.store, location, Depth::Envelope)?;
        self.log = std::mem::take(&mut again.log);
        self.sources = std::mem::take(&mut again.sources);
        self.ahead = std::mem::take(&mut again.ahead);
        self.sidecar = std::mem::take(&mut again.sidecar);
        self.incarnation = again.incarnation;
        self.lost_origin = again.lost_origin.take();
        self.unanswered = 0;
        Ok(())
    }
}

/// How deep forks of forks are followed; a fork of a deeper one copies its path instead.
pub(crate) const MAX_FORK_DEPTH: usize = 64;

/// How much is read at a time to find the end of a header, and how much at most.
const HEADER_STEP: usize = 1 << 14;
const MAX_HEADER: u64 = 1 << 24;

/// Reads the log at `location`, and the logs it was forked from.
pub(crate) fn load(store: &Arc<dyn LogStore>, location: Location, depth: Depth) -> Result<Session, EngineError> {
    load_among(store, location, depth, &unknown)
}

/// Finds origins of forks for whoever knows where they are without asking the home.
pub(crate) type KnownOrigins<'k> = &'k dyn Fn(&SessionId) -> Option<Location>;

/// Knows no origin.
pub(crate) fn unknown(_: &SessionId) -> Option<Location> {
    None
}

/// Knows these.
pub(crate) fn among(known: &[Location]) -> impl Fn(&SessionId) -> Option<Location> {
    |id| known.iter().find(|location| location.id == *id).cloned()
}

/// Like [`load`], looking origins up in `known` first, for whoever opens many sessions of one home.
pub(crate) fn load_among(
    store: &Arc<dyn LogStore>,
    location: Location,
    depth: Depth,
    known: KnownOrigins<'_>,
) -> Result<Session, EngineError> {
    load_with(store, location, depth, known, true)
}

/// A log of this length or more is opened through its sidecar also where that does not look at every line.
pub(crate) const LONG: u64 = 1 << 18;

/// Like [`load_among`], for lists: a short log is read as it is. A sidecar is believed when the end of the log is as it
/// remembers, so it may stand for lines that something else changed, until it is made anew.
pub(crate) fn load_listed(
    store: &Arc<dyn LogStore>,
    location: Location,
    known: KnownOrigins<'_>,
) -> Result<Session, EngineError> {
    let believe = store.position(&location)?.end >= LONG;
    load_with(store, location, Depth::Envelope, known, believe)
}

fn load_with(
    store: &Arc<dyn LogStore>,
    location: Location,
    depth: Depth,
    known: KnownOrigins<'_>,
    believe: bool,
) -> Result<Session, EngineError> {
    let ancestry = Ancestry::of(store.as_ref(), location, known)?;
    let read = ancestry.read(store.as_ref(), depth, u64::MAX, believe)?;
    Ok(ancestry.into_session(store, read))
}

/// Reads only what a fork shares with its origin, as it was when it was forked.
pub(crate) fn load_shared(session: &Session, known: KnownOrigins<'_>) -> Result<Session, EngineError> {
    load_as_of(session, 0, known)
}

/// Reads a session as it was when its own log had `end` bytes.
pub(crate) fn load_as_of(session: &Session, end: u64, known: KnownOrigins<'_>) -> Result<Session, EngineError> {
    let ancestry = Ancestry::of(session.store.as_ref(), session.location().clone(), known)?;
    // A sidecar knows what titles and metadata came to in the end, not what they were on the way there.
    let mut read = ancestry.read(session.store.as_ref(), Depth::Envelope, end, end == 0)?;
    read.sidecar = Sidecar::None;
    Ok(Session::new(Arc::clone(&session.store), ancestry.chain, read))
}

/// A log that was read, from its sidecar or from its first byte on.
#[derive(Default)]
struct Read {
    log: Log,
    incarnation: Incarnation,
    sidecar: Sidecar,
}

/// A log and the ones it was forked from, nearest first.
struct Ancestry {
    chain: Vec<Location>,
    /// For each origin, the entry the fork continues from and how much of the origin belongs to it.
    forks: Vec<ForkedFrom>,
    /// Why the chain ends early.
    broken: Option<String>,
    /// The origin that is not in the chain and should be.
    lost: Option<(SessionId, Option<Location>)>,
}

impl Ancestry {
    /// Follows forks down to a log that stands on its own, or to where that is no longer possible.
    fn of(store: &dyn LogStore, location: Location, known: KnownOrigins<'_>) -> Result<Self, EngineError> {
        let mut ancestry = Self { chain: vec![location], forks: Vec::new(), broken: None, lost: None };
        while let Some(last) = ancestry.chain.last() {
            let header = match header_of(store, last) {
                Ok(header) => header,
                Err(error) if ancestry.chain.len() == 1 => return Err(error),
                // Deleted since it was looked up: its base is there now.
                Err(EngineError::Store(StoreError::NotFound { .. }))
                    if let Some(moved) = origin(store, &last.id, &unknown)?.filter(|moved| moved != last) =>
                {
                    if let Some(last) = ancestry.chain.last_mut() {
                        *last = moved;
                    }
                    continue;
                }
                // A disk that fails now may work in a moment; whoever went on without the origin would write without it.
                Err(error @ EngineError::Store(StoreError::Io { .. })) => return Err(error),
                Err(error) => {
                    ancestry.broken = Some(format!("session {} cannot be read: {error}", last.id));
                    ancestry.lost = ancestry.chain.pop().map(|last| (last.id.clone(), Some(last)));
                    ancestry.forks.pop();
                    break;
                }
            };
            let ramus = header.map(|header| header.ramus).unwrap_or_default();
            if let (Residence::Base, Some(base), Some(fork)) = (last.residence, ramus.base, ancestry.forks.last_mut()) {
                fork.offset = base.end(fork.offset);
            }
            let Some(fork) = ramus.forked_from else { break };
            let id = &fork.origin.session;
            if ancestry.chain.len() > MAX_FORK_DEPTH || ancestry.chain.iter().any(|known| known.id == *id) {
                ancestry.broken = Some(format!("the forks that lead to session {id} go round in a circle"));
                break;
            }
            let Some(origin) = origin(store, id, known)? else {
                ancestry.broken = Some(format!("session {id}, which this one was forked from, is gone"));
                ancestry.lost = Some((id.clone(), None));
                break;
            };
            ancestry.chain.push(origin);
            ancestry.forks.push(fork);
        }
        Ok(ancestry)
    }

    /// Reads the logs from the bottom up, each on top of what it was forked from; of the top one at most `limit` bytes.
    fn read(&self, store: &dyn LogStore, depth: Depth, limit: u64, believe: bool) -> Result<Read, EngineError> {
        self.read_above(store, depth, limit, believe, (0..self.chain.len(), None))
    }

    /// Reads the logs at some levels, on top of the one below them when somebody has it.
    fn read_above(
        &self,
        store: &dyn LogStore,
        depth: Depth,
        limit: u64,
        believe: bool,
        (levels, below): (Range<usize>, Option<&Log>),
    ) -> Result<Read, EngineError> {
        let below = || below.map(|log| Read { log: log.clone(), ..Read::default() });
        if believe
            && depth == Depth::Envelope
            && let Some(read) = self.read_with(store, depth, limit, true, levels.clone(), below())?
        {
            return Ok(read);
        }
        // Without sidecars there is nothing that might not fit.
        let read = self.read_with(store, depth, limit, false, levels, below())?;
        Ok(read.unwrap_or_default())
    }

    /// Reads logs; none when a sidecar that was believed turned out not to fit.
    fn read_with(
        &self,
        store: &dyn LogStore,
        depth: Depth,
        limit: u64,
        believe: bool,
        levels: Range<usize>,
        mut read: Option<Read>,
    ) -> Result<Option<Read>, EngineError> {
        for level in levels.rev() {
            let Some(source) = self.chain.get(level) else { continue };
            let base = self.on(level, read.take(), depth);
            let limit = if level == 0 { limit } else { self.shared(level) };
            match read_log(store, source, base, limit, self.broken_at(level), believe)? {
                Some(log) => read = Some(log),
                None => return Ok(None),
            }
        }
        Ok(read)
    }

    /// Why what the log at a level was forked from is not there.
    fn broken_at(&self, level: usize) -> Option<&String> {
        self.broken.as_ref().filter(|_| level + 1 == self.chain.len())
    }

    /// The log at a level before anything of it was read: what it shares with the one below.
    fn on(&self, level: usize, below: Option<Read>, depth: Depth) -> Log {
        let mut base = match (below, self.forks.get(level)) {
            (Some(origin), Some(fork)) => Log::forked(origin.log, &fork.origin.entry, depth),
            _ => Log::new(depth),
        };
        if self.chain.get(level).is_some_and(|source| source.residence == Residence::Base) {
            base.allow_gaps();
        }
        base
    }

    /// How much of the log at a level belongs to the one above.
    fn shared(&self, level: usize) -> u64 {
        level.checked_sub(1).and_then(|above| self.forks.get(above)).map_or(u64::MAX, |fork| fork.offset)
    }

    fn into_session(self, store: &Arc<dyn LogStore>, mut read: Read) -> Session {
        read.log.set_synthetic_header(self.name());
        let mut session = Session::new(Arc::clone(store), self.chain, read);
        session.lost_origin = self.lost;
        session
    }

    fn name(&self) -> &str {
        self.chain.first().map_or("", |location| location.id.as_str())
    }
}

/// Reads one log on top of `base`, up to `limit`. A sidecar saves reading what it describes, if it may be believed; none
/// when it was and should not have been.
fn read_log(
    store: &dyn LogStore,
    source: &Location,
    base: Log,
    limit: u64,
    broken: Option<&String>,
    believe: bool,
) -> Result<Option<Read>, EngineError> {
    let found = Found::read(store, source);
    let fits = match &found {
        Some(found) if believe && broken.is_none() => found.fits(store, source)?,
        _ => false,
    };
    let mut log = match &found {
        Some(found) if fits => match found.restore(base, limit) {
            Some(log) => log,
            None => return Ok(None),
        },
        _ => {
            let mut log = base;
            if store.sidecars().is_some() && source.residence != Residence::InPlace {
                log.keep_sums();
            }
            log
        }
    };
    let read = store.read(source, log.end(), &mut |chunk| {
        let room = usize::try_from(limit.saturating_sub(log.end())).unwrap_or(usize::MAX);
        log.feed(chunk.get(..room).unwrap_or(chunk));
    })?;
    if let Some(reason) = broken {
        log.note_missing_origin(reason.clone());
    }
    log.finish();
    let sidecar = match found {
        Some(found) if fits => {
            let is_same = incarnation_name(read.incarnation) == found.checkpoint.incarnation;
            if !is_same && !is_planted(Bug::TrustSidecar) {
                return Ok(None);
            }
            found.into_sidecar()
        }
        Some(found) if limit == u64::MAX => found.compare(store, source, &mut log, read.incarnation)?,
        _ if store.sidecars().is_some() => Sidecar::Of(Box::<Described>::default()),
        _ => Sidecar::None,
    };
    Ok(Some(Read { log, incarnation: read.incarnation, sidecar }))
}

/// Reads only the header of a log: as much as it takes to come to it, or to an entry.
pub(crate) fn header_of(store: &dyn LogStore, at: &Location) -> Result<Option<Header>, EngineError> {
    let mut log = Log::new(Depth::Envelope);
    while log.end() < MAX_HEADER && log.header().is_none() && log.is_empty() {
        let step = usize::try_from(log.end()).unwrap_or_default().max(HEADER_STEP);
        let more = store.read_at(at, log.end(), step)?;
        if more.is_empty() {
            log.finish();
            break;
        }
        log.feed(&more);
    }
    Ok(log.header().cloned())
}

/// Finds the log that forks of `id` stand on: the session itself, or what was kept of it when it was deleted.
fn origin(store: &dyn LogStore, id: &SessionId, known: KnownOrigins<'_>) -> Result<Option<Location>, EngineError> {
    if let Some(found) = known(id) {
        return Ok(Some(found));
    }
    match find(store, id)? {
        Some(found) => Ok(Some(found)),
        None => Ok(store.find_base(id)?),
    }
}

/// Finds a log by its whole id.
pub(crate) fn find(store: &dyn LogStore, id: &SessionId) -> Result<Option<Location>, EngineError> {
    Ok(store.find(id)?)
}
