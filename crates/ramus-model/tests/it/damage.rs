//! Bad input: no panic, no hang, no stack overflow, nothing dropped, a finding that says what is wrong.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use ramus_model::{Depth, FindingKind, Log, Record, Scope, Tail, Tree, context};

use crate::generate::{HEADER, file, id, plans};

fn user(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-02-16T10:21:00.000Z","message":{{"role":"user","content":[{{"type":"text","text":"{id}"}}]}}}}"#
    )
}

fn kinds(log: &Log) -> Vec<FindingKind> {
    log.findings().iter().map(|finding| finding.kind).collect()
}

fn ids(log: &Log) -> Vec<&str> {
    log.seqs().map(|seq| log.id(seq)).collect()
}

/// Reads both ways, which must find the same entries, and returns the thorough one.
fn read(bytes: &[u8]) -> Log {
    let log = Log::from_bytes(bytes, Depth::Whole);
    let quick = Log::from_bytes(bytes, Depth::Envelope);
    assert_eq!(ids(&quick), ids(&log), "a quick reading finds other entries");
    log
}

#[test]
fn glued_records_are_all_found() {
    let glued = format!("{HEADER}\n{}{}\n{}\n", user("a", "null"), user("b", "\"a\""), user("c", "\"b\""));
    let log = read(glued.as_bytes());
    assert_eq!(ids(&log), ["a", "b", "c"]);
    assert_eq!(kinds(&log), [FindingKind::GluedRecords]);
    assert_eq!(log.path(log.leaf()).len(), 3);
}

#[test]
fn a_record_written_over_a_torn_one_is_found_wherever_the_tear_is() {
    let (first, second) = (user("a", "null"), user("b", "null"));
    for cut in 1..first.len() {
        let text = format!("{HEADER}\n{}{second}\n{}\n", &first[..cut], user("c", "\"b\""));
        let log = read(text.as_bytes());
        assert_eq!(ids(&log), ["b", "c"], "cut at {cut}");
        assert!(kinds(&log).contains(&FindingKind::GluedRecords), "cut at {cut}");
        assert_eq!(log.findings()[0].line, 2);
    }
}

#[test]
fn a_torn_tail_is_left_alone_at_every_byte() {
    let whole = format!("{HEADER}\n{}\n{}\n", user("a", "null"), user("b", "\"a\""));
    let last = whole.len() - user("b", "\"a\"").len() - 1;
    for cut in last + 1..whole.len() - 1 {
        let log = read(&whole.as_bytes()[..cut]);
        assert_eq!(ids(&log), ["a"], "cut at {cut}");
        assert_eq!(log.tail(), Tail::Torn { from: last as u64 });
        assert_eq!(kinds(&log), [FindingKind::TornTail]);
    }
    let log = read(&whole.as_bytes()[..whole.len() - 1]);
    assert_eq!((ids(&log), log.tail()), (vec!["a", "b"], Tail::Unended));
    assert!(!log.is_damaged());
}

#[test]
fn zero_bytes_lose_only_themselves() {
    let zeros = "\0".repeat(4096);
    let text =
        format!("{HEADER}\n{}\n{zeros}{}\n{}\n{zeros}", user("a", "null"), user("b", "\"a\""), user("c", "\"b\""));
    let log = read(text.as_bytes());
    assert_eq!(ids(&log), ["a", "b", "c"]);
    assert!(kinds(&log).contains(&FindingKind::NulBytes));
    assert_eq!(read("\0".repeat(100).as_bytes()).len(), 0);
}

#[test]
fn byte_order_marks_carriage_returns_and_blank_lines_are_no_damage() {
    let text = format!("\u{feff}{HEADER}\r\n\r\n{}\r\n\n  \n{}\r\n", user("a", "null"), user("b", "\"a\""));
    let log = read(text.as_bytes());
    assert_eq!(ids(&log), ["a", "b"]);
    assert_eq!(kinds(&log), [FindingKind::ByteOrderMark, FindingKind::CarriageReturns]);
    assert!(!log.is_damaged());
    assert!(log.header().is_some());
}

#[test]
fn whitespace_around_a_record_is_not_part_of_it() {
    let text = format!(" \t{HEADER}  \n\t\t{} \n  {}", user("a", "null"), user("b", "\"a\""));
    ramus_model::fuzz::file(text.as_bytes());
    for depth in [Depth::Whole, Depth::Envelope] {
        let log = Log::from_bytes(text.as_bytes(), depth);
        assert_eq!(ids(&log), ["a", "b"]);
        let Ok(line) = ramus_model::Lines::line(text.as_bytes(), log.place(log.seq_of("a").unwrap()).unwrap());
        assert_eq!(line, user("a", "null").as_bytes());
    }
}

