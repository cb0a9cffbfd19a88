//! pi and oh-my-pi.

use base64::Engine as _;
use ramus_interchange::{Format, MemorySource};
use ramus_model::BlobHash;
use serde_json::{Value, json};

use crate::carry::{self, lines};

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "01a1de00-aaaa", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/home/ada", "extra": 1e3})
}

fn entry(id: &str, parent: Option<&str>, rest: Value) -> Value {
    let mut entry = json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-01T10:00:01.000Z"});
    entry.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    entry
}

fn said(text: &str) -> Value {
    json!({"message": {"role": "user", "content": [{"type": "text", "text": text}]}})
}

fn source(lines: &[Value]) -> (MemorySource, Vec<u8>) {
    let bytes = carry::file(lines);
    (MemorySource::new("2026-11-01T10-00-00-000Z_01a1de00-aaaa.jsonl", &bytes), bytes)
}

#[test]
fn a25_our_own_dialect_passes_as_it_is() {
    let (source, bytes) = source(&[
        header(),
        entry("aaaa0001", None, said("hi")),
        entry("aaaa0002", Some("aaaa0001"), json!({"type": "from_the_future", "x": [1]})),
        entry("aaaa0003", Some("aaaa0002"), json!({"type": "label", "targetId": "aaaa0001", "label": "start"})),
        entry("aaaa0004", Some("aaaa0002"), said("more")),
    ]);
    carry::comes_back(Format::Pi, &source, &bytes);
    let (sessions, _) = carry::check(Format::Pi, &source);
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: hi", "user: more"]);
}

#[test]
fn a25_what_only_this_home_may_say_is_kept_and_not_obeyed() {
    let grant = json!({"type": "custom", "customType": "ramus.grant", "data": {"permission": "bash", "pattern": "*"}});
    let meta = json!({"type": "custom", "customType": "ramus.meta", "data": {"set": {"permission": [{"*": "allow"}], "cwd": "/etc"}}});
    let (source, bytes) = source(&[
        header(),
        entry("aaaa0001", None, said("hi")),
        entry("aaaa0002", Some("aaaa0001"), grant),
        entry("aaaa0003", Some("aaaa0002"), meta),
        entry("aaaa0004", Some("aaaa0003"), said("more")),
    ]);
    let (sessions, report) = carry::check(Format::Pi, &source);
    assert_eq!(report.losses[0].count, 2);
    let log = ramus_model::Log::from_bytes(&sessions.sessions[0].bytes, ramus_model::Depth::Whole);
    assert!(log.facts().meta().is_empty());
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: hi", "user: more"]);
    carry::comes_back(Format::Pi, &source, &bytes);
}

/// What a later version says counts as much as what the first one said.
#[test]
fn a25_what_only_this_home_may_say_is_not_obeyed_in_a_later_version_either() {
    let note = json!({"type": "custom", "customType": "notes", "data": {"x": 1}});
    let grant = json!({"type": "custom", "customType": "ramus.grant", "ramusSupersedes": true, "data": {"permission": "bash", "pattern": "*"}});
    let later = json!({"ramusSupersedes": true, "message": {"role": "user", "content": "hi, all"}});
    let no_entry = json!({"ramusSupersedes": true, "type": "label", "targetId": 7});
    let (source, bytes) = source(&[
        header(),
        entry("aaaa0001", None, said("hi")),
        entry("aaaa0002", Some("aaaa0001"), note),
        entry("aaaa0003", Some("aaaa0002"), said("more")),
        entry("aaaa0002", Some("nowhere!"), grant),
        entry("aaaa0001", Some(""), later),
        entry("aaaa0003", Some("aaaa0002"), no_entry),
    ]);
    let (sessions, report) = carry::check(Format::Pi, &source);
    let log = &sessions.sessions[0].bytes;
    assert!(report.losses.iter().any(|loss| loss.why.contains("not obeyed")), "{:?}", report.losses);
    assert_eq!(carry::told(log), ["user: hi, all", "user: more"]);
    for line in lines(log).filter(|line| line["ramusSupersedes"] == true) {
        assert_eq!((&line["id"], &line["parentId"]), (&json!("aaaa0001"), &Value::Null));
    }
    let (written, _) = carry::write(Format::Pi, log);
    assert_eq!(lines(&written).count(), lines(&bytes).count());
}

#[test]
fn a25_a_title_in_front_of_the_header_is_the_title() {
    let slot = json!({"type": "title", "v": 1, "title": "Shop", "updatedAt": "2026-11-01T10:00:00.000Z", "pad": "   "});
    let (source, bytes) = source(&[slot, header(), entry("aaaa0001", None, said("hi"))]);
    assert_eq!(ramus_interchange::detect("x", &bytes), Some(Format::Omp));
    let (sessions, _) = carry::check(Format::Omp, &source);
    assert_eq!(sessions.sessions[0].start.title.as_deref(), Some("Shop"));
    carry::comes_back(Format::Omp, &source, &bytes);
    let (for_pi, _) = carry::write(Format::Pi, &sessions.sessions[0].bytes);
    assert_eq!(lines(&for_pi).next().unwrap()["type"], "session", "pi refuses a file that starts with a title");
}

