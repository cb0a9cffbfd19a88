//! Giving entries to a sink: ids that are unique, parents that are there, and a place for every record.
//!
//! An entry's parent is always one that was given before, so no source can make a cycle. A parent that never came is
//! bridged by an entry that says so.

mod place;

use hashbrown::HashMap;
use ramus_model::json::quote;
use ramus_model::{EntryId, time};
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::origin::{self, Kept};
use crate::sink::{Entry, Report, Sink, Start};

/// Records that are no entry go into one of their own, at most this many bytes of them.
const RUN_BYTES: usize = 1 << 20;
/// And at most this many records.
const RUN_RECORDS: usize = 512;
/// An entry before it has its place in the log.
#[derive(Default)]
pub(crate) struct New<'a> {
    /// The `type`.
    pub(crate) kind: &'static str,
    /// The id it should have.
    pub(crate) id: &'a str,
    /// Where it hangs.
    pub(crate) parent: Hang<'a>,
    /// When, as the source says it.
    pub(crate) timestamp: Option<&'a str>,
    /// The members behind the envelope, as [`Composer`](crate::compose::Composer) made them.
    pub(crate) members: &'a [u8],
    /// The records it was made from. None at all means that a record which another entry keeps says this too.
    pub(crate) records: &'a [Kept],
    /// Whether it is part of the conversation, so that what comes next hangs from it.
    pub(crate) inert: bool,
}

/// Where an entry hangs.
#[derive(Clone, Copy, Default)]
pub(crate) enum Hang<'a> {
    /// From what came last.
    #[default]
    Last,
    /// From nothing.
    Root,
    /// From what the source calls this.
    From(&'a str),
    /// From this entry.
    Entry(&'a EntryId),
}

/// Gives the entries of one session to a sink.
pub(crate) struct Emitter<'s> {
    sink: &'s mut dyn Sink,
    agent: &'static str,
    pub(crate) start: Start,
    started: bool,
    /// Every id of the source, and the entry it became when that has another one.
    known: HashMap<Box<str>, Option<Box<str>>>,
    /// How often an id was wanted again, so that finding a free one takes no search.
    copies: HashMap<Box<str>, u64>,
    last: Option<EntryId>,
    clock: String,
    run: Vec<Kept>,
    run_bytes: usize,
    pub(crate) report: Report,
}

impl<'s> Emitter<'s> {
    pub(crate) fn new(sink: &'s mut dyn Sink, agent: &'static str, start: Start) -> Self {
        Self {
            sink,
            agent,
            start,
            started: false,
            known: HashMap::new(),
            copies: HashMap::new(),
            last: None,
            clock: String::new(),
            run: Vec::new(),
            run_bytes: 0,
            report: Report::default(),
        }
    }

    /// Says whether the session was started: from then on its id, directory and creation are fixed.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// Returns the entry that came last and is part of the conversation.
    pub(crate) fn last(&self) -> Option<&EntryId> {
        self.last.as_ref()
    }

    /// Moves on from another entry than the one that came last.
    pub(crate) fn move_to(&mut self, entry: Option<EntryId>) {
        self.last = entry;
    }

