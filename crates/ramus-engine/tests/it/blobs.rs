//! Large content: out of the line on the way in, back on the way out, and missed politely.

use std::sync::Arc;
use std::time::SystemTime;

use ramus_engine::{Clock, Cursor, Engine, ForkOptions, Say, Session};
use ramus_model::blob::{MAX_TEXT_UNITS, NOTICE, Restore};
use ramus_model::context::render;
use ramus_model::message::Part;
use ramus_model::{Draft, FindingKind};
use serde_json::{Value, json};

use crate::homes::{Home, clean, homes, jsonl};

fn picture(seed: &str) -> String {
    // Base64 of some kilobytes that differ by seed.
    "QUJD".repeat(1000) + seed
}

fn append(home: &Home, session: &mut Session, entry: &Value) {
    let draft = Draft::parse(entry.to_string().as_bytes()).unwrap();
    home.engine.append(session, &[draft], &Cursor::Leaf).unwrap();
}

fn with_picture(data: &str) -> Value {
    let parts = json!([{"type": "text", "text": "look"}, {"type": "image", "mimeType": "image/png", "data": data}]);
    json!({"type": "message", "message": {"role": "user", "content": parts, "timestamp": 1}})
}

fn context(session: &Session) -> Value {
    let built = session.context(session.log().leaf()).unwrap();
    let mut out = Vec::new();
    render::messages(session.log(), &built, &session.restored_lines(Restore::Everything), &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn last_line(home: &Home, session: &Session) -> Value {
    let bytes = home.bytes(session);
    let line = bytes.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap();
    serde_json::from_slice(line).unwrap()
}

#[test]
fn pictures_and_long_texts_make_the_round_trip() {
    for home in homes() {
        let mut session = home.session();
        append(&home, &mut session, &with_picture(&picture("")));
        let long = "ä😀\n".repeat(MAX_TEXT_UNITS);
        home.engine.say(&mut session, Say::user(&*long)).unwrap();
        assert!(home.bytes(&session).len() < 2 * MAX_TEXT_UNITS * 4, "{}", home.name);
        let stored = last_line(&home, &session)["message"]["content"][0].clone();
        let text = stored["text"].as_str().unwrap();
        assert!(text.ends_with(NOTICE) && (MAX_TEXT_UNITS - 1..=MAX_TEXT_UNITS).contains(&text.encode_utf16().count()));
        clean(&home.bytes(&session));

        let session = home.reopened(&session);
        let messages = context(&session);
        assert_eq!(messages[0]["content"][1]["data"], picture(""), "{}", home.name);
        assert_eq!(messages[1]["content"], json!([{"type": "text", "text": long}]));
        let page = session.messages(session.log().leaf(), None, None).unwrap();
        assert_eq!(page.messages[1].message.parts, [Part::Text(long.clone())]);
        let export = String::from_utf8(home.engine.export(&session).unwrap()).unwrap();
        assert!(export.contains(&picture("")) && !export.contains("blob:sha256:"));
        assert!(export.contains("[Session persistence truncated large content]") && export.len() < 3_000_000);
        assert!(session.missing_blobs().is_empty());

        // A fork reads the lines of its origin, and shares its blobs.
        let leaf = session.log().leaf().unwrap();
        let fork = home.engine.open_fork(&home.engine.fork(&session, leaf, &ForkOptions::default()).unwrap()).unwrap();
        assert_eq!(context(&fork), messages);
        assert!(String::from_utf8(home.engine.export(&fork).unwrap()).unwrap().contains(&picture("")));
    }
}

#[test]
fn bodies_that_need_nothing_keep_their_bytes() {
    for home in homes() {
        let mut session = home.session();
        let body = r#"{"type":"message", "message" : {"role":"user","content":[ {"text":"\u0061\/\ud83d", "type":"text","n":1e3} ]}}"#;
        home.engine.append(&mut session, &[Draft::parse(body.as_bytes()).unwrap()], &Cursor::Leaf).unwrap();
        let bytes = String::from_utf8(home.bytes(&session)).unwrap();
        assert!(bytes.ends_with(&format!("{}\n", &body[body.find("{\"role\"").unwrap()..])), "{bytes}");
    }
}

#[test]
fn files_of_other_programs_hold_everything_themselves() {
    let home = jsonl();
    let path = home.directory.path().join("theirs.jsonl");
    let header = r#"{"type":"session","version":3,"id":"t1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/p"}"#;
    std::fs::write(&path, format!("{header}\n")).unwrap();
    let mut session = home.engine.open(path.to_str().unwrap(), "/p").unwrap();
    append(&home, &mut session, &with_picture(&picture("")));
    assert!(std::fs::read_to_string(&path).unwrap().contains(&picture("")));
    assert!(!home.directory.path().join("home/blobs").exists());
    // Their references are to their own blobs.
    let theirs = format!("blob:sha256:{}", "0".repeat(64));
    append(&home, &mut session, &with_picture(&theirs));
    assert_eq!(context(&session)[1]["content"][1]["data"], theirs);
    assert!(session.missing_blobs().is_empty());
    assert!(home.engine.doctor(path.to_str().unwrap(), "/p").unwrap().is_clean());
}

#[test]
fn a_missing_or_damaged_blob_is_told_and_stands_in_nobodys_way() {
    type Harm = fn(&std::path::Path);
    let harms: [Harm; 4] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| std::fs::write(path, "other").unwrap(),
        |path| std::fs::write(path, "").unwrap(),
        |path| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes[7] ^= 32;
            std::fs::write(path, bytes).unwrap();
        },
    ];
    for harm in harms {
        let home = jsonl();
        let mut session = home.session();
        append(&home, &mut session, &with_picture(&picture("")));
        let long = "x".repeat(MAX_TEXT_UNITS + 1);
        home.engine.say(&mut session, Say::user(long)).unwrap();
        let blobs = home.directory.path().join("home/blobs");
        for entry in std::fs::read_dir(blobs).unwrap() {
            harm(&entry.unwrap().path());
        }
        let session = home.reopened(&session);
        let messages = context(&session);
        let placeholder = messages[0]["content"][1]["text"].as_str().unwrap();
        assert!(placeholder.starts_with("[missing blob sha256:"), "{placeholder}");
        assert!(messages[1]["content"][0]["text"].as_str().unwrap().ends_with(NOTICE));
        assert_eq!(session.missing_blobs().len(), 2);
        home.engine.export(&session).unwrap();
        let diagnosis = home.engine.doctor(session.id().as_str(), "/proj").unwrap();
        let findings: Vec<_> =
            diagnosis.findings.iter().filter(|finding| finding.kind == FindingKind::MissingBlob).collect();
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2, 3]);
        assert!(!diagnosis.is_clean() && findings[0].detail.contains("entry "));
        // Saying the same thing again brings it back.
        let mut session = home.reopened(&session);
        append(&home, &mut session, &with_picture(&picture("")));
        assert_eq!(context(&home.reopened(&session))[0]["content"][1]["data"], picture(""));
    }
}

