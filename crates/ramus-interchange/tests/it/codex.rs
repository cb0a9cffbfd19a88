//! Codex.

use ramus_interchange::{Error, Format, Jsonl, MemorySource};
use ramus_model::Log;
use serde_json::{Value, json};

use crate::carry::{self, lines};

const THREAD: &str = "01a1de00-0000-7000-8000-00000000aaaa";
const OTHER: &str = "01a1de00-0000-7000-8000-00000000bbbb";

fn name(thread: &str) -> String {
    format!("rollout-2026-11-01T10-00-00-{thread}.jsonl")
}

/// Numbers lines, as the newer form of a rollout does.
fn numbered(first: u64, lines: Vec<Value>) -> Vec<Value> {
    let number = |(ordinal, mut line): (u64, Value)| {
        line["ordinal"] = json!(ordinal);
        line["timestamp"] = json!(format!("2026-11-01T10:00:{:02}.000Z", ordinal % 60));
        line
    };
    (first..).zip(lines).map(number).collect()
}

fn meta(thread: &str, more: Value) -> Value {
    let mut payload = json!({"id": thread, "session_id": thread, "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/home/ada/shop",
        "originator": "codex_cli_rs", "cli_version": "0.166.0", "source": "cli", "model_provider": "openai", "history_mode": "paginated"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": "session_meta", "payload": payload})
}

fn item(payload: Value) -> Value {
    json!({"type": "response_item", "payload": payload})
}

fn event(payload: Value) -> Value {
    json!({"type": "event_msg", "payload": payload})
}

fn user(text: &str) -> Value {
    item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
}

fn answer(text: &str) -> Value {
    item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}))
}

fn used(input: u64) -> Value {
    json!({"type": "token_usage_record", "payload": {"response_id": format!("resp_{input}"),
        "usage": {"input_tokens": input, "cached_input_tokens": 90, "output_tokens": 25, "total_tokens": input + 25}}})
}

fn thread() -> Vec<Value> {
    numbered(
        0,
        vec![
            meta(THREAD, json!({})),
            item(
                json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<skills_instructions>"}]}),
            ),
            user("<environment_context>\n<cwd>/home/ada/shop</cwd>"),
            json!({"type": "turn_context", "payload": {"model": "gpt-9", "approval_policy": "never", "sandbox_policy": {"type": "danger-full-access"}}}),
            user("fix the login"),
            event(json!({"type": "item_completed", "item": {"type": "UserMessage"}})),
            item(
                json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "One command."}], "encrypted_content": "c2VjcmV0"}),
            ),
            event(json!({"type": "item_completed", "item": {"type": "Reasoning"}})),
            item(
                json!({"type": "function_call", "name": "exec_command", "arguments": format!("{{\"cmd\": \"{}\"}}", "ls ".repeat(40)), "call_id": "call_1"}),
            ),
            used(120),
            item(json!({"type": "function_call_output", "call_id": "call_1", "output": "src\n".repeat(30)})),
            item(
                json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch", "call_id": "call_2"}),
            ),
            item(
                json!({"type": "custom_tool_call_output", "call_id": "call_2", "output": {"content": "no", "success": false}}),
            ),
            event(
                json!({"type": "token_count", "info": {"last_token_usage": {"input_tokens": 200, "output_tokens": 5, "total_tokens": 205}}}),
            ),
            answer("Done."),
            used(130),
        ],
    )
}

fn source(lines: &[Value]) -> (MemorySource, Vec<u8>) {
    let bytes = carry::file(lines);
    (MemorySource::new(&name(THREAD), &bytes), bytes)
}

