//! What fuzzing checks: the invariants that hold whatever the bytes are. Each function panics when one does not.
//!
//! These live with the model so that the fuzz targets, the property tests and the fuzz corpus check the same things.

#![expect(clippy::panic, reason = "a violated invariant must stop the fuzzer")]

use crate::blob::{self, Restore};
use crate::context::{self, provider};
use crate::json::Raw;
use crate::log::{Depth, Lines as _, Log};
use crate::search::{Document, Matcher, Prefilter, Query, QueryError, Reading, Snippet, Splitter, Streams};
use crate::tree::{Scope, Tree};
use crate::{Draft, EntryId, migrate, resolve, tokens};

/// Checks one line: the lexer agrees with `serde_json`, and what can be an entry survives being written and read.
pub fn line(bytes: &[u8]) {
    let ours = Raw::parse(bytes);
    if std::str::from_utf8(bytes).is_ok() {
        let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(bytes);
        check(ours.is_some() == theirs.is_ok(), "the lexer and serde_json disagree about what is JSON");
    }
    if let Some(raw) = ours {
        check(Raw::parse(raw.bytes()) == Some(raw), "a value does not read as itself");
        for (_, value) in raw.fields() {
            check(Raw::parse(value.bytes()) == Some(value), "a member is not a value");
        }
        for value in raw.items() {
            check(Raw::parse(value.bytes()) == Some(value), "an element is not a value");
        }
    }
    blobs(bytes);
    searching(bytes);
    if let Ok(draft) = Draft::parse(bytes) {
        let line = draft.body.to_line(&EntryId::from("0badcafe"), None, "2026-01-01T00:00:00.000Z");
        check(line.iter().filter(|byte| **byte == b'\n').count() == 1, "an entry is not one line");
        let again = Raw::parse(&line).and_then(crate::Body::of_record);
        let spaced = |body: &crate::Body| body.to_line(&EntryId::from("0badcafe"), None, "2026-01-01T00:00:00.000Z");
        check(again.as_ref().map(spaced) == Some(line), "a body does not survive being written and read");
    }
}

/// Checks that any line can be searched and anything can be asked, and that a query that was understood is understood again.
fn searching(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut document = Document::default();
    if !document.read(bytes) {
        document.read_title(&text, None);
    }
    let mut streams = Streams::default();
    document.index(&mut Splitter::default(), &mut streams);
    for (typing, asked) in [(false, &*text), (true, &*text), (false, document.text())] {
        let Ok(query) = Query::parse(asked, Reading { now: 0, typing }) else { continue };
        // Quotes that nobody typed may make it too long.
        let again = Query::parse(&query.to_string(), Reading::default());
        check(matches!(again, Ok(_) | Err(QueryError::TooLong(_))), "a query is not understood twice");
        let mut matcher = Matcher::new(&query);
        let (holds, tally) = matcher.judge(&document);
        let words = [&streams.words, &streams.parts, &streams.paths].map(|stream| stream.split(' ').count() - 1);
        check(tally.length as usize == words.iter().sum::<usize>(), "a document and its index differ in length");
        check(
            !holds || Prefilter::new(&query).may_match(bytes) || Raw::parse(bytes).is_none(),
            "a hit is filtered out",
        );
        Snippet::of(&document, &mut matcher, 40);
    }
}

/// Checks what leaves a line: it stays JSON, nothing leaves twice, and what is missing is found to be.
fn blobs(bytes: &[u8]) {
    let is_json = Raw::parse(bytes).is_some();
    for what in [Restore::Everything, Restore::Pictures, Restore::Texts] {
        let restored = blob::restore(bytes, what, &mut |_| None);
        check(!is_json || Raw::parse(&restored.line).is_some(), "a line without its blobs is not JSON");
        let restored = blob::restore(bytes, what, &mut |_| Some(b"\xed\xa0\x80\"\n".to_vec()));
        check(!is_json || Raw::parse(&restored.line).is_some(), "a line with its blobs is not JSON");
    }
    if let Some(external) = blob::externalise(bytes) {
        check(Raw::parse(&external.line).is_some(), "a line that something left is not JSON");
        check(blob::externalise(&external.line).is_none(), "what left a line leaves it again");
    }
}

/// Checks a file: reading it in one piece, in chunks, quickly and thoroughly agree where they must; every projection
/// ends; places lie inside the file; upgrading loses nothing.
pub fn file(bytes: &[u8]) {
    let log = Log::from_bytes(bytes, Depth::Whole);
    PARTS.iter().for_each(|part| part(&log, bytes));
}

/// Checks a file like [`file()`], but each only in one respect, which its bytes decide: a fuzzer tries so many that none is
/// neglected, and gets to several times as many.
pub fn file_in_part(bytes: &[u8]) {
    let log = Log::from_bytes(bytes, Depth::Whole);
    let choice = crc32fast::hash(bytes) as usize % PARTS.len();
    if let Some(part) = PARTS.get(choice) {
        part(&log, bytes);
    }
}

const PARTS: [fn(&Log, &[u8]); 5] = [chunks, quick, projections, upgrade, sidecars];

