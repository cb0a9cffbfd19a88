//! opencode: sessions that go to another id, and databases.

use ramus_interchange::{Format, LogPassage, MemorySource, MemoryTarget, Report, Start};
use serde_json::{Value, json};

use crate::carry;

const OLD: &str = "ses_1ddfc78b9ffeAbCdEfGhIjKlMn";
const NEW: &str = "ses_2ddfc78b9ffeAbCdEfGhIjKlMn";

fn info() -> Value {
    json!({"id": OLD, "slug": "quiet-river", "projectID": "global", "directory": "/home/ada", "title": "Login", "version": "1.18.33",
        "time": {"created": 1_794_700_000_000_u64, "updated": 1_794_700_009_000_u64}})
}

/// An id as opencode makes it.
fn id(prefix: &str, number: u64) -> String {
    format!("{prefix}_1ddfc78b7{number:03x}ZzYyXxWwVvUuTt")
}

fn part(message: u64, number: u64, rest: Value) -> Value {
    let mut part = json!({"id": id("prt", number), "sessionID": OLD, "messageID": id("msg", message)});
    part.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    part
}

fn user(number: u64, text: &str, more: Option<Value>) -> Value {
    let time = json!({"created": 1_794_700_000_000_u64 + number});
    let text = part(number, number + 1, json!({"type": "text", "text": text}));
    let parts: Vec<_> = [Some(text), more.map(|more| part(number, number + 2, more))].into_iter().flatten().collect();
    json!({"info": {"id": id("msg", number), "sessionID": OLD, "role": "user", "time": time, "agent": "build"}, "parts": parts})
}

fn answer(number: u64, asked: u64, summary: bool) -> Value {
    let file = json!({"id": id("prt", number + 3), "sessionID": OLD, "messageID": id("msg", number), "type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk="});
    let state = json!({"status": "completed", "input": {"command": "ls"}, "output": "a.rs", "title": "", "metadata": {}, "time": {"start": 1, "end": 2}, "attachments": [file]});
    let parts = [
        part(number, number + 1, json!({"type": "text", "text": "I look."})),
        part(
            number,
            number + 2,
            json!({"type": "tool", "callID": format!("call_{number}"), "tool": "bash", "state": state}),
        ),
    ];
    let time = json!({"created": 1_794_700_000_000_u64 + number, "completed": 1_794_700_000_000_u64 + number});
    json!({"info": {"id": id("msg", number), "sessionID": OLD, "role": "assistant", "time": time, "parentID": id("msg", asked), "modelID": "m",
        "providerID": "p", "mode": "build", "agent": "build", "summary": summary, "cost": 0, "finish": "stop"},
        "parts": if summary { &parts[..1] } else { &parts[..] }})
}

fn document(info: &Value) -> Value {
    let compaction = json!({"type": "compaction", "auto": false, "tail_start_id": id("msg", 0x20)});
    let messages = [
        user(0x10, "look", None),
        answer(0x20, 0x10, false),
        user(0x30, "", Some(compaction)),
        answer(0x40, 0x30, true),
        user(0x50, "and now?", None),
    ];
    json!({"info": info, "messages": messages})
}

/// The session of a document, written for a session with this id.
fn carried(document: &Value, id: &str) -> (Value, Report) {
    let source = MemorySource::new("export.json", document.to_string().as_bytes());
    let (sessions, _) = carry::check(Format::Opencode, &source);
    let session = &sessions.sessions[0];
    let mut target = MemoryTarget::default();
    let start = Start { id: id.to_owned(), ..session.start.clone() };
    let passage = LogPassage::new(&session.bytes).starting(start);
    let report = Format::Opencode.codec().write(&passage, &mut target).unwrap();
    (serde_json::from_slice(target.only().unwrap()).unwrap(), report)
}

/// Every id in a value that is one of a message or a part.
fn ids(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("msg_") || text.starts_with("prt_") => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|item| ids(item, found)),
        Value::Object(members) => members.values().for_each(|member| ids(member, found)),
        _ => {}
    }
}

/// opencode silently drops a message whose id a session of the same machine has.
#[test]
fn a25_a_session_of_opencode_with_another_id_shares_no_id_with_the_one_it_was() {
    let document = document(&info());
    let (same, report) = carried(&document, OLD);
    assert_eq!((&same, report.losses.len()), (&document, 0), "with its own id everything is as it was");
    let (moved, _) = carried(&document, NEW);
    assert!(!moved.to_string().contains(OLD));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    ids(&document["messages"], &mut before);
    ids(&moved["messages"], &mut after);
    assert_eq!(before.len(), after.len());
    let renamed: std::collections::BTreeMap<_, _> = before.iter().zip(&after).collect();
    for (old, new) in &renamed {
        assert_ne!(old, new);
        assert_eq!((old.len(), &old[..16]), (new.len(), &new[..16]), "an id says when it was made");
    }
    // One old id is one new id, wherever it stands, and what was sorted is sorted.
    assert!(before.iter().zip(&after).all(|(old, new)| renamed[old] == new));
    assert!(renamed.values().collect::<Vec<_>>().is_sorted());
    assert_eq!(carried(&document, NEW).0, moved, "the ids are the same every time");
    assert_eq!(carried(&moved, NEW).0, moved);
}