#[test]
fn a25_items_of_an_answer_are_one_entry_with_what_it_used() {
    let (source, bytes) = source(&thread());
    let (sessions, report) = carry::check(Format::Codex, &source);
    assert_eq!((report.records, report.lost, report.bridged), (16, 0, 0));
    let log = &sessions.sessions[0].bytes;
    let told = carry::told(log);
    assert_eq!(told[0], "user: fix the login");
    assert_eq!(told[1], "assistant: thinks One command.");
    assert!(told[2].starts_with("assistant: calls exec_command call_1 {\"cmd\": \"ls ls"), "{told:?}");
    assert!(told[3].starts_with("toolResult call_1: src\n"));
    assert_eq!(
        told[4..],
        [
            "assistant: calls apply_patch call_2 {\"input\":\"*** Begin Patch\"}",
            "toolResult call_2!: no",
            "assistant: Done."
        ]
    );
    let answers: Vec<_> = lines(log).filter(|line| line["message"]["role"] == "assistant").collect();
    let usage = |at: usize| answers[at]["message"]["usage"].clone();
    assert_eq!(
        (&usage(0)["input"], &usage(0)["cacheRead"], &usage(0)["totalTokens"]),
        (&json!(30), &json!(90), &json!(145))
    );
    assert_eq!(usage(1)["input"], 200, "what is said behind the outcome counts for the call before it");
    assert_eq!(answers[0]["message"]["model"], "gpt-9");
    assert_eq!(answers[0]["message"]["responseId"], "resp_120");
    carry::comes_back(Format::Codex, &source, &bytes);
}

#[test]
fn a25_a_fork_has_what_it_builds_on_and_stands_alone_when_written() {
    let base = carry::file(&thread());
    let fork = numbered(
        12,
        vec![
            meta(
                OTHER,
                json!({"forked_from_id": THREAD, "history_base": {"thread_id": THREAD, "end_ordinal_exclusive": 11, "end_byte_offset": 1}}),
            ),
            user("another way"),
            answer("Yes."),
        ],
    );
    let file = carry::file(&fork);
    let source = MemorySource::new(&name(OTHER), &file).rollout(THREAD, &base);
    let (sessions, report) = carry::check(Format::Codex, &source);
    assert_eq!(report.bridged, 0);
    let start = &sessions.sessions[0].start;
    assert_eq!(
        (start.id.as_str(), start.forked_from.as_ref().map(|fork| fork.session.as_str())),
        (OTHER, Some(THREAD))
    );
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!((told.len(), told[0].as_str()), (6, "user: fix the login"));
    assert_eq!(told[4..], ["user: another way", "assistant: Yes."]);
    // What both have is the same entry in both.
    let (origin, _) = carry::check(Format::Codex, &MemorySource::new(&name(THREAD), &base));
    let first = |log: &[u8]| lines(log).find(|line| line["message"]["role"] == "user").unwrap()["id"].clone();
    assert_eq!(first(&sessions.sessions[0].bytes), first(&origin.sessions[0].bytes));
    let (written, _) = carry::write(Format::Codex, &sessions.sessions[0].bytes);
    assert!(lines(&written).all(|line| line["payload"].get("history_base").is_none()));
    let ordinals: Vec<_> = lines(&written).map(|line| line["ordinal"].as_u64().unwrap()).collect();
    assert_eq!(ordinals, (0..ordinals.len() as u64).collect::<Vec<_>>());
    carry::settles(Format::Codex, &sessions.sessions[0].bytes);
}

