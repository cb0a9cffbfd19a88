//! Context: against a plain retelling of the documented algorithm, and for whoever reads the result.

use proptest::prelude::*;
use ramus_model::json::Raw;
use ramus_model::{Depth, Lines as _, Log, Seq, context, tokens};
use serde_json::{Value, json};

use crate::generate::{HEADER, file, plans};

fn rendered(log: &Log, bytes: &[u8], leaf: Option<Seq>) -> Vec<Value> {
    let Ok(context) = context::build(log, leaf, bytes);
    let mut out = Vec::new();
    let Ok(()) = context::render::messages(log, &context, bytes, &mut out);
    Raw::parse(&out).unwrap().items().map(|item| lossy(item.bytes())).collect()
}

/// JSON with lone surrogates made readable, for comparing.
fn lossy(bytes: &[u8]) -> Value {
    serde_json::from_str(&String::from_utf8_lossy(bytes).replace("\\ud83d", "?")).unwrap()
}

/// The documented algorithm, told the slow and plain way.
fn retold(bytes: &[u8]) -> Vec<(String, Value)> {
    let entries: Vec<Value> =
        bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty()).map(lossy).collect();
    let by_id = |id: &Value| entries.iter().find(|entry| entry["id"] == *id);
    let mut path = Vec::new();
    let mut at = entries.last();
    while let Some(entry) = at {
        path.insert(0, entry.clone());
        at = by_id(&entry["parentId"]);
    }
    let emit = |entry: &Value| -> Option<(String, Value)> {
        match entry["type"].as_str()? {
            "message" => Some((entry["message"]["role"].as_str()?.to_owned(), entry["message"]["content"].clone())),
            "custom_message" => Some(("custom".into(), entry["content"].clone())),
            "branch_summary" if entry["summary"] != "" => Some(("branchSummary".into(), entry["summary"].clone())),
            _ => None,
        }
    };
    let Some(compaction) = path.iter().rposition(|entry| entry["type"] == "compaction") else {
        return path.iter().filter_map(emit).collect();
    };
    let mut messages = vec![("compactionSummary".to_owned(), path[compaction]["summary"].clone())];
    let kept = path[..compaction].iter().skip_while(|entry| entry["id"] != path[compaction]["firstKeptEntryId"]);
    messages.extend(kept.chain(&path[compaction + 1..]).filter_map(emit));
    messages
}

fn session(lines: &[Value]) -> Vec<u8> {
    let mut text = format!("{HEADER}\n");
    let mut parent = Value::Null;
    for (at, line) in lines.iter().enumerate() {
        let id = Value::from(format!("e{at}"));
        let mut entry =
            json!({"type": line["type"], "id": id, "parentId": parent, "timestamp": "2026-02-16T10:21:00.000Z"});
        entry.as_object_mut().unwrap().extend(line.as_object().unwrap().clone());
        parent = id;
        text.push_str(&format!("{entry}\n"));
    }
    text.into_bytes()
}

fn message(role: &str, content: Value) -> Value {
    json!({"type": "message", "message": {"role": role, "content": content}})
}

fn roles(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["role"].as_str().unwrap()).collect()
}

#[test]
fn a_reset_boundary_hides_everything_before_it() {
    let bytes = session(&[message("user", json!("a")), json!({"type": "reset_boundary"}), message("user", json!("b"))]);
    let log = Log::from_bytes(&bytes, Depth::Envelope);
    let messages = rendered(&log, &bytes, log.leaf());
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["content"], "b");
}

#[test]
fn edits_replace_or_remove_messages() {
    let bytes = session(&[
        message("user", json!("poison")),
        message("user", json!("typo")),
        message("user", json!("fine")),
        json!({"type": "context_edit", "targetId": "e0", "replacement": null}),
        json!({"type": "context_edit", "targetId": "e1", "replacement": {"content": "first"}}),
        json!({"type": "context_edit", "targetId": "e1", "replacement": {"content": "fixed"}}),
    ]);
    let log = Log::from_bytes(&bytes, Depth::Whole);
    let messages = rendered(&log, &bytes, log.leaf());
    assert_eq!(
        messages.iter().map(|message| message["content"].as_str().unwrap()).collect::<Vec<_>>(),
        ["fixed", "fine"]
    );
}