    /// Says whether the source has used an id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.known.contains_key(id)
    }

    /// Returns the entry that an id of the source became.
    pub(crate) fn entry_of(&self, id: &str) -> Option<EntryId> {
        self.known.get(id).map(|alias| EntryId::from(alias.as_deref().unwrap_or(id)))
    }

    /// Lets another id of the source mean an entry.
    pub(crate) fn alias(&mut self, id: &str, entry: &EntryId) {
        self.known.entry(id.into()).or_insert_with(|| (id != entry.as_str()).then(|| entry.as_str().into()));
    }

    /// Lets an id of the source mean another entry than before.
    pub(crate) fn point(&mut self, id: &str, entry: &EntryId) {
        self.known.insert(id.into(), (id != entry.as_str()).then(|| entry.as_str().into()));
    }

    /// Keeps a record that is no entry.
    pub(crate) fn keep(&mut self, kept: Kept) {
        self.run_bytes += kept.len();
        self.run.push(kept);
    }

    /// Says whether so many records are kept that they should be given away: a source of nothing else must not fill the
    /// memory.
    pub(crate) fn is_full(&self) -> bool {
        self.run_bytes >= RUN_BYTES || self.run.len() >= RUN_RECORDS
    }

    /// Takes the records that are kept and not given away yet, to keep them with an entry instead.
    pub(crate) fn take_run(&mut self) -> Vec<Kept> {
        self.run_bytes = 0;
        std::mem::take(&mut self.run)
    }

    /// Gives away the records that are no entry, as an entry of their own.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let Some(line) = self.run.first().map(Kept::line) else { return Ok(()) };
        let records = self.take_run();
        let id = format!("origin-{line}");
        let members = br#""customType":"ramus.origin","data":{"op":"import"}"#;
        let new = New { kind: "custom", id: &id, members, records: &records, inert: true, ..New::default() };
        self.give(&new).map(drop)
    }

    /// Gives an entry to the sink and returns its id.
    pub(crate) fn entry(&mut self, new: &New<'_>) -> Result<EntryId, Error> {
        self.flush()?;
        self.give(new)
    }

    fn give(&mut self, new: &New<'_>) -> Result<EntryId, Error> {
        let (id, parent) = self.place(new)?;
        self.write(new, id, parent)
    }

    /// Finds the id and the parent that an entry gets.
    pub(crate) fn place(&mut self, new: &New<'_>) -> Result<(EntryId, Option<EntryId>), Error> {
        let parent = self.parent(new)?;
        let id = self.unique(new.id);
        self.known.insert(new.id.into(), (id.as_str() != new.id).then(|| id.as_str().into()));
        Ok((id, parent))
    }

    /// Gives a later version of an entry that was given before. Its place in the tree stays.
    pub(crate) fn supersede(&mut self, new: &New<'_>, id: &EntryId, parent: Option<EntryId>) -> Result<(), Error> {
        self.flush()?;
        let mut members = br#""ramusSupersedes":true,"#.to_vec();
        members.extend_from_slice(new.members);
        self.write(&New { members: &members, inert: true, ..*new }, id.clone(), parent).map(drop)
    }

    fn write(&mut self, new: &New<'_>, id: EntryId, parent: Option<EntryId>) -> Result<EntryId, Error> {
        self.begin(new.timestamp)?;
        let mut line = Vec::with_capacity(new.members.len() + new.records.iter().map(Kept::room).sum::<usize>() + 512);
        line.extend_from_slice(b"{\"type\":");
        quote(new.kind, &mut line);
        line.extend_from_slice(b",\"id\":");
        quote(id.as_str(), &mut line);
        line.extend_from_slice(b",\"parentId\":");
        match &parent {
            Some(parent) => quote(parent.as_str(), &mut line),
            None => line.extend_from_slice(b"null"),
        }
        line.extend_from_slice(b",\"timestamp\":");
        quote(&self.clock, &mut line);
        if !new.members.is_empty() {
            line.push(b',');
            origin::extend_line(&mut line, new.members);
        }
        origin::write(self.agent, new.records, &mut line);
        line.extend_from_slice(b"}\n");
        self.report.entries += 1;
        self.report.kept += new.records.len() as u64;
        if !new.inert {
            self.last = Some(id.clone());
        }
        let entry = Entry { id, parent, line };
        self.sink.entry(&entry)?;
        Ok(entry.id)
    }

    /// Gives a line of our own format as it is. Its id and parent come from [`Self::place`].
    pub(crate) fn pass(
        &mut self,
        id: EntryId,
        parent: Option<EntryId>,
        line: Vec<u8>,
        inert: bool,
    ) -> Result<(), Error> {
        self.flush()?;
        self.begin(None)?;
        self.report.entries += 1;
        self.report.kept += 1;
        if !inert {
            self.last = Some(id.clone());
        }
        self.sink.entry(&Entry { id, parent, line })
    }

    /// Starts the session with its first entry, and keeps the clock: an entry without a time has that of the one before.
    fn begin(&mut self, timestamp: Option<&str>) -> Result<(), Error> {
        if let Some(text) = timestamp.filter(|text| time::parse(text).is_some()) {
            text.clone_into(&mut self.clock);
        } else if self.clock.is_empty() {
            let created = Some(&self.start.created).filter(|text| time::parse(text).is_some());
            self.clock = created.cloned().unwrap_or_else(|| time::format(0));
        }
        if !self.started {
            self.started = true;
            if self.start.id.is_empty() {
                let facts = [self.agent, &self.clock, &self.start.cwd, self.start.title.as_deref().unwrap_or_default()];
                self.start.id = format!("unnamed-{}", hash(&facts.join("\n")));
            }
            if self.start.created.is_empty() {
                self.start.created.clone_from(&self.clock);
            }
            self.report.sessions += 1;
            self.sink.session(&self.start)?;
        }
        Ok(())
    }

    /// Ends the session. A source without records is none.
    pub(crate) fn finish(mut self) -> Result<Report, Error> {
        self.flush()?;
        Ok(self.report)
    }

    /// Says that something was not carried over.
    pub(crate) fn lose(&mut self, line: Option<u64>, why: impl Into<String>) -> Result<(), Error> {
        let loss = self.report.lose(line, why);
        self.sink.loss(&loss)
    }

    /// Says what is missing in a record that was put together.
    pub(crate) fn miss(&mut self, line: u64, gaps: &[&'static str]) -> Result<(), Error> {
        gaps.iter().try_for_each(|why| self.lose(Some(line), *why))
    }
}

/// A name for something whose own name cannot be used.
pub(crate) fn hash(text: &str) -> String {
    let mut digest = hex::encode(Sha256::digest(text.as_bytes()));
    digest.truncate(16);
    digest
}
