//! What sessions of other agents are called that nobody called anything: by what a person said first.

use ramus_engine::{Extent, NewSession, OneFile, Say};
use ramus_interchange::{Format, Start};
use serde_json::json;

use crate::foreign_world::{CLAUDE, Machine, age, answered, asked, conversation};

const CODEX: &str = "01a1de00-0000-7000-8000-00000000000c";
const GEMINI: &str = "55d3c07d-0000-4000-8000-00000000000d";
const MOMENT: &str = "2026-11-01T10:00:00.000Z";
const PROMPT: &str = "## Fix the login.\nIt fails after a minute.";
const TITLE: &str = "Fix the login";

fn lines(values: &[serde_json::Value]) -> Vec<u8> {
    values.iter().map(|value| format!("{value}\n")).collect::<String>().into_bytes()
}

/// A session of every agent in which a person said [`PROMPT`] first, and which has no title.
fn untitled(machine: &Machine) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let part = json!([{"type": "text", "text": PROMPT}]);
    let entry = json!({"type": "message", "id": "aaaa0001", "parentId": null, "timestamp": MOMENT, "message": {"role": "user", "content": part}});
    let header = |id: &str| json!({"type": "session", "version": 3, "id": id, "timestamp": MOMENT, "cwd": "/proj"});
    let slot = json!({"type": "title", "v": 1, "title": "", "updatedAt": MOMENT, "pad": ""});
    let item = |role: &str, text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        json!({"timestamp": MOMENT, "type": "response_item", "payload": {"type": "message", "role": role, "content": content}})
    };
    let meta = json!({"timestamp": MOMENT, "type": "session_meta", "payload": {"id": CODEX, "timestamp": MOMENT, "cwd": "/proj"}});
    let head = json!({"sessionId": GEMINI, "projectHash": "f7da", "startTime": MOMENT, "kind": "main"});
    let said = json!({"id": "m1", "timestamp": MOMENT, "type": "user", "content": [{"text": PROMPT}]});
    let message = json!({"info": {"id": "msg_1", "sessionID": "ses_opencode1", "role": "user", "time": {"created": 1}}, "parts": [{"id": "prt_1", "type": "text", "text": PROMPT}]});
    let session = json!({"id": "ses_opencode1", "title": format!("New session - {MOMENT}"), "directory": "/proj", "version": "1", "time": {"created": 1, "updated": 1}});
    let goose = json!({
        "id": "20261101_1", "working_dir": "/proj", "name": "CLI Session", "user_set_name": false, "message_count": 1, "created_at": "2026-11-01 10:00:00",
        "conversation": [{"id": "msg_1", "role": "user", "created": 1, "content": part, "metadata": {"userVisible": true, "agentVisible": true}}],
    });
    let shepherd = json!({"version": 1, "timestamp": 1_794_726_443, "provider": "openai", "model": "gpt-9", "messages": [
        {"role": "system", "content": "Be brief.", "tokens": 3},
        {"role": "user", "content": format!("What is known: nothing.\n\n{PROMPT}"), "pre_injection_content": PROMPT, "tokens": 30},
    ], "last_user_message_index": 1, "last_assistant_message_index": -1});
    let okcvm = json!({"id": "conversation-1", "title": "新的会话", "createdAt": MOMENT, "updatedAt": MOMENT, "branches": {},
        "messages": [{"id": "m1", "role": "user", "content": PROMPT, "timestamp": MOMENT}]});
    let claude = [
        asked("m1-0000", None, "Caveat").replace(r#""isSidechain""#, r#""isMeta":true,"isSidechain""#),
        asked("c1-0000", Some("m1-0000"), "<command-name>/clear</command-name>"),
        asked("u1-0000", Some("c1-0000"), &PROMPT.replace('\n', "\\n")),
    ];
    vec![
        ("claude", CLAUDE, (claude.join("\n") + "\n").into_bytes()),
        (
            "codex",
            CODEX,
            lines(&[
                meta,
                item("developer", "Be brief."),
                item("user", "<environment_context>\n</environment_context>"),
                item("user", PROMPT),
            ]),
        ),
        ("gemini", GEMINI, lines(&[head, said])),
        ("pi", "pi-session-1", lines(&[header("pi-session-1"), entry.clone()])),
        ("omp", "omp-session-1", lines(&[slot, header("omp-session-1"), entry])),
        ("opencode", "ses_opencode1", json!({"info": session, "messages": [message]}).to_string().into_bytes()),
        ("goose", "goose-20261101_1", goose.to_string().into_bytes()),
        ("opal", "", opal(machine)),
        ("shepherd", "", shepherd.to_string().into_bytes()),
        ("okcvm", "conversation-1", okcvm.to_string().into_bytes()),
    ]
}

/// A table of Opal, written from a session that has no title.
fn opal(machine: &Machine) -> Vec<u8> {
    let mut session = machine.engine.create(NewSession { cwd: "/proj".into(), ..NewSession::default() }).unwrap();
    machine.engine.say(&mut session, Say::user(PROMPT)).unwrap();
    let mut table = Vec::new();
    let start = Start { id: "opal-session-1".into(), title: None, ..session.start() };
    machine.engine.convert(&session, Format::Opal, Extent::Path(None), start, &mut OneFile::new(&mut table)).unwrap();
    table
}