#[test]
fn without_a_header_everything_still_shows() {
    let text = format!("{}\n{}\n{}\n", &HEADER[..40], user("a", "null"), user("b", "\"a\""));
    let mut log = read(text.as_bytes());
    assert_eq!(ids(&log), ["a", "b"]);
    assert!(kinds(&log).contains(&FindingKind::MissingHeader));
    log.set_synthetic_header("name");
    assert!(log.header().unwrap().synthetic);
    for empty in ["", "\n", "  \n\n"] {
        assert_eq!(kinds(&read(empty.as_bytes())), [FindingKind::MissingHeader]);
    }
}

#[test]
fn lines_that_are_no_entries_are_named() {
    let text = format!("{HEADER}\n[1,2]\nnull\n\"x\"\n42\n{{}}\n{HEADER}\n{}\n", user("a", "null"));
    let log = read(text.as_bytes());
    assert_eq!(ids(&log), ["a"]);
    let expected = [FindingKind::NotAnEntry; 5];
    assert_eq!(kinds(&log), [&expected[..], &[FindingKind::SecondHeader]].concat());
}

#[test]
fn of_members_that_stand_twice_the_last_counts_and_nothing_loops() {
    for line in [
        r#"{"type":"","id":"x","parentId":null,"type":"message","message":{"role":"user"},"id":"a"}"#,
        r#"{"type":"session","id":"x","parentId":null,"type":"custom","customType":"y","id":"a"}"#,
        r#"{"message":{"role":"user"},"parentId":null,"id":"a","type":"message"}"#,
    ] {
        let text = format!("{HEADER}\n{line}\n{}\n", user("b", "\"a\""));
        for depth in [Depth::Whole, Depth::Envelope] {
            let log = Log::from_bytes(text.as_bytes(), depth);
            assert_eq!(ids(&log), ["a", "b"], "{line}");
        }
    }
    let log = read(
        format!(
            "{HEADER}\n{{\"message\":{{\"role\":\"user\"}},\"parentId\":null,\"id\":\"a\",\"type\":\"message\"}}\n"
        )
        .as_bytes(),
    );
    assert_eq!(log.record(log.leaf().unwrap()).unwrap().role, ramus_model::Role::User);
}

#[test]
fn duplicate_ids_keep_both_entries() {
    let text = format!(
        "{HEADER}\n{}\n{}\n{}\n{}\n",
        user("a", "null"),
        user("a", "\"a\""),
        user("a", "\"a\""),
        user("b", "\"a\"")
    );
    let log = read(text.as_bytes());
    assert_eq!(ids(&log), ["a", "a~2", "a~3", "b"]);
    assert_eq!(kinds(&log), [FindingKind::DuplicateId; 2]);
    assert_eq!(log.record(log.seq_of("b").unwrap()).unwrap().parent(), log.seq_of("a"));
}

#[test]
fn a_superseding_record_takes_the_place_of_the_first() {
    let moved = user("c", "\"x\"")
        .replace("\"message\":{", "\"ramusSupersedes\":true,\"message\":{")
        .replace("\"text\":\"c\"", "\"text\":\"new\"");
    let text = format!(
        "{HEADER}\n{}\n{}\n{}\n{}\n{moved}\n",
        user("a", "null"),
        user("b", "\"a\""),
        user("c", "\"b\""),
        user("x", "\"a\"")
    );
    let log = read(text.as_bytes());
    assert!(!log.is_damaged(), "{:?}", log.findings());
    let c = log.seq_of("c").unwrap();
    assert_eq!(c.number(), 3);
    let Ok(line) = ramus_model::Lines::line(text.as_bytes(), log.place(c).unwrap());
    assert_eq!(line, moved.as_bytes());
    let path: Vec<&str> = log.path(Some(c)).into_iter().map(|seq| log.id(seq)).collect();
    assert_eq!(path, ["a", "x", "c"]);
    assert_eq!(Tree::of(&log, Scope::Visible).entries.len(), 4);
}

