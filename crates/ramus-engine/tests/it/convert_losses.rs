//! What another agent has no words for is told, all of it: a session in which everything happens goes out to every agent, and what
//! does not come back is named.

use ramus_engine::{Extent, NewSession, Say, Session};
use ramus_interchange::{Format, Jsonl, MemorySource, MemoryTarget, Report};
use serde_json::{Value, json};

use crate::foreign_world::{CLAUDE, Machine, conversation};

const RICH: &str = "rich-session-1";
const TITLE: &str = "Twigs and how they grow";

fn entry(id: &str, parent: Option<&str>, kind: &str, rest: Value) -> Value {
    let minute = id.bytes().last().unwrap_or_default() % 60;
    let time = format!("2026-11-01T10:{minute:02}:00.000Z");
    let mut entry = json!({"type": kind, "id": id, "parentId": parent, "timestamp": time});
    entry.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    entry
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn user(id: &str, parent: Option<&str>, parts: Value) -> Value {
    entry(id, parent, "message", json!({"message": {"role": "user", "content": parts}}))
}

fn answer(id: &str, parent: &str, model: &str, stop: &str, parts: Value) -> Value {
    let cost = json!({"input": 0.1, "output": 0.2, "cacheRead": 0.1, "cacheWrite": 0.1, "total": 0.5});
    let usage = json!({"input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 2, "totalTokens": 20, "cost": cost});
    let mut message = json!({"role": "assistant", "api": "openai-completions", "provider": "mock", "model": model,
        "content": parts, "usage": usage, "stopReason": stop, "timestamp": 1});
    if stop == "error" {
        message["errorMessage"] = json!("no more twigs");
    }
    entry(id, Some(parent), "message", json!({"message": message}))
}

/// A session of pi in which everything happens.
fn rich() -> String {
    let picture = json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8gd29ybGQ="});
    let thought = json!({"type": "thinking", "thinking": "A twig is small."});
    let call = json!({"type": "toolCall", "id": "call_1", "name": "measure", "arguments": {"twig": 1}});
    let failed = json!({"role": "toolResult", "toolCallId": "call_1", "toolName": "measure", "content": [text("no ruler")], "isError": true});
    let lines = [
        json!({"type": "session", "version": 3, "id": RICH, "timestamp": "2026-11-01T09:00:00.000Z", "cwd": "/proj"}),
        user("aaaa0001", None, json!([text("How long is it?"), picture])),
        answer("aaaa0002", "aaaa0001", "m-1", "toolUse", json!([thought, text("I measure."), call])),
        entry("aaaa0003", Some("aaaa0002"), "message", json!({"message": failed})),
        entry("aaaa0004", Some("aaaa0003"), "model_change", json!({"provider": "mock", "modelId": "m-2"})),
        answer("aaaa0005", "aaaa0004", "m-2", "stop", json!([text("It is long.")])),
        user("bbbb0001", Some("aaaa0005"), json!([text("Look elsewhere.")])),
        answer("bbbb0002", "bbbb0001", "m-2", "stop", json!([text("There is nothing.")])),
        entry("bbbb0003", Some("bbbb0002"), "session_info", json!({"name": TITLE})),
        entry("bbbb0004", Some("bbbb0003"), "label", json!({"targetId": "aaaa0005", "label": "measured"})),
        user("aaaa0006", Some("aaaa0005"), json!([text("Go on.")])),
        entry(
            "aaaa0007",
            Some("aaaa0006"),
            "compaction",
            json!({"summary": "It is long.", "firstKeptEntryId": "aaaa0006", "tokensBefore": 20}),
        ),
        user("aaaa0008", Some("aaaa0007"), json!([text("And now?")])),
        answer("aaaa0009", "aaaa0008", "m-2", "error", json!([text("Well")])),
        user("aaaa0010", Some("aaaa0009"), json!([text("Try again.")])),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn convert(machine: &Machine, session: &Session, format: Format) -> (MemoryTarget, Report) {
    let mut target = MemoryTarget::default();
    let report = machine.engine.convert(session, format, Extent::Path(None), session.start(), &mut target).unwrap();
    (target, report)
}

/// What was written, read again: the header and the entries of a log.
fn again(format: Format, target: &MemoryTarget) -> Vec<Value> {
    let source = match format {
        Format::Directory => {
            let inner = |name: &str| name.split_once('/').unwrap().1.to_owned();
            let files = || target.files.iter().map(|(name, bytes)| (inner(name), bytes));
            let (_, meta) = files().find(|(name, _)| name == "meta.json").unwrap();
            files().fold(MemorySource::new("meta.json", meta), |source, (name, bytes)| source.beside(&name, bytes))
        }
        // Where a file of Gemini CLI is says which directory it is about.
        _ => MemorySource::new("written", target.only().unwrap()).directory("/proj"),
    };
    let mut sessions = Jsonl::default();
    format.codec().read(&source, &mut sessions).unwrap();
    read(&sessions.sessions[0].bytes)
}

fn read(log: &[u8]) -> Vec<Value> {
    serde_json::Deserializer::from_slice(log).into_iter().map(Result::unwrap).collect()
}

/// What there is to say of a session.
fn facets(log: &[Value]) -> Vec<(&'static str, &'static str, Vec<String>)> {
    let each = |pointer: &str| -> Vec<String> {
        log.iter().filter_map(|line| line.pointer(pointer)).map(ToString::to_string).collect()
    };
    let parts = |name: &str| -> Vec<String> {
        let parts = log.iter().filter_map(|line| line.pointer("/message/content")?.as_array()).flatten();
        parts.filter_map(|part| part.get(name)).map(ToString::to_string).collect()
    };
    let tokens = |name: &str| each(&format!("/message/usage/{name}"));
    let titles = [each("/title"), each("/name")].concat();
    let users = log.iter().filter(|line| line["message"]["role"] == "user");
    let is_ended = |line: &&Value| line["message"]["stopReason"] == "error";
    vec![
        ("thoughts", "thoughts", parts("thinking")),
        ("pictures", "pictures|not text", parts("data")),
        ("that a call failed", "calls failed|results of tools", {
            log.iter().filter(|line| line["message"]["isError"] == json!(true)).map(|_| String::new()).collect()
        }),
        ("cost", "cost", each("/message/usage/cost/total")),
        ("input", "tokens", tokens("input")),
        ("output", "tokens", tokens("output")),
        ("cache", "tokens", [tokens("cacheRead"), tokens("cacheWrite")].concat()),
        (
            "summary",
            "compaction",
            log.iter().filter(|line| line["type"] == "compaction").map(|_| String::new()).collect(),
        ),
        ("label", "labels", each("/label")),
        ("title", "title", titles.into_iter().filter(|title| title.contains(TITLE)).take(1).collect()),
        (
            "branch",
            "branches",
            users
                .map(|line| line["message"]["content"].to_string())
                .filter(|said| said.contains("elsewhere"))
                .collect(),
        ),
        ("model", "model", each("/message/model")),
        ("provider", "whose|model", each("/message/provider")),
        (
            "change of model",
            "change",
            log.iter().filter(|line| line["type"] == "model_change").map(|_| String::new()).collect(),
        ),
        ("ending", "failed or were stopped", log.iter().filter(is_ended).map(|_| String::new()).collect()),
        ("times", "when", {
            let said = log.iter().filter(|line| line["message"]["role"] == "assistant");
            said.filter_map(|line| line["timestamp"].as_str()).map(|time| time[..19].to_owned()).collect()
        }),
        ("directory", "directory", log.iter().take(1).map(|header| header["cwd"].to_string()).collect()),
    ]
}

#[test]
fn h7_what_does_not_come_back_is_named() {
    let machine = Machine::new();
    machine.import_path(&machine.write("there/rich.jsonl", rich().as_bytes()));
    let session = machine.session(RICH);
    assert_eq!(session.title(), TITLE);
    let all = read(rich().as_bytes());
    let path: Vec<Value> = all.iter().filter(|line| line["id"] != "bbbb0002").cloned().collect();
    let mut silent = Vec::new();
    for format in Format::ALL.iter().filter(|format| format.is_read()) {
        let (target, report) = convert(&machine, &session, *format);
        let after = facets(&again(*format, &target));
        let reasons: Vec<&str> = report.losses.iter().map(|loss| loss.why.as_str()).collect();
        // What another branch says is told with the branch.
        let is_path = reasons.iter().any(|why| why.contains("branches"));
        let before = facets(if is_path { &path } else { &all });
        for ((name, words, was), (.., is)) in before.iter().zip(&after) {
            let is_named = words.split('|').any(|word| reasons.iter().any(|why| why.contains(word)));
            if was != is && !is_named {
                silent.push(format!("{}: {name}: {was:?} became {is:?}: {reasons:?}", format.name()));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// The same for what is written and not read.
#[test]
fn h7_a_trajectory_says_what_it_leaves_out() {
    let machine = Machine::new();
    machine.import_path(&machine.write("there/rich.jsonl", rich().as_bytes()));
    let (target, report) = convert(&machine, &machine.session(RICH), Format::Atif);
    assert!(String::from_utf8_lossy(target.only().unwrap()).contains(TITLE));
    for word in ["pictures", "branches", "labels", "changes of model", "whose", "cache", "directory"] {
        assert!(report.losses.iter().any(|loss| loss.why.contains(word)), "{word}: {:?}", report.losses);
    }
}

#[test]
fn h6_a_table_has_every_branch_whatever_was_said_since() {
    let machine = Machine::new();
    let rich = machine.write("there/rich.jsonl", rich().as_bytes());
    machine.import_path(&rich);
    let (target, _) = convert(&machine, &machine.session(RICH), Format::Opal);
    let path = machine.write("there/table.dets", target.only().unwrap());
    let mut table = std::fs::read(&path).unwrap();
    // Another session, which came from Opal.
    let at = table.windows(RICH.len()).position(|window| window == RICH.as_bytes()).unwrap();
    table[at..at + RICH.len()].copy_from_slice(b"opal-session-1");
    let done = machine.import_path(&machine.write("there/table.dets", &table));
    let mut session = machine.session(done.imported[0].id.as_str());
    machine.engine.say(&mut session, Say::user("One more question.")).unwrap();
    let (target, report) = convert(&machine, &session, Format::Opal);
    let log = again(Format::Opal, &target);
    let said = |word: &str| log.iter().filter(|line| line.to_string().contains(word)).count();
    assert_eq!((said("Look elsewhere"), said("There is nothing"), said("One more question")), (1, 1, 1));
    assert!(!report.losses.iter().any(|loss| loss.why.contains("branches")), "{:?}", report.losses);
    // What was said last is where the conversation stands.
    let marker = log.iter().find(|line| line["customType"] == "ramus.leaf");
    let stands = marker.map_or_else(|| log.last().unwrap()["id"].clone(), |marker| marker["parentId"].clone());
    let entry = log.iter().find(|line| line["id"] == stands).unwrap();
    assert!(entry.to_string().contains("One more question"), "{entry}");
}

#[test]
fn h6_a_title_comes_along_unless_it_was_made_up() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    machine.import();
    let session = machine.session(CLAUDE);
    assert_eq!(session.title(), "What is a ramus?");
    for format in [Format::Gemini, Format::Shepherd, Format::Pi] {
        let (target, report) = convert(&machine, &session, format);
        let log = again(format, &target);
        assert!(!log.iter().any(|line| line["type"] == "session_info"), "{format:?}: {log:?}");
        assert!(!report.losses.iter().any(|loss| loss.why.contains("title")), "{format:?}");
    }
    // One that its agent gave it stands where the session begins.
    let item = json!({"id": "goose", "working_dir": "/proj", "name": TITLE, "user_set_name": true, "message_count": 1,
        "created_at": "2026-11-01 10:00:00", "conversation": [{"id": "msg_1", "role": "user", "created": 1,
        "content": [text("Hello there.")], "metadata": {"userVisible": true, "agentVisible": true}}]});
    let done = machine.import_path(&machine.write("there/goose.json", item.to_string().as_bytes()));
    let session = machine.session(done.imported[0].id.as_str());
    assert_eq!(session.title(), TITLE);
    for format in [Format::Claude, Format::Gemini, Format::Pi, Format::Omp, Format::Opencode, Format::Opal] {
        let (target, report) = convert(&machine, &session, format);
        let log = again(format, &target);
        let says = |line: &Value| ["name", "title"].iter().any(|name| line[*name] == TITLE);
        assert!(log.iter().any(says), "{format:?}: {log:?}");
        assert!(!report.losses.iter().any(|loss| loss.why.contains("title")), "{format:?}");
    }
    for format in [Format::Codex, Format::Shepherd] {
        let (_, report) = convert(&machine, &session, format);
        assert!(report.losses.iter().any(|loss| loss.why.contains("title")), "{format:?}");
    }
}

#[test]
fn h6_a_session_in_which_nothing_was_said_is_no_session_of_claude() {
    let machine = Machine::new();
    let session = machine.engine.create(NewSession { cwd: "/proj".into(), ..NewSession::default() }).unwrap();
    let (start, mut target) = (session.start(), MemoryTarget::default());
    let written = machine.engine.convert(&session, Format::Claude, Extent::Path(None), start, &mut target);
    assert!(written.unwrap_err().to_string().contains("nothing was said"));
    // Other files say at least whose they are.
    assert!(convert(&machine, &session, Format::Gemini).1.records > 0);
}