/// Reverting keeps the id of the thread, and whatever the thread says about what it was forked from.
#[test]
fn a25_a_rollout_comes_from_the_one_that_it_builds_on() {
    const FIRST: &str = "01a1de00-0000-7000-8000-00000000f001";
    const SECOND: &str = "01a1de00-0000-7000-8000-00000000f002";
    let on = |base: &str, end: u64| json!({"forked_from_id": THREAD, "history_base": {"thread_id": base, "end_ordinal_exclusive": end}});
    let origin = carry::file(&thread());
    let fork = carry::file(&numbered(11, vec![meta(OTHER, on(THREAD, 11)), user("another way"), answer("Yes.")]));
    let once = carry::file(&numbered(14, vec![meta(OTHER, on(OTHER, 14)), user("or so"), answer("Fine.")]));
    let twice = carry::file(&numbered(15, vec![meta(OTHER, on(FIRST, 15)), user("no, so")]));
    let made_from = |name: &str, file: &[u8]| {
        let source = MemorySource::new(name, file).rollout(THREAD, &origin).rollout(OTHER, &fork).rollout(FIRST, &once);
        let (sessions, report) = carry::check(Format::Codex, &source);
        assert_eq!(report.bridged, 0, "{name}");
        let start = &sessions.sessions[0].start;
        (start.id.clone(), start.forked_from.as_ref().map(|fork| fork.session.clone()).unwrap_or_default())
    };
    let reverted = |rollout: &str| name(&format!("{OTHER}_{rollout}"));
    assert_eq!(made_from(&name(OTHER), &fork), (OTHER.into(), THREAD.into()));
    assert_eq!(made_from(&reverted(FIRST), &once), (format!("{OTHER}.{FIRST}"), OTHER.into()));
    assert_eq!(made_from(&reverted(SECOND), &twice), (format!("{OTHER}.{SECOND}"), format!("{OTHER}.{FIRST}")));
}

#[test]
fn a25_a_base_that_is_gone_is_bridged_and_one_that_leads_to_itself_ends() {
    let fork = |base: &str| {
        numbered(
            5,
            vec![meta(THREAD, json!({"history_base": {"thread_id": base, "end_ordinal_exclusive": 5}})), user("hi")],
        )
    };
    let file = carry::file(&fork(OTHER));
    let (sessions, report) = carry::check(Format::Codex, &MemorySource::new(&name(THREAD), &file));
    assert_eq!((report.bridged, carry::told(&sessions.sessions[0].bytes)), (1, vec!["user: hi".to_owned()]));
    let file = carry::file(&numbered(
        0,
        vec![meta(THREAD, json!({"history_base": {"thread_id": THREAD, "end_ordinal_exclusive": 5}}))],
    ));
    let looped = MemorySource::new(&name(THREAD), &file).rollout(THREAD, &file);
    let error = Format::Codex.codec().read(&looped, &mut Jsonl::default());
    assert!(matches!(error, Err(Error::Limit(_))), "{error:?}");
}

#[test]
fn a25_turns_that_were_rolled_back_are_a_branch() {
    let mut file = thread();
    file.extend(numbered(
        16,
        vec![user("wrong way"), answer("Oh."), event(json!({"type": "thread_rolled_back", "num_turns": 1}))],
    ));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Codex, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(told.last().unwrap(), "assistant: Done.", "the leaf is where the rollback leads");
    assert!(lines(&sessions.sessions[0].bytes).any(|line| line["message"]["content"][0]["text"] == "wrong way"));
    carry::comes_back(Format::Codex, &source, &bytes);
}

#[test]
fn a25_numbers_that_are_missing_are_counted() {
    let mut file = thread();
    file.drain(5..8);
    let (source, _) = source(&file);
    let (sessions, report) = carry::check(Format::Codex, &source);
    assert_eq!(report.bridged, 1);
    let bridge = lines(&sessions.sessions[0].bytes).find(|line| line["customType"] == "ramus.missing").unwrap();
    assert_eq!(bridge["data"]["message"], "3 records are missing here");
}

#[test]
fn a25_a_compaction_stands_for_what_came_before() {
    let mut file = thread();
    let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let history = json!([
        message("developer", "be brief"),
        message("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
        message("user", "fix the login"),
        message("user", "and the logout"),
        message("user", "What happened so far:\nWe fixed it."),
    ]);
    file.extend(numbered(
        16,
        vec![
            json!({"type": "compacted", "payload": {"message": "We fixed it.", "replacement_history": history}}),
            user("thanks"),
        ],
    ));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Codex, &source);
    let expected = ["compactionSummary: We fixed it.", "user: fix the login", "user: and the logout", "user: thanks"];
    assert_eq!(carry::told(&sessions.sessions[0].bytes), expected, "Codex goes on sending what people said");
    for other in [Format::Claude, Format::Pi, Format::Goose] {
        let (written, _) = carry::write(other, &sessions.sessions[0].bytes);
        let (read, _) = carry::check(other, &MemorySource::new("written.jsonl", &written));
        assert_eq!(carry::told(&read.sessions[0].bytes), expected, "{other:?}");
    }
    carry::comes_back(Format::Codex, &source, &bytes);
}

