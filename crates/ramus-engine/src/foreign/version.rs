//! Lines as they are compared with those that are here: a later version of an entry counts as the line it would have been.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use memchr::memmem;
use ramus_model::json::Raw;

/// What marks a later version, as it is spelled at the front of a body.
const LATER: &[u8] = b"\"ramusSupersedes\":true,";

/// Says whether a line is a later version of an entry that came before.
pub(super) fn is_later(line: &[u8]) -> bool {
    memmem::find(line, LATER).is_some()
        && Raw::parse(line).and_then(|raw| raw.field("ramusSupersedes")?.flag()) == Some(true)
}

/// The line as a later version of the entry that has its id. Nothing else of it changes, so that it is known again.
pub(super) fn later(line: &[u8]) -> Option<Vec<u8>> {
    Some([b"{", LATER, line.strip_prefix(b"{")?].concat())
}

/// The line without what makes it a later version.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    match memmem::find(line, LATER).filter(|_| is_later(line)).and_then(|at| line.split_at_checked(at)) {
        Some((front, back)) => [front, back.get(LATER.len()..).unwrap_or_default()].concat().into(),
        None => line.into(),
    }
}

/// Which lines a log holds. A later version counts as the line it would have been.
#[derive(Default)]
pub(super) struct Lines {
    seen: HashSet<u128>,
    hashers: (RandomState, RandomState),
    rest: Vec<u8>,
}

impl Lines {
    pub(super) fn take(&mut self, mut chunk: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            if self.rest.is_empty() {
                self.add(line);
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                self.add(&whole);
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
        self.rest.extend_from_slice(chunk);
    }

    pub(super) fn add(&mut self, line: &[u8]) {
        let name = self.name(line);
        self.seen.insert(name);
    }

    pub(super) fn has(&self, line: &[u8]) -> bool {
        self.seen.contains(&self.name(line))
    }

    fn name(&self, line: &[u8]) -> u128 {
        let line = plain(line);
        let (first, second) = &self.hashers;
        u128::from(first.hash_one(&*line)) << 64 | u128::from(second.hash_one(&*line))
    }
}
