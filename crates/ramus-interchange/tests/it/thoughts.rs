//! Thoughts go only where the model that gets them knows them as thoughts.

use ramus_interchange::{Format, MemorySource};
use serde_json::json;

use crate::carry::{self, lines};

/// A session of Claude Code in which the model thought before it spoke.
fn thought() -> Vec<u8> {
    let line = |kind: &str, uuid: &str, parent: serde_json::Value, message: serde_json::Value| {
        json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid, "timestamp": "2026-11-01T10:00:00.000Z",
            "cwd": "/x", "sessionId": "aaaaaaaa-0000-4000-8000-000000000001", "version": "2.1.325", "userType": "external",
            "message": message,
        })
    };
    let content = json!([
        {"type": "thinking", "thinking": "hm, a secret plan", "signature": "c2ln"},
        {"type": "text", "text": "Done."},
    ]);
    carry::file(&[
        line("user", "u1", json!(null), json!({"role": "user", "content": "do it"})),
        line(
            "assistant",
            "a1",
            json!("u1"),
            json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
                "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1},
            }),
        ),
    ])
}

fn has_thought(file: &[u8]) -> bool {
    String::from_utf8_lossy(file).contains("secret plan")
}

#[test]
fn a25_agents_that_would_say_them_get_no_thoughts_of_others() {
    let (read, _) = carry::check(Format::Claude, &MemorySource::new("x.jsonl", &thought()));
    let log = &read.sessions[0].bytes;
    for format in [Format::Pi, Format::Omp, Format::Opencode] {
        let (written, report) = carry::write(format, log);
        assert!(!has_thought(&written), "{format:?}");
        let lost: Vec<_> = report.losses.iter().filter(|loss| loss.why.contains("as if they had been said")).collect();
        assert_eq!((lost.len(), lost[0].count), (1, 1), "{format:?}: {:?}", report.losses);
        let (back, _) = carry::check(format, &MemorySource::new("written", &written));
        assert_eq!(carry::told(&back.sessions[0].bytes), ["user: do it", "assistant: Done."], "{format:?}");
    }
    let (written, _) = carry::write(Format::Claude, log);
    assert!(has_thought(&written));
}

#[test]
fn a25_thoughts_of_the_same_format_stay() {
    let entry = json!({"type": "message", "id": "aaaa0001", "parentId": null, "timestamp": "2026-11-01T10:00:00.000Z", "message": {
        "role": "assistant", "content": [{"type": "thinking", "thinking": "hm, a secret plan"}, {"type": "text", "text": "Done."}],
        "api": "anthropic-messages", "provider": "anthropic", "model": "m", "stopReason": "stop",
    }});
    let header = json!({"type": "session", "version": 3, "id": "s-000001", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/x"});
    let file = carry::file(&[header, entry]);
    for format in [Format::Pi, Format::Omp] {
        let (read, _) = carry::check(format, &MemorySource::new("x.jsonl", &file));
        for to in [Format::Pi, Format::Omp] {
            let (written, report) = carry::write(to, &read.sessions[0].bytes);
            assert!(has_thought(&written) && report.losses.is_empty(), "{format:?} to {to:?}: {:?}", report.losses);
            assert_eq!(lines(&written).count(), 2);
        }
    }
}