#[test]
fn a_compaction_that_kept_the_system_message_says_it_once() {
    let bytes = session(&[
        message("system", json!("old rules")),
        message("user", json!("a")),
        json!({"type": "compaction", "summary": "S", "firstKeptEntryId": "e0", "tokensBefore": 9,
               "systemMessage": {"role": "system", "content": "rules"}}),
        message("user", json!("b")),
    ]);
    let log = Log::from_bytes(&bytes, Depth::Whole);
    let messages = rendered(&log, &bytes, log.leaf());
    assert_eq!(roles(&messages), ["system", "compactionSummary", "user", "user"]);
    assert_eq!(messages[0]["content"], "rules");
}

#[test]
fn no_leaf_no_context_and_any_entry_can_be_the_end() {
    let bytes = session(&[message("user", json!("a")), message("assistant", json!("b")), message("user", json!("c"))]);
    let log = Log::from_bytes(&bytes, Depth::Envelope);
    assert_eq!(rendered(&log, &bytes, None), Vec::<Value>::new());
    assert_eq!(roles(&rendered(&log, &bytes, log.seq_of("e1"))), ["user", "assistant"]);
}

#[test]
fn the_last_word_on_the_path_sets_the_state() {
    let assistant = |model: Option<&str>| {
        json!({"type": "message", "message": {"role": "assistant", "content": [],
        "provider": model.map(|_| "anthropic"), "model": model}})
    };
    let bytes = session(&[
        json!({"type": "model_change", "provider": "google", "modelId": "gem", "model": "google/gem"}),
        assistant(Some("claude")),
        assistant(None),
        assistant(Some("")),
        json!({"type": "model_change", "model": "google/tiny", "role": "smol"}),
        json!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        json!({"type": "thinking_level_change", "thinkingLevel": null}),
        json!({"type": "ttsr_injection", "injectedRules": ["x", "y"]}),
        json!({"type": "ttsr_injection", "injectedRules": ["y", "z"]}),
        json!({"type": "mode_change", "mode": "plan", "data": {"file": "p.md"}}),
    ]);
    let log = Log::from_bytes(&bytes, Depth::Whole);
    let Ok(context) = context::build(&log, log.leaf(), bytes.as_slice());
    let state = context.state;
    assert_eq!(
        state.models.into_iter().collect::<Vec<_>>(),
        [("default".to_owned(), "anthropic/claude".to_owned()), ("smol".to_owned(), "google/tiny".to_owned())]
    );
    assert_eq!((state.thinking_level.as_str(), state.mode.as_str()), ("off", "plan"));
    assert_eq!(state.mode_data, Some(json!({"file": "p.md"})));
    assert_eq!(state.rules, ["x", "y", "z"]);
}

