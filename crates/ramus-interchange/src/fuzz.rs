//! What fuzzing checks: the laws that hold for every source, whatever its bytes. Each function panics when one does not.

#![expect(clippy::panic, reason = "a violated law must stop the fuzzer")]

mod tables;

use hashbrown::HashSet;
use ramus_model::json::Raw;
use ramus_model::{EntryId, RAMUS_PREFIX};

use crate::error::Error;
use crate::format::Format;
use crate::jsonl::Jsonl;
use crate::limits::Limits;
use crate::passage::LogPassage;
use crate::sink::{Entry, Sink, Start};
use crate::source::{MemorySource, Source};
use crate::target::MemoryTarget;

/// What stands in front of rows that a database is made of, or of files beside one another.
const ROWS: &[u8] = b"rows\n";
const FILES: &[u8] = b"files\n";
/// What stands in front of the name of a file, on a line of its own.
const NAME: &[u8] = b"\n=== ";

/// Checks one source: every record is accounted for, every entry can be appended and hangs from one before it, nothing is
/// allowed by it, reading twice gives the same, and what was read can be written.
///
/// Bytes that begin with `rows` are rows of a database, and those that begin with `files` are several files: the main one, and each
/// other behind its name.
pub fn read(format: Format, bytes: &[u8]) {
    if let Some(rows) = bytes.strip_prefix(ROWS) {
        return tables::Tables::of(format, rows).map_or((), |tables| obeys(format, &tables));
    }
    obeys(format, &files(format, bytes));
}

/// A file, and those beside it.
fn files(format: Format, bytes: &[u8]) -> MemorySource {
    let name = match format {
        Format::Directory => "meta.json",
        Format::Opencode if bytes.starts_with(FILES) => "ses_1.json",
        _ => "fuzzed.jsonl",
    };
    let Some(several) = bytes.strip_prefix(FILES) else {
        // A source that builds on others finds itself.
        let source = MemorySource::new(name, bytes).child("agent-x.jsonl", bytes).rollout("x", bytes);
        return source.beside("message/m.json", bytes);
    };
    let starts = memchr::memmem::find_iter(several, NAME);
    let ends = memchr::memmem::find_iter(several, NAME).chain([several.len()]);
    let mut source =
        MemorySource::new(name, several.get(..ends.clone().next().unwrap_or_default()).unwrap_or_default());
    for (start, end) in starts.zip(ends.skip(1)) {
        let file = several.get(start + NAME.len()..end).unwrap_or_default();
        let split = memchr::memchr(b'\n', file).unwrap_or(file.len());
        let (name, content) = file.split_at(split);
        source = source.beside(&String::from_utf8_lossy(name), content.get(1..).unwrap_or_default());
    }
    source
}

/// Checks that a source breaks no law.
fn obeys(format: Format, source: &dyn Source) {
    let limits = Limits { line: 1 << 20, records: 100_000, bases: 4, ..Limits::default() };
    let mut strict = Strict::default();
    let Ok(report) = format.codec().read_within(source, limits, &mut strict) else { return };
    check(report.records == report.kept + report.lost, "records are unaccounted for");
    let mut again = Strict::default();
    check(format.codec().read_within(source, limits, &mut again).is_ok(), "a source is read only once");
    for (session, same) in strict.sessions.sessions.iter().zip(&again.sessions.sessions) {
        check(session == same, "reading twice gives two results");
        let written = format.codec().write(&LogPassage::new(&session.bytes), &mut MemoryTarget::default());
        check(matches!(written, Ok(_) | Err(Error::Limit(_))), "what was read cannot be written");
    }
}

/// What only the home itself may say.
const FORBIDDEN: [&str; 5] = ["grant", "approval", "share", "snapshot", "files"];

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
        // Only entries of the kind `custom` say what a home says.
        let line =
            Raw::parse(&entry.line).filter(|line| line.field("type").and_then(Raw::text).as_deref() == Some("custom"));
        let custom = line.and_then(|line| line.field("customType")?.text());
        let name = custom.as_deref().and_then(|custom| custom.strip_prefix(RAMUS_PREFIX)).unwrap_or_default();
        check(!FORBIDDEN.contains(&name), "an entry says something that only the home itself may say");
        self.seen.insert(entry.id.clone());
        self.sessions.entry(entry)
    }
}

fn check(holds: bool, law: &str) {
    if !holds {
        panic!("{law}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_several_files_and_compressed_ones_are_read_as_messages() {
        let seeds: [(Format, &[u8]); 3] = [
            (Format::Opencode, include_bytes!("../../../fuzz/seeds/opencode/files")),
            (Format::Directory, include_bytes!("../../../fuzz/seeds/directory/files")),
            (Format::Codex, include_bytes!("../../../fuzz/seeds/codex/session.zst")),
        ];
        for (format, seed) in seeds {
            let mut sessions = Jsonl::default();
            format.codec().read(&files(format, seed), &mut sessions).unwrap();
            let logs: Vec<u8> = sessions.sessions.into_iter().flat_map(|session| session.bytes).collect();
            let log = String::from_utf8(logs).unwrap();
            for role in ["user", "assistant"] {
                assert!(log.contains(&format!("\"role\":\"{role}\"")), "{format:?}: {log}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "only the home itself may say")]
    fn what_only_the_home_may_say_breaks_a_law() {
        let line = br#"{"type":"custom","id":"a","parentId":null,"timestamp":"2026-11-01T10:00:00.000Z","customType":"ramus.grant","data":{}}"#;
        let entry = Entry { id: EntryId::from("a"), parent: None, line: [&line[..], b"\n"].concat() };
        let _ = Strict::default().entry(&entry);
    }
}
