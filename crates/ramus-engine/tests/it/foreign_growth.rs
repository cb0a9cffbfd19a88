//! A session that came in line by line is the session that came in at once.

use std::path::PathBuf;

use ramus_engine::{Extent, OneFile, Say};
use ramus_interchange::Format;
use serde_json::{Value, json};

use crate::foreign_world::{CLAUDE, Machine, age, answered, asked, conversation};
use crate::homes::path;

const CODEX: &str = "01a1de00-0000-7000-8000-00000000000c";
const GEMINI: &str = "55d3c07d-0000-4000-8000-00000000000d";
const MOMENT: &str = "2026-11-01T10:00:00.000Z";

/// A live session of an agent: where its file is, its id, and its lines.
struct Live {
    format: Format,
    file: String,
    id: &'static str,
    lines: Vec<String>,
}

fn lives() -> Vec<Live> {
    let codex = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{CODEX}.jsonl");
    let gemini = ".gemini/tmp/proj/chats/session-2026-11-01T10-00-55d3c07d.jsonl".to_owned();
    let claude = format!(".claude/projects/-proj/{CLAUDE}.jsonl");
    vec![
        Live { format: Format::Codex, file: codex, id: CODEX, lines: codex_lines() },
        Live { format: Format::Gemini, file: gemini, id: GEMINI, lines: gemini_lines() },
        Live { format: Format::Claude, file: claude, id: CLAUDE, lines: claude_lines() },
    ]
}

fn codex_lines() -> Vec<String> {
    let line = |kind: &str, payload: Value| json!({"timestamp": MOMENT, "type": kind, "payload": payload}).to_string();
    let item = |payload: Value| line("response_item", payload);
    let event = |kind: &str| line("event_msg", json!({"type": kind, "message": kind}));
    let said = |role: &str, kind: &str, text: &str| {
        item(json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let thought = || item(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}));
    let used = || {
        let counts = json!({"input_tokens": 9, "output_tokens": 2, "total_tokens": 11});
        line("event_msg", json!({"type": "token_count", "info": {"last_token_usage": counts}}))
    };
    vec![
        line("session_meta", json!({"id": CODEX, "timestamp": MOMENT, "cwd": "/proj", "model_provider": "openai"})),
        event("task_started"),
        said("user", "input_text", "Fix the login."),
        event("user_message"),
        line("turn_context", json!({"model": "gpt-9"})),
        thought(),
        event("agent_reasoning"),
        said("assistant", "output_text", "Looking."),
        event("agent_message"),
        item(
            json!({"type": "function_call", "call_id": "call_1", "name": "shell", "arguments": "{\"command\":\"ls\"}"}),
        ),
        event("exec_command_begin"),
        item(json!({"type": "function_call_output", "call_id": "call_1", "output": "src"})),
        used(),
        event("exec_command_end"),
        thought(),
        event("agent_reasoning"),
        used(),
        said("assistant", "output_text", "Done."),
        event("agent_message"),
        event("task_complete"),
    ]
}