#[test]
fn findings_say_where_they_are_and_do_not_fill_the_memory() {
    let text = format!("{HEADER}\n{}\n{}\n{}\n", user("a", "\"gone\""), user("b", "\"b\""), user("c", "\"a\""));
    let places: Vec<_> = read(text.as_bytes()).findings().iter().map(|finding| (finding.kind, finding.line)).collect();
    assert_eq!(places, [(FindingKind::MissingParent, 2), (FindingKind::Cycle, 3)]);
    let garbage = format!("{HEADER}\n{}", "garbage\n".repeat(30_000));
    let log = Log::from_bytes(garbage.as_bytes(), Depth::Whole);
    assert_eq!((log.findings().len(), log.more_findings()), (10_000, 20_000));
}

#[test]
fn only_an_absent_version_means_one() {
    for (version, legacy) in [
        ("", true),
        (",\"version\":null", true),
        (",\"version\":1", true),
        (",\"version\":\"3\"", false),
        (",\"version\":3.5", false),
        (",\"version\":\"x\"", false),
    ] {
        let text = format!("{{\"type\":\"session\",\"id\":\"s\"{version}}}\n{}\n", user("a", "null"));
        assert_eq!(Log::from_bytes(text.as_bytes(), Depth::Whole).is_legacy(), legacy, "{version}");
    }
}

#[test]
fn circles_are_cut_where_they_started() {
    let text = format!(
        "{HEADER}\n{}\n{}\n{}\n{}\n{}\n",
        user("self", "\"self\""),
        user("a", "\"c\""),
        user("b", "\"a\""),
        user("c", "\"b\""),
        user("d", "\"c\"")
    );
    let log = read(text.as_bytes());
    assert_eq!(kinds(&log), [FindingKind::Cycle, FindingKind::Cycle]);
    let path: Vec<&str> = log.path(log.leaf()).into_iter().map(|seq| log.id(seq)).collect();
    assert_eq!(path, ["a", "b", "c", "d"]);
    assert_eq!(log.path(log.seq_of("self")).len(), 1);
}

#[test]
fn a_parent_may_come_later_and_may_be_missing() {
    let text = format!("{HEADER}\n{}\n{}\n{}\n", user("b", "\"a\""), user("a", "null"), user("lost", "\"gone\""));
    let log = read(text.as_bytes());
    assert_eq!(log.path(log.seq_of("b")).len(), 2);
    assert_eq!(kinds(&log), [FindingKind::MissingParent]);
    assert_eq!(Tree::of(&log, Scope::Visible).roots.len(), 2);
}

/// A file that costs the square of its size shows here.
fn within(limit: Duration, what: &str, act: impl FnOnce()) {
    let start = Instant::now();
    act();
    let took = start.elapsed();
    assert!(took < limit, "{what} took {took:?}");
}

#[test]
fn a_million_deep_chain_is_read_and_walked() {
    let mut text = format!("{HEADER}\n");
    let mut parent = "null".to_owned();
    for index in 0..1_000_000 {
        let name = id(index);
        text.push_str(&format!("{{\"type\":\"message\",\"id\":\"{name}\",\"parentId\":{parent},\"timestamp\":\"2026-02-16T10:21:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n"));
        parent = format!("\"{name}\"");
    }
    within(Duration::from_secs(20), "a million-deep chain", || {
        let log = Log::from_bytes(text.as_bytes(), Depth::Envelope);
        assert_eq!(log.path(log.leaf()).len(), 1_000_000);
        assert_eq!(Tree::of(&log, Scope::Visible).entries.len(), 1_000_000);
        let Ok(context) = context::build(&log, log.leaf(), text.as_bytes());
        assert_eq!(context.items.len(), 1_000_000);
    });
}

