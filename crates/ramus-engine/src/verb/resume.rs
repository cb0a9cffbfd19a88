//! `resume`: a session for its next turn. What it costs follows the context, not the history.
//!
//! With a sidecar that fits, only the end of the log is touched: the entries from where the context starts. Everything
//! that is used of them is checked against its checksum. When the window does not reach far enough, or anything does not
//! fit, the whole session is opened instead; the answer is the same.

use std::collections::HashSet;

use ramus_model::blob::Restore;
use ramus_model::{
    BlobHash, Checkpoint, Context, Depth, EntryId, Lines as _, Log, ROW, Seq, SessionId, WindowStart, any_id, context,
    sum_at,
};
use ramus_store::{Location, Residence, StoreError, StoreLines};

use crate::blobs::RestoredLines;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load};
use crate::sidecar::{describes, incarnation_name, last_line_is_there};

/// A session as far as its next turn needs it.
pub struct Resumed {
    /// Whole, or a window: then nothing that lies before it can be looked up.
    session: Session,
    is_window: bool,
    context: Context,
    leaf: Option<Seq>,
}

impl Resumed {
    /// The turn of a session that goes on from any of its entries.
    pub fn at(session: Session, leaf: Option<Seq>) -> Result<Self, EngineError> {
        let context = session.context(leaf)?;
        Ok(Self { session, is_window: false, context, leaf })
    }

    /// Returns the session's id.
    pub fn id(&self) -> &SessionId {
        self.session.id()
    }

    /// Returns what the model is to be sent.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the entry the next one hangs from.
    pub fn leaf(&self) -> Option<EntryId> {
        self.leaf.map(|seq| self.session.entry_id(seq))
    }

    /// Returns the log, of which perhaps only the end can be looked at: the entries of the context, and what came later.
    pub fn log(&self) -> &Log {
        self.session.log()
    }

    /// Gives access to the bytes of entries.
    pub fn lines(&self) -> StoreLines<'_> {
        self.session.lines()
    }

    /// Gives access to the bytes of entries with their references resolved.
    pub fn restored_lines(&self, what: Restore) -> RestoredLines<'_> {
        self.session.restored_lines(what)
    }

    /// Returns the blobs that were wanted so far and are missing or damaged.
    pub fn missing_blobs(&self) -> Vec<BlobHash> {
        self.session.missing_blobs()
    }

    /// Says whether only the end of the log was touched.
    pub fn is_window(&self) -> bool {
        self.is_window
    }

    /// Opens the rest, for whoever wants more than the context.
    pub fn into_session(self) -> Result<Session, EngineError> {
        if !self.is_window {
            return Ok(self.session);
        }
        load(&self.session.store, self.session.location().clone(), Depth::Envelope)
    }
}

impl Engine {
    /// Opens a session for its next turn.
    pub fn resume(&self, reference: &str, cwd: &str) -> Result<Resumed, EngineError> {
        let location = self.locate(reference, cwd)?;
        if let Some(resumed) = self.resume_in_window(&location) {
            return Ok(resumed);
        }
        let mut session = self.open(reference, cwd)?;
        session.survey_again();
        let leaf = session.log().leaf();
        Resumed::at(session, leaf)
    }

    /// Opens only the end of a log. Whatever goes wrong, opening all of it will say what it was.
    fn resume_in_window(&self, location: &Location) -> Option<Resumed> {
        if location.residence == Residence::InPlace {
            return None;
        }
        let sidecars = self.store.sidecars()?;
        let checkpoint = Checkpoint::read(&sidecars.checkpoint(location)?.text)?;
        let start = checkpoint.window.as_ref()?;
        let held = checkpoint.rows.checked_sub(start.first)?;
        let rows = sidecars.rows(location, start.first * ROW as u64, held * ROW as u64)?;
        if !describes(self.store.as_ref(), location, &checkpoint).ok()?
            || !last_line_is_there(self.store.as_ref(), location, &rows).ok()?
        {
            return None;
        }
        let mut log = Log::window(&checkpoint, &rows)?;
        let read = self.store.read(location, log.end(), &mut |chunk| log.feed(chunk)).ok()?;
        log.finish();
        if incarnation_name(read.incarnation) != checkpoint.incarnation {
            return None;
        }
        let is_described = read.end == checkpoint.end;
        if !is_described && self.uses_an_id_again(location, &checkpoint, start, &log)? {
            return None;
        }
        let session = Session::window(&self.store, location.clone(), log, read.incarnation);
        let (leaf, context) = context::in_window(session.log(), start, &session.lines()).ok().flatten()?;
        is_as_written(&session, &context, &rows).ok().filter(|sound| *sound)?;
        Some(Resumed { session, is_window: true, context, leaf })
    }

    /// Says whether an entry behind the checkpoint bears an id of one before the window, where a window would take it for
    /// new. None when that cannot be told: of the ids of a fork's origin there are no rows here.
    fn uses_an_id_again(
        &self,
        location: &Location,
        checkpoint: &Checkpoint,
        start: &WindowStart,
        log: &Log,
    ) -> Option<bool> {
        if checkpoint.is_fork() {
            return None;
        }
        let before = self.store.sidecars()?.rows(location, 0, start.first * ROW as u64)?;
        let described = usize::try_from(checkpoint.rows).ok()?;
        let new: HashSet<&str> =
            log.seqs().filter(|seq| seq.number() as usize > described).map(|seq| log.id(seq)).collect();
        Some(any_id(&before, |id| new.contains(id)))
    }
}

/// Says whether the lines of a context are the ones that were written.
fn is_as_written(session: &Session, context: &Context, rows: &[u8]) -> Result<bool, StoreError> {
    let edits = context.items.iter().filter_map(|item| match item {
        context::Item::Edited { edit, .. } => Some(*edit),
        _ => None,
    });
    let lines = session.lines();
    for seq in context.items.iter().map(|item| item.seq()).chain(edits) {
        let Some(place) = session.log().place(seq) else { return Ok(false) };
        // What lies behind the checkpoint was read just now.
        if let Some(sum) = sum_at(rows, place.offset)
            && crc32fast::hash(&lines.line(place)?) != sum
        {
            return Ok(false);
        }
    }
    Ok(true)
}