fn gemini_lines() -> Vec<String> {
    let touched = |second: u8| json!({"$set": {"lastUpdated": format!("2026-11-01T10:00:{second:02}.000Z")}});
    let user = |id: &str, content: Value| json!({"id": id, "timestamp": MOMENT, "type": "user", "content": content});
    let answer = |id: &str, text: &str, calls: Value| json!({"id": id, "timestamp": MOMENT, "type": "gemini", "content": text, "model": "gemini-9", "toolCalls": calls});
    let call = |id: &str, is_done: bool| {
        let mut call = json!({"id": id, "name": "run", "args": {"command": id}, "status": "executing"});
        if is_done {
            call["status"] = json!("success");
            call["result"] = json!([{"functionResponse": {"id": id, "name": "run", "response": {"output": "src"}}}]);
        }
        call
    };
    let told = |id: &str| json!({"functionResponse": {"id": id, "name": "run", "response": {"output": "src"}}});
    let lines = [
        json!({"sessionId": GEMINI, "projectHash": "f7da", "startTime": MOMENT, "lastUpdated": MOMENT, "kind": "main"}),
        user("m1", json!([{"text": "Look."}])),
        touched(1),
        answer("m2", "I will.", json!([])),
        touched(2),
        answer("m2", "I will.", json!([call("c1", false), call("c2", true)])),
        touched(3),
        answer("m2", "I will.", json!([call("c1", true), call("c2", true)])),
        touched(4),
        user("m3", json!([told("c1"), told("c2")])),
        touched(5),
        answer("m4", "Done.", json!([call("c3", true)])),
        touched(6),
        answer("m5", "Really.", json!([])),
        json!({"$set": {"summary": "Looking around"}}),
        touched(7),
        user("m6", json!([{"text": "Thanks."}])),
    ];
    lines.iter().map(Value::to_string).collect()
}

