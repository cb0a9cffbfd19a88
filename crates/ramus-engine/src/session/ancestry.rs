//! Reading a session: its log on top of those that it was forked from, each up to where the next one begins.

use std::ops::Range;
use std::sync::Arc;

use ramus_model::{Depth, ForkedFrom, Header, Log, SessionId};
use ramus_store::planted::{Bug, is_planted};
use ramus_store::{Incarnation, Location, LogStore, Residence, StoreError};

use super::Session;
use crate::error::EngineError;
use crate::sidecar::{Described, Found, Sidecar, incarnation_name};

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
pub(super) struct Read {
    pub(super) log: Log,
    pub(super) incarnation: Incarnation,
    pub(super) sidecar: Sidecar,
}

/// A log and the ones it was forked from, nearest first.
pub(super) struct Ancestry {
    pub(super) chain: Vec<Location>,
    /// For each origin, the entry the fork continues from and how much of the origin belongs to it.
    pub(super) forks: Vec<ForkedFrom>,
    /// Why the chain ends early.
    pub(super) broken: Option<String>,
    /// The origin that is not in the chain and should be.
    pub(super) lost: Option<(SessionId, Option<Location>)>,
}

impl Ancestry {
    /// Follows forks down to a log that stands on its own, or to where that is no longer possible.
    pub(super) fn of(store: &dyn LogStore, location: Location, known: KnownOrigins<'_>) -> Result<Self, EngineError> {
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
    pub(super) fn read(
        &self,
        store: &dyn LogStore,
        depth: Depth,
        limit: u64,
        believe: bool,
    ) -> Result<Read, EngineError> {
        self.read_above(store, depth, limit, believe, (0..self.chain.len(), None))
    }

    /// Reads the logs at some levels, on top of the one below them when somebody has it.
    pub(super) fn read_above(
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
    pub(super) fn read_with(
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
    pub(super) fn broken_at(&self, level: usize) -> Option<&String> {
        self.broken.as_ref().filter(|_| level + 1 == self.chain.len())
    }

    /// The log at a level before anything of it was read: what it shares with the one below.
    pub(super) fn on(&self, level: usize, below: Option<Read>, depth: Depth) -> Log {
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
    pub(super) fn shared(&self, level: usize) -> u64 {
        level.checked_sub(1).and_then(|above| self.forks.get(above)).map_or(u64::MAX, |fork| fork.offset)
    }

    pub(super) fn into_session(self, store: &Arc<dyn LogStore>, mut read: Read) -> Session {
        read.log.set_synthetic_header(self.name());
        let mut session = Session::new(Arc::clone(store), self.chain, read);
        session.lost_origin = self.lost;
        session
    }

    pub(super) fn name(&self) -> &str {
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
