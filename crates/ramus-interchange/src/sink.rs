//! What reading gives: sessions, their entries in order, and what could not be carried over.

use ramus_model::{BodyError, Draft, EntryId};

use crate::error::Error;
use crate::format::Format;

/// Takes what a codec reads. Entries belong to the session that was started last.
pub trait Sink {
    /// Starts a session.
    fn session(&mut self, start: &Start) -> Result<(), Error>;
    /// Takes the next entry of the session.
    fn entry(&mut self, entry: &Entry) -> Result<(), Error>;
    /// Hears of something that was not carried over. Everything in a [`Report`] was said here first.
    fn loss(&mut self, loss: &Loss) -> Result<(), Error> {
        let _ = loss;
        Ok(())
    }
}

/// How a session begins: everything its header needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The id that the agent gave it, or one derived from that.
    pub id: String,
    /// The id that earlier versions of ramus derived for it, where that was another.
    pub former_id: Option<String>,
    /// The directory it works in; empty when the source does not say.
    pub cwd: String,
    /// When it was created, as ISO-8601 in UTC; empty when the source does not say.
    pub created: String,
    /// The title given at creation.
    pub title: Option<String>,
    /// The session that spawned this one.
    pub parent: Option<String>,
    /// Where it was forked from. Its entries up to there are in it too.
    pub forked_from: Option<ForkPoint>,
    /// The format it was read from.
    pub format: Option<Format>,
    /// The version of the agent that wrote it.
    pub version: Option<String>,
}

/// Where a session was forked from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForkPoint {
    /// The other session.
    pub session: String,
    /// The last entry that both have, when it is known.
    pub entry: Option<EntryId>,
}

/// An entry of the log. Its parent was given before it, so the entries of a session are a tree whatever the source says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id: the agent's own where there is one. The same source gives the same ids, and a source that grew gives the
    /// same entries again, of which only the last two may have another content.
    pub id: EntryId,
    /// What it hangs from.
    pub parent: Option<EntryId>,
    /// The whole line, newline included.
    pub line: Vec<u8>,
}

impl Entry {
    /// Returns the entry as something to append.
    pub fn draft(&self) -> Result<Draft, BodyError> {
        Draft::parse(&self.line)
    }
}

/// Something that was not carried over, or not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The line of the source, from 1; none when it is about more than one.
    pub line: Option<u64>,
    /// What is lost and why.
    pub why: String,
    /// How often.
    pub count: u64,
}

/// What was read or written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Sessions.
    pub sessions: u64,
    /// Records of the source: lines that are not blank, or elements of a document.
    pub records: u64,
    /// Entries of the log.
    pub entries: u64,
    /// Records that are kept in entries, whole or as what the entry does not say. When reading, this and
    /// [`Self::lost`] come to [`Self::records`].
    pub kept: u64,
    /// Records of which nothing could be kept.
    pub lost: u64,
    /// Places where records are missing and the tree was bridged.
    pub bridged: u64,
    /// What was not carried over.
    pub losses: Vec<Loss>,
}

impl Report {
    /// Adds what another file of the same source gave.
    pub(crate) fn add(&mut self, more: Self) {
        self.sessions += more.sessions;
        self.records += more.records;
        self.entries += more.entries;
        self.kept += more.kept;
        self.lost += more.lost;
        self.bridged += more.bridged;
        self.losses.extend(more.losses);
    }

    /// Adds something that was not carried over. A reason that repeats is counted: a report does not grow with the source.
    pub(crate) fn lose(&mut self, line: Option<u64>, why: impl Into<String>) -> Loss {
        const LISTED: usize = 1000;
        let loss = Loss { line, why: why.into(), count: 1 };
        if let Some(known) = self.losses.iter_mut().find(|known| known.why == loss.why) {
            known.count += 1;
        } else if self.losses.len() < LISTED {
            self.losses.push(loss.clone());
        }
        loss
    }
}
