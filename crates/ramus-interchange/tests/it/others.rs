//! Formats of few words: Shepherd, OKCVM, Opal, trajectories.

use ramus_interchange::{Format, MemorySource, detect};
use serde_json::{Value, json};

use crate::carry::{self, lines};
use crate::generate::{self, Event};

#[test]
fn h7_a_document_of_shepherd_is_read_and_comes_back() {
    let calls =
        json!([{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.rs\"}"}}]);
    let document = json!({"version": 1, "timestamp": 1_794_726_443, "provider": "openai", "model": "gpt-9", "messages": [
        {"role": "system", "content": "Be brief.", "tokens": 3},
        {"role": "user", "content": "look ".repeat(30), "tokens": 30, "pre_injection_content": "look"},
        {"role": "assistant", "content": "", "tokens": 9, "tool_calls_json": calls.to_string()},
        {"role": "function", "content": "fn main() {}", "tokens": 4, "tool_name": "read", "tool_call_id": "call_1"},
        {"role": "assistant", "content": "It is empty.", "tokens": 5},
    ], "last_user_message_index": 1, "last_assistant_message_index": 4});
    let bytes = serde_json::to_vec_pretty(&document).unwrap();
    assert_eq!(detect(".shepherd_session.openai.json", &bytes), Some(Format::Shepherd));
    let (sessions, report) =
        carry::check(Format::Shepherd, &MemorySource::new("x.json", &bytes).directory("/home/ada"));
    assert_eq!(report.records, 6);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(
        told[2..],
        [
            "assistant: calls read call_1 {\"path\":\"a.rs\"}",
            "toolResult call_1: fn main() {}",
            "assistant: It is empty."
        ]
    );
    let (written, _) = carry::write(Format::Shepherd, &sessions.sessions[0].bytes);
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), document);
}

#[test]
fn h7_versions_of_a_conversation_are_branches() {
    let said = |id: &str, role: &str, text: &str| json!({"id": id, "role": role, "content": text, "timestamp": "2026-11-01T10:00:00.000Z", "pending": false});
    let (hi, hello) = (said("m1", "user", "hi"), said("m2", "assistant", "hello"));
    let version = |text: &str, answer: &str| json!({"id": text, "messages": [hi, hello, said("m3", "user", text), said("m4", "assistant", answer)]});
    let payload = json!({"id": "conv-1", "title": "Greeting", "createdAt": "2026-11-01T10:00:00.000Z", "updatedAt": "2026-11-01T10:00:00.000Z",
        "messages": [hi, hello, said("m3", "user", "first"), said("m4", "assistant", "one")],
        "branches": {"m3": {"messageId": "m3", "activeIndex": 0, "versions": [version("first", "one"), version("second", "two")]}},
        "workspace": {"paths": {"internal_root": "/srv/okc/1"}}, "outputs": {"n": 1.50}});
    let bytes = serde_json::to_vec(&payload).unwrap();
    assert_eq!(detect("x.json", &bytes), Some(Format::Okcvm));
    let (sessions, _) = carry::check(Format::Okcvm, &MemorySource::new("x.json", &bytes));
    let session = &sessions.sessions[0];
    assert_eq!((session.start.cwd.as_str(), session.start.title.as_deref()), ("/srv/okc/1", Some("Greeting")));
    assert_eq!(carry::told(&session.bytes), ["user: hi", "assistant: hello", "user: first", "assistant: one"]);
    let all: Vec<_> = lines(&session.bytes)
        .filter(|line| line["type"] == "message")
        .map(|line| line["message"]["content"][0]["text"].clone())
        .collect();
    assert_eq!(all, ["hi", "hello", "first", "one", "second", "two"]);
    let (written, _) = carry::write(Format::Okcvm, &session.bytes);
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), payload);
}

