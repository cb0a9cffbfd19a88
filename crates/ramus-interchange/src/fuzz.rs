//! What fuzzing checks: the laws that hold for every source, whatever its bytes. Each function panics when one does not.

#![expect(clippy::panic, reason = "a violated law must stop the fuzzer")]

use hashbrown::HashSet;
use ramus_model::EntryId;

use crate::error::Error;
use crate::format::Format;
use crate::jsonl::Jsonl;
use crate::limits::Limits;
use crate::passage::LogPassage;
use crate::sink::{Entry, Sink, Start};
use crate::source::MemorySource;
use crate::target::MemoryTarget;

/// Checks one source: every record is accounted for, every entry can be appended and hangs from one before it, reading twice
/// gives the same, and what was read can be written.
pub fn read(format: Format, bytes: &[u8]) {
    let name = if format == Format::Directory { "meta.json" } else { "fuzzed.jsonl" };
    // A source that builds on others finds itself.
    let source = MemorySource::new(name, bytes)
        .child("agent-x.jsonl", bytes)
        .rollout("x", bytes)
        .beside("message/m.json", bytes);
    let limits = Limits { line: 1 << 20, records: 100_000, bases: 4, ..Limits::default() };
    let mut strict = Strict::default();
    let Ok(report) = format.codec().read_within(&source, limits, &mut strict) else { return };
    check(report.records == report.kept + report.lost, "records are unaccounted for");
    let mut again = Strict::default();
    check(format.codec().read_within(&source, limits, &mut again).is_ok(), "a source is read only once");
    for (session, same) in strict.sessions.sessions.iter().zip(&again.sessions.sessions) {
        check(session == same, "reading twice gives two results");
        let written = format.codec().write(&LogPassage::new(&session.bytes), &mut MemoryTarget::default());
        check(matches!(written, Ok(_) | Err(Error::Limit(_))), "what was read cannot be written");
    }
}

/// A sink that believes nothing.
#[derive(Default)]
struct Strict {
    sessions: Jsonl,
    seen: HashSet<EntryId>,
}

impl Sink for Strict {
    fn session(&mut self, start: &Start) -> Result<(), Error> {
        self.seen.clear();
        check(!start.id.is_empty(), "a session has no id");
        self.sessions.session(start)
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        check(entry.parent.as_ref().is_none_or(|parent| self.seen.contains(parent)), "a parent comes later");
        check(entry.draft().is_ok(), "an entry cannot be appended");
        self.seen.insert(entry.id.clone());
        self.sessions.entry(entry)
    }
}

fn check(holds: bool, law: &str) {
    if !holds {
        panic!("{law}");
    }
}
