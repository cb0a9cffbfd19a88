//! Damage of every kind, met by the engine: torn ends, blocks of zeros, lines glued together.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]
#![allow(clippy::print_stdout, reason = "the figures are quoted")]

use std::path::{Path, PathBuf};

use ramus_engine::{Cursor, Engine, Filter, Session};
use ramus_model::Depth;
use ramus_testkit::random::Random;
use ramus_testkit::sim::SimFs;
use ramus_testkit::trial::{CWD, PUBLISHED, ROOT, engine, entries_of, message};
use serde_json::{Value, json};

fn path() -> PathBuf {
    Path::new(ROOT).join(format!("sessions/--shop--/2026-03-02T08-00-00-000Z_{PUBLISHED}.jsonl"))
}

fn header() -> String {
    format!("{}\n", json!({"type": "session", "version": 3, "id": PUBLISHED, "timestamp": TIME, "cwd": CWD}))
}

const TIME: &str = "2026-03-02T08:00:00.000Z";

/// One line, its newline included.
fn line(id: &str, parent: Option<&str>, body: Value) -> Vec<u8> {
    let mut entry = json!({"type": "", "id": id, "parentId": parent, "timestamp": TIME});
    entry.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    format!("{entry}\n").into_bytes()
}

/// Six kinds of entries, with a text of about this length.
fn bodies(length: usize) -> [Value; 6] {
    let text = "the bark of an old tree, \"quoted\", {\"type\":\"braced\"}\n".repeat(length / 50 + 1);
    let part = json!({"type": "text", "text": text});
    let call = json!({"type": "toolCall", "id": "call1", "name": "bash", "arguments": {"command": text}});
    [
        json!({"type": "message", "message": {"role": "user", "content": [part], "timestamp": 1}}),
        json!({"type": "message", "message": {"role": "assistant", "content": [part, call, part], "timestamp": 1}}),
        json!({"type": "compaction", "summary": text, "firstKeptEntryId": "a1", "tokensBefore": 1}),
        json!({"type": "branch_summary", "fromId": "a1", "summary": text}),
        json!({"type": "label", "targetId": "a1", "label": text}),
        json!({"type": "custom", "customType": "note", "data": {"type": "inner", "id": "x", "text": text}}),
    ]
}

fn first() -> Vec<u8> {
    line("a1", None, json!({"type": "message", "message": {"role": "assistant", "content": [], "timestamp": 1}}))
}

fn quarantined(fs: &SimFs) -> Vec<Vec<u8>> {
    let files = fs.files().into_iter().filter(|(path, _)| path.extension() == Some("bin".as_ref()));
    files.map(|(_, content)| content.to_vec()).collect()
}

fn ids(session: &Session) -> Vec<String> {
    entries_of(session).unwrap().into_iter().map(|entry| entry.id).collect()
}

/// A file whose last line is cut: exactly what was whole is read, and the next append sets exactly the rest aside.
fn check_torn(whole: &[u8], last: &[u8], cut: usize) {
    let fs = SimFs::default();
    fs.place(&path(), &[whole, &last[..cut]].concat());
    let engine = engine(&fs);
    let mut session = engine.open(PUBLISHED, CWD).unwrap();
    let is_complete = cut + 1 >= last.len();
    let kept: &[&str] = if is_complete { &["a1", "b1"] } else { &["a1"] };
    assert_eq!(ids(&session), kept, "cut at {cut}");
    engine.append(&mut session, &[message(Some("c1"), "user", "next")], &Cursor::Leaf).unwrap();
    let aside = if is_complete || cut == 0 { Vec::new() } else { vec![last[..cut].to_vec()] };
    assert_eq!(quarantined(&fs), aside, "cut at {cut}");
    let content = fs.files().into_iter().find(|(name, _)| *name == path()).unwrap().1;
    let expected = if is_complete { [whole, last].concat() } else { whole.to_vec() };
    assert!(content.starts_with(&expected) && content.ends_with(b"\n"), "cut at {cut}");
    assert!(engine.doctor(PUBLISHED, CWD).unwrap().is_clean(), "cut at {cut}");
    assert_eq!(ids(&engine.open(PUBLISHED, CWD).unwrap()), [kept, &["c1"]].concat(), "cut at {cut}");
}

#[test]
fn the_last_line_may_be_torn_at_every_byte() {
    let whole = [header().into_bytes(), first()].concat();
    let mut states = 0;
    for body in bodies(1200) {
        let last = line("b1", Some("a1"), body);
        (0..=last.len()).for_each(|cut| check_torn(&whole, &last, cut));
        states += last.len() + 1;
    }
    println!("torn ends: {states}");
    assert!(states > 8_000);
}

