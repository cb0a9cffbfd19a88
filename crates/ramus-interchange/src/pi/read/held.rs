//! Entries that come before what they hang from. pi finds parents by their ids wherever they stand, so such an entry is held
//! until its parent came; only a parent that is nowhere is missing.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use ramus_model::EntryId;
use ramus_model::json::{Object, Raw};

use super::{Reader, pieces};
use crate::emit::{Hang, New};
use crate::error::Error;
use crate::lines::Lines;
use crate::record::Record;

/// So many entries are held at most, and so many bytes of them. More are as if their parents were missing.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 16 << 20;

/// Entries that wait for what they hang from.
#[derive(Default)]
pub(super) struct Held {
    /// In the order they came.
    waiting: BTreeMap<usize, Waiting>,
    /// Which of them wait for an id.
    children: HashMap<String, Vec<usize>>,
    count: usize,
    bytes: usize,
    /// Every id of the file, looked for when a parent was not there the first time.
    ids: Option<HashSet<Box<str>>>,
    /// The last entry that did not wait: the file stands there.
    last: Option<EntryId>,
}

struct Waiting {
    record: Record<'static>,
    index: u64,
}

impl Held {
    /// Keeps an entry until its parent came.
    pub(super) fn keep(&mut self, record: &Record<'_>, object: &Object<'_>, index: u64) {
        let parent = object.text("parentId").unwrap_or_default().into_owned();
        self.children.entry(parent).or_default().push(self.count);
        self.bytes += record.bytes.len();
        self.waiting.insert(self.count, Waiting { record: record.clone().into_owned(), index });
        self.count += 1;
    }

    fn take(&mut self, at: usize) -> Option<Waiting> {
        let waiting = self.waiting.remove(&at)?;
        self.bytes = self.bytes.saturating_sub(waiting.record.bytes.len());
        Some(waiting)
    }
}

impl Reader<'_> {
    /// Says whether an entry hangs from one that comes later.
    pub(super) fn waits(&mut self, object: &Object<'_>) -> Result<bool, Error> {
        // The first version names no parents.
        let parent = object.text("parentId").filter(|parent| !parent.is_empty() && self.version > 1);
        let Some(parent) = parent.filter(|parent| !self.emitter.knows(parent)) else { return Ok(false) };
        let is_itself = object.text("id").is_some_and(|id| id == parent);
        if is_itself || self.held.waiting.len() >= MOST || self.held.bytes >= MOST_BYTES {
            return Ok(false);
        }
        if self.held.ids.is_none() {
            self.held.ids = Some(self.ids()?);
        }
        Ok(self.held.ids.as_ref().is_some_and(|ids| ids.contains(&*parent)))
    }

    /// Every id in the file.
    fn ids(&self) -> Result<HashSet<Box<str>>, Error> {
        let mut ids = HashSet::new();
        let mut lines = Lines::new(self.source.open()?, self.limits);
        while let Some(line) = lines.next()? {
            let Some(bytes) = line.bytes else { continue };
            let whole = Raw::parse(bytes).map(|_| vec![bytes]);
            for piece in whole.or_else(|| pieces(bytes)).unwrap_or_default() {
                let Some(object) = Raw::parse(piece).and_then(Raw::object) else { continue };
                let is_entry = object.text("type").is_some_and(|kind| !matches!(&*kind, "" | "session" | "title"));
                ids.extend(object.text("id").filter(|_| is_entry).map(|id| id.into_owned().into_boxed_str()));
            }
        }
        Ok(ids)
    }

    /// Gives the entries that waited for this one, and those that waited for them.
    pub(super) fn release(&mut self, object: &Object<'_>) -> Result<(), Error> {
        self.held.last = self.emitter.last().cloned();
        let mut open = Vec::new();
        self.children(object, &mut open);
        while let Some(at) = open.pop() {
            let Some(waiting) = self.held.take(at) else { continue };
            let Some(object) = waiting.record.object() else { continue };
            self.entry(&waiting.record, &object, waiting.index)?;
            self.children(&object, &mut open);
        }
        Ok(())
    }

    /// Takes those that wait for an entry, the first one last.
    fn children(&mut self, object: &Object<'_>, open: &mut Vec<usize>) {
        if let Some(id) = object.text("id").filter(|_| !self.held.children.is_empty()) {
            open.extend(self.held.children.remove(&*id).unwrap_or_default().into_iter().rev());
        }
    }

    /// Gives what is left at the end, which hangs from itself in a circle, and goes back to where the file stands.
    pub(super) fn release_all(&mut self) -> Result<(), Error> {
        if self.held.count == 0 {
            return Ok(());
        }
        let last = self.held.last.clone();
        while let Some(at) = self.held.waiting.keys().next().copied() {
            let Some(waiting) = self.held.take(at) else { break };
            let Some(object) = waiting.record.object() else { continue };
            self.entry(&waiting.record, &object, waiting.index)?;
            self.release(&object)?;
        }
        let Some(last) = last.filter(|last| self.emitter.last() != Some(last)) else { return Ok(()) };
        let new = New {
            kind: "custom",
            id: "current",
            parent: Hang::Entry(&last),
            members: br#""customType":"ramus.leaf","data":{"op":"import"}"#,
            inert: true,
            ..New::default()
        };
        self.emitter.entry(&new).map(drop)
    }
}