/// The texts of the messages of a log, in their order.
fn said(log: &[u8]) -> Vec<String> {
    let messages = lines(log).filter(|line| line["type"] == "message");
    messages.map(|line| line["message"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn h7_branches_are_versions_of_a_conversation() {
    use crate::generate::{Event, log};
    let user = |text: &str| Event::User(text.into(), false);
    let answer = |text: &str| Event::Answer { text: text.into(), thought: None, calls: Vec::new(), answered: true };
    let events = [
        user("hi"),
        answer("hello"),
        user("first"),
        answer("one"),
        // Asked again, answered again, and once more from the beginning.
        Event::Branch(1),
        user("second"),
        answer("two"),
        Event::Branch(4),
        answer("deux"),
        Event::Branch(1),
        user("third"),
    ];
    let log = log(&events);
    let (written, report) = carry::write(Format::Okcvm, &log);
    assert!(!report.losses.iter().any(|loss| loss.why.contains("branches")), "{:?}", report.losses);
    let payload: Value = serde_json::from_slice(&written).unwrap();
    let listed: Vec<_> = payload["messages"].as_array().unwrap().iter().map(|said| said["content"].clone()).collect();
    assert_eq!(listed, ["hi", "hello", "third"]);
    let pivot = payload["messages"][2]["id"].as_str().unwrap();
    let branch = &payload["branches"][pivot];
    assert_eq!((&branch["messageId"], &branch["activeIndex"]), (&json!(pivot), &json!(3)));
    let ends: Vec<_> = branch["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["messages"].as_array().unwrap().last().unwrap()["content"].clone())
        .collect();
    assert_eq!(ends, ["one", "two", "deux", "third"]);
    // What OKCVM edits keeps its id, by which the versions are found again.
    let ids: Vec<_> =
        branch["versions"].as_array().unwrap().iter().map(|version| version["messages"][2]["id"].clone()).collect();
    assert_eq!(ids, [pivot; 4]);
    let once = carry::settles(Format::Okcvm, &log);
    let mut all = said(&once);
    all.sort();
    assert_eq!(all, ["deux", "first", "hello", "hi", "one", "second", "third", "two"]);
    assert_eq!(carry::told(&once).last().unwrap(), "user: third");
}

#[test]
fn h6_a_session_becomes_a_table_and_a_table_a_session() {
    let call = ("read".to_owned(), "a.rs".to_owned());
    let log = generate::log(&[
        Event::User("hi".into(), false),
        Event::Answer { text: "I look.".into(), thought: Some("hm".into()), calls: vec![call], answered: true },
        Event::User("one".into(), false),
        Event::Branch(2),
        Event::User("two".into(), false),
    ]);
    let (table, _) = carry::write(Format::Opal, &log);
    assert_eq!(detect("x.dets", &table), Some(Format::Opal));
    let (sessions, report) = carry::check(Format::Opal, &MemorySource::new("x.dets", &table));
    assert_eq!((report.records, carry::told(&sessions.sessions[0].bytes)), (6, carry::told(&log)));
    // Nothing in a table that is cut or changed makes the reader fail.
    for end in (0..table.len()).step_by(11) {
        carry::check_damaged(Format::Opal, &MemorySource::new("x.dets", &table[..end]));
    }
}

#[test]
fn a25_a_trajectory_has_a_step_for_every_word() {
    let call = ("read".to_owned(), "a.rs".to_owned());
    let log = generate::log(&[
        Event::User("hi".into(), false),
        Event::Answer { text: "I look.".into(), thought: Some("hm".into()), calls: vec![call], answered: true },
        Event::Compaction { summary: "sum".into(), back: 0 },
    ]);
    let (written, report) = carry::write(Format::Atif, &log);
    let trajectory: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!((&trajectory["schema_version"], report.records), (&json!("ATIF-v1.8"), 3));
    let step = &trajectory["steps"][1];
    assert_eq!(
        (&step["source"], &step["reasoning_content"], &step["step_id"]),
        (&json!("agent"), &json!("hm"), &json!(2))
    );
    assert_eq!(step["observation"]["results"][0]["source_call_id"], step["tool_calls"][0]["tool_call_id"]);
    assert_eq!(step["metrics"], json!({"prompt_tokens": 13, "completion_tokens": 5, "cached_tokens": 3}));
    assert_eq!(trajectory["final_metrics"]["total_steps"], 3);
}

/// A step holds results of its own calls and no others: programs that read trajectories insist on that.
#[test]
fn a25_a_result_of_a_trajectory_stands_where_its_call_is() {
    let answer = |id: &str, parent: Value, call: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-01T10:00:00.000Z", "message": {"role": "assistant",
            "content": [{"type": "toolCall", "id": call, "name": "run", "arguments": {}}, {"type": "image", "mimeType": "image/png", "data": "aGk="}],
            "stopReason": "aborted", "errorMessage": "stopped", "usage": {"input": 4, "output": 2, "cost": {"total": 0.5}}}})
    };
    let result = |id: &str, parent: &str, call: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-01T10:00:00.000Z", "message": {"role": "toolResult",
            "toolCallId": call, "toolName": "run", "content": [{"type": "text", "text": call}], "isError": true}})
    };
    let log = carry::file(&[
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/w"}),
        answer("a1", Value::Null, "c1"),
        answer("a2", json!("a1"), "c2"),
        result("r1", "a2", "c1"),
        json!({"type": "message", "id": "u1", "parentId": "r1", "timestamp": "2026-11-01T10:00:00.000Z", "message": {"role": "user", "content": "hurry"}}),
        result("r2", "u1", "c2"),
        result("r3", "r2", "nobody"),
        json!({"type": "session_info", "id": "t", "parentId": "r3", "timestamp": "2026-11-01T10:00:00.000Z", "name": "Running"}),
    ]);
    let (written, report) = carry::write(Format::Atif, &log);
    let whys: Vec<_> = report.losses.iter().map(|loss| (loss.why.as_str(), loss.count)).collect();
    assert_eq!(whys, [("pictures", 2), ("results without a call", 1), ("the directory", 1)]);
    let trajectory: Value = serde_json::from_slice(&written).unwrap();
    for (at, call) in ["c1", "c2"].iter().enumerate() {
        let results = trajectory["steps"][at]["observation"]["results"].clone();
        assert_eq!(results, json!([{"source_call_id": call, "content": call, "extra": {"is_error": true}}]));
        assert_eq!(trajectory["steps"][at]["extra"], json!({"stop_reason": "aborted", "error": "stopped"}));
    }
    assert_eq!(trajectory["extra"], json!({"title": "Running", "branch": "u1"}));
    assert_eq!(trajectory["final_metrics"]["total_cost_usd"], 1.0);
}