#[test]
fn a25_a_compressed_rollout_is_read_and_a_bomb_is_not() {
    let (_, bytes) = source(&thread());
    let packed = ruzstd::encoding::compress_to_vec(bytes.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let source = MemorySource::new(&format!("{}.zst", name(THREAD)), &packed);
    assert_eq!(ramus_interchange::detect(&format!("{}.zst", name(THREAD)), &packed), Some(Format::Codex));
    let (sessions, _) = carry::check(Format::Codex, &source);
    assert_eq!(carry::told(&sessions.sessions[0].bytes).len(), 7);
    let zeros = vec![b' '; 80 << 20];
    let bomb = ruzstd::encoding::compress_to_vec(zeros.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let error = Format::Codex.codec().read(&MemorySource::new("rollout-x.jsonl.zst", &bomb), &mut Jsonl::default());
    assert!(error.unwrap_err().to_string().contains("expands"));
}

#[test]
fn a_thread_knows_who_spawned_it_and_a_result_its_tool() {
    let spawned = json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": OTHER, "depth": 1}}}});
    let call = item(json!({"type": "local_shell_call", "call_id": "c1", "status": "completed",
        "action": {"type": "exec", "command": ["ls"]}}));
    let output = item(json!({"type": "function_call_output", "call_id": "c1", "output": "a"}));
    let (source, bytes) = source(&numbered(0, vec![meta(THREAD, spawned), user("look"), call, output]));
    let (sessions, _) = carry::check(Format::Codex, &source);
    let session = &sessions.sessions[0];
    assert_eq!(session.start.parent.as_deref(), Some(OTHER));
    let result = lines(&session.bytes).find(|line| line["message"]["role"] == "toolResult").unwrap();
    assert_eq!(result["message"]["toolName"], "local_shell");
    carry::comes_back(Format::Codex, &source, &bytes);
}

#[test]
fn a_rollout_in_several_frames_is_read_to_its_end() {
    let (_, bytes) = source(&thread());
    let pack = |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    let (front, back) = bytes.split_at(bytes.len() / 2);
    // A frame without data may stand anywhere.
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let packed = [skipped.clone(), pack(front), skipped.clone(), pack(b""), pack(back), skipped.clone()].concat();
    let packed_name = format!("{}.zst", name(THREAD));
    assert_eq!(ramus_interchange::detect(&packed_name, &packed), Some(Format::Codex));
    let (sessions, _) = carry::check(Format::Codex, &MemorySource::new(&packed_name, &packed));
    let (plain, _) = carry::check(Format::Codex, &MemorySource::new(&name(THREAD), &bytes));
    assert_eq!(sessions.sessions, plain.sessions);
    for rest in [&b"garbage"[..], &[0x28, 0xb5], &skipped[..9]] {
        let packed = [pack(&bytes), rest.to_vec()].concat();
        let read = Format::Codex.codec().read(&MemorySource::new(&packed_name, &packed), &mut Jsonl::default());
        assert!(matches!(read, Err(Error::Io(_))), "{read:?}");
    }
    // What expands too much does so in many frames too.
    let zeros = pack(&vec![b' '; 8 << 20]);
    let bomb = MemorySource::new(&packed_name, &zeros.repeat(10));
    let error = Format::Codex.codec().read(&bomb, &mut Jsonl::default());
    assert!(error.unwrap_err().to_string().contains("expands"));
}

#[test]
fn lines_that_are_no_json_come_back() {
    let mut file: Vec<String> = thread().iter().map(Value::to_string).collect();
    file.insert(3, "not json at all".to_owned());
    // It has the number that the damaged line had.
    let taken = file.len() - 2;
    file[taken] = file[taken].replace('"', "'");
    let bytes = format!("{}\n", file.join("\n")).into_bytes();
    carry::comes_back(Format::Codex, &MemorySource::new(&name(THREAD), &bytes), &bytes);
}

/// A compaction of ours goes in front of what it keeps, so that Codex is left with the same.
#[test]
fn a25_what_a_compaction_keeps_follows_it() {
    let entry = |id: &str, parent: Value, rest: Value| {
        let mut entry =
            json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-01T10:00:00.000Z"});
        entry.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        entry
    };
    let said = |text: &str| json!({"message": {"role": "user", "content": text}});
    let log = carry::file(&[
        json!({"type": "session", "version": 3, "id": THREAD, "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/x"}),
        entry("e1", Value::Null, said("old")),
        entry("e2", json!("e1"), said("kept")),
        entry(
            "e3",
            json!("e2"),
            json!({"type": "compaction", "summary": "sum", "firstKeptEntryId": "e2", "tokensBefore": 1}),
        ),
        entry("e4", json!("e3"), said("new")),
    ]);
    let before = carry::told(&log);
    let (written, _) = carry::write(Format::Codex, &log);
    let (sessions, _) = carry::check(Format::Codex, &MemorySource::new(&name(THREAD), &written));
    assert_eq!(carry::told(&sessions.sessions[0].bytes), before);
    assert!(Log::from_bytes(&sessions.sessions[0].bytes, ramus_model::Depth::Whole).findings().is_empty());
}

/// The model that answered and what it used come back, but for a model that Codex could not go on with.
#[test]
fn a25_models_and_tokens_are_written() {
    let answer = |id: &str, parent: Value, provider: &str, model: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-01T10:00:00.000Z", "message": {"role": "assistant",
            "content": [{"type": "text", "text": id}], "provider": provider, "model": model, "stopReason": "stop",
            "usage": {"input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 2, "totalTokens": 20, "cost": {"total": 0.5}}}})
    };
    let log = carry::file(&[
        json!({"type": "session", "version": 3, "id": THREAD, "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/x"}),
        answer("a1", Value::Null, "openai", "gpt-9"),
        answer("a2", json!("a1"), "openai", "gpt-9"),
        answer("a3", json!("a2"), "anthropic", "opus"),
    ]);
    let (written, report) = carry::write(Format::Codex, &log);
    let whys: Vec<_> = report.losses.iter().map(|loss| (loss.why.as_str(), loss.count)).collect();
    assert_eq!(whys, [("what answers cost", 3), ("which model answered: Codex would go on with it", 1)]);
    let contexts: Vec<_> = lines(&written).filter(|line| line["type"] == "turn_context").collect();
    assert_eq!((contexts.len(), &contexts[0]["payload"]["model"]), (1, &json!("gpt-9")));
    let last = lines(&written).filter(|line| line["payload"]["type"] == "token_count").last().unwrap();
    assert_eq!(last["payload"]["info"]["total_token_usage"]["total_tokens"], 60);
    let (sessions, _) = carry::check(Format::Codex, &MemorySource::new(&name(THREAD), &written));
    let answers: Vec<_> =
        lines(&sessions.sessions[0].bytes).filter(|line| line["message"]["role"] == "assistant").collect();
    assert_eq!(answers.len(), 3);
    let usage = &answers[1]["message"]["usage"];
    assert_eq!(
        (&answers[1]["message"]["model"], &usage["input"], &usage["cacheRead"]),
        (&json!("gpt-9"), &json!(10), &json!(3))
    );
    carry::settles(Format::Codex, &log);
}