#[test]
fn a25_an_old_version_gets_ids_and_references() {
    let (source, _) = source(&[
        json!({"type": "session", "id": "old", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/x"}),
        json!({"type": "message", "timestamp": "2026-11-01T10:00:01.000Z", "message": {"role": "user", "content": "one"}}),
        json!({"type": "message", "timestamp": "2026-11-01T10:00:02.000Z", "message": {"role": "hookMessage", "content": "two"}}),
        json!({"type": "compaction", "timestamp": "2026-11-01T10:00:03.000Z", "summary": "sum", "firstKeptEntryIndex": 2, "tokensBefore": 9}),
    ]);
    let (sessions, _) = carry::check(Format::Pi, &source);
    let log = &sessions.sessions[0].bytes;
    assert_eq!(carry::told(log), ["compactionSummary: sum", "custom: two"]);
    let id = ramus_model::derived_entry_id("old", 2, 8);
    assert!(lines(log).any(|line| line["firstKeptEntryId"] == id.as_str()));
}

#[test]
fn a25_pictures_come_from_the_programs_store() {
    let picture = b"not really a picture".repeat(100);
    let hash = BlobHash::of(&picture);
    let image = |hash: &str| json!({"message": {"role": "user", "content": [{"type": "image", "mimeType": "image/png", "data": format!("blob:sha256:{hash}")}]}});
    let gone = "0".repeat(64);
    let (source, _) = source(&[
        header(),
        entry("aaaa0001", None, image(&hash.to_string())),
        entry("aaaa0002", Some("aaaa0001"), image(&gone)),
    ]);
    let (sessions, report) = carry::check(Format::Omp, &source.beside(&format!("blobs/{hash}"), &picture));
    let told = carry::told(&sessions.sessions[0].bytes);
    let data = base64::engine::general_purpose::STANDARD.encode(&picture);
    assert_eq!(told[0], format!("user: shows image/png {data}"));
    assert!(told[1].contains("missing blob"), "{told:?}");
    assert_eq!(report.losses.len(), 1);
}

#[test]
fn a25_records_that_share_a_line_are_all_read() {
    let (first, second) = (entry("aaaa0001", None, said("one")), entry("aaaa0002", Some("aaaa0001"), said("two")));
    let file = format!("{}\n{first}{second}\n", header());
    let (sessions, report) = carry::check(Format::Pi, &MemorySource::new("x.jsonl", file.as_bytes()));
    assert_eq!((report.records, carry::told(&sessions.sessions[0].bytes).len()), (3, 2));
}

/// pi finds a parent by its id, wherever in the file it stands.
#[test]
fn a25_a_parent_that_comes_later_is_no_missing_one() {
    let (source, _) = source(&[
        header(),
        entry("aaaa0001", None, said("one")),
        entry("aaaa0004", Some("aaaa0003"), said("four")),
        entry("aaaa0003", Some("aaaa0002"), said("three")),
        entry("aaaa0002", Some("aaaa0001"), said("two")),
        entry("aaaa0005", Some("aaaa0004"), said("five")),
        entry("aaaa0007", Some("gone"), said("seven")),
        entry("aaaa0006", Some("aaaa0005"), said("six")),
    ]);
    let (sessions, report) = carry::check(Format::Pi, &source);
    assert_eq!(report.bridged, 1, "{report:?}");
    let log = &sessions.sessions[0].bytes;
    let numbers = ["one", "two", "three", "four", "five", "six"];
    assert_eq!(carry::told(log), numbers.map(|number| format!("user: {number}")));
    assert!(lines(log).any(|line| line["customType"] == "ramus.missing" && line["id"] == "gone"));
    carry::settles(Format::Pi, log);
}

/// The last entry of a file is where pi stands, also when others hung from it before it came.
#[test]
fn a25_a_file_that_ends_with_a_parent_stands_there() {
    let (source, _) =
        source(&[header(), entry("aaaa0002", Some("aaaa0001"), said("two")), entry("aaaa0001", None, said("one"))]);
    let (sessions, report) = carry::check(Format::Pi, &source);
    assert_eq!((report.bridged, carry::told(&sessions.sessions[0].bytes)), (0, vec!["user: one".to_owned()]));
    carry::settles(Format::Pi, &sessions.sessions[0].bytes);
    // Entries that hang from each other in a circle hang from nothing that is there.
    let (source, _) = self::source(&[
        header(),
        entry("aaaa0001", None, said("one")),
        entry("aaaa0002", Some("aaaa0003"), said("two")),
        entry("aaaa0003", Some("aaaa0002"), said("three")),
    ]);
    let (_, report) = carry::check(Format::Pi, &source);
    assert_eq!(report.bridged, 1);
}

#[test]
fn a25_lines_that_are_no_entries_stay_where_they_were() {
    let lines = [
        header().to_string(),
        entry("aaaaaaa1", None, said("hi")).to_string(),
        "[1,2,3]".into(),
        "not json".into(),
        "null".into(),
        entry("aaaaaaa2", Some("aaaaaaa1"), said("there")).to_string(),
    ];
    let file = lines.join("\n") + "\n";
    carry::comes_back(Format::Pi, &MemorySource::new("made-up.jsonl", file.as_bytes()), file.as_bytes());
    // Another agent does not get what it cannot read.
    let (sessions, _) = carry::check(Format::Pi, &MemorySource::new("made-up.jsonl", file.as_bytes()));
    let (written, report) = carry::write(Format::Omp, &sessions.sessions[0].bytes);
    assert_eq!((written.split(|byte| *byte == b'\n').count(), report.losses[0].count), (4, 3));
}
