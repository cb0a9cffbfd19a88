//! Having a log without reading it: what of a sidecar is believed, and when it is written.
//!
//! A sidecar is believed when it describes the incarnation of the log that is there, its checksums hold, and the last line
//! it knows is still in its place. What lies behind is read as always. It is written when enough came together and when a
//! session is closed; trouble with that is nobody's trouble.

use ramus_model::{Checkpoint, Kind, Log, ROW, Seq, WindowStart, context, last_line};
use ramus_store::planted::{Bug, is_planted};
use ramus_store::{Incarnation, Location, LogStore, Position, SidecarUpdate, StoreError, Subject};

use crate::session::Session;

/// How many rows come together before a session that is being written to saves them.
const ROWS_AT_ONCE: usize = 1024;

/// How many rows are worth saving for whoever only read them.
const ROWS_WORTH_SAVING: usize = 256;

/// How many bytes of log come together before they are described.
const BYTES_AT_ONCE: u64 = 1 << 20;

/// How many entries must lie before a window to make it worth its while.
const WORTH_A_WINDOW: usize = 64;

/// What a session knows about its sidecar.
#[derive(Debug, Default)]
pub(crate) enum Sidecar {
    /// There is none and there will be none.
    #[default]
    None,
    /// There is one that contradicts the log. It is kept as evidence until `doctor` is told to accept the log.
    Contradicted,
    /// It describes a part of the log, perhaps nothing.
    Of(Box<Described>),
}

/// The part of a log that its sidecar describes.
#[derive(Debug, Default)]
pub(crate) struct Described {
    mark: Option<u32>,
    rows: usize,
    rows_crc: u32,
    end: u64,
    window: Option<WindowStart>,
    /// How many entries were looked at for something that starts a context.
    surveyed: usize,
    /// Whether it is about the same bytes in another file, and must be written anew to be believed.
    is_about_a_copy: bool,
}

/// A sidecar as it was found.
pub(crate) struct Found {
    mark: u32,
    subject: Subject,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) rows: Vec<u8>,
}

pub(crate) fn incarnation_name(incarnation: Incarnation) -> String {
    format!("{:x}", incarnation.0)
}

impl Found {
    /// Reads the sidecar of a log, whole and sound in itself.
    pub(crate) fn read(store: &dyn LogStore, source: &Location) -> Option<Self> {
        let sidecars = store.sidecars()?;
        let saved = sidecars.checkpoint(source)?;
        let checkpoint = Checkpoint::read(&saved.text)?;
        let rows = sidecars.rows(source, 0, checkpoint.rows.checked_mul(ROW as u64)?)?;
        (crc32fast::hash(&rows) == checkpoint.rows_crc).then_some(Self {
            mark: saved.mark,
            subject: saved.subject,
            checkpoint,
            rows,
        })
    }

    /// Says whether it describes the log that is there.
    pub(crate) fn fits(&self, store: &dyn LogStore, source: &Location) -> Result<bool, StoreError> {
        if is_planted(Bug::TrustSidecar) {
            return Ok(true);
        }
        Ok(describes(store, source, &self.checkpoint)? && last_line_is_there(store, source, &self.rows)?)
    }

    /// Makes the log of it, on top of what it was forked from, up to `limit`. None when they do not go together.
    pub(crate) fn restore(&self, base: Log, limit: u64) -> Option<Log> {
        if self.checkpoint.end <= limit {
            base.restored(&self.checkpoint, &self.rows)
        } else {
            base.restored_until(&self.checkpoint, &self.rows, limit)
        }
    }

    /// What a session that has read the whole log should know about it.
    pub(crate) fn into_sidecar(self) -> Sidecar {
        let Self { mark, checkpoint, rows, .. } = self;
        Sidecar::Of(Box::new(Described {
            mark: Some(mark),
            rows: rows.len() / ROW,
            rows_crc: checkpoint.rows_crc,
            end: checkpoint.end,
            surveyed: rows.len() / ROW,
            is_about_a_copy: false,
            window: checkpoint.window,
        }))
    }

    /// Sets what was read of a log against what is remembered of it.
    pub(crate) fn compare(
        self,
        store: &dyn LogStore,
        source: &Location,
        log: &mut Log,
        incarnation: Incarnation,
    ) -> Result<Sidecar, StoreError> {
        let is_about_a_copy = incarnation_name(incarnation) != self.checkpoint.incarnation;
        // Of two files that say the same session, only one has a sidecar, as long as it is there.
        if is_about_a_copy && self.subject == Subject::Elsewhere {
            return Ok(Sidecar::None);
        }
        let header = self.checkpoint.header().as_bytes();
        let changed = store.read_at(source, 0, header.len())? != header;
        let difference = if changed { Some((1, 0)) } else { log.first_difference(&self.rows) };
        let Some((line, offset)) = difference else {
            let mut sidecar = self.into_sidecar();
            if let Sidecar::Of(described) = &mut sidecar {
                described.is_about_a_copy = is_about_a_copy;
            }
            return Ok(sidecar);
        };
        // What nobody had been told to be on the disk may be gone after a power cut.
        if !changed && !self.checkpoint.confirmed && log.is_start_of(&self.rows) {
            return Ok(Sidecar::Of(Box::<Described>::default()));
        }
        // What it was about is gone, and never was in this place.
        if is_about_a_copy && self.subject == Subject::Gone {
            return Ok(Sidecar::Of(Box::<Described>::default()));
        }
        log.note_changed(line, offset);
        Ok(Sidecar::Contradicted)
    }
}