#[test]
fn h4_a_directory_is_read_and_comes_back() {
    let meta = json!({"id": "session_abc", "projectID": "p", "directory": "/home/ada", "title": "Auth", "version": "1.1.14", "time": {"created": 1_736_708_258_000_u64, "updated": 1_736_708_258_000_u64}, "permission": [{"permission": "*", "action": "allow"}]});
    let files = [
        (
            "message/msg_001.json",
            json!({"id": "msg_001", "role": "user", "time": {"created": 1_736_708_258_000_u64}, "content": [{"type": "text", "text": "Add it"}]}),
        ),
        (
            "message/msg_002.json",
            json!({"id": "msg_002", "role": "assistant", "time": {"created": 1_736_708_260_000_u64}, "content": [{"type": "text", "text": "I will."}, {"type": "tool_use", "id": "t1", "name": "edit", "input": {"a": 1}}], "usage": {"promptTokens": 12, "completionTokens": 5}, "finish_reason": "tool_use"}),
        ),
        (
            "message/msg_003.json",
            json!({"id": "msg_003", "role": "tool", "time": {"created": 1_736_708_261_000_u64}, "content": [{"type": "tool_result", "toolUseId": "t1", "result": "done", "isError": false}]}),
        ),
        ("snapshot/snap_001.json", json!({"id": "snap_001", "files": []})),
        ("todo.json", json!([{"content": "x", "status": "open"}])),
    ];
    let mut source = MemorySource::new("meta.json", meta.to_string().as_bytes());
    for (name, file) in &files {
        source = source.beside(name, file.to_string().as_bytes());
    }
    assert_eq!(detect("meta.json", meta.to_string().as_bytes()), Some(Format::Directory));
    let (sessions, report) = carry::check(Format::Directory, &source);
    assert_eq!(report.records, 6);
    let log = &sessions.sessions[0].bytes;
    assert_eq!(
        carry::told(log),
        ["user: Add it", "assistant: I will.", "assistant: calls edit t1 {\"a\":1}", "toolResult t1: done"]
    );
    let mut target = ramus_interchange::MemoryTarget::default();
    Format::Directory.codec().write(&ramus_interchange::LogPassage::new(log), &mut target).unwrap();
    let written = |name: &str| serde_json::from_slice::<Value>(&target.files[&format!("session_abc/{name}")]).unwrap();
    assert_eq!((target.files.len(), written("meta.json")), (6, meta));
    for (name, file) in files {
        assert_eq!(written(name), file);
    }
}