#[test]
fn hostile_shapes_take_linear_time() {
    const N: usize = 100_000;
    let rows = |row: &dyn Fn(usize) -> String| {
        let mut text = format!("{HEADER}\n");
        for index in 0..N {
            text.push_str(&row(index));
            text.push('\n');
        }
        text
    };
    let backwards = rows(&|index| user(&id(index), &format!("\"{}\"", id(index + 1))));
    let one_circle = rows(&|index| user(&id(index), &format!("\"{}\"", id((index + 1) % N))));
    let one_id = rows(&|_| user("same", "\"same\""));
    let roots = rows(&|index| user(&id(index), "null"));
    let late_parent = rows(&|index| {
        if index + 1 < N { user(&id(index), &format!("\"{}\"", id(N - 1))) } else { user(&id(index), "null") }
    });
    let inert = rows(&|index| {
        user(&id(index), &if index == 0 { "null".into() } else { format!("\"{}\"", id(index - 1)) })
            .replace("\"message\",", "\"label\",\"targetId\":\"x\",")
    });
    let superseding = rows(&|index| {
        let line = user(&id(index / 2), &format!("\"{}\"", id(N)));
        if index % 2 == 0 { line } else { line.replace("\"message\":{", "\"ramusSupersedes\":true,\"message\":{") }
    });
    let models = rows(&|index| {
        let parent = if index == 0 { "null".to_owned() } else { format!("\"{}\"", id(index - 1)) };
        let line = user(&id(index), &parent);
        match index % 3 {
            0 => line.replace("\"role\":\"user\"", "\"role\":\"assistant\""),
            1 => line.replace("\"message\",", "\"model_change\",\"model\":\"a/b\","),
            _ => line.replace("\"message\",", &format!("\"ttsr_injection\",\"injectedRules\":[\"rule{index}\"],")),
        }
    });
    let no_ids = rows(&|_| r#"{"type":"message","timestamp":"x","message":{}}"#.to_owned());
    for (name, text) in [
        ("backwards", backwards),
        ("one circle", one_circle),
        ("one id", one_id),
        ("roots", roots),
        ("late parent", late_parent),
        ("inert", inert),
        ("superseding", superseding),
        ("models", models),
        ("no ids", no_ids),
    ] {
        within(Duration::from_secs(20), name, || {
            let log = read(text.as_bytes());
            assert_eq!(log.len(), N, "{name}");
            for scope in [Scope::Visible, Scope::All] {
                drop(Tree::of(&log, scope));
            }
            let Ok(_) = context::build(&log, log.leaf(), text.as_bytes());
        });
    }
}

#[test]
fn a_line_of_64_mebibytes_is_one_entry_and_hostile_lines_end() {
    let big = user("a", "null").replace("\"text\":\"a\"", &format!("\"text\":\"{}\"", "x".repeat(64 << 20)));
    let text = format!("{HEADER}\n{big}\n{}\n", user("b", "\"a\""));
    within(Duration::from_secs(30), "a line of 64 MiB", || {
        assert_eq!(ids(&read(text.as_bytes())), ["a", "b"]);
    });
    for (name, line) in [
        ("never closed", "{\"a\":".repeat(4 << 20)),
        ("braces", "{\"".repeat(8 << 20)),
        ("torn parts", format!("{{\"x\":{}", "{\"type\":\"text\",\"text\":\"x\"},".repeat(1 << 19))),
        ("random", "}{\"\\:,[".repeat(2 << 20)),
    ] {
        let text = format!("{HEADER}\n{line}\n{}\n", user("b", "null"));
        within(Duration::from_secs(30), name, || {
            let log = Log::from_bytes(text.as_bytes(), Depth::Envelope);
            assert_eq!(ids(&log), ["b"], "{name}");
            assert!(log.is_damaged());
        });
    }
}

proptest! {
    #[test]
    fn random_bytes_are_read_somehow(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        ramus_model::fuzz::file(&bytes);
    }

    #[test]
    fn a_mangled_file_is_read_somehow(
        plans in plans(20),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..5, any::<u8>()), 1..6),
    ) {
        let mut bytes = file(&plans);
        for (at, action, byte) in cuts {
            let at = at.index(bytes.len());
            match action {
                0 => bytes[at] = byte,
                1 => drop(bytes.drain(at..(at + usize::from(byte)).min(bytes.len()))),
                2 => bytes.insert(at, b'\n'),
                3 => drop(bytes.splice(at..at, vec![0; usize::from(byte)])),
                _ => { let copy = bytes[at..].to_vec(); bytes.extend(copy); }
            }
            if bytes.is_empty() {
                break;
            }
        }
        ramus_model::fuzz::file(&bytes);
    }

    #[test]
    fn whole_entries_survive_damage_to_one_line(plans in plans(20), line in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let bytes = file(&plans);
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let hit = line.index(lines.len());
        let at = at.index(lines[hit].len() - 1);
        lines[hit][at] = 0;
        let log = Log::from_bytes(&lines.concat(), Depth::Whole);
        prop_assert!(log.len() + 1 >= plans.len());
        for index in (0..plans.len()).filter(|index| index + 1 != hit) {
            let seq = log.seq_of(&id(index));
            prop_assert!(seq.is_some_and(|seq| log.record(seq).is_some_and(|record| Record::parent(record).is_none_or(|p| p != seq))));
        }
        prop_assert!(log.is_damaged());
    }
}