#[test]
fn a25_ids_that_opencode_did_not_make_keep_their_order() {
    let message = |id: &str| json!({"info": {"id": id, "role": "user", "time": {"created": 1}}, "parts": [{"id": format!("prt_{id}"), "messageID": id, "type": "text", "text": id}]});
    let document = json!({"info": info(), "messages": [message("msg_1"), message("msg_10"), message("msg_2")]});
    let (moved, _) = carried(&document, NEW);
    let ids: Vec<_> =
        moved["messages"].as_array().unwrap().iter().map(|it| it["info"]["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    assert!(ids.iter().zip(["msg_1-", "msg_10-", "msg_2-"]).all(|(id, front)| id.starts_with(front)), "{ids:?}");
    for message in moved["messages"].as_array().unwrap() {
        assert_eq!(message["parts"][0]["messageID"], message["info"]["id"]);
    }
}

#[test]
fn a25_a_session_of_opencode_hands_on_no_right_and_no_state() {
    let mut known = info();
    known["permission"] = json!([{"permission": "bash", "pattern": "*", "action": "allow"}]);
    let (same, report) = carried(&document(&known), OLD);
    assert_eq!(same["info"], info(), "what came from elsewhere allows nothing");
    assert_eq!(report.losses.len(), 1, "{report:?}");
    // What takes rights away may stay where it was.
    known["permission"] = json!([{"permission": "question", "pattern": "*", "action": "deny"}]);
    known["share"] = json!({"url": "https://example.org/s/1"});
    known["parentID"] = json!("ses_parent");
    known["revert"] = json!({"messageID": id("msg", 0x50)});
    known["time"]["archived"] = json!(5);
    known["time"]["compacting"] = json!(6);
    let (same, report) = carried(&document(&known), OLD);
    assert_eq!((&same["info"], report.losses.len()), (&known, 0));
    let (moved, report) = carried(&document(&known), NEW);
    let mut plain = info();
    plain["id"] = json!(NEW);
    assert_eq!(moved["info"], plain);
    assert_eq!(report.losses.len(), 6, "{report:?}");
}

/// A database that is where it is.
struct Stored(std::path::PathBuf);

impl ramus_interchange::Source for Stored {
    fn name(&self) -> &str {
        "opencode.db"
    }

    fn open(&self) -> std::io::Result<Box<dyn std::io::Read + '_>> {
        Ok(Box::new(std::fs::File::open(&self.0)?))
    }

    fn database(&self) -> std::io::Result<Option<std::path::PathBuf>> {
        Ok(Some(self.0.clone()))
    }
}

/// A store with two sessions, each with a message of one part.
fn store() -> (tempfile::TempDir, Stored, rusqlite::Connection) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("opencode.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    let tables = "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT,
         summary_additions INTEGER, summary_diffs TEXT, metadata TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER, weather TEXT);
         CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
         CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
         CREATE TABLE todo (session_id TEXT, position INTEGER, content TEXT, status TEXT, priority TEXT);";
    database.execute_batch(tables).unwrap();
    for at in [1, 2] {
        let session = "INSERT INTO session (id, slug, directory, title, version, time_created, time_updated)
            VALUES ('ses_' || ?1, 's', '/home/ada', 'T', '1', ?1, ?1)";
        database.execute(session, [at]).unwrap();
        let said = r#"{"role":"user","time":{"created":1}}"#;
        database.execute("INSERT INTO message VALUES ('msg_' || ?1, 'ses_' || ?1, ?1, ?2)", (at, said)).unwrap();
        let part = r#"{"type":"text","text":"hi"}"#;
        database
            .execute("INSERT INTO part VALUES ('prt_' || ?1 || '0', 'msg_' || ?1, 'ses_' || ?1, ?2)", (at, part))
            .unwrap();
    }
    (place, Stored(path), database)
}

