//! Replacing segments: which entries move, and which requests are refused.

use ramus_model::segment::{self, SegmentError};
use ramus_model::{Depth, Log, Seq};

use crate::generate::HEADER;

/// A log of messages given as `id<parent`.
fn tree(edges: &[&str]) -> Log {
    let mut text = format!("{HEADER}\n");
    for edge in edges {
        let (id, parent) = edge.split_once('<').unwrap();
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        text.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-02-16T10:21:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n"
        ));
    }
    Log::from_bytes(text.as_bytes(), Depth::Whole)
}

fn names(log: &Log, seqs: &[Seq]) -> Vec<String> {
    seqs.iter().map(|seq| log.id(*seq).to_owned()).collect()
}

#[test]
fn every_outside_child_of_any_replaced_entry_moves() {
    // 1 - 2 - 3 - 4 - 5, with a branch off 2 and one off 3.
    let log = tree(&["1<", "2<1", "3<2", "4<3", "5<4", "b<2", "c<3", "d<b"]);
    let seq = |id: &str| log.seq_of(id).unwrap();
    let plan = segment::plan(&log, &segment::between(&log, seq("2"), seq("3")).unwrap()).unwrap();
    assert_eq!(names(&log, &plan.replaced), ["2", "3"]);
    assert_eq!(names(&log, &plan.reparented), ["4", "b", "c"]);
    assert_eq!(plan.parent, Some(seq("1")));
    assert!(!plan.leaf_moves);
    let root = segment::plan(&log, &[seq("1"), seq("2")]).unwrap();
    assert_eq!(root.parent, None);
    let end = segment::plan(&log, &[seq("b"), seq("d")]).unwrap();
    assert!(end.leaf_moves, "the leaf d is replaced");
    assert!(end.reparented.is_empty());
}

#[test]
fn bad_segments_are_refused() {
    let log = tree(&["1<", "2<1", "3<2", "b<1"]);
    let seq = |id: &str| log.seq_of(id).unwrap();
    assert_eq!(segment::plan(&log, &[]), Err(SegmentError::Empty));
    assert_eq!(segment::plan(&log, &[seq("1"), seq("1")]), Err(SegmentError::Duplicate("1".into())));
    let gap = SegmentError::NotContiguous { parent: "1".into(), child: "3".into() };
    assert_eq!(segment::plan(&log, &[seq("1"), seq("3")]), Err(gap));
    let backwards = SegmentError::NotContiguous { parent: "2".into(), child: "1".into() };
    assert_eq!(segment::plan(&log, &[seq("2"), seq("1")]), Err(backwards));
    let aside = SegmentError::NotContiguous { parent: "2".into(), child: "b".into() };
    assert_eq!(segment::between(&log, seq("2"), seq("b")), Err(aside));
}
