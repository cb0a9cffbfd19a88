//! The generated sessions are well-formed chains, and the same on every run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::HashSet;

use ramus_testkit::corpus::{Written, stream_session};
use serde_json::Value;

fn lines(entries: usize, seed: u64) -> (Written, Vec<Value>) {
    let mut bytes = Vec::new();
    let written = stream_session(&mut bytes, entries, seed).unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    let text = String::from_utf8(bytes).unwrap();
    (written, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn every_size_is_met_exactly() {
    for entries in 0..40 {
        let (written, lines) = lines(entries, 1);
        assert_eq!((written.entries, lines.len()), (entries, entries + 1));
        assert_eq!(lines[0]["type"], "session");
    }
}

#[test]
fn entries_form_one_chain_with_unique_ids() {
    let (_, lines) = lines(2_000, 42);
    let mut seen = HashSet::new();
    let mut parent = Value::Null;
    for entry in &lines[1..] {
        assert_eq!(entry["parentId"], parent);
        parent = entry["id"].clone();
        assert!(seen.insert(parent.as_str().unwrap().to_owned()), "{parent} twice");
    }
}

#[test]
fn every_call_is_followed_by_its_result() {
    let (_, lines) = lines(503, 3);
    let mut open = None;
    for entry in &lines[1..] {
        let message = &entry["message"];
        if message["role"] == "toolResult" {
            assert_eq!(Some(&message["toolCallId"]), open.take());
        }
        assert_eq!(open, None);
        open = message["content"][1].get("id");
    }
    assert_eq!(open, None);
}

#[test]
fn the_seed_alone_decides() {
    let bytes = |seed| {
        let mut bytes = Vec::new();
        stream_session(&mut bytes, 200, seed).unwrap();
        bytes
    };
    assert_eq!(bytes(9), bytes(9));
    assert_ne!(bytes(9), bytes(10));
}

#[test]
fn a_line_is_about_a_kilobyte() {
    let (written, _) = lines(1_000, 42);
    assert!((950..1_150).contains(&(written.bytes / 1_000)), "{written:?}");
}