#[test]
fn a25_a_message_of_a_database_that_is_too_large_takes_no_other_with_it() {
    let (_place, source, database) = store();
    let long = json!({"type": "text", "text": "x".repeat(600)}).to_string();
    for at in 1..4 {
        database.execute("INSERT INTO part VALUES ('prt_1' || ?1, 'msg_1', 'ses_1', ?2)", (at, &long)).unwrap();
    }
    drop(database);
    let limits = ramus_interchange::Limits { line: 1024, ..Default::default() };
    let mut sessions = ramus_interchange::Jsonl::default();
    let report = Format::Opencode.codec().read_within(&source, limits, &mut sessions).unwrap();
    assert_eq!((sessions.sessions.len(), report.records, report.lost), (2, 4, 0), "{report:?}");
    assert!(report.losses.iter().any(|loss| loss.why.contains("too large") && loss.count == 2), "{report:?}");
    assert_eq!(carry::told(&sessions.sessions[0].bytes).len(), 2, "the parts that fit are there");
    assert_eq!(carry::told(&sessions.sessions[1].bytes), ["user: hi"]);
}

#[test]
fn a25_a_file_of_opencode_that_is_too_large_takes_no_other_with_it() {
    let known = json!({"id": "ses_1", "title": "T", "directory": "/home/ada", "time": {"created": 1}}).to_string();
    let said = |id: &str| json!({"id": id, "sessionID": "ses_1", "role": "user", "time": {"created": 1}}).to_string();
    let part = |text: &str| json!({"type": "text", "text": text}).to_string();
    let source = MemorySource::new("ses_1.json", known.as_bytes())
        .beside("message/ses_1/msg_1.json", said("msg_1").as_bytes())
        .beside("message/ses_1/msg_2.json", b"no message")
        .beside("message/ses_1/msg_3.json", said("msg_3").as_bytes())
        .beside("part/msg_1/prt_1.json", part(&"x".repeat(900)).as_bytes())
        .beside("part/msg_1/prt_2.json", part("short").as_bytes())
        .beside("part/msg_1/prt_3.json", part(&"x".repeat(2000)).as_bytes())
        .beside("part/msg_3/prt_4.json", part("hi").as_bytes());
    let limits = ramus_interchange::Limits { line: 1000, ..Default::default() };
    let mut sessions = ramus_interchange::Jsonl::default();
    let report = Format::Opencode.codec().read_within(&source, limits, &mut sessions).unwrap();
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: short", "user: hi"]);
    assert_eq!((report.records, report.kept, report.lost), (4, 3, 1), "{report:?}");
    assert!(report.losses.iter().any(|loss| loss.why.contains("too large") && loss.count == 2), "{report:?}");
    assert!(report.losses.iter().any(|loss| loss.why.contains("no object")), "{report:?}");
}

#[test]
fn a25_what_a_database_has_and_an_export_has_not_is_kept_and_told() {
    let (_place, source, database) = store();
    let diffs = r#"[{"file":"a.rs","additions":1,"deletions":0}]"#;
    let row = "UPDATE session SET summary_additions = 1, summary_diffs = ?1, weather = 'rain' WHERE id = 'ses_1'";
    database.execute(row, [diffs]).unwrap();
    for (at, text) in ["look", "write"].iter().enumerate() {
        let todo = "INSERT INTO todo VALUES ('ses_1', ?1, ?2, 'pending', 'high')";
        database.execute(todo, (1 - at as i64, text)).unwrap();
    }
    drop(database);
    let (sessions, report) = carry::check(Format::Opencode, &source);
    assert_eq!((report.records, report.losses.len()), (5, 0), "{report:?}");
    let records: Vec<_> = carry::lines(&sessions.sessions[0].bytes)
        .flat_map(|line| line["ramusOrigin"]["records"].as_array().cloned().unwrap_or_default())
        .map(|kept| kept["record"].clone())
        .collect();
    assert_eq!(records[0]["summary"]["diffs"][0]["file"], "a.rs");
    let todo = |text: &str| json!({"content": text, "status": "pending", "priority": "high"});
    assert_eq!(records[1], json!({"todos": [todo("write"), todo("look")], "columns": {"weather": "rain"}}));
    let (written, report) = carry::write(Format::Opencode, &sessions.sessions[0].bytes);
    assert!(!String::from_utf8(written).unwrap().contains("todos"));
    assert!(report.losses.iter().any(|loss| loss.why.contains("todos")), "{report:?}");
    let (_, report) = carry::write(Format::Opencode, &sessions.sessions[1].bytes);
    assert!(report.losses.is_empty(), "{report:?}");
}

