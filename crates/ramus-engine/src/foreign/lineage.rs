//! Forks that other agents made: which session is a copy of which, and up to where. It is found out when both are here, and
//! written into the copy, as its own metadata.
//!
//! Only sessions that begin as copies of one another are compared, and those that say what they were forked from. Each is
//! compared once; what was found stays.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};

use ramus_model::{Depth, EntryId, Kind, Origin, SessionId, time};
use ramus_store::Location;
use serde_json::{Map, json};

use super::memory::Memory;
use super::presence::Presence;
use super::print::{Dates, Said};
use super::read::concerns_all;
use super::{ForeignFailure, ForeignLink};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::load;

/// Of how many sessions that begin alike the older ones are compared with each.
const MOST_KIN: usize = 256;

/// Links sessions to those they were forked from.
pub(super) struct Linking<'i> {
    pub(super) engine: &'i Engine,
    pub(super) presence: &'i Presence,
    pub(super) memory: &'i mut Memory,
    hashers: (RandomState, RandomState),
    linked: Vec<ForeignLink>,
    failed: Vec<ForeignFailure>,
}

impl<'i> Linking<'i> {
    pub(super) fn new(engine: &'i Engine, presence: &'i Presence, memory: &'i mut Memory) -> Self {
        Self { engine, presence, memory, hashers: Default::default(), linked: Vec::new(), failed: Vec::new() }
    }

    /// Links the sessions that this import met, and those whose origin came only now.
    pub(super) fn run(
        mut self,
        met: &BTreeSet<String>,
    ) -> Result<(Vec<ForeignLink>, Vec<ForeignFailure>), EngineError> {
        self.by_pointer()?;
        self.by_beginning(met)?;
        Ok((self.linked, self.failed))
    }

    /// Sessions that say what they were forked from, as soon as that is here.
    fn by_pointer(&mut self) -> Result<(), EngineError> {
        let here = |id: &str| self.presence.location(&SessionId::from(id));
        let due: Vec<(String, Location, Location)> = self
            .memory
            .prints()
            .filter(|(_, print)| !print.followed)
            .filter_map(|(id, print)| Some((id.to_owned(), here(id)?, here(print.forked_from.as_deref()?)?)))
            .filter(|(_, fork, origin)| fork.id != origin.id)
            .collect();
        for (id, fork, origin) in due {
            let (Some(fork), Some(origin)) = (self.member(fork)?, self.member(origin)?) else { continue };
            let shared = Shared::of(&origin, &fork, By::Words);
            if fork.link.is_none() && origin.link.as_ref() != Some(&fork.location.id) {
                self.link(&fork, &origin, shared.last)?;
            }
            // Some programs point to a session that they only follow: they share nothing with it, and that is no fork.
            self.memory.mark(&id, |print| print.followed = true);
        }
        Ok(())
    }

    /// Sessions that begin alike.
    fn by_beginning(&mut self, met: &BTreeSet<String>) -> Result<(), EngineError> {
        let is_due = |id: &String| self.memory.print(id).is_some_and(|print| !print.compared && print.begins.is_some());
        let due: BTreeSet<&String> = met.iter().filter(|id| is_due(id)).collect();
        if due.is_empty() {
            return Ok(());
        }
        let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (id, print) in self.memory.prints() {
            if let Some(begins) = &print.begins {
                alike.entry(begins.clone()).or_default().push(id.to_owned());
            }
        }
        alike.retain(|_, ids| ids.iter().any(|id| due.contains(id)));
        for ids in alike.into_values() {
            if ids.len() > 1 {
                let mut kin = Vec::new();
                for location in ids.iter().filter_map(|id| self.presence.location(&SessionId::from(id.as_str()))) {
                    kin.extend(self.member(location)?);
                }
                self.link_kin(kin)?;
            }
            ids.iter().for_each(|id| self.memory.mark(id, |print| print.compared = true));
        }
        Ok(())
    }