#[test]
fn a_provider_gets_every_call_answered_once_and_in_order() {
    let call = |id: &str| json!({"type": "toolCall", "id": id, "name": "bash", "arguments": {}});
    let result = |id: &str, text: &str| {
        json!({"type": "message", "message": {"role": "toolResult", "toolCallId": id,
        "toolName": "bash", "content": [{"type": "text", "text": text}], "isError": false}})
    };
    let bytes = session(&[
        message("user", json!("go")),
        result("orphan", "nobody asked"),
        message("assistant", json!([call("a"), call("b"), call("c")])),
        message("user", json!("impatient")),
        result("c", "C"),
        result("a", "A"),
        result("a", "A again"),
        message("system", json!("late rules")),
        message("assistant", json!([{"type": "text", "text": ""}])),
    ]);
    let log = Log::from_bytes(&bytes, Depth::Whole);
    let Ok(context) = context::build(&log, log.leaf(), bytes.as_slice());
    let Ok(messages) = context::provider::messages(&log, &context, bytes.as_slice());
    let mut out = Vec::new();
    context::provider::write(&messages, &mut out);
    let messages: Vec<Value> = serde_json::from_slice(&out).unwrap();
    assert_eq!(roles(&messages), ["system", "user", "assistant", "toolResult", "toolResult", "toolResult", "user"]);
    let results: Vec<_> = messages[3..6]
        .iter()
        .map(|m| {
            (
                m["toolCallId"].as_str().unwrap(),
                m["content"][0]["text"].as_str().unwrap(),
                m["isError"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(results, [("a", "A", false), ("b", context::provider::MISSING_RESULT, true), ("c", "C", false)]);
}

/// Programs that number their calls anew in each turn use ids again. A turn that was interrupted must not be given the result
/// of a later one, and no provider takes an id twice.
#[test]
fn ids_that_are_used_again_are_told_apart_and_results_go_to_the_last_call() {
    let call = |path: &str| json!({"type": "toolCall", "id": "call_1", "name": "read", "arguments": {"path": path}});
    let result = |text: &str| {
        json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "call_1", "toolName": "read",
            "content": [{"type": "text", "text": text}], "isError": false}})
    };
    let bytes = session(&[
        message("user", json!("one")),
        message("assistant", json!([call("a"), {"type": "image", "data": "", "mimeType": "image/png"}])),
        message("user", json!("two")),
        message("assistant", json!([call("b")])),
        result("B"),
        result("B again"),
        message("assistant", json!([call("c")])),
        result(" \u{a0}"),
    ]);
    let log = Log::from_bytes(&bytes, Depth::Whole);
    let Ok(context) = context::build(&log, log.leaf(), bytes.as_slice());
    let Ok(messages) = context::provider::messages(&log, &context, bytes.as_slice());
    let mut out = Vec::new();
    context::provider::write(&messages, &mut out);
    let sent: Vec<Value> = serde_json::from_slice(&out).unwrap();
    let calls: Vec<_> =
        sent.iter().filter(|m| m["role"] == "assistant").map(|m| m["content"][0]["id"].clone()).collect();
    assert_eq!(calls, ["call_1", "call_1~2", "call_1~3"]);
    assert_eq!(sent[1]["content"][1], json!({"type": "text", "text": "[A picture.]"}));
    let results: Vec<_> = sent
        .iter()
        .filter(|m| m["role"] == "toolResult")
        .map(|m| (m["toolCallId"].as_str().unwrap(), m["content"][0]["text"].as_str().unwrap()))
        .collect();
    let expected =
        [("call_1", context::provider::MISSING_RESULT), ("call_1~2", "B"), ("call_1~3", context::provider::NO_OUTPUT)];
    assert_eq!(results, expected);
    assert_eq!(context::provider::repair(messages.clone()), messages);
}

#[test]
fn tokens_trust_the_last_report_behind_the_compaction() {
    let answer = |total: u64, stop: &str| {
        json!({"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "12345678"}],
        "usage": {"input": total, "output": 0}, "stopReason": stop}})
    };
    let four = message("user", json!("1234567890123456"));
    let count = |lines: &[Value]| {
        let bytes = session(lines);
        let log = Log::from_bytes(&bytes, Depth::Whole);
        let Ok(context) = context::build(&log, log.leaf(), bytes.as_slice());
        let Ok(tokens) = tokens::of_context(&log, &context, bytes.as_slice());
        tokens
    };
    assert_eq!(count(std::slice::from_ref(&four)), 4);
    assert_eq!(count(&[four.clone(), answer(100, "stop"), four.clone()]), 104);
    assert_eq!(count(&[four.clone(), answer(100, "aborted"), four.clone()]), 10);
    let compaction = json!({"type": "compaction", "summary": "1234", "firstKeptEntryId": "e1", "tokensBefore": 1});
    assert_eq!(count(&[four.clone(), answer(100, "stop"), compaction, four]), 1 + 2 + 4);
}

