//! `fork`: a new session that starts from an entry of another one, by reference.
//!
//! No entry is copied: the fork names its origin and how much of it existed, and that much never changes. Files that
//! belong to other programs may be rewritten by them, so those are forked by copying the path.

use std::collections::HashSet;

use ramus_model::{
    Body, CURRENT_VERSION, Depth, EntryId, ForkedFrom, Header, Log, Origin, RamusHeader, Role, Seq, SessionId, migrate,
};
use ramus_store::{Hold, Location, NewLog, Placement, Residence, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::project;
use crate::session::{MAX_FORK_DEPTH, Session, find, load};
use crate::verb::branch::branch_target;
use crate::verb::create::{check_title, chosen_body, engine_version, new_entry_id, new_session_id, title_body};
use crate::verb::permission::permission_body;

/// What a fork is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForkOptions {
    /// The title; none to derive one from the origin's.
    pub title: Option<String>,
}

/// A session that was just forked. It costs as much to make however long its origin is; reading it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forked {
    /// Its id.
    pub id: SessionId,
    /// Where its log is.
    pub location: Location,
    /// The entry it starts from.
    pub origin: Origin,
    /// Its title.
    pub title: String,
    /// Its working directory.
    pub cwd: String,
}

impl Engine {
    /// Starts a new session from `entry`, which it keeps. The origin is not read again.
    pub fn fork(&self, origin: &Session, entry: Seq, options: &ForkOptions) -> Result<Forked, EngineError> {
        self.fork_as(None, origin, entry, options)
    }

    /// The same with an id that stands for the name of an order; `order` tells what was ordered from everything else that
    /// could be ordered under that name, and is kept. An id that is taken is a conflict.
    pub fn fork_ordered(
        &self,
        (id, order): (&SessionId, &str),
        origin: &Session,
        entry: Seq,
        options: &ForkOptions,
    ) -> Result<Forked, EngineError> {
        self.fork_as(Some((id, order)), origin, entry, options)
    }

    fn fork_as(
        &self,
        chosen: Option<(&SessionId, &str)>,
        origin: &Session,
        entry: Seq,
        options: &ForkOptions,
    ) -> Result<Forked, EngineError> {
        let entry_id = branch_target(origin, entry)?;
        let title = match &options.title {
            Some(title) => check_title(title)?,
            None => format!("{} (fork)", origin.title()),
        };
        let timestamp = self.timestamp();
        let by_copy = must_be_copied(origin);
        // What is referred to must be found again, and it is found by the name it has in the home.
        let session = if by_copy { origin.id() } else { &origin.location().id };
        let from = Origin { session: session.clone(), entry: entry_id.clone() };
        let ramus = if by_copy {
            RamusHeader { copied_from: Some(from.clone()), ..RamusHeader::default() }
        } else {
            let forked = ForkedFrom { origin: from.clone(), offset: origin.log().sound_end() };
            RamusHeader { forked_from: Some(forked), ..RamusHeader::default() }
        };
        let owner = origin.log().header().and_then(|header| header.ramus.owner.clone());
        let header = Header {
            id: chosen.map_or_else(new_session_id, |(id, _)| id.clone()),
            version: CURRENT_VERSION,
            timestamp: timestamp.clone(),
            cwd: origin.cwd().to_owned(),
            title: Some(title.clone()),
            parent_session: Some(origin.id().to_string()),
            ramus: RamusHeader {
                owner,
                engine: Some(engine_version()),
                project: project::inherited(origin.cwd(), origin.project().as_ref()),
                ..ramus
            },
            synthetic: false,
        };
        // The copy may outlive the lines it was made from, and their blobs must not go in between.
        let _hold = self.store.blobs().filter(|_| by_copy).map(|blobs| blobs.hold()).transpose()?;
        let mut bytes = header.to_line();
        if by_copy {
            bytes = copied_path(origin, entry, bytes)?;
        }
        let named = new_entry_id(|id| origin.log().seq_of(id).is_some());
        let mut doing = Doing::called("fork", self, header.id.as_str()).to(origin);
        bytes.extend(doing.mark(title_body(&title)).to_line(&named, Some(&entry_id), &timestamp));
        // What was said yes to was said to the origin; what was forbidden stays forbidden.
        if let Some(body) = permission_body(&origin.strict_rules()?) {
            let named = new_entry_id(|id| id == named.as_str() || origin.log().seq_of(id).is_some());
            bytes.extend(doing.mark(body).to_line(&named, Some(&entry_id), &timestamp));
        }
        if let Some((_, order)) = chosen {
            // Another session may have had this id: its numbers and positions are none of this one.
            let body = chosen_body(order);
            let named = new_entry_id(|id| id == named.as_str() || origin.log().seq_of(id).is_some());
            bytes.extend(doing.mark(body).to_line(&named, Some(&entry_id), &timestamp));
        }
        let placement = if has_answer_on(origin, entry) { Placement::Published } else { Placement::Draft };
        let new = NewLog { id: header.id.clone(), cwd: &header.cwd, timestamp: &timestamp, placement };
        // Nobody takes a chosen id between looking and making.
        let _forks = self.store.hold_forks(if chosen.is_some() { Hold::Exclusive } else { Hold::Shared })?;
        if let Some((id, _)) = chosen
            && self.is_taken(id)?
        {
            return Err(EngineError::Conflict(format!("the id {:?} is taken", id.as_str())));
        }
        if !by_copy {
            self.check_origin(origin)?;
        }
        let location = self.store.create(&new, &bytes)?;
        self.bus.wrote(&header.id, 0);
        Ok(Forked { id: header.id, location, origin: from, title, cwd: header.cwd })
    }

