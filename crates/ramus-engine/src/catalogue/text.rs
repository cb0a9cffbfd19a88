//! Indexing text: the entries of sessions become documents, newest sessions first.
//!
//! One thread reads and makes words, the one that holds the catalogue writes. What is written at once is small, so that
//! other processes get their turn. A log that only grew keeps what is indexed of it; one that changed otherwise is indexed
//! anew. What cannot be indexed stays behind, and whoever searches reads it.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use ramus_catalogue::{Backlog, Entry, Held, Step, TextState};
use ramus_model::search::{Document, Splitter, Streams};
use ramus_model::{Lines as _, SessionId};
use ramus_store::{Location, StoreError};

use super::{Progress, Trouble};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load_listed};
use crate::verb::search::{About, Spot, Whose, restored, spots};

/// How many bytes of words are written at once.
const AT_ONCE: usize = 12 << 20;

/// How many bytes are indexed in one use of the catalogue, when all are.
const PART: u64 = 64 << 20;

/// How much of a log is read at a time.
const CHUNK: usize = 1 << 20;

/// How many documents may wait to be written.
const WAITING: usize = 1024;

/// Of how many files that are gone the text is removed on the way.
const SWEPT: usize = 64;

/// What the index is behind with.
#[derive(Default)]
pub(crate) struct Behind {
    /// The files whose text is not indexed as far as their rows know them.
    pub(crate) files: Vec<Backlog>,
    /// The numbers of files that are gone and whose text is still there.
    pub(crate) gone: Vec<i64>,
}

/// Finds out what the index is behind with.
pub(crate) fn behind(held: &Held<'_>) -> Result<Behind, Trouble> {
    if !held.is_kept() || held.is_text_current()? {
        return Ok(Behind::default());
    }
    Ok(Behind { gone: held.sweep_text(0)?, files: held.text_backlog()? })
}

impl Engine {
    /// Indexes all text there is. Between two parts the catalogue is let go of, so that it can be tidied.
    pub(super) fn index_all_text(&self) -> Result<(), EngineError> {
        let mut before = u64::MAX;
        loop {
            let behind = self.consult_prepared(&mut |held| self.index_text(held, PART), &mut |held, _| behind(held))?;
            let left =
                behind.files.iter().map(|file| file.end - file.indexed.map_or(0, |state| state.end.min(file.end)));
            let left: u64 = left.sum::<u64>() + (behind.files.len() + behind.gone.len()) as u64;
            // What does not become less cannot be indexed now.
            if left == 0 || left >= before {
                return Ok(());
            }
            before = left;
        }
    }

    /// Indexes text until about `budget` bytes were read. In memory there is none: it would be gone with the process.
    pub(crate) fn index_text(&self, held: &Held<'_>, budget: u64) -> Result<(), Trouble> {
        if !held.is_kept() || held.is_text_current()? {
            return Ok(());
        }
        let mut state = held.state()?;
        let gone = held.sweep_text(SWEPT)?;
        let mut backlog = held.text_backlog()?;
        if !backlog.is_empty() {
            self.index_files(held, &backlog, budget)?;
            state = held.state()?;
            backlog = held.text_backlog()?;
        }
        if backlog.is_empty() && gone.is_empty() {
            held.mark_text_current(state)?;
        }
        Ok(())
    }

    fn index_files(&self, held: &Held<'_>, backlog: &[Backlog], budget: u64) -> Result<(), Trouble> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(WAITING);
            scope.spawn(move || Reader::new(self, sender, budget).read_all(backlog));
            let mut steps = Steps { receiver, bytes: 0, files: 0, is_over: false };
            let mut progress = Progress { of_files: backlog.len(), ..Progress::default() };
            while !steps.is_over {
                steps.bytes = 0;
                held.write_text(&mut steps)?;
                // A long file is finished more than once, and the last one need not be the last.
                progress.files = steps.files.min(backlog.len().saturating_sub(1));
                self.shelf.tell(progress);
            }
            progress.files = progress.of_files;
            self.shelf.tell(progress);
            Ok(())
        })
    }
}