/// A clock that is ahead by some days.
struct Ahead(u64);

impl Clock for Ahead {
    fn now(&self) -> i64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        i64::try_from(now).unwrap() + i64::try_from(self.0).unwrap() * 86_400_000
    }
}

fn days_later(home: &Home, days: u64) -> Engine {
    home.engine.clone().with_clock(Arc::new(Ahead(days)))
}

#[test]
fn deleting_takes_what_only_it_refers_to_and_gc_the_rest() {
    let home = jsonl();
    let mut one = home.session();
    append(&home, &mut one, &with_picture(&picture("")));
    append(&home, &mut one, &with_picture(&picture("AAAA")));
    let mut two = home.session();
    append(&home, &mut two, &with_picture(&picture("")));
    // Both are drafts, and drafts count.
    assert_eq!(days_later(&home, 2).gc(false).unwrap().kept.count, 2);
    let deleted = home.engine.delete(&one, ramus_engine::Children::Orphan, false).unwrap();
    assert_eq!(deleted.blobs, 1);
    assert_eq!(home.engine.gc(false).unwrap().kept.count, 1, "what only it referred to went at once");
    assert_eq!(context(&home.reopened(&two))[0]["content"][1]["data"], picture(""));
    // What nothing refers to for another reason goes in its own time.
    std::fs::remove_file(two.location().path.as_ref().unwrap()).unwrap();
    assert_eq!(home.engine.gc(false).unwrap().kept.count, 1, "too young");
    let later = days_later(&home, 2).gc(false).unwrap();
    assert_eq!((later.kept.count, later.trashed.count), (0, 1));
    assert_eq!(days_later(&home, 20).gc(false).unwrap().removed.count, 1);
}

#[test]
fn gc_beside_appends_loses_nothing() {
    let home = jsonl();
    let mut session = home.session();
    let (progress, appended) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let (home, session) = (&home, &mut session);
        scope.spawn(move || {
            for round in 0..30 {
                append(home, session, &with_picture(&picture(["AAAA", "BBBB", "CCCC"][round % 3])));
                progress.send(()).unwrap();
            }
        });
        while appended.recv().is_ok() {
            while appended.try_recv().is_ok() {}
            days_later(home, 3).gc(false).unwrap();
        }
    });
    let session = home.reopened(&session);
    context(&session);
    assert!(session.missing_blobs().is_empty());
}