fn claude_lines() -> Vec<String> {
    let mode = |mode: &str| format!(r#"{{"type":"permission-mode","permissionMode":"{mode}","sessionId":"{CLAUDE}"}}"#);
    // Several lines are one answer.
    let part = |id: &str, parent: &str, text: &str| answered(id, parent, text).replace(&format!("msg_{id}"), "msg_one");
    let boundary = asked("b1-0000", None, "x").replace(
        r#""type":"user","message":{"role":"user","content":"x"}"#,
        r#""type":"system","subtype":"compact_boundary","logicalParentUuid":"u2-0000","content":"Compacted""#,
    );
    let summary = asked("s1-0000", Some("b1-0000"), "They looked.")
        .replace(r#""isSidechain""#, r#""isCompactSummary":true,"isSidechain""#);
    vec![
        mode("default"),
        asked("u1-0000", None, "What is a ramus?"),
        mode("plan"),
        part("a1-0000", "u1-0000", "A branch."),
        mode("default"),
        part("a1-0001", "a1-0000", "Of a tree."),
        mode("plan"),
        mode("default"),
        part("a1-0002", "a1-0001", "Or of a bone."),
        mode("plan"),
        asked("u2-0000", Some("a1-0002"), "And a leaf?"),
        boundary,
        mode("default"),
        summary,
        mode("plan"),
        answered("a2-0000", "s1-0000", "Its end."),
    ]
}

impl Live {
    /// Writes the first lines of it, as far as its agent has come.
    fn write(&self, machine: &Machine, count: usize) -> PathBuf {
        machine.write(&self.file, (self.lines[..count].join("\n") + "\n").as_bytes())
    }

    /// Imports it in steps, and returns what it is then: its file as its agent would have it, and what is said in it.
    fn grown(&self, steps: impl IntoIterator<Item = usize>) -> (String, Vec<String>) {
        let machine = Machine::new();
        for count in steps {
            self.write(&machine, count);
            let done = machine.import();
            assert_eq!(done.failed.len(), 0, "{done:?}");
        }
        let session = machine.session(self.id);
        let mut written = Vec::new();
        let (extent, start) = (Extent::Path(None), session.start());
        machine.engine.convert(&session, self.format, extent, start, &mut OneFile::new(&mut written)).unwrap();
        let settled = machine.logs();
        std::fs::remove_file(machine.home.directory.path().join("home/imports.json")).ok();
        assert_eq!(machine.import().unchanged, 1, "{:?}", self.format);
        assert_eq!(machine.logs(), settled, "{:?}", self.format);
        (String::from_utf8(written).unwrap(), path(&session))
    }
}

#[test]
fn h4_a_session_that_came_line_by_line_is_the_one_that_came_at_once() {
    for live in lives() {
        let all = live.lines.len();
        let whole = live.grown([all]);
        assert_eq!(whole.0, live.lines.join("\n") + "\n", "{:?}", live.format);
        assert_eq!(live.grown(1..=all), whole, "{:?}, line by line", live.format);
        for first in 1..all {
            assert_eq!(live.grown([first, all]), whole, "{:?}, {first} lines and the rest", live.format);
        }
    }
}

/// What a person hung from something stays where it hangs, even when the source tells it otherwise now.
#[test]
fn h4_what_a_person_went_on_from_still_shows() {
    let machine = Machine::new();
    let live = lives().into_iter().find(|live| live.format == Format::Gemini).unwrap();
    live.write(&machine, 9);
    machine.import();
    let mut session = machine.session(live.id);
    machine.engine.say(&mut session, Say::user("Mine.")).unwrap();
    let before = path(&machine.session(live.id));
    live.write(&machine, live.lines.len());
    assert_eq!(machine.import().grown.len(), 1);
    assert_eq!(path(&machine.session(live.id)), before);
}

#[test]
fn h4_a_line_of_a_spawned_agent_that_is_not_complete_waits() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    let side = |line: String| line.replace(r#""isSidechain":false"#, r#""isSidechain":true,"agentId":"b1""#);
    let first = side(asked("c1-0000", None, "Look."));
    let next = side(answered("d1-0000", "c1-0000", "There."));
    let child = format!(".claude/projects/-proj/{CLAUDE}/subagents/agent-b1.jsonl");
    let half = &next[..next.len() / 2];
    machine.write(&child, format!("{first}\n{half}").as_bytes());
    let done = machine.import();
    assert_eq!((done.imported.len(), done.failed.len()), (2, 0), "{done:?}");
    let losses = done.imported.iter().flat_map(|session| &session.losses);
    assert!(losses.into_iter().any(|loss| loss.why.contains("not complete yet")), "{done:?}");
    machine.write(&child, format!("{first}\n{next}\n").as_bytes());
    assert_eq!(machine.import().grown.len(), 1);
    let session = machine.session(&format!("{CLAUDE}.b1"));
    assert_eq!(path(&session), ["Look.", "There."]);
    let log = machine.logs().into_iter().map(|(_, log)| String::from_utf8(log).unwrap()).collect::<String>();
    assert!(!log.contains("\"bytes\""), "nothing of the half line was kept");
}

#[test]
fn h4_a_thread_that_was_only_renamed_is_called_by_its_new_name() {
    let machine = Machine::new();
    let live = lives().into_iter().find(|live| live.format == Format::Codex).unwrap();
    live.write(&machine, live.lines.len());
    let name = |names: &[&str]| {
        let line = |name: &&str| json!({"id": CODEX, "thread_name": name, "updated_at": MOMENT}).to_string() + "\n";
        machine.write(".codex/session_index.jsonl", names.iter().map(line).collect::<String>().as_bytes());
    };
    name(&["Login"]);
    assert_eq!(machine.import().imported.len(), 1);
    assert_eq!(machine.session(CODEX).title(), "Login");
    for names in [&["Login", "The login"][..], &["Login", "The login", "Sessions"]] {
        name(names);
        let done = machine.import();
        assert_eq!((done.grown.len(), done.unchanged), (1, 0), "{done:?}");
        assert_eq!(machine.session(CODEX).title(), *names.last().unwrap());
        assert_eq!(machine.import().unchanged, 1);
    }
    // Names of other threads change nothing.
    let others = json!({"id": "01a1de00-0000-7000-8000-0000000000ff", "thread_name": "x"}).to_string();
    let index = machine.path(".codex/session_index.jsonl");
    std::fs::write(&index, std::fs::read_to_string(&index).unwrap() + &others + "\n").unwrap();
    age(&index);
    assert_eq!(machine.import().unchanged, 1);
    // A name that a person gave it here stays.
    machine.engine.rename(&mut machine.session(CODEX), "Mine").unwrap();
    name(&["Theirs"]);
    machine.import();
    assert_eq!(machine.session(CODEX).title(), "Mine");
}