/// The steps of one transaction: until a file is finished and enough was written.
struct Steps {
    receiver: Receiver<Step>,
    bytes: usize,
    files: usize,
    is_over: bool,
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.bytes >= AT_ONCE {
            return None;
        }
        let step = self.receiver.recv().ok();
        match &step {
            // Less than enough, so that it is not left in the middle of a file.
            Some(Step::Add(_, streams)) => self.bytes = (self.bytes + streams.words.len()).min(AT_ONCE - 1),
            Some(Step::Finish { .. }) => {
                self.files += 1;
                self.bytes += usize::from(self.bytes == AT_ONCE - 1);
            }
            Some(Step::Start { .. }) => {}
            None => self.is_over = true,
        }
        step
    }
}

/// Why a file was not indexed to its end.
enum Stop {
    /// Enough was read, or nobody listens any more.
    Over,
    /// It cannot be read, or is not what its row says: whoever searches looks at it.
    Behind,
}

impl From<EngineError> for Stop {
    fn from(_: EngineError) -> Self {
        Self::Behind
    }
}

impl From<StoreError> for Stop {
    fn from(_: StoreError) -> Self {
        Self::Behind
    }
}

/// Reads sessions and makes words of them.
struct Reader<'e> {
    engine: &'e Engine,
    sender: SyncSender<Step>,
    /// How many bytes may still be read.
    budget: u64,
    origins: OnceLock<HashMap<SessionId, Location>>,
    document: Document,
    splitter: Splitter,
}

impl<'e> Reader<'e> {
    fn new(engine: &'e Engine, sender: SyncSender<Step>, budget: u64) -> Self {
        let (document, splitter) = (Document::default(), Splitter::default());
        Self { engine, sender, budget, origins: OnceLock::new(), document, splitter }
    }

    fn read_all(mut self, backlog: &[Backlog]) {
        for file in backlog {
            if let Err(Stop::Over) = self.read(file) {
                return;
            }
        }
    }

    fn send(&self, step: Step) -> Result<(), Stop> {
        self.sender.send(step).map_err(|_| Stop::Over)
    }

    fn read(&mut self, file: &Backlog) -> Result<(), Stop> {
        if self.budget == 0 {
            return Err(Stop::Over);
        }
        let store = &self.engine.store;
        let location = store.located(&file.name).ok_or(Stop::Behind)?;
        let session = load_listed(store, location.clone(), &|id| self.origin(id))?;
        if file.stamp.get(..16) != Some(&session.position().incarnation.0.to_le_bytes()) {
            return Err(Stop::Behind);
        }
        let mut spots = spots(&session, Whose::Own)?;
        spots.retain(|spot| spot.place.offset < file.end);
        spots.sort_by_key(|spot| (spot.is_label, spot.place.offset));
        let from = resumes_at(file, &session, &location, &spots)?;
        let spots_sum = sum_of_spots(&spots, file.end);
        spots.retain(|spot| spot.is_label || spot.place.offset >= from.unwrap_or_default());
        self.send(Step::Start { backlog: file.clone(), goes_on: from.is_some() })?;
        self.read_spots(file, &session, &spots)?;
        if let Some((title, millis)) = About::of(&session).given {
            self.document.read_title(&title, millis);
            self.add(Entry { is_passing: true, millis, ..Entry::default() })?;
        }
        // Without the sum of what came before there is none of the whole, unless all of it is read.
        let before = from.and(file.indexed).and_then(|state| Some((state.end, bytes_in(state.sum?))));
        let bytes_sum = sum_of_bytes(&session, &location, before.unwrap_or_default(), file.end)?;
        // Damage behind the end that the row knows is no business of this text, and may be a write that is under way.
        if session.log().is_damaged() && session.log().end() != file.end {
            return Err(Stop::Behind);
        }
        // Reading may have shown what opening did not, this time or, in the same generation, before.
        let is_damaged =
            session.log().is_damaged() || from.is_some() && file.indexed.is_some_and(|state| state.is_damaged);
        self.send(Step::Finish { end: file.end, sum: Some(joined(bytes_sum, spots_sum)), is_damaged })
    }

