//! A source whose session is here already: what is new in it is appended, and what changed in it becomes a later version.
//!
//! The session may have gone on here meanwhile. Whatever a person did stays: what is new hangs from where it hung in the source,
//! as a branch beside, and the leaf stays where the person left it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use memchr::memmem;
use ramus_interchange::Entry;
use ramus_model::json::Raw;
use ramus_model::{Blob, Body, Depth, Draft, EntryId, Parent, Record, Seq, Tree};
use ramus_store::{BlobHold, Location};
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load};

/// How much is appended with one write.
const TOGETHER: usize = 4 << 20;
/// What marks a later version, as it is spelled at the front of a body.
const LATER: &[u8] = b"\"ramusSupersedes\":true,";

/// What a source may do to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The session was read from this source: it follows it.
    Own,
    /// The source is a copy of what the session was read from: it may add what is missing.
    Copy,
    /// Nobody knows yet: nothing is written.
    Compared,
}

/// A session that a source is compared with, entry by entry.
pub(super) struct Growing<'e> {
    engine: &'e Engine,
    session: Session,
    standing: Standing,
    is_dry: bool,
    lines: Lines,
    /// Lines that are not written yet, and whose entries they are.
    waiting: Vec<u8>,
    waiting_ids: HashSet<EntryId>,
    /// Keeps blobs from being collected until the lines that refer to them are written.
    hold: Option<Box<dyn BlobHold>>,
    /// Where the session stood.
    leaf: Option<EntryId>,
    /// The last entry of the source that is here, before the first that is not.
    known: Option<EntryId>,
    /// The last entry of the source.
    last: Option<EntryId>,
    tally: Tally,
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// How many entries the source has.
    pub(super) entries: usize,
    /// How many of them were here.
    pub(super) same: usize,
    /// How many were appended.
    pub(super) added: usize,
    /// How many got a later version, or would have got one.
    pub(super) changed: usize,
    /// The first of those, by its number in the source.
    first_changed: Option<usize>,
}

impl Tally {
    /// Says whether the source is a copy of what is here: they differ nowhere but in what may still change at the end.
    pub(super) fn is_copy(&self) -> bool {
        self.same > 0 && self.first_changed.is_none_or(|first| first + 2 > self.entries)
    }
}

/// What grew.
pub(super) struct Grown {
    pub(super) tally: Tally,
    pub(super) entries: usize,
    pub(super) branches: usize,
}

impl<'e> Growing<'e> {
    pub(super) fn new(
        engine: &'e Engine,
        location: Location,
        standing: Standing,
        is_dry: bool,
    ) -> Result<Self, EngineError> {
        let mut session = load(&engine.store, location, Depth::Envelope)?;
        if standing != Standing::Compared && !is_dry {
            engine.make_writable(&mut session)?;
        }
        let mut lines = Lines::default();
        engine.store.read(session.location(), 0, &mut |chunk| lines.take(chunk))?;
        let leaf = session.leaf();
        Ok(Self {
            engine,
            session,
            standing,
            is_dry,
            lines,
            waiting: Vec::new(),
            waiting_ids: HashSet::new(),
            hold: None,
            leaf,
            known: None,
            last: None,
            tally: Tally::default(),
        })
    }

    /// Returns what the source may do to the session.
    pub(super) fn standing(&self) -> Standing {
        self.standing
    }

    /// Takes the next entry of the source, as it would be stored.
    pub(super) fn entry(&mut self, entry: &Entry, line: &[u8], blobs: &[Blob]) -> Result<(), EngineError> {
        self.tally.entries += 1;
        let is_later = is_later(line);
        let is_here = self.lines.has(line);
        if is_here {
            self.tally.same += 1;
        }
        if !is_later {
            self.last = Some(entry.id.clone());
            if is_here && self.tally.added == 0 {
                self.known = Some(entry.id.clone());
            }
        }
        if is_here {
            return Ok(());
        }
        let is_known = self.session.log().seq_of(entry.id.as_str()).is_some() || self.waiting_ids.contains(&entry.id);
        if is_known {
            self.tally.changed += 1;
            self.tally.first_changed.get_or_insert(self.tally.entries);
        } else {
            self.tally.added += 1;
        }
        match self.standing {
            Standing::Compared => Ok(()),
            Standing::Copy if is_known => Ok(()),
            Standing::Own | Standing::Copy => self.append(entry, line, blobs, is_known && !is_later),
        }
    }