#[test]
fn a25_the_files_that_opencode_had_are_read() {
    let session = json!({"id": "ses_1", "slug": "s", "projectID": "p", "directory": "/home/ada", "title": "T", "version": "1", "time": {"created": 1, "updated": 2}});
    let user = json!({"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}});
    let part = json!({"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": "hi"});
    let source = MemorySource::new("ses_1.json", session.to_string().as_bytes())
        .beside("message/ses_1/msg_1.json", user.to_string().as_bytes())
        .beside("part/msg_1/prt_1.json", part.to_string().as_bytes());
    let (sessions, _) = carry::check(Format::Opencode, &source);
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: hi"]);
    let (written, _) = carry::write(Format::Opencode, &sessions.sessions[0].bytes);
    assert_eq!(
        serde_json::from_slice::<Value>(&written).unwrap(),
        json!({"info": session, "messages": [{"info": user, "parts": [part]}]})
    );
}

/// Ids of opencode begin anew every 795 days, and sort in front of all before then.
#[test]
fn a25_messages_of_opencode_stand_in_the_order_they_were_said() {
    let session = json!({"id": "ses_1", "slug": "s", "projectID": "p", "directory": "/home/ada", "title": "T", "version": "1", "time": {"created": 1, "updated": 2}});
    let mut source = MemorySource::new("ses_1.json", session.to_string().as_bytes());
    let ids = ["msg_ffffff000001AAAAAAAAAAAAAA", "msg_ffffff000002AAAAAAAAAAAAAA", "msg_000000000001AAAAAAAAAAAAAA"];
    for (at, id) in ids.iter().enumerate() {
        let user = json!({"id": id, "sessionID": "ses_1", "role": "user", "time": {"created": at + 1}});
        source = source.beside(&format!("message/ses_1/{id}.json"), user.to_string().as_bytes());
        for (part, text) in [("prt_fffffffffff1AAAAAAAAAAAAAA", "one"), ("prt_000000000002AAAAAAAAAAAAAA", "two")] {
            let said = json!({"id": part, "sessionID": "ses_1", "messageID": id, "type": "text", "text": format!("{at} {text}")});
            source = source.beside(&format!("part/{id}/{part}.json"), said.to_string().as_bytes());
        }
    }
    let (sessions, _) = carry::check(Format::Opencode, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(told, ["user: 0 one", "user: 0 two", "user: 1 one", "user: 1 two", "user: 2 one", "user: 2 two"]);
}

/// What a payload does not say, its columns do; and a conversation that is none takes no other with it.
#[test]
fn h7_a_database_of_conversations_is_read_row_by_row() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("okcvm_conversations.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE okc_conversations (id VARCHAR(64) PRIMARY KEY, client_id VARCHAR(128), title VARCHAR(255), created_at DATETIME,
             updated_at DATETIME, payload TEXT, workspace_root TEXT, workspace_mount TEXT, workspace_session VARCHAR(128),
             git_commit VARCHAR(128), git_dirty VARCHAR(8))",
        )
        .unwrap();
    let said = json!({"messages": [{"id": "m1", "role": "user", "content": "hi"}], "branches": {}}).to_string();
    for (id, title, payload) in
        [("conv-1", "Greeting", said.as_str()), ("conv-2", "None", "{}"), ("conv-3", "新的会话", &said)]
    {
        let row = (id, title, payload);
        let insert =
            "INSERT INTO okc_conversations (id, client_id, title, created_at, updated_at, payload, workspace_root)
            VALUES (?1, 'c', ?2, '2026-11-01 10:00:00.5', '', ?3, '/srv/okc/1')";
        database.execute(insert, row).unwrap();
    }
    drop(database);
    let source = Stored(path);
    let mut sessions = ramus_interchange::Jsonl::default();
    let report = Format::Okcvm.codec().read(&source, &mut sessions).unwrap();
    assert_eq!((report.sessions, report.lost), (2, 1));
    let starts: Vec<_> = sessions.sessions.iter().map(|session| &session.start).collect();
    let told = |at: usize| {
        (starts[at].id.as_str(), starts[at].title.as_deref(), starts[at].cwd.as_str(), starts[at].created.as_str())
    };
    assert_eq!(told(0), ("conv-1", Some("Greeting"), "/srv/okc/1", "2026-11-01T10:00:00.500Z"));
    assert_eq!(told(1), ("conv-3", None, "/srv/okc/1", "2026-11-01T10:00:00.500Z"));
}

/// A payload that cannot be read is made again of the columns, and what only they say is kept.
#[test]
fn h7_a_conversation_that_cannot_be_read_is_what_its_columns_say() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("okcvm_conversations.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    let row = r#"CREATE TABLE okc_conversations (id TEXT, client_id TEXT, title TEXT, created_at TEXT, payload TEXT, workspace_root TEXT,
        workspace_mount TEXT, git_commit TEXT, git_dirty TEXT);
        INSERT INTO okc_conversations VALUES ('conv-1', 'ada', 'Slides', '2026-11-01 10:00:00', '{"messages":', '/srv/1', '/mnt', 'c0ffee', '1');"#;
    database.execute_batch(row).unwrap();
    drop(database);
    let (sessions, report) = carry::check(Format::Okcvm, &Stored(path));
    assert_eq!((report.sessions, report.lost, report.losses.len()), (1, 0, 1), "{report:?}");
    let session = &sessions.sessions[0];
    assert_eq!((session.start.id.as_str(), session.start.title.as_deref()), ("conv-1", Some("Slides")));
    assert_eq!(session.start.cwd, "/srv/1");
    let kept = lines(&session.bytes).find(|line| line["ramusOrigin"]["records"][1].is_object()).unwrap();
    let columns = json!({"client_id": "ada", "payload": "{\"messages\":", "workspace_mount": "/mnt", "git_commit": "c0ffee", "git_dirty": "1"});
    assert_eq!(kept["ramusOrigin"]["records"][1]["record"], columns);
}

/// A database that is where it is.
struct Stored(std::path::PathBuf);

impl ramus_interchange::Source for Stored {
    fn name(&self) -> &str {
        "okcvm_conversations.db"
    }

    fn open(&self) -> std::io::Result<Box<dyn std::io::Read + '_>> {
        Ok(Box::new(std::fs::File::open(&self.0)?))
    }

    fn database(&self) -> std::io::Result<Option<std::path::PathBuf>> {
        Ok(Some(self.0.clone()))
    }
}