#[test]
fn a25_what_is_to_be_done_and_what_is_out_of_the_way_is_read() {
    let (_place, source, database) = store();
    database.execute_batch("ALTER TABLE session ADD COLUMN time_archived INTEGER").unwrap();
    database.execute("UPDATE session SET time_archived = 1794700000000 WHERE id = 'ses_1'", []).unwrap();
    for (at, status) in ["completed", "in_progress"].iter().enumerate() {
        let todo = "INSERT INTO todo VALUES ('ses_1', ?1, 'step ' || ?1, ?2, 'high')";
        database.execute(todo, (at as i64, status)).unwrap();
    }
    drop(database);
    let (sessions, _) = carry::check(Format::Opencode, &source);
    let log = ramus_model::Log::from_bytes(&sessions.sessions[0].bytes, ramus_model::Depth::Whole);
    assert_eq!(log.facts().meta().get("archived_at"), Some(&json!("2026-11-14T23:46:40.000Z")));
    let last = carry::lines(&sessions.sessions[0].bytes).last().unwrap();
    assert_eq!((&last["customType"], &last["parentId"]), (&json!("ramus.todo"), &json!("msg_1")));
    assert_eq!(
        last["data"]["tasks"],
        json!([{"id": "1", "text": "step 0", "status": "completed"}, {"id": "2", "text": "step 1", "status": "in_progress"}])
    );
    // The other session has neither, and stands where it stood.
    let other = ramus_model::Log::from_bytes(&sessions.sessions[1].bytes, ramus_model::Depth::Whole);
    assert!(other.facts().meta().is_empty());
    assert_eq!(carry::lines(&sessions.sessions[1].bytes).last().unwrap()["id"], "msg_2");
}

#[test]
fn a25_messages_of_a_layout_that_is_not_read_are_told() {
    let (_place, source, database) = store();
    let table = "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, data TEXT);
        DELETE FROM message WHERE session_id = 'ses_2';
        INSERT INTO session_message VALUES ('m1', 'ses_1', 'user', 1, '{}'), ('m2', 'ses_2', 'user', 1, '{}'), ('m3', 'ses_2', 'user', 2, '{}');";
    database.execute_batch(table).unwrap();
    drop(database);
    let (_, report) = carry::check(Format::Opencode, &source);
    let whys: Vec<_> = report.losses.iter().map(|loss| loss.why.as_str()).collect();
    assert_eq!((report.lost, whys), (2, vec!["2 messages, in a layout of opencode 2 that this version does not read"]));
}

#[test]
fn a25_what_an_export_has_no_words_for_is_told() {
    let call = json!({"type": "toolCall", "id": "c1", "name": "look", "arguments": {}});
    let picture = json!({"type": "image", "mimeType": "image/png", "data": "aGk="});
    let said = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-01T10:00:00.000Z", "message": message});
    let log = carry::file(&[
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/w", "ramus": {"parent": "above"}}),
        said("1", Value::Null, json!({"role": "assistant", "content": [call], "stopReason": "error"})),
        said(
            "2",
            json!("1"),
            json!({"role": "toolResult", "toolCallId": "c1", "toolName": "look", "content": [picture], "isError": true}),
        ),
        json!({"type": "custom", "id": "3", "parentId": "2", "timestamp": "2026-11-01T10:00:00.000Z", "customType": "ramus.todo", "data": {"tasks": []}}),
    ]);
    let (_, report) = carry::write(Format::Opencode, &log);
    let whys: Vec<_> = report.losses.iter().map(|loss| loss.why.as_str()).collect();
    let expected = [
        "what is to be done",
        "that answers failed or were stopped, and why",
        "pictures in what calls gave that failed",
        "the session that spawned this one",
    ];
    assert_eq!(whys, expected);
}

#[test]
fn a25_values_of_a_database_that_cannot_be_taken_are_told() {
    let (_place, source, database) = store();
    let odd = [
        ("UPDATE session SET title = CAST(x'54ff' AS TEXT) WHERE id = ?1", "no UTF-8"),
        ("UPDATE session SET slug = x'00' WHERE id = ?1", "is bytes"),
        ("UPDATE session SET slug = ?2 WHERE id = ?1", "text of the database is too long"),
        ("UPDATE message SET data = '{' WHERE session_id = ?1", "is no JSON"),
        ("UPDATE part SET data = ?2 WHERE session_id = ?1", "is no JSON"),
    ];
    let limits = ramus_interchange::Limits { line: 1024, ..Default::default() };
    for (change, why) in odd {
        let long = json!({"type": "text", "text": "x".repeat(2000)}).to_string();
        let mut change = database.prepare(change).unwrap();
        change.raw_bind_parameter(1, "ses_1").unwrap();
        if change.parameter_count() > 1 {
            change.raw_bind_parameter(2, &long).unwrap();
        }
        change.raw_execute().unwrap();
        let mut sessions = ramus_interchange::Jsonl::default();
        let report = Format::Opencode.codec().read_within(&source, limits, &mut sessions).unwrap();
        assert_eq!((report.records, report.kept), (4, 4), "{report:?}");
        assert!(report.losses.iter().any(|loss| loss.why.contains(why)), "{why}: {report:?}");
        assert_eq!(sessions.losses.len() as u64, report.losses.iter().map(|loss| loss.count).sum::<u64>());
    }
}