/// The lines of a session of some entries, one chain.
fn chain(random: &mut Random) -> Vec<Vec<u8>> {
    let count = 3 + random.below(12);
    let id = |at: usize| format!("e{at:07}");
    let line = |at: usize| {
        let length = random.below(300);
        let body = bodies(length)[random.below(6)].clone();
        let parent = at.checked_sub(1).map(id);
        line(&id(at), parent.as_deref(), body)
    };
    std::iter::once(header().into_bytes()).chain((0..count).map(line)).collect()
}

fn place(content: &[u8]) -> (SimFs, Engine) {
    let fs = SimFs::default();
    fs.place(&path(), content);
    let engine = engine(&fs);
    (fs, engine)
}

fn lines_of(session: &Session) -> Vec<String> {
    entries_of(session).unwrap().into_iter().map(|entry| String::from_utf8(entry.line.unwrap()).unwrap()).collect()
}

/// What a thorough reading makes of a file: its entries, the path to the leaf, and how many messages its context has.
fn thorough(engine: &Engine) -> (Vec<String>, Vec<String>, usize) {
    let session = engine.open_at(PUBLISHED, CWD, Depth::Whole).unwrap();
    let leaf = session.log().leaf();
    let walk = session.log().path(leaf).into_iter().map(|seq| session.log().id(seq).to_owned()).collect();
    (lines_of(&session), walk, session.context(leaf).unwrap().items.len())
}

#[test]
fn a_block_of_zeros_costs_only_what_it_covers() {
    let mut hit = 0;
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let lines = chain(&mut random);
        let mut content = lines.concat();
        // Behind the header: a file without one is another case.
        let start = lines[0].len() + random.below(content.len() - lines[0].len());
        let end = (start + 1 + random.below(700)).min(content.len());
        content[start..end].fill(0);
        let mut offset = lines[0].len();
        let mut kept = vec![lines[0].clone()];
        for line in &lines[1..] {
            let covered = offset < end && start < offset + line.len() - 1;
            if covered {
                hit += 1;
            } else {
                kept.push(line.clone());
            }
            offset += line.len();
        }
        let (fs, engine) = place(&content);
        // A file that never had the lost lines looks the same in every view.
        let sound = thorough(&place(&kept.concat()).1);
        assert_eq!(thorough(&engine), sound, "seed {seed}, zeros from {start} to {end}");
        // A quick reading also keeps the place of entries whose front is whole, for the sake of what hangs from them.
        let quick = lines_of(&engine.open(PUBLISHED, CWD).unwrap());
        let legible: Vec<_> = quick.iter().filter(|line| !line.contains('\0')).cloned().collect();
        assert!(legible == sound.0, "seed {seed}, zeros from {start} to {end}");
        let listed = engine.list(&Filter::default()).unwrap().sessions;
        assert_eq!(listed[0].entries, quick.len(), "seed {seed}: the list and the log disagree");
        assert!(!engine.doctor(PUBLISHED, CWD).unwrap().is_clean() || end == start + 1, "seed {seed}");
        assert_eq!(fs.files()[0].1.as_slice(), content, "seed {seed}: reading changed the file");
    }
    println!("entries hit: {hit}");
    assert!(hit > 1_000);
}

#[test]
fn every_whole_record_of_a_glued_line_is_salvaged() {
    let mut salvaged = 0;
    for seed in 0..6_000 {
        let mut random = Random::new(seed);
        let lines = chain(&mut random);
        // One entry is torn anywhere and has no newline; so the next ones are glued to it, and perhaps to each other.
        let torn = 1 + random.below(lines.len() - 1);
        let mut expected = Vec::new();
        let mut content = lines[0].clone();
        for (at, line) in lines.iter().enumerate().skip(1) {
            let record = &line[..line.len() - 1];
            let cut = if at == torn { random.below(record.len()) } else { record.len() };
            content.extend_from_slice(&record[..cut]);
            if at != torn {
                expected.push(record.to_vec());
            }
            if at != torn && random.chance(60) {
                content.push(b'\n');
            }
        }
        let fs = SimFs::default();
        fs.place(&path(), &content);
        let session = engine(&fs).open(PUBLISHED, CWD).unwrap();
        let read: Vec<Vec<u8>> = entries_of(&session).unwrap().into_iter().filter_map(|entry| entry.line).collect();
        let show =
            |lines: &[Vec<u8>]| lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>();
        assert_eq!(show(&read), show(&expected), "seed {seed}");
        salvaged += expected.len();
    }
    println!("records salvaged: {salvaged}");
    assert!(salvaged > 20_000);
}
