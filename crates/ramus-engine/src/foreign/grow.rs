//! A source whose session is here already: what is new in it is appended, and what changed in it becomes a later version.
//!
//! The session may have gone on here meanwhile. Whatever a person did stays: what is new hangs from where it hung in the source,
//! as a branch beside, and the leaf stays where the person left it.

mod called;
mod outgrown;

use std::collections::HashSet;

use memchr::memmem;
use ramus_interchange::Entry;
use ramus_model::{Blob, Body, Depth, Draft, EntryId, Parent, Record, Seq, Tree};
use ramus_store::{BlobHold, Location};
use serde_json::json;

use super::version::{Lines, is_later, later, says_more, says_same};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load};

/// How much is appended with one write.
const TOGETHER: usize = 4 << 20;
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
    /// Every entry that the source gave.
    seen: HashSet<Box<str>>,
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

/// In how many files an agent keeps a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// In one: another with the same id is a copy of it, or another session.
    One,
    /// Going on with a session may start another file with its id.
    Several,
}

impl Files {
    pub(super) fn of(agent: &str) -> Self {
        if agent == ramus_interchange::Format::Gemini.name() { Self::Several } else { Self::One }
    }
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
    /// How many entries of the source are messages.
    messages: usize,
    /// How many of those changed.
    changed_messages: usize,
    /// How many of those say something else than what is here, and not only more or less of it.
    differing: usize,
}

impl Tally {
    /// Says whether the source is a copy of what is here: they differ nowhere but in what may still change at the end, and no
    /// message says something else. A source
    /// in which nothing is said adds nothing, and is no session of its own. Where several files are one session, all of them
    /// are that say nothing else. When the file is gone that the session was read from, this is where it went, and goes on.
    pub(super) fn is_copy(&self, files: Files, is_orphan: bool) -> bool {
        let is_part = files == Files::Several && self.changed_messages == 0;
        self.messages == 0
            || is_part
            || self.same > 0
                && (is_orphan || self.differing == 0)
                && self.first_changed.is_none_or(|first| first + 2 > self.entries)
    }
}

/// What grew.
pub(super) struct Grown {
    pub(super) tally: Tally,
    /// Whether it is called something else now.
    pub(super) is_renamed: bool,
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
            engine.begin_writing(&mut session)?;
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
            seen: HashSet::new(),
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

    /// Returns where the session is.
    pub(super) fn location(&self) -> &Location {
        self.session.location()
    }

    /// Takes the next entry of the source, as it would be stored.
    pub(super) fn entry(&mut self, entry: &Entry, line: &[u8], blobs: &[Blob]) -> Result<(), EngineError> {
        self.tally.entries += 1;
        self.tally.messages += usize::from(is_message(line));
        self.seen.insert(entry.id.as_str().into());
        let is_later = is_later(line);
        let is_here = self.lines.has(line) || self.is_settled(entry);
        let here = self.session.log().seq_of(entry.id.as_str());
        let is_known = here.is_some() || self.waiting_ids.contains(&entry.id);
        if is_here {
            self.tally.same += 1;
        }
        if !is_later {
            // Where a session stands is said by what a mark hangs from now; its first version stays where it was.
            self.last = if is_leaf(line) { entry.parent.clone() } else { Some(entry.id.clone()) };
            if is_known && self.tally.added == 0 {
                self.known = Some(entry.id.clone());
            }
        }
        if is_here {
            return Ok(());
        }
        if let (Standing::Compared, Some(here)) = (self.standing, here) {
            // Records alone say nothing, and an agent may keep a session in more than one form.
            if is_record(line) {
                return Ok(());
            }
            if says_same(&self.session.line(here)?, line) {
                self.tally.same += 1;
                return Ok(());
            }
            if is_message(line) && !says_more(&self.session.line(here)?, line) {
                self.tally.differing += 1;
            }
        }
        if is_known {
            self.tally.changed_messages += usize::from(is_message(line));
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

    /// Says whether somebody erased an entry of the source here: it never comes back.
    pub(super) fn has_erased(&self, entry: &Entry) -> bool {
        self.lines.is_erased(entry.id.as_str())
    }

    /// Says whether an entry was erased here, or stayed when what it hung from was.
    fn is_settled(&self, entry: &Entry) -> bool {
        let hangs = |parent: &EntryId| self.lines.is_erased(parent.as_str());
        self.has_erased(entry)
            || entry.parent.as_ref().is_some_and(hangs) && self.session.log().seq_of(entry.id.as_str()).is_some()
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

    /// Ends the comparison. Something may be new, and so may be what the session is called: `given` is what the source calls it,
    /// and `made` what it is called otherwise.
    pub(super) fn finish(mut self, given: Option<&str>, made: Option<&str>) -> Result<Grown, EngineError> {
        let followed = self.visible(self.known.as_ref()) == self.leaf;
        self.write()?;
        let mut is_renamed = false;
        if self.standing == Standing::Own && !self.is_dry {
            let outgrown = self.outgrown()?;
            self.tally.changed += outgrown.len();
            self.waiting.extend(outgrown.concat());
            self.write()?;
            if let Some(title) = self.new_title(given, made)? {
                let body = self.title_body(title);
                self.engine.record_draft(&mut self.session, "import", Draft::new(body))?;
                is_renamed = true;
            }
        }
        if self.session.wrote {
            // What the leaf was may not show any more.
            let leaf = self.visible(self.leaf.as_ref());
            let follows = followed || self.visible(self.known.as_ref()) == leaf;
            let has_changed = self.tally.added + self.tally.changed > 0;
            let leaf = if follows && has_changed { self.visible(self.last.as_ref()) } else { leaf };
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
        let (entries, branches) = (self.session.log().own_len(), tree.leaves.len());
        Ok(Grown { tally: self.tally, is_renamed, entries, branches })
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

/// Codecs spell the type of an entry first.
fn is_message(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\":\"message\"")
}

/// Says whether a line only keeps records of its agent.
fn is_record(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\":\"custom\"") && memmem::find(line, b"\"customType\":\"ramus.origin\"").is_some()
}

/// Says whether a line only says where the session stands.
fn is_leaf(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\":\"custom\"") && memmem::find(line, b"\"customType\":\"ramus.leaf\"").is_some()
}