    fn link_kin(&mut self, mut kin: Vec<Member>) -> Result<(), EngineError> {
        put_in_order(&mut kin);
        for at in 1..kin.len() {
            let (older, [fork, ..]) = kin.split_at(at) else { break };
            if fork.link.is_some() {
                continue;
            }
            let mut best: Option<(&Member, Shared<'_>)> = None;
            for origin in older.iter().take(MOST_KIN).filter(|origin| !descends(origin, fork, &kin)) {
                let shared = Shared::of(origin, fork, fork.by());
                // Of several that share as much the oldest is the origin.
                if shared.has_answer && best.as_ref().is_none_or(|(_, best)| shared.count > best.count) {
                    best = Some((origin, shared));
                }
            }
            let Some((origin, shared)) = best else { continue };
            self.link(fork, origin, shared.last)?;
            let origin = origin.location.id.clone();
            if let Some(fork) = kin.get_mut(at) {
                fork.link = Some(origin);
            }
        }
        Ok(())
    }

    /// Writes into a session where it was forked from.
    fn link(&mut self, fork: &Member, origin: &Member, entry: Option<&EntryId>) -> Result<(), EngineError> {
        let Some(entry) = entry else { return Ok(()) };
        let origin = Origin { session: origin.location.id.clone(), entry: entry.clone() };
        let written = load(&self.engine.store, fork.location.clone(), Depth::Envelope).and_then(|mut session| {
            self.engine.change_meta(&mut session, "import", |session| {
                let value = json!({"session": origin.session.as_str(), "entry": origin.entry.as_str()});
                let is_known = session.lineage().forked_from.is_some();
                Ok((!is_known).then(|| ("copied_from".to_owned(), value)).into_iter().collect::<Map<_, _>>())
            })?;
            self.engine.flush(&mut session)
        });
        match written {
            Ok(()) => self.linked.push(ForeignLink { id: fork.location.id.clone(), origin }),
            Err(error) => self.fail(&fork.location, error)?,
        }
        Ok(())
    }

    fn fail(&mut self, location: &Location, error: EngineError) -> Result<(), EngineError> {
        if concerns_all(&error) {
            return Err(error);
        }
        let file = location.path.clone().unwrap_or_default();
        let reason = format!("where session {} was forked from cannot be told: {error}", location.id);
        self.failed.push(ForeignFailure { file, agent: None, reason });
        Ok(())
    }

    /// Reads what a session says; none when it cannot be read, which is reported.
    fn member(&mut self, location: Location) -> Result<Option<Member>, EngineError> {
        match self.read(location.clone()) {
            Ok(member) => Ok(Some(member)),
            Err(error) => self.fail(&location, error).map(|()| None),
        }
    }

    fn read(&self, location: Location) -> Result<Member, EngineError> {
        let session = load(&self.engine.store, location.clone(), Depth::Envelope)?;
        let log = session.log();
        let header = log.header();
        let agent = header.and_then(|header| header.ramus.imported_from.as_ref()).map(|from| from.agent.as_str());
        let mut said = Vec::new();
        let is_message = |seq: &ramus_model::Seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Message);
        for seq in log.visible().filter(is_message) {
            let line = session.line(seq)?;
            let Some(message) = Said::latest(&line) else { continue };
            let words = (&*message.role, message.content);
            said.push(Uttered {
                words: self.hashers.0.hash_one(words),
                moment: self.hashers.1.hash_one((words, &*message.time)),
                millis: time::parse(&message.time).unwrap_or_default(),
                is_answer: message.is_answer(),
                entry: session.entry_id(seq),
            });
        }
        Ok(Member {
            created: header.and_then(|header| time::parse(&header.timestamp)).unwrap_or_default(),
            dates: Dates::of(agent.unwrap_or_default()),
            link: session.lineage().forked_from.map(|origin| origin.session),
            own: 0,
            location,
            said,
        })
    }
}

/// A session that is compared with others.
struct Member {
    location: Location,
    created: i64,
    dates: Dates,
    /// What it was forked from, when that is known.
    link: Option<SessionId>,
    /// When something was first said in it that not all of its kin have; 0 when nothing was.
    own: i64,
    said: Vec<Uttered>,
}

impl Member {
    fn by(&self) -> By {
        match self.dates {
            Dates::Kept => By::Moment,
            Dates::Renewed => By::Words,
        }
    }
}

/// A message as it is compared.
struct Uttered {
    /// Who said what.
    words: u64,
    /// And when.
    moment: u64,
    millis: i64,
    is_answer: bool,
    entry: EntryId,
}

/// What makes a message the same.
#[derive(Clone, Copy)]
enum By {
    Words,
    Moment,
}

/// What a session has of another.
#[derive(Default)]
struct Shared<'m> {
    count: usize,
    has_answer: bool,
    /// The last of it, in the other.
    last: Option<&'m EntryId>,
}

impl<'m> Shared<'m> {
    /// Goes along both. The origin may have branches in between, which were not copied.
    fn of(origin: &'m Member, fork: &Member, by: By) -> Self {
        let mut shared = Self::default();
        let mut ahead = origin.said.iter();
        for said in &fork.said {
            let is_same = |other: &&Uttered| match by {
                By::Words => other.words == said.words,
                By::Moment => other.moment == said.moment,
            };
            let Some(same) = ahead.find(is_same) else { break };
            shared.count += 1;
            shared.has_answer |= same.is_answer;
            shared.last = Some(&same.entry);
        }
        shared
    }
}

/// Puts the oldest first. Where copies have the beginning of their origin, what each has alone tells.
fn put_in_order(kin: &mut [Member]) {
    let Some((first, others)) = kin.split_first() else { return };
    let common = others.iter().map(|other| Shared::of(first, other, other.by()).count).min().unwrap_or_default();
    for member in kin.iter_mut() {
        member.own = member.said.get(common).map_or(0, |said| said.millis);
    }
    kin.sort_by(|a, b| (a.created, a.own, &a.location.id).cmp(&(b.created, b.own, &b.location.id)));
}

/// Says whether a session was forked from another, directly or through others.
fn descends(session: &Member, from: &Member, kin: &[Member]) -> bool {
    let mut at = session;
    for _ in 0..=kin.len() {
        let Some(link) = &at.link else { return false };
        if *link == from.location.id {
            return true;
        }
        let Some(next) = kin.iter().find(|member| member.location.id == *link) else { return false };
        at = next;
    }
    true
}