#[test]
fn reports_set_right_what_is_counted_behind_them() {
    let said = |tokens: usize| message("user", json!("1234".repeat(tokens)));
    let answer = |prompt: u64, output: u64| {
        json!({"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}],
        "usage": {"input": prompt, "output": output}, "stopReason": "stop"}})
    };
    let count = |lines: &[Value]| {
        let bytes = session(lines);
        let log = Log::from_bytes(&bytes, Depth::Whole);
        let Ok(context) = context::build(&log, log.leaf(), bytes.as_slice());
        let Ok(messages) = context::provider::messages(&log, &context, bytes.as_slice());
        let Ok(tokens) = tokens::count_outgoing(&log, &context, bytes.as_slice(), &messages, 7, &tokens::Heuristic);
        tokens
    };
    // Nothing was reported: everything is counted, and what goes out besides.
    assert_eq!(count(&[said(1_000)]), 1_007);
    // One report tells what there was, not how well it was counted.
    assert_eq!(count(&[said(1_000), answer(1_500, 10), said(1_000)]), 1_510 + 1_000);
    // The prompt grew by half more than was counted: a fifth of that is believed.
    let grown = [said(1_000), answer(1_500, 10), said(1_000), answer(3_010, 10), said(1_000)];
    assert_eq!(count(&grown), 3_020 + 1_100);
    // What is far off, shrank, or is too little to tell is not believed at all.
    for prompt in [9_000, 1_400, 1_520] {
        let lines = [said(1_000), answer(1_500, 10), said(1_000), answer(prompt, 10), said(1_000)];
        assert_eq!(count(&lines), prompt + 10 + 1_000);
    }
    assert_eq!(count(&[said(1_000), answer(1_500, 10), said(50), answer(1_585, 10), said(1_000)]), 1_595 + 1_000);
    // The more often it is said, the more it is believed, but never more than that four characters are two tokens.
    let mut lines = vec![said(1_000), answer(1_000, 0)];
    let mut total = 1_000;
    for _ in 0..9 {
        total += 1_900;
        lines.extend([said(1_000), answer(total, 0)]);
    }
    lines.push(said(1_000));
    assert!((total + 1_500..total + 1_800).contains(&count(&lines)), "{}", count(&lines) - total);
}

proptest! {
    #[test]
    fn matches_the_documented_algorithm(plans in plans(50)) {
        let bytes = file(&plans);
        let log = Log::from_bytes(&bytes, Depth::Envelope);
        // The plain retelling starts from the last physical entry, inert or not; so do the programs that share the file.
        let last = log.seqs().next_back();
        let ours = rendered(&log, &bytes, last);
        let theirs = retold(&bytes);
        prop_assert_eq!(ours.len(), theirs.len());
        for (ours, (role, content)) in ours.iter().zip(theirs) {
            prop_assert_eq!(&ours["role"], &Value::from(role));
            let ours = if ours["content"].is_null() { &ours["summary"] } else { &ours["content"] };
            // Null content reads as empty.
            let content = if content.is_null() { json!([]) } else { content };
            prop_assert_eq!(ours, &content);
        }
        // Our own leaf, which skips inert entries, gives the same context.
        prop_assert_eq!(rendered(&log, &bytes, log.leaf()), rendered(&log, &bytes, last));
    }

    #[test]
    fn every_path_is_legal_for_a_provider(plans in plans(50)) {
        let bytes = file(&plans);
        let log = Log::from_bytes(&bytes, Depth::Envelope);
        for seq in log.seqs() {
            let Ok(context) = context::build(&log, Some(seq), bytes.as_slice());
            let mut seen = std::collections::HashSet::new();
            for item in &context.items {
                prop_assert!(seen.insert(item.seq()), "an entry twice");
            }
            let Ok(messages) = context::provider::messages(&log, &context, bytes.as_slice());
            ramus_model::fuzz::check_pairs(&messages);
        }
    }

    #[test]
    fn stored_messages_are_sent_byte_for_byte(plans in plans(30)) {
        let bytes = file(&plans);
        let log = Log::from_bytes(&bytes, Depth::Envelope);
        let Ok(context) = context::build(&log, log.leaf(), bytes.as_slice());
        for item in context.items {
            let context::Item::Message(seq) = item else { continue };
            let Ok(line) = bytes.as_slice().line(log.place(seq).unwrap());
            let stored = Raw::parse(&line).unwrap().field("message").unwrap().bytes().to_vec();
            let mut out = Vec::new();
            let Ok(()) = context::render::message(&log, item, bytes.as_slice(), &mut out);
            if !stored.ends_with(b"\"content\":null}") {
                prop_assert_eq!(out, stored);
            }
        }
    }
}