/// Says whether a checkpoint is about this incarnation of a log, and the log is not shorter.
pub(crate) fn describes(store: &dyn LogStore, source: &Location, checkpoint: &Checkpoint) -> Result<bool, StoreError> {
    let Position { incarnation, end } = store.position(source)?;
    Ok(incarnation_name(incarnation) == checkpoint.incarnation && checkpoint.end <= end)
}

/// The cheapest sign that a log is still the one that was described.
pub(crate) fn last_line_is_there(store: &dyn LogStore, source: &Location, rows: &[u8]) -> Result<bool, StoreError> {
    let Some((offset, len, crc)) = last_line(rows) else { return Ok(true) };
    let bytes = store.read_at(source, offset, len + 1)?;
    let is_there = |(end, line): (&u8, &[u8])| *end == b'\n' && line.len() == len && crc32fast::hash(line) == crc;
    Ok(bytes.split_last().is_some_and(is_there))
}

impl Session {
    /// Saves what the sidecar does not know yet, if it is enough to bother.
    pub(crate) fn save_sidecar_when_worthwhile(&mut self) {
        self.save_sidecar_of(ROWS_AT_ONCE);
    }

    fn save_sidecar_of(&mut self, rows_at_least: usize) {
        let Sidecar::Of(described) = &self.sidecar else { return };
        let rows = self.log.own_len().saturating_sub(described.rows);
        let bytes = self.log.end().saturating_sub(described.end);
        if rows >= rows_at_least || bytes >= BYTES_AT_ONCE {
            self.save_sidecar();
        }
    }

    /// Has the start of the context looked for again when the sidecar is saved next: the one it knows did not help.
    pub(crate) fn survey_again(&mut self) {
        if let Sidecar::Of(described) = &mut self.sidecar {
            described.surveyed = 0;
        }
    }

    /// Saves what the sidecar does not know yet.
    pub(crate) fn save_sidecar(&mut self) {
        let Sidecar::Of(described) = std::mem::take(&mut self.sidecar) else { return };
        // A sidecar that cannot be saved is missing, which costs time and nothing else.
        self.sidecar = match self.saved_sidecar(*described) {
            Ok(Some(described)) => Sidecar::Of(Box::new(described)),
            Ok(None) | Err(_) => Sidecar::None,
        };
    }

    fn saved_sidecar(&mut self, mut described: Described) -> Result<Option<Described>, StoreError> {
        let own = self.log.own_len();
        let is_current = described.rows == own && described.surveyed == own && !described.is_about_a_copy;
        if described.mark.is_some() && is_current {
            return Ok(Some(described));
        }
        let Some(rows) = self.log.rows(described.rows).filter(|_| self.log.is_orderly()) else { return Ok(None) };
        let window = self.window_start(&described, &rows)?;
        let rows_crc = extended(described.rows_crc, &rows);
        let incarnation = incarnation_name(self.position().incarnation);
        let checkpoint = self.log.checkpoint(incarnation, rows_crc, self.wrote && !self.unconfirmed, window.clone());
        let update = SidecarUpdate {
            log: self.position(),
            based_on: described.mark,
            keep: (described.rows * ROW) as u64,
            rows: &rows,
            checkpoint: &checkpoint.to_bytes(),
        };
        let Some(sidecars) = self.store.sidecars() else { return Ok(None) };
        let Some(mark) = sidecars.save(self.location(), &update)? else { return Ok(None) };
        self.log.forget_sums();
        described = Described {
            mark: Some(mark),
            rows: own,
            rows_crc,
            end: self.log.end(),
            window,
            surveyed: own,
            is_about_a_copy: false,
        };
        Ok(Some(described))
    }

    /// Where the context starts: as known, unless something that starts one was added since.
    fn window_start(&self, described: &Described, rows: &[u8]) -> Result<Option<WindowStart>, StoreError> {
        let shared = self.log.len() - self.log.own_len();
        let starts = |seq: Seq| {
            self.log.record(seq).is_some_and(|record| matches!(record.kind, Kind::Compaction | Kind::ResetBoundary))
        };
        let new = self.log.seqs().skip(shared + described.surveyed).any(starts);
        if !new {
            return Ok(described.window.clone().map(|window| window.extended(rows)));
        }
        let Some(context::Start { first, tip, state }) = context::window_start(&self.log, &self.lines())? else {
            return Ok(None);
        };
        let first = (first.number() as usize - 1).saturating_sub(shared);
        if first < WORTH_A_WINDOW {
            return Ok(None);
        }
        // The rows before these are on the disk only.
        let known = described.rows.saturating_sub(first);
        let on_disk = match self.store.sidecars() {
            Some(sidecars) if known > 0 => {
                sidecars.rows(self.location(), (first * ROW) as u64, (known * ROW) as u64).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if on_disk.len() != known * ROW {
            return Ok(None);
        }
        let skipped = first.saturating_sub(described.rows) * ROW;
        let crc = extended(crc32fast::hash(&on_disk), rows.get(skipped..).unwrap_or_default());
        Ok(Some(WindowStart::new(first as u64, crc, tip, state)))
    }
}

fn extended(crc: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(crc);
    hasher.update(bytes);
    hasher.finalize()
}

impl Drop for Session {
    fn drop(&mut self) {
        let Sidecar::Of(described) = &self.sidecar else { return };
        // Whoever only looked at a short log leaves nothing behind.
        if described.is_about_a_copy || self.wrote && described.rows < self.log.own_len() {
            self.save_sidecar();
        } else {
            self.save_sidecar_of(ROWS_WORTH_SAVING);
        }
    }
}