    fn append(&mut self, entry: &Entry, line: &[u8], blobs: &[Blob], supersedes: bool) -> Result<(), EngineError> {
        if self.is_dry {
            return Ok(());
        }
        if !blobs.is_empty() {
            let hold = self.engine.keep_blobs(blobs)?;
            self.hold = self.hold.take().or(hold);
        }
        if supersedes {
            self.waiting.extend(later(line).ok_or_else(|| no_entry(entry))?);
        } else {
            self.waiting.extend_from_slice(line);
        }
        self.lines.add(line);
        self.waiting_ids.insert(entry.id.clone());
        if self.waiting.len() >= TOGETHER { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), EngineError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        // Somebody who wrote meanwhile makes this fail, and the source is read again.
        self.engine.write(&mut self.session, &self.waiting)?;
        self.waiting.clear();
        self.waiting_ids.clear();
        self.hold = None;
        Ok(())
    }

    /// Ends the comparison.
    pub(super) fn finish(mut self) -> Result<Grown, EngineError> {
        let follows = self.visible(self.known.as_ref()) == self.leaf;
        self.write()?;
        let wrote = self.session.wrote;
        if wrote {
            let leaf =
                if follows && self.tally.added > 0 { self.visible(self.last.as_ref()) } else { self.leaf.clone() };
            if self.session.leaf() != leaf {
                let data = json!({
                    "op": "import",
                    "client": self.engine.client,
                    "target": leaf.as_ref().map(EntryId::as_str),
                });
                let target = leaf.map_or(Parent::Root, Parent::Entry);
                let draft = Draft::new(Body::ramus("leaf", data)).under(target);
                self.engine.record_draft(&mut self.session, "import", draft)?;
            }
            self.engine.flush(&mut self.session)?;
        }
        let tree = Tree::of(self.session.log(), ramus_model::Scope::Visible);
        Ok(Grown { tally: self.tally, entries: self.session.log().own_len(), branches: tree.leaves.len() })
    }

    /// The nearest entry that shows.
    fn visible(&self, id: Option<&EntryId>) -> Option<EntryId> {
        let log = self.session.log();
        let from = id.and_then(|id| log.seq_of(id.as_str()));
        let shows = |seq: &Seq| log.record(*seq).is_some_and(Record::is_visible);
        log.ancestors(from).find(shows).map(|seq| self.session.entry_id(seq))
    }
}

fn no_entry(entry: &Entry) -> EngineError {
    EngineError::Invalid(format!("{} is no entry", entry.id))
}

fn is_later(line: &[u8]) -> bool {
    memmem::find(line, LATER).is_some()
        && Raw::parse(line).and_then(|raw| raw.field("ramusSupersedes")?.flag()) == Some(true)
}

/// The line as a later version of the entry that has its id. Nothing else of it changes, so that it is known again.
fn later(line: &[u8]) -> Option<Vec<u8>> {
    Some([b"{", LATER, line.strip_prefix(b"{")?].concat())
}

/// The line without what makes it a later version.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    match memmem::find(line, LATER).filter(|_| is_later(line)).and_then(|at| line.split_at_checked(at)) {
        Some((front, back)) => [front, back.get(LATER.len()..).unwrap_or_default()].concat().into(),
        None => line.into(),
    }
}

/// Which lines a log holds. A later version counts as the line it would have been.
#[derive(Default)]
struct Lines {
    seen: HashSet<u128>,
    hashers: (RandomState, RandomState),
    rest: Vec<u8>,
}

impl Lines {
    fn take(&mut self, mut chunk: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            if self.rest.is_empty() {
                self.add(line);
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                self.add(&whole);
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
        self.rest.extend_from_slice(chunk);
    }

    fn add(&mut self, line: &[u8]) {
        let name = self.name(line);
        self.seen.insert(name);
    }

    fn has(&self, line: &[u8]) -> bool {
        self.seen.contains(&self.name(line))
    }

    fn name(&self, line: &[u8]) -> u128 {
        let line = plain(line);
        let (first, second) = &self.hashers;
        u128::from(first.hash_one(&*line)) << 64 | u128::from(second.hash_one(&*line))
    }
}