fn chunks(log: &Log, bytes: &[u8]) {
    let mut chunked = Log::new(Depth::Whole);
    for chunk in bytes.chunks(7) {
        chunked.feed(chunk);
    }
    chunked.finish();
    check(chunked.len() == log.len(), "reading in chunks finds other entries");
    check(chunked.findings() == log.findings(), "reading in chunks finds other damage");
}

fn quick(_: &Log, bytes: &[u8]) {
    projections(&Log::from_bytes(bytes, Depth::Envelope), bytes);
}

fn upgrade(log: &Log, bytes: &[u8]) {
    for seq in log.seqs() {
        let Ok(line) = bytes.line(log.place(seq).unwrap_or_else(|| panic!("{seq} has no place")));
        check(Raw::parse(&line).is_some(), "the place of an entry does not hold a record");
    }
    if migrate::is_needed(log) {
        let upgraded = migrate::upgrade(log, bytes);
        let again = Log::from_bytes(&upgraded, Depth::Whole);
        check(again.len() == log.len(), "an upgrade changes the number of entries");
        check(!migrate::is_needed(&again), "an upgraded file still needs an upgrade");
    }
}

/// Checks that a log in good order is the same when it is had from its rows.
fn sidecars(_: &Log, bytes: &[u8]) {
    let mut log = Log::new(Depth::Envelope);
    log.keep_sums();
    log.feed(bytes);
    log.finish();
    let Some(rows) = log.rows(0).filter(|_| log.is_orderly()) else { return };
    let checkpoint = log.checkpoint(String::new(), crc32fast::hash(&rows), true, None);
    let Some(mut restored) = Log::new(Depth::Envelope).restored(&checkpoint, &rows) else {
        panic!("rows do not fit the log they were made of");
    };
    restored.finish();
    check(restored.len() == log.len() && restored.leaf() == log.leaf(), "a restored log has other entries");
    for seq in log.seqs() {
        let shown = |log: &Log| (log.place(seq), log.record(seq).map(|record| (record.parent(), record.is_visible())));
        check(shown(&log) == shown(&restored) && log.id(seq) == restored.id(seq), "a restored entry is another one");
    }
}

fn projections(log: &Log, bytes: &[u8]) {
    for seq in log.seqs() {
        let place = log.place(seq).unwrap_or_else(|| panic!("{seq} has no place"));
        check(place.offset + u64::from(place.len) <= bytes.len() as u64, "a place lies outside the file");
        check(log.seq_of(log.id(seq)) == Some(seq), "an id does not find its entry");
        check(log.ancestors(Some(seq)).count() <= log.len(), "a path revisits an entry");
    }
    for scope in [Scope::Visible, Scope::All] {
        let tree = Tree::of(log, scope);
        check(tree.entries.iter().filter(|node| node.parent.is_none()).count() == tree.roots.len(), "a root is lost");
        check(tree.entries.is_empty() || !tree.roots.is_empty(), "a tree has no root");
        let children: u32 = tree.entries.iter().map(|node| node.children).sum();
        check(
            children as usize + tree.roots.len() == tree.entries.len(),
            "a tree has more or fewer edges than entries",
        );
    }
    let Ok(context) = context::build(log, log.leaf(), bytes);
    let mut out = Vec::new();
    let Ok(()) = context::render::messages(log, &context, bytes, &mut out);
    check(Raw::parse(&out).is_some_and(|raw| raw.items().count() == context.items.len()), "a context is not JSON");
    let Ok(_) = tokens::of_context(log, &context, bytes);
    let Ok(messages) = provider::messages(log, &context, bytes);
    check_pairs(&messages);
    for reference in ["", "-", "#1", "abcd"] {
        let _ = resolve::entry(log, reference);
    }
}

/// Checks the postconditions of [`provider::messages`].
pub fn check_pairs(messages: &[provider::Outgoing]) {
    use provider::Speaker;
    let mut expected: Vec<String> = Vec::new();
    let mut conversation = false;
    let (mut seen, mut ids) = (std::collections::HashSet::new(), std::collections::HashSet::new());
    for message in messages {
        check(!message.parts.is_empty(), "a message is empty");
        if let Some(entry) = message.entry {
            // A compaction has two things to say: the instructions that it kept, and its summary.
            check(seen.insert((entry, message.speaker == Speaker::System)), "an entry is in the context twice");
        }
        match &message.speaker {
            Speaker::Tool(result) => {
                check(!expected.is_empty() && expected.remove(0) == result.call, "a result does not follow its call");
            }
            other => {
                check(expected.is_empty(), "a call has no result");
                check(!(conversation && *other == Speaker::System), "a system message comes late");
                conversation |= *other != Speaker::System;
                if let Speaker::Assistant(calls) = other {
                    check(calls.iter().all(|call| ids.insert(call.id.clone())), "two calls have one id");
                    expected = calls.iter().map(|call| call.id.clone()).collect();
                }
            }
        }
    }
    check(expected.is_empty(), "a call has no result");
}

fn check(holds: bool, what: &str) {
    if !holds {
        panic!("{what}");
    }
}
