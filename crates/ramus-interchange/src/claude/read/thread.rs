//! Answers in pieces. Claude Code writes other lines between the lines of one answer, and hangs the result of each call from the
//! line of the call, side by side; a model is told all of it, so an answer and its results are one path here.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use ramus_model::EntryId;

/// Results come soon behind their calls: so many answers are remembered.
const MOST: usize = 4;

/// The answers that came last.
#[derive(Default)]
pub(super) struct Threads(VecDeque<Thread>);

/// One answer, in one piece or several, and the results of its calls.
struct Thread {
    /// The id that the lines of the answer share.
    message: String,
    /// The entries of the path and those that hang beside it, with the one of the path that each is or hangs from.
    known: HashMap<EntryId, EntryId>,
    /// Where the path ends.
    last: EntryId,
    /// The pieces before the first result, and the last of them.
    pieces: HashSet<EntryId>,
    front: EntryId,
    has_results: bool,
    /// Calls that have a result.
    calls: HashSet<String>,
}

impl Threads {
    /// Starts with the first piece of an answer.
    pub(super) fn start(&mut self, message: &str, piece: EntryId) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(Thread {
            message: message.to_owned(),
            known: HashMap::from([(piece.clone(), piece.clone())]),
            last: piece.clone(),
            pieces: HashSet::from([piece.clone()]),
            front: piece,
            has_results: false,
            calls: HashSet::new(),
        });
    }

    /// Says whether an entry belongs to the answer with this id.
    pub(super) fn has(&self, entry: &EntryId, message: &str) -> bool {
        !message.is_empty() && self.of(entry).is_some_and(|thread| thread.message == message)
    }

    /// Where something hangs that goes on with an answer and names this entry of it; none when that is where it hangs.
    pub(super) fn place(&self, entry: &EntryId) -> Option<EntryId> {
        let thread = self.of(entry)?;
        (thread.known.get(entry)? != &thread.last).then(|| thread.last.clone())
    }

    /// Goes on with another piece of the answer that an entry belongs to.
    pub(super) fn go_on(&mut self, entry: &EntryId, piece: EntryId) {
        let Some(thread) = self.of_mut(entry) else { return };
        thread.known.insert(piece.clone(), piece.clone());
        if !thread.has_results {
            thread.pieces.insert(piece.clone());
            thread.front = piece.clone();
        }
        thread.last = piece;
    }

    /// Remembers what hangs beside an answer.
    pub(super) fn beside(&mut self, entry: &EntryId, beside: EntryId) {
        let Some(thread) = self.of_mut(entry) else { return };
        if let Some(reach) = thread.known.get(entry).cloned() {
            thread.known.insert(beside, reach);
        }
    }

    /// Where results of calls hang whose line names this entry; none when that is where they hang. A call that has a result
    /// is answered again: that is a branch, which starts behind the answer.
    pub(super) fn place_results(&mut self, entry: &EntryId, calls: &[String]) -> Option<EntryId> {
        let thread = self.of_mut(entry)?;
        if !calls.iter().any(|call| thread.calls.contains(call)) {
            return self.place(entry);
        }
        thread.calls.clear();
        thread.pieces.contains(entry).then(|| thread.front.clone())
    }

    /// Takes results whose line named this entry.
    pub(super) fn results(&mut self, entry: &EntryId, calls: Vec<String>, results: &[EntryId]) {
        if self.of(entry).is_none() {
            self.start("", entry.clone());
        }
        let Some(thread) = self.of_mut(entry) else { return };
        thread.has_results = true;
        thread.calls.extend(calls);
        for result in results {
            thread.known.insert(result.clone(), result.clone());
            thread.last = result.clone();
        }
    }

    fn of(&self, entry: &EntryId) -> Option<&Thread> {
        self.0.iter().rev().find(|thread| thread.known.contains_key(entry))
    }

    fn of_mut(&mut self, entry: &EntryId) -> Option<&mut Thread> {
        self.0.iter_mut().rev().find(|thread| thread.known.contains_key(entry))
    }
}
