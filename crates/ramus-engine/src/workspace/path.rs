//! What a path says about files. Notes hang behind what they are about, so a path that goes on from an answer passes those
//! by that the turn left behind it; they are the path's all the same.

use ramus_model::{Kind, Record, Seq};

use super::note::{Name, Note};
use crate::error::EngineError;
use crate::session::Session;

/// What a path says about files, newest first. Nothing is read before it is asked for.
pub(crate) struct PathNotes<'s> {
    session: &'s Session,
    next: Option<Seq>,
    /// The entry of the path that was walked over last.
    below: Option<Seq>,
    /// What is found and not told yet, newest last.
    found: Vec<(Seq, Note)>,
}

impl Session {
    /// Walks over what the path to an entry says about files, newest first.
    pub(crate) fn path_notes(&self, end: Option<Seq>) -> PathNotes<'_> {
        PathNotes { session: self, next: end, below: None, found: Vec::new() }
    }

    /// Returns the notes that belong to an entry: they hang from it, one below the other, and were written right behind it.
    pub(crate) fn notes_behind(&self, entry: Seq) -> Result<Vec<(Seq, Note)>, EngineError> {
        let (mut above, mut notes) = (entry, Vec::new());
        for (seq, record) in self.visible_behind(entry) {
            if record.kind != Kind::Custom || Record::parent(record) != Some(above) {
                break;
            }
            above = seq;
            match Note::read(&self.line(seq)?) {
                // Taken later, for a reason of its own.
                Some(note) if note.name == Name::Snapshot => break,
                // A call that begins changed nothing yet.
                Some(note) if note.name == Name::Started => {}
                Some(note) => notes.push((seq, note)),
                None => {}
            }
        }
        Ok(notes)
    }

    /// Returns where an entry ends: the last note that belongs to it.
    pub(crate) fn end_of(&self, entry: Seq) -> Result<Seq, EngineError> {
        Ok(self.notes_behind(entry)?.last().map_or(entry, |(seq, _)| *seq))
    }

    /// Returns what those notes take to be found again: them, and what they hang from, oldest first.
    pub(crate) fn kept_behind(&self, entry: Seq) -> Result<Vec<Seq>, EngineError> {
        let end = self.end_of(entry)?;
        let mut kept: Vec<Seq> = self.log().ancestors(Some(end)).take_while(|seq| *seq != entry).collect();
        kept.reverse();
        Ok(kept)
    }

    fn visible_behind(&self, entry: Seq) -> impl Iterator<Item = (Seq, &Record)> {
        let log = self.log();
        // A window on the end of a log does not begin with the first entry.
        let first = log.seqs().next().map_or(1, Seq::number);
        let behind = log.seqs().skip((entry.number() + 1).saturating_sub(first) as usize);
        behind.filter_map(|seq| Some((seq, log.record(seq)?))).filter(|(_, record)| record.is_visible())
    }
}

impl PathNotes<'_> {
    fn look(&mut self, seq: Seq) -> Result<(), EngineError> {
        let Self { session, below, found, .. } = self;
        let Some(record) = session.log().record(seq) else { return Ok(()) };
        if record.kind == Kind::Custom {
            found.extend(Note::read(&session.line(seq)?).map(|note| (seq, note)));
        }
        // Where the path goes on with what was written right behind, nothing hangs beside it.
        let first = session.visible_behind(seq).next().map(|(first, _)| first);
        if first.is_some() && first != *below {
            found.extend(session.notes_behind(seq)?);
        }
        Ok(())
    }
}

impl Iterator for PathNotes<'_> {
    type Item = Result<(Seq, Note), EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.found.is_empty() {
            let seq = self.next?;
            if let Err(error) = self.look(seq) {
                self.next = None;
                return Some(Err(error));
            }
            self.below = Some(seq);
            self.next = self.session.log().record(seq).and_then(Record::parent);
        }
        self.found.pop().map(Ok)
    }
}