    /// Opens a session that was just forked.
    pub fn open_fork(&self, forked: &Forked) -> Result<Session, EngineError> {
        load(&self.store, forked.location.clone(), Depth::Envelope)
    }

    /// Makes sure that the origin was neither deleted since it was read, nor replaced, in which case its entries may be
    /// elsewhere. It cannot go while the lock on forks is held.
    fn check_origin(&self, origin: &Session) -> Result<(), EngineError> {
        let position = match self.store.position(origin.location()) {
            // Published or moved meanwhile, perhaps.
            Err(StoreError::NotFound { .. }) => {
                let id = &origin.location().id;
                let found = find(self.store.as_ref(), id)?;
                self.store.position(&found.ok_or_else(|| EngineError::SessionNotFound(id.to_string()))?)?
            }
            result => result?,
        };
        if position.incarnation != origin.position().incarnation {
            let reason = "the file of the session was replaced since it was read; open it again";
            return Err(EngineError::Conflict(reason.into()));
        }
        Ok(())
    }
}

/// An origin that will be rewritten, by its owner, by its upgrade, or because it has no header, cannot be referred to.
fn must_be_copied(origin: &Session) -> bool {
    origin.residence() == Residence::InPlace
        || origin.log().header().is_none_or(|header| header.synthetic)
        || migrate::is_needed(origin.log())
        || origin.sources.len() > MAX_FORK_DEPTH
}

fn has_answer_on(origin: &Session, entry: Seq) -> bool {
    let log = origin.log();
    log.ancestors(Some(entry)).any(|seq| log.record(seq).is_some_and(|record| record.role == Role::Assistant))
}

/// Appends to `header` the stored lines of the path to `entry`, what hangs behind its entries, and their labels, so that the file stands on
/// its own.
pub(crate) fn copied_path(origin: &Session, entry: Seq, header: Vec<u8>) -> Result<Vec<u8>, EngineError> {
    let log = origin.log();
    let mut bytes = header;
    let mut path = log.path(Some(entry));
    let on_path: HashSet<Seq> = path.iter().copied().collect();
    // What hangs behind its entries says what turns did to files.
    for seq in std::mem::take(&mut path) {
        path.push(seq);
        path.extend(origin.kept_behind(seq)?.into_iter().filter(|note| !on_path.contains(note)));
    }
    for seq in &path {
        bytes.extend(standalone_line(origin, *seq)?);
    }
    // Labels stand anywhere in the log; those that did not come along on the path are written again.
    let copy = Log::from_bytes(&bytes, Depth::Envelope);
    let timestamp = log.header().map(|header| header.timestamp.clone()).unwrap_or_default();
    for seq in path {
        let (id, label) = (log.id(seq), log.facts().label(log.id(seq)));
        if let Some(label) = label.filter(|label| copy.facts().label(id) != Some(*label)) {
            let body = Body::new("label", [("targetId", id.into()), ("label", label.into())]);
            let name = new_entry_id(|id| log.seq_of(id).is_some());
            bytes.extend(body.to_line(&name, Some(&origin.entry_id(entry)), &timestamp));
        }
    }
    Ok(bytes)
}

/// The line of an entry as it must read where its earlier version and legacy neighbours are not.
fn standalone_line(origin: &Session, seq: Seq) -> Result<Vec<u8>, EngineError> {
    use ramus_model::json::Raw;
    let log = origin.log();
    let line = origin.line(seq)?;
    let parent = log.record(seq).and_then(|record| record.parent());
    let raw = Raw::parse(&line);
    let stored = |name: &str| raw.and_then(|raw| raw.field(name)).and_then(Raw::text).map(|text| text.into_owned());
    let as_stored = stored("id").as_deref() == Some(log.id(seq))
        && stored("parentId").filter(|id| !id.is_empty()).as_deref() == parent.map(|parent| log.id(parent))
        && raw.is_some_and(|raw| raw.field(ramus_model::body::SUPERSEDES).is_none());
    if as_stored {
        return Ok([line, b"\n".to_vec()].concat());
    }
    // A later version, a version 1 entry, or one whose parent was cut off: same body, the envelope it has in the tree.
    let body = raw.and_then(Body::of_record);
    let body = body.ok_or_else(|| EngineError::Corrupt(format!("entry {} is damaged", log.id(seq))))?;
    let parent = parent.map(|parent| EntryId::from(log.id(parent)));
    Ok(body.to_line(&EntryId::from(log.id(seq)), parent.as_ref(), &stored("timestamp").unwrap_or_default()))
}
