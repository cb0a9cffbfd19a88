//! Trees: what hangs where, what is a leaf, and that reading more never changes what was read.

use proptest::prelude::*;
use ramus_model::{Depth, Log, Record, Scope, Tree, resolve};

use crate::generate::{HEADER, file, id, plans};

fn log_of(lines: &[&str]) -> Log {
    let mut text = format!("{HEADER}\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    Log::from_bytes(text.as_bytes(), Depth::Whole)
}

fn user(id: &str, parent: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-02-16T10:21:00.000Z","message":{{"role":"user","content":"{id}"}}}}"#
    )
}

fn pointer(id: &str, target: &str) -> String {
    user(id, target).replace("\"message\",", "\"custom\",\"customType\":\"ramus.leaf\",")
}

fn path(log: &Log) -> Vec<String> {
    let visible = |seq: &ramus_model::Seq| log.record(*seq).is_some_and(Record::is_visible);
    log.path(log.leaf()).into_iter().filter(visible).map(|seq| log.id(seq).to_owned()).collect()
}

#[test]
fn a_pointer_moves_the_leaf_and_is_never_one() {
    let lines = [user("m1", ""), user("m2", "m1"), user("m3", "m2"), user("m4", "m3"), pointer("p1", "m3")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let log = log_of(&lines);
    assert_eq!(path(&log), ["m1", "m2", "m3"]);
    let tree = Tree::of(&log, Scope::Visible);
    assert_eq!(tree.entries.len(), 4);
    assert_eq!(tree.leaves.iter().map(|seq| log.id(*seq)).collect::<Vec<_>>(), ["m4"]);
    assert_eq!(Tree::of(&log, Scope::All).entries.len(), 5);
    assert_eq!(log.leaf().map(|seq| log.id(seq)), Some("m3"));
}

#[test]
fn what_hangs_from_an_inert_entry_shows_under_its_nearest_visible_ancestor() {
    let lines = [user("m1", ""), pointer("p1", "m1"), user("m2", "p1")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let log = log_of(&lines);
    let tree = Tree::of(&log, Scope::Visible);
    assert_eq!(tree.entries[1].parent, log.seq_of("m1"));
    assert_eq!(path(&log), ["m1", "m2"]);
}

#[test]
fn a_reset_leaf_has_no_path() {
    let lines = [user("m1", ""), pointer("p1", "")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let log = log_of(&lines);
    assert_eq!(log.leaf(), None);
    assert!(matches!(resolve::entry(&log, ""), Err(resolve::ResolveError::NoLeaf)));
}

#[test]
fn entries_are_named_in_many_ways() {
    let label = r#"{"type":"label","id":"l1","parentId":"ffff1","timestamp":"2026-02-16T10:21:00.000Z","targetId":"abcd1","label":"good"}"#;
    let lines = [user("abcd1", ""), user("abcd2", "abcd1"), user("abcd3", "abcd2"), user("ffff1", "abcd3")];
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push(label);
    let log = log_of(&lines);
    let named = |reference: &str| resolve::entry(&log, reference).map(|seq| log.id(seq).to_owned());
    assert_eq!(named("abcd2").as_deref(), Ok("abcd2"));
    assert_eq!(named("ffff").as_deref(), Ok("ffff1"));
    assert_eq!(named("#2").as_deref(), Ok("abcd2"));
    assert_eq!(named("good").as_deref(), Ok("abcd1"));
    assert_eq!(named("").as_deref(), Ok("ffff1"));
    assert_eq!(named("-").as_deref(), Ok("abcd3"));
    assert_eq!(named("---").as_deref(), Ok("abcd1"));
    let namespace = ramus_model::alias_namespace(&log.header().unwrap().id);
    assert_eq!(named(&format!("{namespace}-0002")).as_deref(), Ok("abcd2"));
    let ambiguous = resolve::entry(&log, "abcd");
    assert_eq!(
        ambiguous,
        Err(resolve::ResolveError::Ambiguous {
            reference: "abcd".into(),
            candidates: vec!["abcd1".into(), "abcd2".into(), "abcd3".into()]
        })
    );
    for missing in ["fff", "#0", "#99", "nope", "----", "ramus-00000000-0001"] {
        assert!(matches!(resolve::entry(&log, missing), Err(resolve::ResolveError::NotFound(_))), "{missing}");
    }
}

proptest! {
    #[test]
    fn every_entry_has_one_place_in_the_tree(plans in plans(60)) {
        let bytes = file(&plans);
        let log = Log::from_bytes(&bytes, Depth::Whole);
        prop_assert_eq!(log.len(), plans.len());
        prop_assert!(!log.is_damaged(), "{:?}", log.findings());
        ramus_model::fuzz::file(&bytes);
        let tree = Tree::of(&log, Scope::Visible);
        for node in &tree.entries {
            // A visible parent is an ancestor with nothing visible in between.
            let between = log.ancestors(Some(node.seq)).skip(1);
            let nearest = between.into_iter().find(|seq| log.record(*seq).is_some_and(Record::is_visible));
            prop_assert_eq!(node.parent, nearest);
            prop_assert_eq!(node.on_path, log.ancestors(log.leaf()).any(|seq| seq == node.seq));
        }
        prop_assert!(tree.leaf.is_none_or(|leaf| log.record(leaf).is_some_and(Record::is_visible)));
    }

    #[test]
    fn ids_seqs_and_parents_never_change_when_more_is_read(plans in plans(40), cut in any::<prop::sample::Index>()) {
        let bytes = file(&plans);
        let whole = Log::from_bytes(&bytes, Depth::Envelope);
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        let cut = ends[cut.index(ends.len())];
        let mut log = Log::from_bytes(&bytes[..cut], Depth::Envelope);
        let before: Vec<(String, Option<u32>)> = log.seqs()
            .map(|seq| (log.id(seq).to_owned(), log.record(seq).and_then(Record::parent).map(|parent| parent.number())))
            .collect();
        log.feed(&bytes[cut..]);
        log.finish();
        prop_assert_eq!(log.len(), whole.len());
        for (seq, (name, parent)) in log.seqs().zip(&before) {
            prop_assert_eq!(log.id(seq), name);
            prop_assert_eq!(log.record(seq).and_then(Record::parent).map(|parent| parent.number()), *parent);
        }
        for seq in whole.seqs() {
            prop_assert_eq!(whole.id(seq), &id(seq.number() as usize - 1));
            prop_assert_eq!(log.place(seq), whole.place(seq));
        }
        prop_assert_eq!(log.leaf(), whole.leaf());
    }

    #[test]
    fn stored_lines_come_back_byte_for_byte(plans in plans(40)) {
        use ramus_model::Lines as _;
        let bytes = file(&plans);
        let log = Log::from_bytes(&bytes, Depth::Envelope);
        for (seq, plan) in log.seqs().zip(&plans) {
            let Ok(line) = bytes.as_slice().line(log.place(seq).unwrap());
            prop_assert!(*line == *crate::generate::line(seq.number() as usize - 1, plan).as_bytes());
        }
    }
}