#[test]
fn h4_a_session_without_a_title_is_called_by_what_was_said_first() {
    let machine = Machine::new();
    for (agent, id, content) in untitled(&machine) {
        let file = machine.write(&format!("there/{agent}/session.file"), &content);
        let done = machine.import_path(&file);
        assert_eq!((done.imported.len(), done.failed.len()), (1, 0), "{agent}: {done:?}");
        let imported = &done.imported[0];
        assert_eq!(imported.agent, agent);
        assert!(id.is_empty() || imported.id.as_str() == id, "{agent}: {}", imported.id);
        let session = machine.session(imported.id.as_str());
        assert_eq!(session.title(), TITLE, "{agent}");
        // The agent gets back what it wrote.
        let format = Format::from_name(agent).unwrap();
        let mut written = Vec::new();
        let start = session.start();
        machine.engine.convert(&session, format, Extent::Path(None), start, &mut OneFile::new(&mut written)).unwrap();
        let read = |bytes: &[u8]| -> Vec<serde_json::Value> {
            serde_json::Deserializer::from_slice(bytes).into_iter().map(Result::unwrap).collect()
        };
        match format {
            Format::Opal => assert!(!String::from_utf8_lossy(&written).contains("title")),
            _ => assert_eq!(read(&written), read(&content), "{agent}"),
        }
    }
}

#[test]
fn h4_a_title_that_comes_later_counts() {
    let machine = Machine::new();
    let file = machine.claude(CLAUDE, &conversation());
    machine.import();
    assert_eq!(machine.session(CLAUDE).title(), "What is a ramus?");
    let title = format!(r#"{{"type":"custom-title","customTitle":"Botany","sessionId":"{CLAUDE}"}}"#);
    std::fs::write(&file, [conversation(), vec![title]].concat().join("\n") + "\n").unwrap();
    age(&file);
    machine.import();
    assert_eq!(machine.session(CLAUDE).title(), "Botany");
}

#[test]
fn h4_a_session_in_which_something_is_said_later_gets_its_title_then() {
    let machine = Machine::new();
    let meta = |id: &str| asked(id, None, "Caveat").replace(r#""isSidechain""#, r#""isMeta":true,"isSidechain""#);
    let file = machine.claude(CLAUDE, &[meta("m1-0000")]);
    machine.import();
    assert!(machine.session(CLAUDE).title().starts_with("New session"));
    let more = [meta("m1-0000"), asked("u1-0000", Some("m1-0000"), "Now."), answered("a1-0000", "u1-0000", "Yes.")];
    std::fs::write(&file, more.join("\n") + "\n").unwrap();
    age(&file);
    assert_eq!(machine.import().grown.len(), 1);
    let session = machine.session(CLAUDE);
    assert_eq!(session.title(), "Now");
    assert_eq!(session.leaf().unwrap().as_str(), "a1-0000");
    let settled = machine.logs();
    std::fs::remove_file(machine.home.directory.path().join("home/imports.json")).ok();
    assert_eq!(machine.import().unchanged, 1);
    assert_eq!(machine.logs(), settled);
}

#[test]
fn h4_a_session_that_begins_with_much_else_is_not_held_for_ever() {
    let machine = Machine::new();
    let large = "x".repeat(1 << 20);
    let mut lines: Vec<String> = (0..6)
        .map(|at| {
            asked(&format!("m{at}-0000"), None, &large).replace(r#""isSidechain""#, r#""isMeta":true,"isSidechain""#)
        })
        .collect();
    lines.push(asked("u1-0000", None, "Now."));
    machine.claude(CLAUDE, &lines);
    assert_eq!(machine.import().imported.len(), 1);
    assert_eq!(crate::homes::path(&machine.session(CLAUDE)), ["Now."]);
}

/// opencode calls a session by the time of its creation until it has a title for it.
#[test]
fn h4_a_title_that_the_agent_gives_later_counts_until_a_person_gives_one() {
    let machine = Machine::new();
    let write = |title: &str, count: usize| {
        let message = |at: usize| json!({"info": {"id": format!("msg_{at}"), "sessionID": "ses_opencode1", "role": "user", "time": {"created": at}}, "parts": [{"id": format!("prt_{at}"), "type": "text", "text": format!("Number {at}")}]});
        let session = json!({"id": "ses_opencode1", "title": title, "directory": "/proj", "version": "1", "time": {"created": 1, "updated": count}});
        let messages: Vec<_> = (1..=count).map(message).collect();
        machine.write("there/session.json", json!({"info": session, "messages": messages}).to_string().as_bytes())
    };
    let titled = |title: &str, count: usize| {
        machine.import_path(&write(title, count));
        machine.session("ses_opencode1").title()
    };
    assert_eq!(titled(&format!("New session - {MOMENT}"), 1), "Number 1");
    assert_eq!(titled("Counting", 2), "Counting");
    machine.engine.rename(&mut machine.session("ses_opencode1"), "Mine").unwrap();
    assert_eq!(titled("Counting on", 3), "Mine");
}

/// Shepherd notes no times but that of the last save.
#[test]
fn h4_a_document_that_was_saved_again_adds_what_is_new() {
    let machine = Machine::new();
    let save = |time: u64, texts: &[&str]| {
        let messages: Vec<_> = texts.iter().map(|text| json!({"role": "user", "content": text, "tokens": 3})).collect();
        let document =
            json!({"version": 1, "timestamp": time, "provider": "openai", "model": "gpt-9", "messages": messages});
        let file = machine.write("there/.shepherd_session.openai.json", document.to_string().as_bytes());
        machine.import_path(&file)
    };
    let id = save(1_794_726_443, &["One.", "Two."]).imported[0].id.clone();
    assert_eq!(machine.session(id.as_str()).cwd(), machine.path("there").to_str().unwrap());
    let done = save(1_794_726_999, &["One.", "Two.", "Three."]);
    assert_eq!((done.grown.len(), done.grown[0].added), (1, 1), "{done:?}");
    let log = String::from_utf8(machine.logs()[0].1.clone()).unwrap();
    assert_eq!(log.matches("\"text\":\"One.\"").count(), 1, "{log}");
    assert_eq!(crate::homes::path(&machine.session(id.as_str())), ["One.", "Two.", "Three."]);
}