    fn read_spots(&mut self, file: &Backlog, session: &Session, spots: &[Spot]) -> Result<(), Stop> {
        let lines = session.lines();
        let mut written = 0;
        for spot in spots {
            let place = spot.place;
            let (line, is_whole) = restored(self.engine.store.as_ref(), session.residence(), lines.line(place)?);
            if !is_whole {
                // Should the rest of the text come back, it is found only if this line is looked at again.
                self.send(Step::Finish { end: place.offset, sum: None, is_damaged: false })?;
                return Err(Stop::Behind);
            }
            self.budget = self.budget.saturating_sub(line.len() as u64);
            if self.document.read(&line) {
                written += self.add(Entry {
                    is_passing: spot.is_label,
                    offset: place.offset,
                    length: place.len,
                    millis: self.document.millis,
                    facets: String::new(),
                    entry: spot.entry.to_string(),
                })?;
            }
            if written >= AT_ONCE && !spot.is_label {
                written = 0;
                let end = place.offset + u64::from(place.len);
                let is_damaged = session.log().is_damaged();
                self.send(Step::Finish { end, sum: None, is_damaged })?;
                if self.budget == 0 {
                    return Err(Stop::Over);
                }
                let indexed = Some(TextState { generation: file.generation, end, sum: None, is_damaged });
                self.send(Step::Start { backlog: Backlog { indexed, ..file.clone() }, goes_on: true })?;
            }
        }
        Ok(())
    }

    /// Hands over the document that was read. Returns how many bytes of words it has.
    fn add(&mut self, mut entry: Entry) -> Result<usize, Stop> {
        let mut streams = Streams::default();
        self.document.index(&mut self.splitter, &mut streams);
        entry.facets = self.document.facets.to_text();
        let bytes = streams.words.len();
        self.send(Step::Add(entry, streams))?;
        Ok(bytes)
    }

    fn origin(&self, id: &SessionId) -> Option<Location> {
        let known = self.origins.get_or_init(|| {
            let all = self.engine.store.list().unwrap_or_default();
            // Of several logs of one session the first in the order of a list counts.
            all.into_iter().rev().map(|location| (location.id.clone(), location)).collect()
        });
        known.get(id).cloned()
    }
}

/// From where on a log is not indexed, when what is indexed of it still holds; none when it must be indexed anew.
///
/// It holds when the log has the same spots up to there, under the same names, and the same bytes. What a fork's own
/// entries are called, and which of them are shown, depends on its origin too.
fn resumes_at(file: &Backlog, session: &Session, at: &Location, spots: &[Spot]) -> Result<Option<u64>, Stop> {
    let Some(state) = file.indexed.filter(|state| state.end <= file.end) else { return Ok(None) };
    // What was damaged may be whole now without a byte having changed up to there: someone was writing when it was read, or
    // it is a fork, or only the sidecar said so. What was not read to its end goes on; it is judged when it is.
    let is_partial = state.sum.is_none();
    if state.is_damaged && !is_partial {
        return Ok(None);
    }
    if state.generation == file.generation {
        return Ok(Some(state.end));
    }
    let Some(sum) = state.sum else { return Ok(None) };
    let is_same = joined(bytes_in(sum), sum_of_spots(spots, state.end)) == sum
        && sum_of_bytes(session, at, (0, 0), state.end)? == bytes_in(sum);
    Ok(is_same.then_some(state.end))
}

/// What the text of a log comes to: its bytes, and which of them are whose.
fn joined(bytes: u32, spots: u32) -> i64 {
    (u64::from(spots) << 32 | u64::from(bytes)).cast_signed()
}

/// The sum of the bytes in the sum of a text.
fn bytes_in(sum: i64) -> u32 {
    sum.cast_unsigned() as u32
}

/// What the spots up to `end` come to. Labels are not among them: they are indexed anew each time.
fn sum_of_spots(spots: &[Spot], end: u64) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    for spot in spots.iter().filter(|spot| !spot.is_label && spot.place.offset < end) {
        sum.update(&spot.place.offset.to_le_bytes());
        sum.update(&spot.place.len.to_le_bytes());
        sum.update(spot.entry.as_str().as_bytes());
    }
    sum.finalize()
}

/// What the bytes of a log up to `end` come to, when those up to `before.0` come to `before.1`.
fn sum_of_bytes(session: &Session, location: &Location, before: (u64, u32), end: u64) -> Result<u32, Stop> {
    let mut sum = crc32fast::Hasher::new_with_initial_len(before.1, before.0);
    let mut offset = before.0;
    while offset < end {
        let length = usize::try_from(end - offset).unwrap_or(usize::MAX).min(CHUNK);
        let bytes = session.store.read_at(location, offset, length)?;
        if bytes.is_empty() {
            return Err(Stop::Behind);
        }
        sum.update(&bytes);
        offset += bytes.len() as u64;
    }
    Ok(sum.finalize())
}
