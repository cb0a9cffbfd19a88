//! Writing a journal: pieces are gathered, and written together when there are enough of them or enough time has passed.
//!
//! Trouble with a journal stops no turn. It is told once, and the answer is stored at its end as ever.

use std::time::{Duration, Instant};

use ramus_model::EntryId;
use ramus_model::delta::Delta;
use ramus_store::planted::{Bug, is_planted};
use ramus_store::{Journal, Location, LogStore, StoreError};

use super::{Head, Line};

/// How long a piece waits for others.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many bytes wait for more.
const ENOUGH: usize = 4 << 10;

/// The journal of a turn that runs.
pub(crate) struct Journalling {
    /// None in a home without journals, and after trouble.
    journal: Option<Box<dyn Journal>>,
    /// How long the line about the turn is.
    head: u64,
    /// The entry that the answer will be.
    answer: Option<EntryId>,
    /// Lines that are not written yet.
    buffer: Vec<u8>,
    /// The last piece, to which the next one may belong.
    last: Option<Delta>,
    /// How much of what is said is not written yet.
    unwritten: usize,
    written: Instant,
}

impl Journalling {
    /// Starts the journal of a turn.
    pub(crate) fn start(store: &dyn LogStore, at: &Location, head: Head) -> Result<Self, StoreError> {
        let mut journal = None;
        let mut line = Vec::new();
        Line::Turn(head).write(&mut line);
        if let Some(journals) = store.journals().filter(|_| !is_planted(Bug::NoJournal)) {
            let mut started = journals.start_journal(at)?;
            started.append(&line)?;
            journal = Some(started);
        }
        Ok(Self { journal, head: line.len() as u64, ..Self::none() })
    }

    /// A journal that keeps nothing.
    pub(crate) fn none() -> Self {
        Self {
            journal: None,
            head: 0,
            answer: None,
            buffer: Vec::new(),
            last: None,
            unwritten: 0,
            written: Instant::now(),
        }
    }

    /// Returns the entry that the answer will be, if one is coming in.
    pub(crate) fn answer(&self) -> Option<&EntryId> {
        self.answer.as_ref()
    }

    /// Begins an answer.
    pub(crate) fn begin(&mut self, entry: EntryId, parent: Option<&EntryId>) {
        let line = Line::Answer { entry: entry.to_string(), parent: parent.map(ToString::to_string) };
        line.write(&mut self.buffer);
        self.answer = Some(entry);
    }

    /// Notes a piece.
    pub(crate) fn note(&mut self, delta: Delta) -> Result<(), StoreError> {
        if self.journal.is_none() {
            return Ok(());
        }
        self.unwritten += length(&delta);
        if let Some(delta) = join(self.last.as_mut(), delta) {
            self.spell_last();
            self.last = Some(delta);
        }
        if self.unwritten >= ENOUGH || self.written.elapsed() >= PATIENCE { self.write() } else { Ok(()) }
    }

    /// Notes that the answer goes on although it was cut off.
    pub(crate) fn go_on(&mut self) {
        self.spell_last();
        Line::Round.write(&mut self.buffer);
    }

    /// Returns when what waits must be written, if something waits.
    pub(crate) fn due(&self) -> Option<Instant> {
        (self.journal.is_some() && self.unwritten > 0).then(|| self.written + PATIENCE)
    }

    /// Writes what waits.
    pub(crate) fn write(&mut self) -> Result<(), StoreError> {
        self.spell_last();
        self.unwritten = 0;
        self.written = Instant::now();
        let bytes = std::mem::take(&mut self.buffer);
        let Some(journal) = &mut self.journal else { return Ok(()) };
        journal.append(&bytes).inspect_err(|_| self.journal = None)?;
        self.buffer = bytes;
        self.buffer.clear();
        Ok(())
    }

    /// Forgets the answer, which is stored.
    pub(crate) fn close(&mut self) -> Result<(), StoreError> {
        (self.answer, self.last, self.unwritten) = (None, None, 0);
        self.buffer.clear();
        let Some(journal) = &mut self.journal else { return Ok(()) };
        journal.cut(self.head).inspect_err(|_| self.journal = None)
    }

    fn spell_last(&mut self) {
        if let Some(delta) = self.last.take() {
            Line::Piece(delta).write(&mut self.buffer);
        }
    }
}

/// Adds a piece to the one before it, or hands it back when it is one of its own.
fn join(last: Option<&mut Delta>, delta: Delta) -> Option<Delta> {
    match (last, delta) {
        (Some(Delta::Text(text)), Delta::Text(more)) => text.push_str(&more),
        (Some(Delta::Thinking(text)), Delta::Thinking(more)) => text.push_str(&more),
        (Some(Delta::Arguments { index, text }), Delta::Arguments { index: other, text: more }) if *index == other => {
            text.push_str(&more);
        }
        (_, delta) => return Some(delta),
    }
    None
}

fn length(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments { text, .. } => text.len(),
        _ => 1,
    }
}
